/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lock-step test: the same statements by queryd and by SQLite in this process, compared after each.
 *
 *   lockstep N [SEED]     random scripts until N statements were executed
 *   lockstep FILE...      scripts in sqllogictest's format
 */
#include <stdlib.h>
#include <string.h>

#include "tests/e2e-client/private-bus.h"
#include "tests/sql/exclusions.h"
#include "tests/sql/generator.h"
#include "tests/sql/reference.h"
#include "tests/sql/ways.h"

#define MAX_FAILURES 5
#define EVERY_WAY G_MAXUINT32

typedef struct Runner {
    Ways *ways;
    sqlite3 *db;
    const Script *script;
    QueryTransaction *transaction;
    GPtrArray *batch; /* (nullable) of Step, between its marks */
    guint64 n_executions;
    guint64 n_errors; /* on both sides */
    guint64 n_rows;
    guint64 n_excluded[N_EXCLUSIONS];
    guint64 n_too_long; /* scripts that were left at a statement that cost too much */
    guint64 n_apart;    /* scripts that were left where SQLite's estimates are of one connection only */
    gboolean is_over;   /* a documented difference has parted the two, or will */
    ReferenceNotes notes;
    char *difference;
} Runner;

static void
judge(Runner *self, const char *way, const char *text, const Outcome *expected, Outcome *taken)
{
    g_autoptr(Outcome) actual = taken;
    g_autofree char *difference = outcome_compare(expected, actual);
    int excluded;

    self->n_executions++;
    self->n_errors += expected->error != NULL ? 1 : 0;
    self->n_rows += expected->rows->len;
    if (difference == NULL)
        return;
    excluded = exclusion_find(text, expected, actual, self->notes.has_last);
    if (excluded >= 0) {
        self->n_excluded[excluded]++;
        self->is_over = self->is_over || (expected->error == NULL) != (actual->error == NULL);
    } else if (self->difference == NULL)
        self->difference = g_strdup_printf("by '%s': %s\n%s", way, text, difference);
}

static void
judge_query(Runner *self, guint32 way, const Step *step, const Outcome *expected)
{
    judge(self, self->script->counts ? "channel" : ways_get_query_name(way), step->text, expected,
          ways_query(self->ways, way, self->script->counts, step));
}

static void
run_query(Runner *self, const Step *step)
{
    g_autoptr(Outcome) expected = reference_execute(self->db, step->text, step->bound);

    if (self->notes.too_long)
        return;
    if (self->transaction != NULL) {
        judge(self, "query in a transaction", step->text, expected, ways_query_in(self->transaction, step));
    } else if (step->way == EVERY_WAY) {
        for (guint i = 0; i < ways_get_n_query_ways(); i++)
            judge_query(self, i, step, expected);
    } else {
        judge_query(self, step->way, step, expected);
        if (!self->script->counts)
            judge_query(self, step->way / ways_get_n_query_ways(), step, expected);
    }
}

/*
 * A CREATE INDEX that fails leaves its connection in SQLite with another estimate of the table's rows, and so with another order
 * of rows. Other connections to the file, as those of queryd, have what ANALYZE has found.
 */
