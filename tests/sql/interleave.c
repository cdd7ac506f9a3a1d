/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Remembered results between random changes: each answer that may come from memory is the one that a fresh execution gives.
 *
 *   interleave N [SEED]     until N answers were compared
 *
 * The changes are those of the lock-step test's scripts, by every way to a commit. These are updates, batches, transactions with
 * savepoints, SPARQL, another program, VACUUM, the full-text index and Restore. Two clients ask again and again between them, and
 * within transactions of others; a third one is never given what is remembered. Rows are compared sorted: their order is the
 * plan's.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/e2e-client/private-bus.h"
#include "tests/sql/generator.h"
#include "tests/sql/reference.h"

#define MAX_FAILURES 5
#define N_CLIENTS 2
#define MAX_ASKED 40
#define ROUNDS 80 /* of a script, after its own steps */
#define TIMEOUT_MSEC 400
#define N_HISTORY 12

/* What a client asks. */
typedef struct Asked {
    QueryLanguage language;
    const char *text;
    GVariant *bound; /* (nullable) */
    QueryStatement *prepared[N_CLIENTS];
    char *expected; /* (owned) (nullable): in the state below */
    guint64 state;
} Asked;

typedef struct Runner {
    QueryConnection *clients[N_CLIENTS];
    QueryConnection *fresh;
    QueryConnection *writer;
    char *path;
    int backup; /* -1: none of this script */
    GRand *random;
    const Script *script;
    GPtrArray *changes; /* of Step: those of the script that change rows */
    GPtrArray *asked;
    guint64 state; /* another one when anything may have changed */
    char *history[N_HISTORY];
    guint64 n_compared;
    guint64 n_updates;
    guint64 n_timeouts;
    guint n_failures;
} Runner;

static const char *const sql_queries[] = {
    "SELECT count(*) FROM rdf_quad",
    "SELECT subject, object FROM rdf_quad WHERE graph IS NULL",
    "SELECT count(*) FROM queryd_quad",
    "SELECT x.subject FROM rdf_quad x JOIN rdf_quad y USING (predicate)",
    "SELECT count(*) FROM rdf_quad a NATURAL JOIN rdf_quad b",
};

/* #s, #p and #o are numbers from 1 to 4. */
static const char *const sparql_queries[] = {
    "SELECT * { ?s <x:p1> ?o }",
    "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
    "SELECT ?g { GRAPH ?g {} }",
    "ASK { ?a <x:p2>/<x:p3> ?b }",
    "SELECT ?b { <x:s1> <x:p1>+ ?b }",
    "SELECT ?b { <x:s1> <x:p1>* ?b }",
    "SELECT ?b { <x:s1> !<x:p1> ?b }",
    "SELECT ?s { ?s <x:p1> ?o MINUS { ?s <x:p2> ?o } }",
    "DESCRIBE <x:s2>",
    "SELECT ?s { GRAPH <x:g1> { ?s <x:p1> [] } }",
    "SELECT * { ?s <http://queryd.org/fts#match> \"word\" }",
    "SELECT * FROM <x:g1> { ?s <x:p2> ?o }",
    "SELECT (MAX(STR(?o)) AS ?m) { ?s <x:p3> ?o }",
    "SELECT ?s { ?s <x:p4> ?o OPTIONAL { ?o <x:p1> ?x FILTER NOT EXISTS { ?x <x:p2> ?s } } }",
    "CONSTRUCT { ?o <x:q> ?s } WHERE { GRAPH ?g { ?s <x:p2> ?o } }",
    "ASK { GRAPH ?g { FILTER NOT EXISTS { ?s ?p ?o } } }",
};
static const char *const sparql_updates[] = {
    "INSERT DATA { <x:s#s> <x:p#p> <x:s#o> }",
    "INSERT DATA { <x:s#s> <x:p#p> #o }",
    "INSERT DATA { <x:s#s> <x:p#p> \"a word #o\" }",
    "DELETE DATA { <x:s#s> <x:p#p> <x:s#o> }",
    "INSERT DATA { GRAPH <x:g#o> { <x:s#s> <x:p#p> <x:s#o> } }",
    "DELETE WHERE { <x:s#s> <x:p#p> ?o }",
    "DELETE WHERE { GRAPH ?g { ?s <x:p#p> ?o } }",
    "CLEAR GRAPH <x:g#s>",
    "CREATE SILENT GRAPH <x:g#o>",
    "DROP SILENT GRAPH <x:g#o>",
    "DELETE { ?a <x:p#p> ?b } INSERT { ?b <x:p#o> ?a } WHERE { ?a <x:p#p> ?b FILTER(isIRI(?b)) }",
    "COPY SILENT <x:g#s> TO DEFAULT",
    "MOVE SILENT <x:g#s> TO <x:g#o>",
    "INSERT { GRAPH <x:g#o> { ?a ?b ?c } } WHERE { ?a ?b ?c FILTER(?a = <x:s#s>) }",
};

