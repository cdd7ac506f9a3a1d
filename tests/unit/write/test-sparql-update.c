/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Updates on the writer's connection: what they count, what they tell to those who watch, and what is left after a failure.
 * The resulting datasets of all forms are golden cases (tests/data/sparql).
 */
#include "daemon/write/sparql-update.h"

#include <string.h>

#include "daemon/plan/compile.h"
#include "daemon/read/plans.h"
#include "daemon/sqlite/vfs/temp-files.h"
#include "tests/unit/sparql/sparql-fixture.h"

static void
assert_names(const QdNameSet *names, const char *expected)
{
    g_autoptr(GPtrArray) list = qd_name_set_list(names);
    g_autoptr(GString) joined = g_string_new(NULL);

    for (guint i = 0; i < list->len; i++) {
        const char *name = list->pdata[i];

        g_string_append_printf(joined, "%s%s", i > 0 ? " " : "",
                               g_str_has_prefix(name, SPARQL_EX) ? name + strlen(SPARQL_EX) : "default");
    }
    g_assert_cmpstr(joined->str, ==, expected);
}

static void
assert_changed(SparqlFixture *self, const char *text, guint64 n_changes, const char *graphs, const char *predicates)
{
    guint64 n = sparql_update(self, text);

    if (n != n_changes)
        g_error("%s: %" G_GUINT64_FORMAT " changes", text, n);
    assert_names(self->changed->graphs, graphs);
    assert_names(self->changed->predicates, predicates);
}

/* Only what really changed counts, and is reported. */
static void
test_changed(SparqlFixture *self, gconstpointer data)
{
    assert_changed(self, "INSERT DATA { :a :p 1 , 2 . GRAPH :g { :a :q 1 } }", 3, "default g", "p q");
    assert_changed(self, "INSERT DATA { :a :p 1 . GRAPH :g { :a :q 1 } }", 0, "", "");
    assert_changed(self, "DELETE DATA { :a :p 3 . GRAPH :h { :a :q 1 } }", 0, "", "");
    assert_changed(self, "DELETE { ?s :p 1 } INSERT { ?s :r 1 } WHERE { ?s :p 1 }", 2, "default", "p r");
    assert_changed(self, "COPY :g TO :h", 1, "h", "q");
    assert_changed(self, "DROP GRAPH :g ; INSERT DATA { :b :s 1 }", 2, "default g", "q s");
    assert_changed(self, "CREATE GRAPH :new", 0, "new", "");
    assert_changed(self, "CLEAR ALL", 4, "default h", "p q r s");
    assert_changed(self, "CLEAR ALL ; CLEAR SILENT GRAPH :nothing ; LOAD SILENT <http://nowhere/>", 0, "", "");
}

/* What has no WHERE needs no table of solutions: it took four statements of SQL more. */
static void
test_no_table(SparqlFixture *self, gconstpointer data)
{
    sqlite3 *db = qd_connection_get_db(self->store.writer);
    sqlite3_stmt *stmt = NULL;

    assert_changed(self, "INSERT DATA { :a :p 1 , [ :q 2 ] } ; DELETE DATA { :a :p 1 }", 4, "default", "p q");
    g_assert_cmpint(sqlite3_prepare_v2(db, "SELECT name FROM temp.sqlite_master", -1, &stmt, NULL), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_step(stmt), ==, SQLITE_DONE);
    (void) sqlite3_finalize(stmt);
    assert_changed(self, "INSERT { :a :r 1 } WHERE { }", 1, "default", "r");
}

/* Above what is kept apart it is all of them, and never less. */
static void
test_changed_all(SparqlFixture *self, gconstpointer data)
{
    g_autofree char *quads = sparql_repeat("GRAPH :g{i} { :a :p 1 }", " ", 0, 64);
    g_autofree char *text = g_strdup_printf("INSERT DATA { %s }", quads);

    g_assert_cmpuint(sparql_update(self, text), ==, 64);
    g_assert_false(qd_name_set_is_all(self->changed->graphs));
    g_assert_true(qd_name_set_has(self->changed->graphs, SPARQL_EX "g63"));
    g_assert_cmpuint(sparql_update(self, "CLEAR NAMED ; INSERT DATA { :a :p 1 }"), ==, 65);
    g_assert_true(qd_name_set_is_all(self->changed->graphs));
    g_assert_false(qd_name_set_is_all(self->changed->predicates));
}

/* What cannot be a quad is left out, the rest of the solution is not. */
static void
test_no_quads(SparqlFixture *self, gconstpointer data)
{
    (void) sparql_update(self, "INSERT DATA { :a :p 1 , \"x\" , :b , _:b }");
    g_assert_cmpuint(sparql_update(self, "INSERT { ?o :q 1 } WHERE { :a :p ?o }"), ==, 2); /* no literals */
    g_assert_cmpuint(sparql_update(self, "INSERT { :a ?o 1 } WHERE { :a :p ?o }"), ==, 1); /* nor blank nodes */
    g_assert_cmpuint(sparql_update(self, "INSERT { GRAPH ?o { :a :q 1 } } WHERE { :a :p ?o }"), ==, 1);
    g_assert_cmpuint(sparql_update(self, "INSERT { :u :q ?o , ?none } WHERE { :a :p ?o }"), ==, 4);
    g_assert_cmpuint(sparql_update(self, "INSERT { ?c :q ?d } WHERE { BIND(CONCAT('x', 'y') AS ?c) BIND(IRI(CONCAT('http://', "
                                         "'new')) AS ?d) }"),
                     ==, 0);
    g_assert_cmpuint(sparql_update(self, "DELETE { :u :q ?o , ?x . ?o :q 1 } WHERE { :a :p ?o BIND(BNODE() AS ?x) }"), ==, 6);
}