static gboolean
spoils_estimates(const Runner *self, const char *text, const Outcome *expected)
{
    return expected->error != NULL && g_str_has_prefix(text, "CREATE ") && strstr(text, " INDEX ") != NULL &&
           sqlite3_table_column_metadata(self->db, NULL, "sqlite_stat1", NULL, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

static void
run_update(Runner *self, const Step *step, guint32 way)
{
    g_autoptr(Outcome) expected = NULL;

    if (self->batch != NULL) {
        g_ptr_array_add(self->batch, (gpointer) step);
        return;
    }
    if (self->transaction != NULL)
        expected = reference_execute_whole(self->db, step->text, step->bound);
    else if (ways_is_transaction(way, self->script->counts))
        expected = reference_execute_between(self->db, step->text, step->bound);
    else
        expected = reference_execute(self->db, step->text, step->bound);
    if (self->notes.too_long)
        return;
    if (spoils_estimates(self, step->text, expected)) {
        self->n_apart++;
        self->is_over = TRUE;
    }
    if (self->transaction != NULL)
        judge(self, "update in a transaction", step->text, expected, ways_update_in(self->transaction, step));
    else
        judge(self, ways_get_update_name(way), step->text, expected, ways_update(self->ways, way, self->script->counts, step));
    if (step->fails != (expected->error != NULL) && step->way == EVERY_WAY && self->difference == NULL)
        self->difference = g_strdup_printf("SQLite says %s: %s", expected->error != NULL ? expected->error : "no error",
                                           step->text);
}

static void
end_transaction(Runner *self, gboolean commit)
{
    g_autoptr(Outcome) actual = ways_end(self->transaction, commit);
    g_autoptr(Outcome) expected = outcome_new();

    g_clear_object(&self->transaction);
    if (sqlite3_get_autocommit(self->db) == 0) {
        g_clear_pointer(&expected, outcome_free);
        expected = reference_execute(self->db, commit ? "COMMIT" : "ROLLBACK", NULL);
        if (expected->error != NULL)
            reference_command(self->db, "ROLLBACK");
    }
    judge(self, "end of a transaction", commit ? "COMMIT" : "ROLLBACK", expected, g_steal_pointer(&actual));
}

static char *
join_texts(const GPtrArray *steps)
{
    g_autoptr(GString) all = g_string_new(NULL);

    for (guint i = 0; i < steps->len; i++)
        g_string_append_printf(all, "%s%s", i > 0 ? "; " : "", ((const Step *) steps->pdata[i])->text);
    return g_string_free(g_steal_pointer(&all), FALSE);
}

/* Up to the first error, and then as if nothing had been. */
static void
run_batch(Runner *self)
{
    g_autoptr(GPtrArray) steps = g_steal_pointer(&self->batch);
    g_autoptr(Outcome) expected = NULL;
    g_autoptr(GPtrArray) counts = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *all = join_texts(steps);
    Outcome *actual;

    if (steps->len == 0)
        return;
    reference_command(self->db, "BEGIN IMMEDIATE");
    for (guint i = 0; i < steps->len && (expected == NULL || expected->error == NULL); i++) {
        const Step *step = steps->pdata[i];

        g_clear_pointer(&expected, outcome_free);
        expected = reference_execute(self->db, step->text, step->bound);
        g_ptr_array_add(counts, g_strdup_printf("%" G_GINT64_FORMAT, expected->n_changes));
    }
    if (expected->error == NULL) {
        g_clear_pointer(&expected, outcome_free);
        expected = reference_execute(self->db, "COMMIT", NULL);
    }
    if (sqlite3_get_autocommit(self->db) == 0)
        reference_command(self->db, "ROLLBACK");
    if (self->notes.too_long)
        return;
    g_string_truncate(expected->columns, 0);
    g_ptr_array_set_size(expected->rows, 0);
    for (guint i = 0; i < counts->len; i++)
        g_ptr_array_add(expected->rows, g_strdup(counts->pdata[i]));
    expected->n_changes = 0;
    actual = ways_batch(self->ways, steps);
    actual->has_counts = FALSE;
    judge(self, "batch", all, expected, actual);
}

static void
run_step(Runner *self, const Step *step, guint32 update_way)
{
    switch (step->kind) {
    case STEP_QUERY:
        if (self->batch == NULL)
            run_query(self, step);
        break;
    case STEP_UPDATE:
        run_update(self, step, step->way == EVERY_WAY ? update_way : step->way);
        break;
    case STEP_BEGIN:
        if (self->transaction != NULL || self->batch != NULL)
            break;
        reference_command(self->db, "BEGIN IMMEDIATE");
        self->transaction = ways_begin(self->ways);
        break;
    case STEP_COMMIT:
    case STEP_ROLLBACK:
        if (self->transaction != NULL)
            end_transaction(self, step->kind == STEP_COMMIT);
        break;
    case STEP_BATCH:
        if (self->transaction == NULL && self->batch == NULL)
            self->batch = g_ptr_array_new();
        break;
    case STEP_END_BATCH:
        if (self->batch != NULL)
            run_batch(self);
        break;
    case STEP_MARK:
        break;
    }
}

/* Returns: whether both agree; else self->difference says where not */
static gboolean
run_script(Runner *self, const Script *script, guint32 update_way)
{
    g_clear_pointer(&self->difference, g_free);
    self->script = script;
    self->is_over = FALSE;
    self->db = reference_open(&self->notes);
    reference_empty_store(ways_get_path(self->ways));
    if (script->counts)
        ways_renew_channel(self->ways);
    for (guint i = 0; i < script->steps->len && self->difference == NULL && !self->is_over; i++) {
        run_step(self, script->steps->pdata[i], update_way);
        self->is_over = self->is_over || self->notes.has_last || self->notes.too_long;
    }
    self->n_too_long += self->notes.too_long ? 1 : 0;
    if (self->transaction != NULL)
        end_transaction(self, FALSE);
    g_clear_pointer(&self->batch, g_ptr_array_unref);
    (void) sqlite3_close_v2(self->db);
    return self->difference == NULL;
}

/* Leaves out pieces as long as it still fails: halves first, single steps at last. */
static Script *
shrink(Runner *self, const Script *script)
{
    Script *best = NULL;
    guint n = script->steps->len;
    g_autofree guint8 *keep = g_malloc(n);

    memset(keep, 1, n);
    for (guint size = n / 2; size > 0; size /= 2) {
        for (guint from = 0; from < n; from += size) {
            g_autofree guint8 *before = g_memdup2(keep, n);
            Script *candidate;

            memset(keep + from, 0, MIN(size, n - from));
            candidate = script_pick(script, keep);
            if (run_script(self, candidate, 0)) {
                memcpy(keep, before, n);
                script_free(candidate);
            } else {
                script_free(best);
                best = candidate;
            }
        }
    }
    if (best == NULL) {
        memset(keep, 1, n);
        best = script_pick(script, keep);
    }
    (void) run_script(self, best, 0);
    return best;
}

static void
report(Runner *self, const Script *script, const char *name, const char *first)
{
    g_autofree char *text = script_print(script);

    g_print("--- %s\n%s%s\n%s\n", name, self->difference != NULL ? "" : "(it does not fail when it is run again)\n",
            self->difference != NULL ? self->difference : first, text);
}

static guint
run_random(Runner *self, guint64 n, guint64 seed)
{
    guint n_failures = 0;

    for (guint64 i = seed; self->n_executions < n && n_failures < MAX_FAILURES; i++) {
        g_autoptr(Script) script = generator_make_script(i);
        g_autofree char *name = g_strdup_printf("seed %" G_GUINT64_FORMAT, i);
        Runner counted;

        if (!run_script(self, script, 0)) {
            g_autoptr(Script) small = NULL;
            g_autofree char *first = g_strdup(self->difference);

            counted = *self;
            small = shrink(self, script);
            report(self, small, name, first);
            n_failures++;
            counted.difference = self->difference;
            *self = counted;
        }
    }
    return n_failures;
}

static guint
run_file(Runner *self, const char *path)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Script) script = script_read(path, &error);
    guint n_failures = 0;

    if (script == NULL) {
        g_print("%s\n", error->message);
        return 1;
    }
    for (guint way = 0; way < ways_get_n_update_ways(); way++) {
        if (!run_script(self, script, way)) {
            g_print("--- %s\n%s\n", path, self->difference);
            n_failures++;
        }
    }
    return n_failures;
}