static guint
pick(Runner *self, guint n)
{
    return (guint) g_rand_int_range(self->random, 0, (gint32) n);
}

static gboolean
chance(Runner *self, guint n)
{
    return pick(self, n) == 0;
}

static void
check(const GError *error, const char *what)
{
    if (error != NULL)
        g_error("%s: %s", what, error->message);
}

/* Answers ------------------------------------------------------------------------------------------------------------------ */

static void
put_value(QueryCursor *cursor, guint column, GString *row)
{
    QueryValueType type = query_cursor_get_value_type(cursor, column);
    gsize n_bytes = 0;

    g_string_append_printf(row, " %d:", (int) type);
    if (type == QUERY_VALUE_TYPE_BLOB) {
        const guint8 *data = query_cursor_get_data(cursor, column, &n_bytes);
        g_autofree char *text = g_base64_encode(data, n_bytes);

        g_string_append(row, text);
    } else if (type != QUERY_VALUE_TYPE_NULL) {
        const char *text = query_cursor_get_string(cursor, column, &n_bytes);
        g_autofree char *escaped = g_strescape(text, NULL);

        g_string_append_printf(row, "%s (%" G_GSIZE_FORMAT ")", escaped, n_bytes);
    }
}

static int
compare_rows(gconstpointer a, gconstpointer b)
{
    return g_strcmp0(*(const char *const *) a, *(const char *const *) b);
}

/* @cursor, @error: (transfer full) (nullable). Returns: (nullable): NULL: it took too long, which says nothing */
static char *
take_answer(QueryCursor *taken, GError *failure)
{
    g_autoptr(QueryCursor) cursor = taken;
    g_autoptr(GError) error = failure;
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GString) text = g_string_new(NULL);

    while (cursor != NULL && query_cursor_next(cursor, NULL, &error)) {
        GString *row = g_string_new(NULL);

        for (guint i = 0; i < query_cursor_get_n_columns(cursor); i++)
            put_value(cursor, i, row);
        g_ptr_array_add(rows, g_string_free(row, FALSE));
    }
    if (g_error_matches(error, QUERY_ERROR, QUERY_ERROR_TIMEOUT))
        return NULL;
    if (error != NULL)
        return g_strconcat("error: ", error->message, NULL);

    for (guint i = 0; i < query_cursor_get_n_columns(cursor); i++)
        g_string_append_printf(text, "%s, ", query_cursor_get_column_name(cursor, i));
    g_ptr_array_sort(rows, compare_rows);
    for (guint i = 0; i < rows->len; i++)
        g_string_append_printf(text, "\n   %s", (const char *) rows->pdata[i]);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static char *
ask_by(QueryConnection *connection, const Asked *asked)
{
    GError *error = NULL;
    QueryCursor *cursor = query_connection_query(connection, asked->language, asked->text, asked->bound, NULL, &error);

    return take_answer(cursor, error);
}

/* By a statement that was prepared in an earlier state, if it could be. */
static char *
ask_prepared(const Runner *self, Asked *asked, guint client)
{
    QueryStatement **statement = &asked->prepared[client];
    GError *error = NULL;
    QueryCursor *cursor = NULL;

    if (*statement == NULL)
        *statement = query_connection_prepare(self->clients[client], asked->language, asked->text, NULL, &error);
    if (*statement != NULL && (asked->bound == NULL || query_statement_bind_parameters(*statement, asked->bound, &error)))
        cursor = query_statement_execute(*statement, NULL, &error);
    return take_answer(cursor, error);
}

static void
report(Runner *self, const Asked *asked, const char *actual)
{
    g_print("--- stale: %s\nwhat was given: %s\na fresh execution: %s\nthe last changes:\n", asked->text, actual, asked->expected);
    for (guint i = 0; i < N_HISTORY && self->history[i] != NULL; i++)
        g_print("    %s\n", self->history[i]);
    self->n_failures++;
}

/* FALSE: it takes too long to be asked again. */
static gboolean
compare_once(Runner *self, Asked *asked)
{
    guint client = pick(self, N_CLIENTS);
    g_autofree char *actual = chance(self, 2) ? ask_prepared(self, asked, client) : ask_by(self->clients[client], asked);

    if (asked->expected == NULL || asked->state != self->state) {
        g_free(asked->expected);
        asked->expected = ask_by(self->fresh, asked);
        asked->state = self->state;
    }
    if (actual == NULL || asked->expected == NULL) {
        self->n_timeouts++;
        return FALSE;
    }
    self->n_compared++;
    if (!g_str_equal(actual, asked->expected))
        report(self, asked, actual);
    return TRUE;
}

