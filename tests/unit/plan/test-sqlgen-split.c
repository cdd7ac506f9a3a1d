/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Joins case by case of a UNION or an OPTIONAL: they have the same solutions, and what a case leaves unbound is not searched for.
 */
#include <string.h>

#include "tests/unit/sparql/sparql-fixture.h"

#define N 100

/* x1 … in a chain of :up, of which the last has an :a. */
static void
set_up(SparqlFixture *self, gconstpointer data)
{
    g_autofree char *nodes = NULL;
    g_autofree char *text = NULL;

    sparql_fixture_set_up(self, data);
    nodes = sparql_repeat(":x{i} :up :x{j} .", " ", 1, N);
    text = g_strdup_printf("INSERT DATA { %s :x%d :a :y }", nodes, N + 1);
    g_assert_cmpuint(sparql_update(self, text), ==, N + 1);
}

#define PAIRS ((gint64) N * (N + 1) / 2)

static const struct {
    const char *pattern;
    gboolean is_split;
    gint64 n;
} cases[] = {
    /* ?z is the last node for all */
    { "?x :up+ ?y OPTIONAL { ?x :up+ ?z . ?z :a ?v } ?y :up+ ?z . ?y :up* ?w", FALSE, PAIRS *(N + 5) / 3 - N - PAIRS },
    /* ?z is unbound, and then any */
    { "?x :up+ ?y OPTIONAL { ?x :up+ ?z . ?z :none ?v } ?y :up+ ?z", FALSE, PAIRS *(N - 1) / 3 },
    /* what is unbound is not compared */
    { "?x :up+ ?y . ?y :up* ?w . ?w :up* ?r OPTIONAL { ?y :none ?z . ?z :up ?v } MINUS { ?x :up* ?u . ?x :up* ?z }", TRUE, 0 },
    { "?x :up+ ?y . ?y :up* ?w OPTIONAL { ?x :a ?z } OPTIONAL { ?y :none ?z . ?z :up ?v } MINUS { ?x :a ?u . ?x :up* ?z }", FALSE,
      PAIRS *(N + 2) / 3 },
    /* a later part has a variable of the OPTIONAL */
    { "?x :up+ ?y . ?y :up* ?w OPTIONAL { ?y :a ?z } ?w :a ?z", FALSE, PAIRS },
    /* parts of an EXISTS that share only what is bound outside */
    { "?x :up+ ?y . ?x :up ?w FILTER NOT EXISTS { ?y :up+ ?u . ?u :a ?t . ?w :up+ ?v . ?v :a ?s }", FALSE, N },
    { "?x :up+ ?y . ?x :up ?w MINUS { ?y :up+ ?u . ?u :a ?t . ?w :up+ ?v . ?v :a ?s }", FALSE, N },
    /* a group that counts, for many solutions */
    { "?a :up+ ?x { SELECT ?x (COUNT(*) AS ?k) { ?x :up+ ?y . ?z :up* ?x } GROUP BY ?x } FILTER(?k = 100)", FALSE, N - 1 },
    /* what shares nothing, and has no rows */
    { "?x :up+ ?y . ?y :up* ?w . ?a :up+ ?b . ?b :none ?c", FALSE, 0 },
    /* an arm leaves unbound what EXISTS and MINUS name */
    { "?x :up+ ?y { ?x :up :x3 } UNION { ?z :up ?x } FILTER EXISTS { ?z :up :x4 . ?z :up+ ?w }", TRUE, (N - 1) + (N - 3) },
    { "?x :up+ ?y { ?x :up :x3 } UNION { ?z :up ?x } MINUS { ?z :up :x4 . ?z :up+ ?w }", TRUE,
      (N - 1) + (N - 1) * N / 2 - (N - 3) },
    { "?x :up+ ?y { ?x :up :x3 } UNION { ?z :up ?x } FILTER NOT EXISTS { ?y :a ?u . ?z :up+ ?w }", TRUE,
      (N - 2) + (N - 1) * N / 2 - (N - 1) },
};

static void
test_solutions(SparqlFixture *self, gconstpointer data)
{
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        gint64 n = sparql_take_number(self, g_strdup_printf("SELECT (COUNT(*) AS ?n) { %s }", cases[i].pattern));

        if (n != cases[i].n)
            g_error("%s: %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT, cases[i].pattern, n, cases[i].n);
    }
}

static void
test_split(SparqlFixture *self, gconstpointer data)
{
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = g_strdup_printf("SELECT * { %s }", cases[i].pattern);
        g_autofree char *sql = sparql_get_sql_of(self, text);

        if (cases[i].is_split && strstr(sql, "AS NOT MATERIALIZED (SELECT ") == NULL)
            g_error("%s: %s", cases[i].pattern, sql);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/plan/sqlgen-split/solutions", SparqlFixture, NULL, set_up, test_solutions, sparql_fixture_tear_down);
    g_test_add("/plan/sqlgen-split/split", SparqlFixture, NULL, set_up, test_split, sparql_fixture_tear_down);
    return g_test_run();
}
