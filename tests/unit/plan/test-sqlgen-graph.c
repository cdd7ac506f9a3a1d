/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which quads a pattern sees: the default graph, datasets of any number of graphs, GRAPH with a name and with a variable.
 */
#include "tests/unit/sparql/sparql-fixture.h"

#define N_GRAPHS 70u

/* :a :p 0 is in each of them, and a number of its own; :e is empty. */
static void
set_up(SparqlFixture *self, gconstpointer data)
{
    g_autofree char *graphs = sparql_repeat("GRAPH :g{i} { :a :p 0 ; :n {j} }", " ", 0, N_GRAPHS);
    g_autofree char *text = g_strdup_printf("INSERT DATA { :a :p 0 ; :n 0 . %s } ; CREATE GRAPH :e", graphs);

    sparql_fixture_set_up(self, data);
    (void) sparql_update(self, text);
}

static gint64
ask(SparqlFixture *self, const char *from, const char *pattern)
{
    return sparql_take_number(self, g_strdup_printf("SELECT (COUNT(*) AS ?c) %s { %s }", from, pattern));
}

static void
test_default(SparqlFixture *self, gconstpointer data)
{
    g_assert_cmpint(ask(self, "", ":a ?p ?o"), ==, 2);
    g_assert_cmpint(ask(self, "", "GRAPH ?g { :a :p 0 }"), ==, N_GRAPHS);
    g_assert_cmpint(ask(self, "", "GRAPH ?g {}"), ==, N_GRAPHS + 1);
    g_assert_cmpint(ask(self, "", "GRAPH :e {}"), ==, 1);
    g_assert_cmpint(ask(self, "", "GRAPH :none {}"), ==, 0);
    g_assert_cmpint(ask(self, "", "GRAPH :none { BIND(1 AS ?x) }"), ==, 0);
    g_assert_cmpint(ask(self, "", "GRAPH ?g { BIND(1 AS ?x) }"), ==, N_GRAPHS + 1);
    g_assert_cmpint(ask(self, "", "GRAPH ?g { VALUES ?g { :g1 :e :none } }"), ==, 2);
    g_assert_cmpint(ask(self, "", "VALUES ?g { :g1 :e :none } GRAPH ?g { }"), ==, 2);
    g_assert_cmpint(ask(self, "", "GRAPH ?g { ?g :p 0 }"), ==, 0);
    g_assert_cmpint(ask(self, "", "GRAPH ?g { :a :n 1 } GRAPH ?g { :a :p 0 }"), ==, 1);
    g_assert_cmpint(ask(self, "", "GRAPH ?g { :a :n ?n } GRAPH ?h { :a :n ?n }"), ==, N_GRAPHS);
    g_assert_cmpint(ask(self, "", "GRAPH ?g { GRAPH ?h { :a :n 1 } }"), ==, N_GRAPHS + 1);
    g_assert_cmpint(ask(self, "", "GRAPH ?g { OPTIONAL { :a :n ?n FILTER(?n > 68) } }"), ==, N_GRAPHS + 1);
    g_assert_cmpint(ask(self, "", "GRAPH ?g { { SELECT (COUNT(*) AS ?k) { :a ?p ?o } } } FILTER(?k = 2)"), ==, N_GRAPHS);
    g_assert_cmpint(ask(self, "", "GRAPH ?g { FILTER NOT EXISTS { :a :p 0 } }"), ==, 1);
}

/* What several graphs of FROM hold is one triple. */
static void
test_from(SparqlFixture *self, gconstpointer data)
{
    for (guint n = 1; n <= N_GRAPHS; n++) {
        g_autofree char *from = sparql_repeat("FROM :g{i}", " ", 0, n);
        g_autofree char *named = sparql_repeat("FROM NAMED :g{i}", " ", 0, n);
        g_autofree char *both = g_strdup_printf("%s %s FROM NAMED :none FROM :none", from, named);

        g_assert_cmpint(ask(self, from, ":a :p ?o"), ==, 1);
        g_assert_cmpint(ask(self, from, ":a ?p ?o"), ==, n + 1);
        g_assert_cmpint(ask(self, from, "?s :p ?o . ?s :n ?n"), ==, n);
        g_assert_cmpint(ask(self, from, "GRAPH ?g { :a :p ?o }"), ==, 0);
        g_assert_cmpint(ask(self, named, ":a :p ?o"), ==, 0);
        g_assert_cmpint(ask(self, named, "GRAPH ?g { :a :p ?o }"), ==, n);
        g_assert_cmpint(ask(self, named, "GRAPH :g69 { :a :p ?o }"), ==, n == N_GRAPHS ? 1 : 0);
        g_assert_cmpint(ask(self, both, ":a :n ?n GRAPH ?g { :a :n ?n }"), ==, n);
        g_assert_cmpint(ask(self, both, ":a :n ?n FILTER EXISTS { GRAPH ?g { :a :n ?n } }"), ==, n);
    }
    g_assert_cmpint(ask(self, "FROM :g1 FROM :g1", ":a ?p ?o"), ==, 2);
    g_assert_cmpint(ask(self, "FROM NAMED :g1 FROM NAMED :g1", "GRAPH ?g { :a ?p ?o }"), ==, 2);
    g_assert_cmpint(ask(self, "FROM NAMED :e FROM NAMED :g1", "GRAPH ?g {}"), ==, 2);
    g_assert_cmpint(ask(self, "FROM :none", "?s ?p ?o"), ==, 0);
}

/* The datasets of updates: WITH is for what names no graph, USING takes its place in the WHERE. */
static void
test_update(SparqlFixture *self, gconstpointer data)
{
    g_assert_cmpuint(sparql_update(self, "WITH :g1 INSERT { :x :is ?n } WHERE { :a :n ?n }"), ==, 1);
    g_assert_cmpint(ask(self, "", "GRAPH :g1 { :x :is 2 }"), ==, 1);
    g_assert_cmpuint(sparql_update(self, "WITH :g1 INSERT { :x :is ?n } USING :g2 USING :g3 WHERE { :a :n ?n }"), ==, 2);
    g_assert_cmpint(ask(self, "", "GRAPH :g1 { :x :is 3 , 4 }"), ==, 1);
    g_assert_cmpuint(sparql_update(self, "INSERT { :y :is ?n } USING NAMED :g5 WHERE { GRAPH ?g { :a :n ?n } }"), ==, 1);
    g_assert_cmpint(ask(self, "", ":y :is 6"), ==, 1);
    g_assert_cmpuint(sparql_update(self, "INSERT { :y :is ?n } USING NAMED :g5 WHERE { :a :n ?n }"), ==, 0);
    g_assert_cmpuint(
        sparql_update(self, "WITH :g1 DELETE { :x :is ?n . GRAPH ?g { :a :n ?n } } WHERE { :x :is ?n . GRAPH ?g { :a :n ?n } }"),
        ==, 6);
    g_assert_cmpuint(sparql_update(self, "WITH :none DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }"), ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) g_test_add("/plan/sqlgen-graph/" path, SparqlFixture, NULL, set_up, func, sparql_fixture_tear_down)
    ADD("default", test_default);
    ADD("from", test_from);
    ADD("update", test_update);
    return g_test_run();
}