/* Some of what is asked, each as often as it takes to be remembered, or less. */
static void
ask_some(Runner *self)
{
    for (guint i = 0; i < 3 && self->asked->len > 0; i++) {
        guint at = pick(self, self->asked->len);
        gboolean is_quick = TRUE;

        for (guint n = 1 + pick(self, 4); n > 0 && is_quick; n--)
            is_quick = compare_once(self, self->asked->pdata[at]);
        if (!is_quick)
            g_ptr_array_remove_index_fast(self->asked, at);
    }
}

static void
asked_free(gpointer data)
{
    Asked *self = data;

    for (guint i = 0; i < N_CLIENTS; i++)
        g_clear_object(&self->prepared[i]);
    g_free(self->expected);
    g_free(self);
}

static void
add_asked(Runner *self, QueryLanguage language, const char *text, GVariant *bound)
{
    Asked *asked = g_new0(Asked, 1);

    *asked = (Asked){ .language = language, .text = text, .bound = bound };
    if (self->asked->len >= MAX_ASKED)
        g_ptr_array_remove_index_fast(self->asked, pick(self, self->asked->len));
    g_ptr_array_add(self->asked, asked);
}

/* Changes ------------------------------------------------------------------------------------------------------------------ */

static void
note_change(Runner *self, const char *way, const char *text)
{
    g_free(self->history[N_HISTORY - 1]);
    memmove(self->history + 1, self->history, (N_HISTORY - 1) * sizeof self->history[0]);
    self->history[0] = g_strdup_printf("%s: %s", way, text);
    self->state++;
    self->n_updates++;
}

static void
change_elsewhere(const Runner *self, const Step *step)
{
    ReferenceNotes notes;
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open(self->path, &db), ==, SQLITE_OK);
    (void) sqlite3_busy_timeout(db, 10000);
    reference_limit_work(db, &notes);
    (void) sqlite3_exec(db, "PRAGMA foreign_keys=ON; PRAGMA synchronous=OFF", NULL, NULL, NULL);
    outcome_free(reference_execute(db, step->text, step->bound));
    (void) sqlite3_close(db);
}

static void
change_prepared(const Runner *self, const Step *step)
{
    g_autoptr(QueryStatement) statement = query_connection_prepare_update(self->writer, QUERY_LANGUAGE_SQL, step->text, NULL, NULL);
    g_autoptr(QueryCursor) cursor = NULL;

    if (statement == NULL)
        return;
    if (step->bound == NULL || query_statement_bind_parameters(statement, step->bound, NULL))
        cursor = query_statement_execute(statement, NULL, NULL);
    while (cursor != NULL && query_cursor_next(cursor, NULL, NULL))
        ;
}

static void
change_by_batch(Runner *self, const Step *step)
{
    g_autoptr(QueryBatch) batch = query_connection_create_batch(self->writer);
    const Step *other = self->changes->len > 0 ? self->changes->pdata[pick(self, self->changes->len)] : step;

    query_batch_add(batch, QUERY_LANGUAGE_SQL, other->text, other->bound);
    query_batch_add(batch, QUERY_LANGUAGE_SQL, step->text, step->bound);
    (void) query_batch_execute(batch, NULL, NULL);
    note_change(self, "batch", other->text);
}

static void
change(Runner *self, const Step *step)
{
    static const char *const ways[] = { "update", "another client", "prepared", "batch", "another program" };
    guint way = pick(self, 10) == 0 ? 4 : pick(self, 4);

    switch (way) {
    case 0:
    case 1:
        (void) query_connection_update(way == 0 ? self->writer : self->clients[0], QUERY_LANGUAGE_SQL, step->text, step->bound,
                                       NULL, NULL);
        break;
    case 2:
        change_prepared(self, step);
        break;
    case 3:
        change_by_batch(self, step);
        break;
    default: /* the last one of ways */
        change_elsewhere(self, step);
    }
    note_change(self, ways[way], step->text);
}

static char *
fill_in(Runner *self, const char *text)
{
    GString *filled = g_string_new(NULL);
    guint numbers[3];

    for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
        numbers[i] = 1 + pick(self, 4);
    for (const char *p = text; *p != '\0'; p++)
        if (*p == '#' && p[1] != '\0' && strchr("spo", p[1]) != NULL)
            g_string_append_printf(filled, "%u", numbers[*++p == 's' ? 0 : *p == 'p' ? 1 : 2]);
        else
            g_string_append_c(filled, *p);
    return g_string_free(filled, FALSE);
}