/* One for each use of BNODE() and for each solution of a template's label; another in each operation. */
static void
test_blank_nodes(SparqlFixture *self, gconstpointer data)
{
    (void) sparql_update(self, "INSERT { _:l :of ?n . ?b :of ?n . ?b :with _:l } WHERE { VALUES ?n { 1 2 } BIND(BNODE() AS ?b) }");
    sparql_assert_rows(self, "SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT ?x) AS ?d) { ?x :of ?v }", "4\t4\n");
    sparql_assert_rows(self, "SELECT (COUNT(*) AS ?c) { ?b :with ?l . ?b :of ?n . ?l :of ?n }", "2\n");
    (void) sparql_update(self, "CLEAR ALL ; INSERT { ?b :one 1 } WHERE { BIND(BNODE() AS ?b) } ;"
                               "INSERT { ?b :one 1 } WHERE { BIND(BNODE() AS ?b) } ; INSERT DATA { _:x :one 1 . _:x :two 2 } ;"
                               "INSERT { _:x :one 1 } WHERE {}");
    sparql_assert_rows(self, "SELECT (COUNT(DISTINCT ?x) AS ?n) { ?x :one 1 }", "4\n");
    /* BNODE("x") is one node in each solution */
    (void) sparql_update(self, "CLEAR ALL ; INSERT { ?a :is ?b } WHERE { VALUES ?n { 1 2 } BIND(BNODE('x') AS ?a) "
                               "BIND(BNODE('x') AS ?b) }");
    sparql_assert_rows(self, "SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT ?a) AS ?d) { ?a :is ?a }", "2\t2\n");
}

/* All solutions are there before the first quad changes; the deletions of all of them come before the insertions. */
static void
test_order(SparqlFixture *self, gconstpointer data)
{
    (void) sparql_update(self, "INSERT DATA { :a :n 1 . :b :n 2 . :c :n 3 }");
    g_assert_cmpuint(sparql_update(self, "DELETE { ?s :n ?n } INSERT { ?s :n ?m } WHERE { ?s :n ?n BIND(?n + 1 AS ?m) }"), ==, 6);
    sparql_assert_rows(self, "SELECT ?s ?n { ?s :n ?n } ORDER BY ?s", ":a\t2\n:b\t3\n:c\t4\n");
    /* each insertion would be one more solution */
    g_assert_cmpuint(sparql_update(self, "INSERT { ?o :n ?s } WHERE { ?s :n ?o FILTER(ISIRI(?s)) }"), ==, 0);
    g_assert_cmpuint(sparql_update(self, "INSERT { ?s :m [ :n ?o ] } WHERE { ?s :n ?o }"), ==, 6);
    g_assert_cmpuint(sparql_update(self, "DELETE { ?s ?p ?o } INSERT { ?s ?p ?o } WHERE { ?s ?p ?o }"), ==, 18);
    sparql_assert_rows(self, "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", "9\n");
}

static void
assert_failed(SparqlFixture *self, const char *text, QwError code, const char *words)
{
    g_autoptr(GError) error = NULL;
    guint64 n_changes = 77;

    g_assert_false(sparql_try_update(self, text, &n_changes, &error));
    store_assert_error(error, code, words);
    g_assert_cmpuint(n_changes, ==, 77);
}

static void
test_failures(SparqlFixture *self, gconstpointer data)
{
    g_autofree char *name = g_strnfill(5000, 'x');
    g_autofree char *text = g_strdup_printf("CLEAR GRAPH :%s", name);
    g_autoptr(GError) error = NULL;
    guint64 n;

    assert_failed(self, "CLEAR GRAPH :g", QW_ERROR_CONSTRAINT, "graph <" SPARQL_EX "g> does not exist");
    assert_failed(self, "INSERT DATA { :a :p 1 } ; DROP GRAPH :g", QW_ERROR_CONSTRAINT,
                  "operation 2 of the update: graph <" SPARQL_EX "g> does not exist");
    assert_failed(self, "CREATE GRAPH :g ; CREATE SILENT GRAPH :g ; CREATE GRAPH :g", QW_ERROR_CONSTRAINT,
                  "operation 3 of the update: graph <" SPARQL_EX "g> exists already");
    assert_failed(self, "MOVE :h TO :g", QW_ERROR_CONSTRAINT, "graph <" SPARQL_EX "h> does not exist");
    assert_failed(self, "LOAD <http://e/x>", QW_ERROR_UNSUPPORTED, "LOAD <http://e/x>: this daemon opens no files and no network");
    assert_failed(self, "INSERT { :a :p ?x } WHERE { SERVICE <http://e/> { :a :p ?x } }", QW_ERROR_UNSUPPORTED, "SERVICE");

    /* the message of a long name stays short */
    g_assert_false(sparql_try_update(self, text, &n, &error));
    g_assert_cmpuint(strlen(error->message), <, 300);
}

