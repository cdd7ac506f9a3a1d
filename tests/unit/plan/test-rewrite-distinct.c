/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Paths under DISTINCT of which one end is of no interest: rows are the same, and no pairs are made of them.
 */
#include <string.h>

#include "tests/unit/sparql/sparql-fixture.h"

#define N_NODES 40

/* x1 … in a chain of :up, each with a name; :q is used as a node, :lone has nothing but a name. */
static void
set_up(SparqlFixture *self, gconstpointer data)
{
    g_autofree char *nodes = NULL;
    g_autofree char *text = NULL;

    sparql_fixture_set_up(self, data);
    nodes = sparql_repeat(":x{i} :up :x{j} ; :name \"{i}\" ; :kind :k .", " ", 1, N_NODES);
    text = g_strdup_printf("INSERT DATA { %s :lone :name \"lone\" . :q :name \"q\" . :x1 :q :x2 }", nodes);
    (void) sparql_update(self, text);
}

static void
test_rows_are_the_same(SparqlFixture *self, gconstpointer data)
{
    static const struct {
        const char *query;
        gint64 n;
    } cases[] = {
        { "SELECT DISTINCT ?x { ?x :name ?n . ?x :up+ ?y }", N_NODES },
        { "SELECT DISTINCT ?y { ?y :name ?n . ?x :up+ ?y }", N_NODES - 1 },
        { "SELECT DISTINCT ?x { ?x :up+ ?y }", N_NODES },
        { "SELECT DISTINCT ?y { ?x :up+ ?y }", N_NODES },
        { "SELECT DISTINCT ?x ?y { ?x :up+ ?y }", N_NODES * (N_NODES + 1) / 2 },
        { "SELECT DISTINCT ?x { ?x :name ?n . ?x :up* ?y }", N_NODES + 2 },
        { "SELECT DISTINCT ?x ?y { ?x :name ?n . ?x :up+ ?y }", N_NODES * (N_NODES + 1) / 2 },
        { "SELECT DISTINCT ?y { ?x :up* ?y . ?z :up? ?y }", 2 * N_NODES + 6 },
        { "SELECT DISTINCT ?y { ?x :up+ ?y . ?z :up* ?y . ?y :up+ ?w }", N_NODES - 1 },
        { "SELECT DISTINCT ?p { ?s ?p ?o . ?p :up* ?x }", 1 },
        { "SELECT DISTINCT ?p { ?s ?p ?o . ?x :up* ?p }", 1 },
        { "SELECT DISTINCT ?x { ?x :up* :nowhere . ?x :up* ?y }", 0 },
        { "SELECT DISTINCT ?x { ?x :name ?n . { ?x :up+ ?y } UNION { ?x :kind ?y } }", N_NODES },
        { "SELECT DISTINCT ?x { ?x :name ?n . { ?x :up+ ?y } UNION { ?y :up+ ?x } UNION { ?x :q ?z } }", N_NODES },
        { "SELECT DISTINCT ?x { ?x :name ?n . ?x (:up/:up)+ ?y . ?x (:up|:kind)+ ?z }", N_NODES - 1 },
        { "SELECT DISTINCT ?x ?n { ?x :name ?n { SELECT DISTINCT ?x { ?x :kind ?k . ?x :up+ ?y } } }", N_NODES },
        /* what leads nowhere is a condition, of one variable or two */
        { "SELECT DISTINCT ?x { ?x :kind ?k . ?x :up+ ?y . ?z :up+ ?y . ?z :up+ ?w }", N_NODES },
        { "SELECT DISTINCT ?x ?y { ?x :up+ ?y . ?x :up+ ?z . ?z :up+ ?y }", N_NODES * (N_NODES - 1) / 2 },
        { "SELECT DISTINCT ?y { ?x :up+ ?y . ?v :up/:up* ?z . ?z :up+ ?y . ?y :kind ?k }", N_NODES - 2 },
        { "SELECT DISTINCT ?x ?z { ?x :up+ ?y . ?y :up+ ?z . ?z :up* ?v . ?w :kind ?k . ?w :up+ ?v }",
          N_NODES * (N_NODES - 1) / 2 },
        { "?x :up ?v . ?w :up ?v { SELECT DISTINCT ?x ?y { ?x :up+ ?y . ?x :up+ ?w . ?w :up+ ?v } }",
          (N_NODES - 1) * (N_NODES + 2) / 2 },
        { "?w :up ?x { SELECT DISTINCT ?x ?y { ?x :up+ ?y . ?z :up+ ?y . ?z :up+ ?w } }", N_NODES * (N_NODES - 1) / 2 },
        /* a step more */
        { "SELECT DISTINCT ?x ?y { ?x :up/:up* ?y }", N_NODES * (N_NODES + 1) / 2 },
        { "SELECT DISTINCT ?x ?y { ?x :up*/:up ?y }", N_NODES * (N_NODES + 1) / 2 },
        { "SELECT DISTINCT ?x ?y { ?x ^:up/(^:up)* ?y }", N_NODES * (N_NODES + 1) / 2 },
        { "SELECT DISTINCT ?x ?y { ?x ^:up/:up* ?y . ?x :name ?n }", (N_NODES + 1) * (N_NODES + 2) / 2 - 3 },
        { "SELECT DISTINCT ?x ?y ?z { ?x :up ?z . ?z :up* ?y }", N_NODES * (N_NODES + 1) / 2 },
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        gint64 n = sparql_take_number(self, g_strdup_printf("SELECT (COUNT(*) AS ?count) { { %s } }", cases[i].query));

        if (n != cases[i].n)
            g_error("%s: %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT, cases[i].query, n, cases[i].n);
    }
}

static void
check_search(SparqlFixture *self, const char *pattern, gboolean searches)
{
    g_autofree char *sql = sparql_get_sql_of(self, pattern);

    if ((strstr(sql, "queryd_closure(") != NULL) != searches)
        g_error("%s: %s", pattern, sql);
}

static void
test_no_search_without_need(SparqlFixture *self, gconstpointer data)
{
    check_search(self, "SELECT * { { SELECT DISTINCT ?x { ?x :name ?n . ?x :up+ ?y } } ?x :up ?z }", FALSE);
    check_search(self, "SELECT * { { SELECT DISTINCT ?x { ?x :name ?n . ?y :up* ?x } } ?x :up ?z }", FALSE);
    check_search(self, "SELECT * { { SELECT DISTINCT ?x { ?x :up+ ?y } } ?x :kind ?z }", FALSE);
    check_search(self, "SELECT * { { SELECT DISTINCT ?x ?y { ?x :name ?n . ?x :up+ ?y } } ?x :up ?z }", TRUE);
    check_search(self, "SELECT * { { SELECT ?x { ?x :name ?n . ?x :up+ ?y } } ?x :up ?z }", TRUE);
    check_search(self, "SELECT * { { SELECT DISTINCT ?x { ?x :name ?n . ?x :up+ ?y . ?y :kind ?k } } ?x :up ?z }", TRUE);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/plan/rewrite-distinct/rows-are-the-same", SparqlFixture, NULL, set_up, test_rows_are_the_same,
               sparql_fixture_tear_down);
    g_test_add("/plan/rewrite-distinct/no-search-without-need", SparqlFixture, NULL, set_up, test_no_search_without_need,
               sparql_fixture_tear_down);
    return g_test_run();
}
