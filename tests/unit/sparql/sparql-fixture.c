/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compile, bind, step: what the room read does with a plan, on the writer's connection.
 */
#include "tests/unit/sparql/sparql-fixture.h"

#include <string.h>

#include "daemon/plan/compile.h"
#include "daemon/quads/store-catalog.h"
#include "daemon/rdf/term-blob.h"
#include "daemon/rdf/term-id.h"
#include "daemon/read/evaluation.h"
#include "daemon/sqlite/sqlite-error.h"
#include "daemon/write/sparql-update.h"

void
sparql_fixture_set_up(SparqlFixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;

    store_fixture_set_up(&self->store, NULL);
    (void) qd_evaluation_register(self->store.writer, &self->store.limits, &error);
    g_assert_no_error(error);
    self->changed = qd_changes_new();
    (void) qd_connection_set_policy(self->store.writer, QD_POLICY_INTERNAL);
    store_execute(self->store.writer, "BEGIN");
}

void
sparql_fixture_tear_down(SparqlFixture *self, gconstpointer data)
{
    store_execute(self->store.writer, "COMMIT");
    qd_changes_free(self->changed);
    g_clear_pointer(&self->parameters, g_hash_table_unref);
    store_fixture_tear_down(&self->store, NULL);
}

void
sparql_fixture_set_up_circle(SparqlFixture *self, gconstpointer data)
{
    g_autofree char *links = sparql_repeat(":n{i} :p :n{j}", " . ", 0, SPARQL_N_CIRCLE - 1);
    g_autofree char *text = g_strdup_printf("INSERT DATA { %s . :n%d :p :n0 }", links, SPARQL_N_CIRCLE - 1);

    sparql_fixture_set_up(self, data);
    g_assert_cmpuint(sparql_update(self, text), ==, SPARQL_N_CIRCLE);
}

static QdSparqlPlan *
compile(SparqlFixture *self, const char *text, gboolean is_update, GError **error)
{
    g_autofree char *full = g_strconcat("PREFIX : <" SPARQL_EX "> ", text, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    QdCatalog catalog;
    QdSparqlOptions options = { .limits = &self->store.limits };
    GHashTableIter iter;
    gpointer name;

    if (self->parameters != NULL) {
        g_hash_table_iter_init(&iter, self->parameters);
        while (g_hash_table_iter_next(&iter, &name, NULL))
            g_ptr_array_add(names, name);
    }
    g_ptr_array_add(names, NULL);
    options.parameters = (const char *const *) names->pdata;
    if (!qd_store_catalog_load(self->store.writer, &catalog, error))
        return NULL;
    return qd_sparql_compile(full, strlen(full), is_update, &options, &catalog, error);
}

char *
sparql_get_sql_of(SparqlFixture *self, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QdSparqlPlan) plan = compile(self, text, FALSE, &error);

    g_assert_no_error(error);
    return g_strdup(plan->query.sql);
}

gboolean
sparql_try_update(SparqlFixture *self, const char *text, guint64 *ret_changes, GError **error)
{
    g_autoptr(QdSparqlPlan) plan = compile(self, text, TRUE, error);

    qd_changes_clear(self->changed);
    return plan != NULL &&
           qd_sparql_update_run(self->store.writer, plan, &self->store.limits, self->parameters, self->changed, ret_changes, error);
}

guint64
sparql_update(SparqlFixture *self, const char *text)
{
    g_autoptr(GError) error = NULL;
    guint64 n_changes = G_MAXUINT64;

    (void) sparql_try_update(self, text, &n_changes, &error);
    g_assert_no_error(error);
    return n_changes;
}

static void
put_term(GString *out, const QdTerm *term)
{
    if (term->kind == QD_TERM_BNODE)
        g_string_append(out, "_:");
    else if (term->kind == QD_TERM_IRI && g_str_has_prefix(term->lexical, SPARQL_EX))
        g_string_append_printf(out, ":%.*s", (int) (term->n_lexical - strlen(SPARQL_EX)), term->lexical + strlen(SPARQL_EX));
    else
        g_string_append_len(out, term->lexical, (gssize) term->n_lexical);
    if (term->kind == QD_TERM_LANG_STRING)
        g_string_append_printf(out, "@%.*s", (int) term->n_qualifier, term->qualifier);
}

static gboolean
put_cell(SparqlFixture *self, GString *out, sqlite3_value *value, GError **error)
{
    QdResolver resolver = qd_evaluation_get_resolver(self->store.writer);
    gint64 id = sqlite3_value_int64(value);
    QdTermBuffer buffer;
    QdTerm term;

    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        if (!qd_term_id_to_term(id, &buffer, &term) && !resolver.get_term(resolver.data, id, &term, error))
            return FALSE;
        break;
    case SQLITE_BLOB:
        g_assert_true(qd_term_blob_parse(sqlite3_value_blob(value), (gsize) sqlite3_value_bytes(value), &term));
        break;
    default:
        g_assert_cmpint(sqlite3_value_type(value), ==, SQLITE_NULL);
        g_string_append_c(out, '-');
        return TRUE;
    }
    put_term(out, &term);
    return TRUE;
}