/* The guard lets our own statements through for the time of the update only, however it ends. */
static void
test_policy(SparqlFixture *self, gconstpointer data)
{
    static const char *const texts[] = { "INSERT DATA { :a :p 1 }", "DROP GRAPH :nothing" };

    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        guint64 n;

        (void) qd_connection_set_policy(self->store.writer, QD_POLICY_INTERNAL);
        (void) sparql_try_update(self, texts[i], &n, NULL);
        g_assert_cmpint(qd_connection_set_policy(self->store.writer, QD_POLICY_INTERNAL), ==, QD_POLICY_INTERNAL);
    }
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autofree char *full = g_strdup_printf("PREFIX : <" SPARQL_EX "> %s", texts[i]);
        const QdSparqlOptions options = { .limits = &self->store.limits };
        g_autoptr(QdSparqlPlan) plan = qd_sparql_compile(full, strlen(full), TRUE, &options, NULL, NULL);
        guint64 n;

        (void) qd_connection_set_policy(self->store.writer, QD_POLICY_READ);
        (void) qd_sparql_update_run(self->store.writer, plan, &self->store.limits, NULL, self->changed, &n, NULL);
        g_assert_cmpint(qd_connection_set_policy(self->store.writer, QD_POLICY_INTERNAL), ==, QD_POLICY_READ);
    }
}

static void
test_parameters(SparqlFixture *self, gconstpointer data)
{
    QwValue value = { .type = QW_TYPE_TEXT, .data = "a value", .n_bytes = 7 };
    g_autoptr(GError) error = NULL;

    self->parameters = qd_plans_new_parameters();
    g_assert_true(qd_plans_add_parameter(self->parameters, "$x", &value, &error));
    g_assert_cmpuint(sparql_update(self, "INSERT { :a :p $x } WHERE {}"), ==, 1);
    g_assert_cmpuint(sparql_update(self, "INSERT { ?s :q ?x } WHERE { ?s :p $x }"), ==, 1);
    sparql_assert_rows(self, "SELECT ?p ?o { :a ?p ?o } ORDER BY ?p", ":p\ta value\n:q\ta value\n");
    g_assert_cmpuint(sparql_update(self, "DELETE WHERE { :a ?p $x }"), ==, 2);
}

/* A row of solutions has as many columns as SQLite gives a table, but for its own; more is an error. */
static void
test_wide(SparqlFixture *self, gconstpointer data)
{
    static const guint sizes[] = { 1, 3, 100, 1999, 2000, 2001 };

    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autofree char *templates = sparql_repeat(":s :p{i} ?v{i}", " . ", 0, sizes[i]);
        g_autofree char *values = sparql_repeat("?v{i}", " ", 0, sizes[i]);
        g_autofree char *row = sparql_repeat("{i}", " ", 0, sizes[i]);
        g_autofree char *text = g_strdup_printf("INSERT { %s } WHERE { VALUES (%s) { (%s) } }", templates, values, row);

        if (sizes[i] < 2000) {
            g_assert_cmpuint(sparql_update(self, text), ==, sizes[i]);
            g_assert_cmpuint(sparql_update(self, "CLEAR ALL"), ==, sizes[i]);
        } else {
            g_autofree char *words = g_strdup_printf("the templates have %u variables: SQLite takes 1999", sizes[i]);

            assert_failed(self, text, QW_ERROR_TOO_COMPLEX, words);
        }
    }
}

/* All temporary files of a process count against one limit: those of an update that is done must not stay. */
static void
test_temp_files(SparqlFixture *self, gconstpointer data)
{
    g_autofree char *nodes = sparql_repeat(":n{i}", " ", 0, 700);
    g_autofree char *text = g_strdup_printf("INSERT { ?a :p ?a } WHERE { VALUES ?a { %s } VALUES ?b { %s } }", nodes, nodes);

    g_assert_cmpuint(sparql_update(self, text), ==, 700);
    g_assert_cmpuint(qd_temp_files_get_bytes(), >, 1024 * 1024);
    store_execute(self->store.writer, "COMMIT; BEGIN");
    g_assert_cmpuint(qd_temp_files_get_bytes(), <, 1024 * 1024);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) \
    g_test_add("/write/sparql-update/" path, SparqlFixture, NULL, sparql_fixture_set_up, func, sparql_fixture_tear_down)
    ADD("changed", test_changed);
    ADD("no-table", test_no_table);
    ADD("changed-all", test_changed_all);
    ADD("no-quads", test_no_quads);
    ADD("blank-nodes", test_blank_nodes);
    ADD("order", test_order);
    ADD("failures", test_failures);
    ADD("policy", test_policy);
    ADD("parameters", test_parameters);
    ADD("wide", test_wide);
    ADD("temp-files", test_temp_files);
    return g_test_run();
}