static void
print_counts(const Runner *self)
{
    g_print("%" G_GUINT64_FORMAT " executions, %" G_GUINT64_FORMAT " of them errors, %" G_GUINT64_FORMAT " rows\n",
            self->n_executions, self->n_errors, self->n_rows);
    if (self->n_too_long > 0)
        g_print("%" G_GUINT64_FORMAT " scripts were left at a statement that costs too much\n", self->n_too_long);
    if (self->n_apart > 0)
        g_print("%" G_GUINT64_FORMAT " scripts were left after a CREATE INDEX that fails\n", self->n_apart);
    for (guint i = 0; i < N_EXCLUSIONS; i++)
        if (self->n_excluded[i] > 0)
            g_print("%" G_GUINT64_FORMAT " differ as documented: %s\n", self->n_excluded[i], exclusion_get_name((int) i));
}

int
main(int argc, char **argv)
{
    PrivateBus *bus;
    Runner self = { 0 };
    guint n_failures = 0;

    if (argc < 2)
        return 2;
    bus = private_bus_new();
    self.ways = ways_new();
    if (g_ascii_isdigit(argv[1][0]))
        n_failures = run_random(&self, g_ascii_strtoull(argv[1], NULL, 10), argc > 2 ? g_ascii_strtoull(argv[2], NULL, 10) : 1);
    else
        for (int i = 1; i < argc; i++)
            n_failures += run_file(&self, argv[i]);
    print_counts(&self);
    g_free(self.difference);
    ways_free(self.ways);
    private_bus_free(bus);
    return n_failures > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
