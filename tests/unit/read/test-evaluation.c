/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Constants as SQLite gets them: ids of what is stored, blobs of what is not. What is fixed for one execution and no longer;
 * how long work is ended.
 */
#include "daemon/read/evaluation.h"

#include <string.h>

#include "daemon/plan/compile.h"
#include "daemon/rdf/term-id.h"
#include "daemon/read/plans.h"
#include "daemon/sqlite/sqlite-error.h"
#include "tests/unit/sparql/sparql-fixture.h"

/* How the values of VALUES come, as SQLite names their types: in the order of the texts. */
static void
test_constants(SparqlFixture *self, gconstpointer data)
{
    static const char *const texts[] = { ":stored", ":unknown", "'stored'", "'unknown'", "5", "true", "'x'@en" };
    static const int types[] = { SQLITE_INTEGER, SQLITE_BLOB,    SQLITE_INTEGER, SQLITE_BLOB,
                                 SQLITE_INTEGER, SQLITE_INTEGER, SQLITE_BLOB };
    QdConnection *connection = self->store.writer;

    (void) sparql_update(self, "INSERT DATA { :stored :stored 'stored' }");
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autofree char *text = g_strdup_printf("PREFIX : <" SPARQL_EX "> SELECT ?x { VALUES ?x { %s } }", texts[i]);
        const QdSparqlOptions options = { .limits = &self->store.limits };
        g_autoptr(QdSparqlPlan) plan = qd_sparql_compile(text, strlen(text), FALSE, &options, NULL, NULL);
        g_autoptr(GError) error = NULL;
        sqlite3_stmt *stmt = NULL;

        g_assert_cmpint(sqlite3_prepare_v2(qd_connection_get_db(connection), plan->query.sql, -1, &stmt, NULL), ==, SQLITE_OK);
        g_assert_true(qd_evaluation_bind(connection, stmt, &plan->query, NULL, &error));
        g_assert_cmpint(sqlite3_step(stmt), ==, SQLITE_ROW);
        g_assert_cmpint(sqlite3_column_type(stmt, 0), ==, types[i]);
        (void) sqlite3_finalize(stmt);
    }
}

/* The same text finds what was not there when it was compiled. */
static void
test_snapshots(SparqlFixture *self, gconstpointer data)
{
    sparql_assert_rows(self, "SELECT ?o { :late :p ?o }", "");
    (void) sparql_update(self, "INSERT DATA { :late :p 'new' }");
    sparql_assert_rows(self, "SELECT ?o { :late :p ?o FILTER(?o = 'new' && ?o != 'other') }", "new\n");
    sparql_assert_rows(self, "SELECT ?s { ?s :p ?o FILTER(CONTAINS(?o, 'e') && STRLEN(?o) < 4) }", ":late\n");
    /* texts of all lengths in one program */
    for (guint n = 0; n <= 300; n += 100) {
        g_autofree char *filling = g_strnfill(n, 'x');

        g_assert_cmpint(
            sparql_take_number(
                self, g_strdup_printf("SELECT (STRLEN(CONCAT('%s', ?o, '%s', 'a')) AS ?n) { :late :p ?o }", filling, filling)),
            ==, 2 * n + 4);
    }
}

static void
test_parameters(SparqlFixture *self, gconstpointer data)
{
    const QwValue text = { .type = QW_TYPE_TEXT, .data = "new", .n_bytes = 3 };
    const QwValue iri = { .type = QW_TYPE_IRI, .data = SPARQL_EX "late", .n_bytes = strlen(SPARQL_EX "late") };
    static const char query[] = "SELECT ?o { $s ?p ?o }";
    const char *names[] = { "s", NULL };
    QdSparqlOptions options = { .limits = &self->store.limits, .parameters = names };
    g_autoptr(QdSparqlPlan) plan = qd_sparql_compile(query, strlen(query), FALSE, &options, NULL, NULL);
    sqlite3_stmt *stmt = NULL;
    g_autoptr(GError) error = NULL;

    (void) sparql_update(self, "INSERT DATA { :late :p 'new' }");
    g_assert_cmpint(sqlite3_prepare_v2(qd_connection_get_db(self->store.writer), plan->query.sql, -1, &stmt, NULL), ==, SQLITE_OK);
    g_assert_false(qd_evaluation_bind(self->store.writer, stmt, &plan->query, NULL, &error));
    store_assert_error(error, QW_ERROR_BAD_PARAMETER, "parameter '$s' has no value");
    (void) sqlite3_finalize(stmt);

    self->parameters = qd_plans_new_parameters();
    g_assert_true(qd_plans_add_parameter(self->parameters, "$s", &iri, NULL));
    sparql_assert_rows(self, "SELECT ?o { $s ?p ?o }", "new\n");
    sparql_assert_rows(self, "SELECT ?o { ?s ?p ?o }", "new\n");
    g_assert_true(qd_plans_add_parameter(self->parameters, "$o", &text, NULL));
    sparql_assert_rows(self, "SELECT ?s ?o { ?s ?p ?o }", ":late\tnew\n");
    sparql_assert_rows(self, "SELECT ?s { ?s ?p ?x FILTER(?x = ?o && STRLEN($o) = 3) }", ":late\n");
    /* of a part that needs no SQL */
    sparql_assert_rows(self, "SELECT ?p { ?s ?p ?x MINUS { ?y ?z ?o } }", ":p\n");
}