static void
change_rdf(Runner *self)
{
    g_autofree char *text = fill_in(self, sparql_updates[pick(self, G_N_ELEMENTS(sparql_updates))]);

    (void) query_connection_update(self->writer, QUERY_LANGUAGE_SPARQL, text, NULL, NULL, NULL);
    note_change(self, "update", text);
}

/* Others ask meanwhile: they see nothing of it before it is committed. */
static void
change_in_transaction(Runner *self)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryTransaction) transaction = query_connection_begin(self->writer, NULL, &error);
    gboolean commit = !chance(self, 3);
    gboolean has_savepoint = FALSE;

    check(error, "BEGIN");
    for (guint n = 1 + pick(self, 4); n > 0; n--) {
        const Step *step = self->changes->pdata[pick(self, self->changes->len)];

        if (chance(self, 4))
            has_savepoint = query_transaction_savepoint(transaction, "s", NULL, NULL) || has_savepoint;
        (void) query_transaction_update(transaction, QUERY_LANGUAGE_SQL, step->text, step->bound, NULL, NULL);
        if (has_savepoint && chance(self, 3))
            (void) query_transaction_rollback_to(transaction, "s", NULL, NULL);
        if (chance(self, 2))
            ask_some(self);
        note_change(self, commit ? "transaction" : "rolled back", step->text);
    }
    (void) (commit ? query_transaction_commit : query_transaction_rollback)(transaction, NULL, NULL);
    self->state++;
}

static void
set_full_text(Runner *self)
{
    g_autoptr(GVariantDict) options = g_variant_dict_new(NULL);
    gboolean all = chance(self, 2);

    g_variant_dict_insert(options, "all", "b", all);
    (void) query_connection_set_full_text(self->writer, g_variant_dict_end(options), NULL, NULL);
    note_change(self, "full text", all ? "all" : "none");
}

/* A copy of now, or the last copy comes back. */
static void
back_up_or_restore(Runner *self)
{
    g_autoptr(GError) error = NULL;

    if (self->backup < 0) {
        self->backup = memfd_create("backup", MFD_CLOEXEC);
        (void) query_connection_backup(self->writer, self->backup, NULL, NULL, NULL, &error);
        check(error, "Backup");
        return;
    }
    (void) lseek(self->backup, 0, SEEK_SET);
    (void) query_connection_restore(self->writer, self->backup, FALSE, NULL, NULL, NULL, &error);
    check(error, "Restore");
    note_change(self, "Restore", "");
}

static void
change_something(Runner *self)
{
    guint kind = pick(self, 200);

    if (kind < 60 || self->changes->len == 0)
        change_rdf(self);
    else if (kind < 80)
        change_in_transaction(self);
    else if (kind < 82)
        set_full_text(self);
    else if (kind < 84)
        back_up_or_restore(self);
    else if (kind < 86) {
        (void) query_connection_update(self->writer, QUERY_LANGUAGE_SQL, kind == 84 ? "VACUUM" : "REINDEX", NULL, NULL, NULL);
        note_change(self, "update", kind == 84 ? "VACUUM" : "REINDEX");
    } else
        change(self, self->changes->pdata[pick(self, self->changes->len)]);
}

/* Scripts ------------------------------------------------------------------------------------------------------------------ */

static gboolean
changes_rows(const Step *step)
{
    static const char *const verbs[] = { "INSERT", "REPLACE", "UPDATE", "DELETE" };

    for (gsize i = 0; i < G_N_ELEMENTS(verbs); i++)
        if (g_str_has_prefix(step->text, verbs[i]))
            return TRUE;
    return FALSE;
}

/* New statistics would make other plans, and a LIMIT without an order other rows. */
static void
run_step(Runner *self, Step *step)
{
    if (step->kind == STEP_QUERY)
        add_asked(self, QUERY_LANGUAGE_SQL, step->text, step->bound);
    if (step->kind != STEP_UPDATE || g_str_has_prefix(step->text, "ANALYZE"))
        return;
    if (changes_rows(step))
        g_ptr_array_add(self->changes, step);
    change(self, step);
}