static gboolean
put_rows(SparqlFixture *self, GString *out, sqlite3_stmt *stmt, const char *sql, GError **error)
{
    int r;

    while ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(stmt); i++) {
            g_string_append(out, i > 0 ? "\t" : "");
            if (!put_cell(self, out, sqlite3_column_value(stmt, i), error))
                return FALSE;
        }
        g_string_append_c(out, '\n');
    }
    if (r != SQLITE_DONE)
        qd_sqlite_set_error(error, sqlite3_db_handle(stmt), r, sql, strlen(sql), &self->store.limits);
    return r == SQLITE_DONE;
}

char *
sparql_try_query(SparqlFixture *self, const char *text, GError **error)
{
    g_autoptr(QdSparqlPlan) plan = compile(self, text, FALSE, error);
    g_autoptr(GString) rows = g_string_new(NULL);
    QdConnection *connection = self->store.writer;
    sqlite3_stmt *stmt = NULL;
    gboolean ok;
    int r;

    if (plan == NULL)
        return NULL;
    r = sqlite3_prepare_v2(qd_connection_get_db(connection), plan->query.sql, -1, &stmt, NULL);
    if (r != SQLITE_OK) {
        qd_sqlite_set_error(error, qd_connection_get_db(connection), r, plan->query.sql, strlen(plan->query.sql),
                            &self->store.limits);
        return NULL;
    }
    qd_evaluation_start(connection);
    ok = qd_evaluation_bind(connection, stmt, &plan->query, self->parameters, error) &&
         put_rows(self, rows, stmt, plan->query.sql, error);
    (void) sqlite3_finalize(stmt);
    return ok ? g_strdup(rows->str) : NULL;
}

void
sparql_assert_rows(SparqlFixture *self, const char *text, const char *expected)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *rows = sparql_try_query(self, text, &error);

    if (error != NULL)
        g_error("%s: %s", text, error->message);
    if (g_strcmp0(rows, expected) != 0)
        g_error("%s:\n%snot\n%s", text, rows, expected);
}

gint64
sparql_take_number(SparqlFixture *self, char *text)
{
    g_autofree char *owned = text;
    g_autoptr(GError) error = NULL;
    g_autofree char *rows = sparql_try_query(self, text, &error);
    char *end;
    gint64 number;

    if (error != NULL)
        g_error("%s: %s", text, error->message);
    number = g_ascii_strtoll(rows, &end, 10);
    if (end == rows || g_strcmp0(end, "\n") != 0)
        g_error("%s: no number: %s", text, rows);
    return number;
}

char *
sparql_repeat(const char *text, const char *separator, guint first, guint n)
{
    GString *all = g_string_new(NULL);

    for (guint i = first; i < first + n; i++) {
        g_autofree char *count = g_strdup_printf("%u", i);
        g_autofree char *next = g_strdup_printf("%u", i + 1);
        g_autoptr(GString) one = g_string_new(text);

        (void) g_string_replace(one, "{i}", count, 0);
        (void) g_string_replace(one, "{j}", next, 0);
        g_string_append_printf(all, "%s%s", i > first ? separator : "", one->str);
    }
    return g_string_free(all, FALSE);
}

static gboolean
is_few(const QdTerm *term)
{
    return term != NULL && g_str_equal(term->lexical, SPARQL_EX "few");
}

static gboolean
get_large_predicate(gpointer data G_GNUC_UNUSED, const QdTerm *predicate, QdPredicateStatistics *ret)
{
    *ret = is_few(predicate) ? (QdPredicateStatistics){ 10, 10, 10, 0 } : (QdPredicateStatistics){ 100000, 50000, 50000, 0 };
    return TRUE;
}

static guint64
count_large(gpointer data G_GNUC_UNUSED, const QdTerm *s G_GNUC_UNUSED, const QdTerm *p G_GNUC_UNUSED, const QdTerm *o, guint64 cap)
{
    return is_few(o) ? 5 : cap;
}

static gboolean
find_no_prefix(gpointer data G_GNUC_UNUSED, const char *prefix G_GNUC_UNUSED, GString *ret_iri G_GNUC_UNUSED)
{
    return FALSE;
}

char *
sparql_get_sql(const char *text)
{
    g_autofree char *full = g_strconcat("PREFIX : <" SPARQL_EX "> ", text, NULL);
    const QdCatalog catalog = { 1000000, 10, get_large_predicate, count_large, find_no_prefix, NULL };
    QdLimits limits;
    const QdSparqlOptions options = { .limits = &limits };
    g_autoptr(GError) error = NULL;
    g_autoptr(QdSparqlPlan) plan = NULL;

    qd_limits_init(&limits);
    plan = qd_sparql_compile(full, strlen(full), FALSE, &options, &catalog, &error);
    g_assert_no_error(error);
    return g_strdup(plan->query.sql);
}