/* NOW() is one moment of an execution, blank nodes are other ones in each row; both are new in the next one. */
static void
test_start(SparqlFixture *self, gconstpointer data)
{
    static const char now[] = "SELECT ?t { BIND(NOW() AS ?t) }";
    g_autofree char *first = sparql_try_query(self, now, NULL);
    g_autofree char *second = NULL;
    gint64 deadline_usec = g_get_monotonic_time() + 10 * G_USEC_PER_SEC;

    sparql_assert_rows(self, "SELECT (COUNT(DISTINCT ?t) AS ?n) { VALUES ?x { 1 2 3 } BIND(NOW() AS ?t) }", "1\n");
    sparql_assert_rows(self, "SELECT (COUNT(DISTINCT ?b) AS ?n) { VALUES ?x { 1 2 3 } BIND(BNODE() AS ?b) }", "3\n");
    do {
        g_free(second);
        second = sparql_try_query(self, now, NULL);
    } while (g_strcmp0(first, second) == 0 && g_get_monotonic_time() < deadline_usec);
    g_assert_cmpstr(first, !=, second);
}

static int
stop_at(void *data)
{
    guint *n_left = data;

    return (*n_left)-- == 0;
}

/* SQLite's own steps, and a function of ours that takes long by itself: both end when they are asked to. */
static void
test_watch(SparqlFixture *self, gconstpointer data)
{
    static const char *const texts[] = {
        "SELECT (COUNT(*) AS ?n) { ?a :p ?b . ?c :p ?d . ?e :p ?f . ?g :p ?h }",
        "SELECT ?x { ?x (:p|^:p)* ?y }",
    };
    g_autofree char *links = sparql_repeat(":n{i} :p :n{j}", " . ", 0, 300);
    g_autofree char *insert = g_strdup_printf("INSERT DATA { %s }", links);

    (void) sparql_update(self, insert);
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(GError) error = NULL;
        guint n_left = 3;

        qd_evaluation_watch(self->store.writer, 1000, stop_at, &n_left);
        g_assert_null(sparql_try_query(self, texts[i], &error));
        g_assert_nonnull(error);
        g_assert_cmpuint(n_left, ==, G_MAXUINT);
        qd_evaluation_watch(self->store.writer, 0, NULL, NULL);
    }
    sparql_assert_rows(self, "SELECT (COUNT(*) AS ?n) { ?a :p ?b }", "300\n");
}

static void
test_resolver(SparqlFixture *self, gconstpointer data)
{
    QdResolver resolver = qd_evaluation_get_resolver(self->store.writer);
    QdTerm term = { .kind = QD_TERM_IRI, .lexical = SPARQL_EX "stored", .n_lexical = strlen(SPARQL_EX "stored") };
    g_autoptr(GError) error = NULL;
    QdTerm found;
    gint64 id = 77;

    g_assert_false(resolver.find_id(resolver.data, &term, &id, &error));
    g_assert_no_error(error); /* not stored is no error */
    (void) sparql_update(self, "INSERT DATA { :stored :p 1 }");
    g_assert_true(resolver.find_id(resolver.data, &term, &id, &error));
    g_assert_true(resolver.get_term(resolver.data, id, &found, &error));
    g_assert_true(qd_term_equal(&found, &term));
    g_assert_false(resolver.get_term(resolver.data, qd_term_id_from_sequence(1000000, QD_TERM_IRI), &found, &error));
    g_assert_nonnull(error);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) \
    g_test_add("/read/evaluation/" path, SparqlFixture, NULL, sparql_fixture_set_up, func, sparql_fixture_tear_down)
    ADD("constants", test_constants);
    ADD("snapshots", test_snapshots);
    ADD("parameters", test_parameters);
    ADD("start", test_start);
    ADD("watch", test_watch);
    ADD("resolver", test_resolver);
    return g_test_run();
}