static void
begin_script(Runner *self)
{
    g_ptr_array_set_size(self->asked, 0);
    g_ptr_array_set_size(self->changes, 0);
    reference_empty_store(self->path);
    note_change(self, "another program", "everything is dropped");
    (void) query_connection_update(self->writer, QUERY_LANGUAGE_SPARQL, "DROP ALL", NULL, NULL, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(sql_queries); i++)
        add_asked(self, QUERY_LANGUAGE_SQL, sql_queries[i], NULL);
    for (guint i = 0; i < G_N_ELEMENTS(sparql_queries); i++)
        add_asked(self, QUERY_LANGUAGE_SPARQL, sparql_queries[i], NULL);
}

static void
run_script(Runner *self, guint64 seed)
{
    g_autoptr(Script) script = generator_make_script(seed);

    if (script->counts) /* changes() and its like are of the client that asks */
        return;
    g_rand_set_seed(self->random, (guint32) seed);
    begin_script(self);
    for (guint i = 0; i < script->steps->len; i++) {
        run_step(self, script->steps->pdata[i]);
        ask_some(self);
    }
    for (guint i = 0; i < ROUNDS && self->n_failures < MAX_FAILURES; i++) {
        change_something(self);
        ask_some(self);
    }
    if (self->backup >= 0)
        (void) close(self->backup);
    self->backup = -1;
    g_ptr_array_set_size(self->asked, 0);
}

static QueryConnection *
connect_client(gboolean fresh)
{
    g_autoptr(GError) error = NULL;
    QueryConnection *connection = query_connection_new(NULL, &error);

    check(error, "cannot connect");
    query_connection_set_durability(connection, QUERY_DURABILITY_RELAXED);
    query_connection_set_timeout_msec(connection, TIMEOUT_MSEC);
    query_connection_set_fresh(connection, fresh);
    return connection;
}

static void
runner_init(Runner *self)
{
    g_autofree char *folder = g_build_filename(g_getenv("XDG_CONFIG_HOME"), "queryd", NULL);
    g_autofree char *config = g_build_filename(folder, "queryd.conf", NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) opened = NULL;

    g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
    g_assert_true(g_file_set_contents(config, "[Limits]\nresult_memory_cost_us=0\nchannels_per_client=256\n", -1, NULL));
    *self = (Runner){ .backup = -1, .random = g_rand_new() };
    self->fresh = connect_client(TRUE);
    self->writer = connect_client(FALSE);
    for (guint i = 0; i < N_CLIENTS; i++)
        self->clients[i] = connect_client(FALSE);
    opened = query_connection_query(self->fresh, QUERY_LANGUAGE_SQL, "SELECT 1", NULL, NULL, &error);
    check(error, "cannot query");
    self->path = g_build_filename(g_getenv("XDG_DATA_HOME"), "queryd", "queryd.db", NULL);
    self->asked = g_ptr_array_new_with_free_func(asked_free);
    self->changes = g_ptr_array_new();
}

static guint64
get_stat(const Runner *self, const char *name)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GVariant) stats = query_connection_get_stats(self->fresh, NULL, &error);
    guint64 value = 0;

    check(error, "statistics");
    (void) g_variant_lookup(stats, name, "t", &value);
    return value;
}

static void
runner_clear(Runner *self)
{
    for (guint i = 0; i < N_CLIENTS; i++)
        g_clear_object(&self->clients[i]);
    g_clear_object(&self->writer);
    g_clear_object(&self->fresh);
    for (guint i = 0; i < N_HISTORY; i++)
        g_free(self->history[i]);
    g_ptr_array_unref(self->asked);
    g_ptr_array_unref(self->changes);
    g_rand_free(self->random);
    g_free(self->path);
}

int
main(int argc, char **argv)
{
    guint64 n = argc > 1 ? g_ascii_strtoull(argv[1], NULL, 10) : 0;
    guint64 seed = argc > 2 ? g_ascii_strtoull(argv[2], NULL, 10) : 1;
    PrivateBus *bus;
    Runner self;
    guint64 n_recalled;

    if (n == 0)
        return 2;
    bus = private_bus_new();
    runner_init(&self);
    for (; self.n_compared < n && self.n_failures < MAX_FAILURES; seed++)
        run_script(&self, seed);
    n_recalled = get_stat(&self, "results_recalled_total");
    g_print("%" G_GUINT64_FORMAT " compared, %" G_GUINT64_FORMAT " recalled, %" G_GUINT64_FORMAT " changes, %" G_GUINT64_FORMAT
            " too long, %u stale\n",
            self.n_compared, n_recalled, self.n_updates, self.n_timeouts, self.n_failures);
    n = self.n_failures == 0 && n_recalled > self.n_compared / 10 ? EXIT_SUCCESS : EXIT_FAILURE;
    runner_clear(&self);
    private_bus_free(bus);
    return (int) n;
}
