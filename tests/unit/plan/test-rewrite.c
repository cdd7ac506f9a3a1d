/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Joins and filters that are rewritten: when they are, and that they keep their solutions.
 */
#include <string.h>

#include "tests/unit/sparql/sparql-fixture.h"

#define N SPARQL_N_CIRCLE

/* Number of solutions on the circle of :p. */
typedef struct Case {
    const char *pattern;
    gint64 n;
} Case;

static const Case cases[] = {
    /* a variable that a subselect hides is another one outside */
    { "?x :p ?y { SELECT ?y { ?y :p ?x } }", N },
    { "?x :p ?y { SELECT ?y { ?x :p+ ?y } }", N *N },
    { "?x :p ?y { SELECT ?y ?z { ?y :p+ ?z . ?z :p ?x } }", N *N },
    { "?x :p ?y { SELECT ?y { { ?y :p ?z } UNION { ?y :none ?z } } } ?x :p ?z", N },
    { "?x :p ?y { SELECT ?y { ?y :p ?z } } { SELECT ?y { ?z :p+ ?y } }", N *N },
    /* OPTIONAL and MINUS after the join, or not where it binds what they take */
    { "?x :p ?y OPTIONAL { ?y :p :n3 . ?y :p ?z } ?x :p+ ?w", N *N },
    { "?x :p ?y OPTIONAL { ?y :p :n3 . ?y :p ?z } ?x :p ?z", N - 1 },
    { "?x :p ?y OPTIONAL { ?y :none ?z } ?z :p ?w", N *N },
    { "?x :p ?y OPTIONAL { ?y :p ?z OPTIONAL { ?z :none ?u } } OPTIONAL { ?z :p ?v } ?x :p+ ?w", N *N },
    { "?x :p ?y MINUS { ?y :p :n3 } ?x :p+ ?w", (N - 1) * N },
    { "?x :p ?y MINUS { ?v :p :n3 } ?v :p ?w", N *N },
    { "?x :p ?y { ?y :p ?z } UNION { ?y :p ?w } { ?z :p? ?z . ?y :p+ ?z } UNION { ?y :none ?z }", N + N *N },
    { "?x :p ?y OPTIONAL { ?y :p ?z FILTER(?w = ?z) } ?x :p+ ?w", N *N },
    { "{ ?x :p ?y OPTIONAL { ?y :p ?z } } { ?x :p ?w OPTIONAL { ?w :p ?z } }", N },
    { "?x :p ?y OPTIONAL { ?y :none ?z } ?x :p+ ?w FILTER(!BOUND(?z))", N *N },
    /* what shares nothing */
    { "MINUS { ?u :p+ :n3 } ?x :p+ ?y", N *N },
    { "?x :p ?y FILTER EXISTS { ?u :p+ ?v . ?v :p ?w }", N },
    { "?x :p ?y FILTER NOT EXISTS { ?u :p+ ?v . ?v :p ?w }", 0 },
    { "?x :p ?y FILTER NOT EXISTS { ?u :p+ ?v . ?v :none ?w }", N },
    { "?x :p ?y . ?a :p ?b OPTIONAL { ?y :p+ ?z }", N *N *N },
    { "?x :p ?y . ?a :p ?b OPTIONAL { ?y :p+ ?z . ?z :none ?b }", N *N },
    { "{ ?x :p ?y . ?a :p ?b MINUS { ?y :p+ :n3 . ?y :p :n3 } }", (N - 1) * N },
    { "?x :p ?y { { ?a :p+ ?b MINUS { ?a :p :n3 } } MINUS { ?b :p :n3 } }", N *(N - 1) * (N - 1) },
    /* groups inside of EXISTS; what they count is no variable of theirs */
    { "?x :p ?y FILTER EXISTS { SELECT ?y (COUNT(*) AS ?c) { ?z :p+ ?y } GROUP BY ?y }", N },
    { "?x :p ?y FILTER NOT EXISTS { SELECT ?y (COUNT(*) AS ?c) { ?z :none ?y } GROUP BY ?y }", N },
    { "?x :p ?c FILTER EXISTS { SELECT ?x (COUNT(*) AS ?c) { ?x :p+ ?z } GROUP BY ?x }", 0 },
    { "?x :p ?y FILTER EXISTS { SELECT (COUNT(*) AS ?c) { ?z :none ?y } }", N },
    /* MINUS by one variable, unbound on either side */
    { "?x :p ?y OPTIONAL { ?y :p ?z . ?z :p :n3 } MINUS { ?z :p+ ?w }", N - 1 },
    { "?x :p ?y OPTIONAL { ?y :none ?z } MINUS { ?z :p+ ?w }", N },
    { "?x :p ?y MINUS { ?u :p+ ?w OPTIONAL { ?u :p ?y . ?y :p :n3 } }", N - 1 },
    /* ends of a free path that are tested before it is searched */
    { "?x :p+ ?y MINUS { ?x :p ?z . ?z :p :n3 }", (N - 1) * N },
    { "?x :p+ ?y FILTER NOT EXISTS { ?y :p :n3 }", (N - 1) * N },
    { "?x (:p|:none)+ ?y FILTER NOT EXISTS { ?y :p :n3 } MINUS { ?x :p :n3 }", (N - 1) * (N - 1) },
    { "?x (:p/:p)+ ?y FILTER EXISTS { ?x :p+ ?z . ?z :p :n3 } MINUS { ?u :none ?y }", N *N },
    /* a number that is no node */
    { "{ SELECT ?y (COUNT(*) AS ?m) { ?y :p+ ?z . ?z :p+ ?v } GROUP BY ?y } FILTER NOT EXISTS { ?m :p+ ?w }", N },
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

/* The SQL of @pattern has @part, or not. */
static void
check(const char *pattern, const char *part, gboolean expected)
{
    g_autofree char *text = g_strdup_printf("SELECT * { %s }", pattern);
    g_autofree char *sql = sparql_get_sql(text);

    if ((strstr(sql, part) != NULL) != expected)
        g_error("%s: %s", pattern, sql);
}

static void
test_subselects_are_opened(void)
{
    check("?x :few ?y { SELECT ?y ?z { ?z :p+ ?y } }", "WITH", FALSE);
    /* a path is a set; with a variable less it is not */
    check("?x :few ?y { SELECT DISTINCT ?y ?z { ?z :p+ ?y } }", "WITH", FALSE);
    check("?x :few ?y { SELECT DISTINCT ?y ?z { ?z :p+ ?y . ?y :p ?w } }", "DISTINCT", TRUE);
    check("?x :few ?y { SELECT DISTINCT ?y ?z { ?z :p+ ?y . ?y :p+ ?w } }", "CROSS JOIN queryd_closure(q0.o", TRUE);
    check("?x :few ?y { SELECT DISTINCT ?y ?z { ?z :p|:q ?y } }", "DISTINCT", TRUE);
    check("?x :few ?y { SELECT ?y ?z { ?z :p+ ?y } LIMIT 5 }", "WITH", TRUE);
    /* a product is not searched for each row */
    check("?x :few ?y { SELECT ?v ?z { ?z :p+ ?v } }", "WITH", TRUE);
}

/* What a triple, MINUS or EXISTS asks of the nodes that a path leads to is known to the search. */
static void
test_searches_have_conditions(void)
{
    check("?x :few ?y . ?y :p+ ?z . ?z :q ?w", ",3,", TRUE);
    check("?x :few ?y . ?y :p+ ?z . ?z :q :o", ",5,", TRUE);
    check("?x :few ?y . ?y :p+ ?z . ?w :q ?z", ",-3,", TRUE);
    check("?x :few ?y . ?y :p+ ?z MINUS { ?z :q ?w }", ",4,", TRUE);
    check("?x :few ?y . ?y :p+ ?z FILTER NOT EXISTS { ?w :q ?z }", ",-4,", TRUE);
    /* one that is there for another ?x takes nothing away */
    check("?x :few ?y . ?y :p+ ?z MINUS { ?z :q ?x }", ",4,", FALSE);
    check("?x :few ?y . ?y :p+ ?z FILTER NOT EXISTS { ?z :q ?x }", ",4,", FALSE);
    check("?x :few ?y . ?y :p+ ?z OPTIONAL { ?z :q ?w }", ",3,", FALSE);
    check("?x :few ?y . ?y :p+ ?z { SELECT ?w { ?z :q ?w } }", ",3,", FALSE);
}

static void
test_what_is_left_comes_last(void)
{
    check("?x :few ?y OPTIONAL { ?y :q ?z } ?x :p ?w", "CROSS JOIN queryd_quad AS q1 LEFT JOIN", TRUE);
    check("?x :few ?y OPTIONAL { ?y :q ?z } ?z :p ?w", "CROSS JOIN queryd_quad AS q1 LEFT JOIN", FALSE);
    /* a condition waits for it */
    check("?x :few ?y OPTIONAL { ?y :q ?z } ?x :p ?w FILTER(?z = 5)", "CROSS JOIN queryd_quad AS q1 LEFT JOIN", FALSE);
}

static void
test_what_shares_nothing_is_by_itself(void)
{
    check("MINUS { ?u :p+ ?v } ?x :p+ ?y . ?z :p+ ?x", "EXISTS(", FALSE);
    check("?x :few ?y FILTER EXISTS { ?u :p+ ?v . ?v :p+ ?w }", "AS MATERIALIZED (SELECT n.n", FALSE);
    check("?x :few ?y FILTER EXISTS { ?u :p+ ?y . ?v :p+ ?u }", "queryd_closure(q0.o,", TRUE);
    /* an OPTIONAL keeps no product */
    check("?x :few ?y . ?u :few ?v OPTIONAL { ?y :p+ ?z . ?z :q ?w }", "MATERIALIZED (SELECT q0.s,q0.o,q1.s,q1.o", FALSE);
    /* nor is one part searched for each row of another */
    check("?x :few ?y { ?u :p+ ?v . ?w :q ?u MINUS { ?v :q ?t } }", "CROSS JOIN queryd_quad AS q5 WHERE", TRUE);
    check("{ SELECT (COUNT(*) AS ?n) { ?a :q ?b } } ?x :few ?y { ?x :p ?z } UNION { ?x :q ?z }", "AS MATERIALIZED (SELECT c1",
          TRUE);
}

static void
test_groups_and_minus_are_looked_up(void)
{
    check("?x :few ?y FILTER NOT EXISTS { SELECT ?y (COUNT(*) AS ?n) { ?z :p+ ?y . ?v :p ?y } GROUP BY ?y }", "GROUP BY", FALSE);
    check("?x :few ?y FILTER NOT EXISTS { SELECT ?y (COUNT(*) AS ?x) { ?z :p+ ?y . ?v :p ?y } GROUP BY ?y }", "GROUP BY", TRUE);
    check("?x :few ?y OPTIONAL { ?y :q ?z } MINUS { ?v :p+ ?z }", "=+q1.o OR q1.o IS NULL", FALSE);
    check("?x :few ?y OPTIONAL { ?y :q ?z } MINUS { ?v :p+ ?z . ?v :p ?y }", "=+q1.o OR q1.o IS NULL", TRUE);
}

static void
test_small_exists_is_joined(void)
{
    check("?x :p ?y . ?y :p+ ?z FILTER EXISTS { ?x :q :few }", "EXISTS(SELECT 1 FROM queryd_quad AS q", FALSE);
    check("?x :p ?y . ?y :p+ ?z FILTER EXISTS { ?x :q ?v }", "EXISTS(SELECT 1 FROM queryd_quad AS q", TRUE);
    check("?x :p ?y . ?y :p+ ?z FILTER NOT EXISTS { ?x :q :few }", "EXISTS(SELECT 1 FROM queryd_quad AS q", TRUE);
    check("?x :few ?y FILTER EXISTS { ?x :q :few }", "EXISTS(SELECT 1 FROM queryd_quad AS q", TRUE);
    check("?x :few ?y FILTER EXISTS { ?z :p+ ?y . ?v :p+|:q ?y }", "EXISTS(SELECT 1 FROM queryd_many", FALSE);
    check("?x :few ?y FILTER EXISTS { ?z :p+ ?y . ?v :p+ ?y }", "EXISTS(SELECT 1 FROM queryd_closure(q0.o,", TRUE);
    check("?x :p ?y OPTIONAL { ?x :q ?v } FILTER EXISTS { ?v :q :few }", "EXISTS(SELECT 1 FROM queryd_quad AS q", TRUE);
}

static void
test_ends_are_tested_first(void)
{
    check("?x :p+ ?y MINUS { ?x :q ?z . ?z :q ?w }", "queryd_closure(c", TRUE);
    /* another part binds it, a condition names both, or the other end has few values */
    check("?x :p+ ?y . ?u :p ?x MINUS { ?x :q ?z . ?z :q ?w }", "queryd_closure(c", FALSE);
    check("?x :p+ ?y MINUS { ?x :q ?z . ?z :q ?y }", "queryd_closure(c", FALSE);
    check("?x :p+ ?y . ?v :few ?y MINUS { ?x :q ?z . ?z :q ?w }", "queryd_closure(c", FALSE);
    /* a count is never unbound */
    check("{ SELECT ?y (COUNT(*) AS ?n) { ?y :p+ ?z . ?z :p+ ?v } GROUP BY ?y } FILTER NOT EXISTS { ?n :p+ ?w }", " OR ", FALSE);
}

static void
test_what_is_taken_away_is_made_once(void)
{
    check("?x :p ?y . ?y :p+ ?z . ?z :p ?w MINUS { ?v :p+ ?z . ?v :q :few }", "AS (SELECT DISTINCT", TRUE);
    check("?x :p ?y . ?y :p+ ?z . ?z :p ?w FILTER NOT EXISTS { ?v :p+ ?z . ?v :q :few }", "AS (SELECT DISTINCT", TRUE);
    check("?x :p ?y . ?y :p+ ?z . ?z :p ?w FILTER NOT EXISTS { { SELECT DISTINCT ?z { ?v :p+ ?z . ?v :q :few } } }",
          "AS (SELECT DISTINCT", TRUE);
    /* few to take from, what may be unbound, many to take */
    check("?x :few ?y MINUS { ?v :p+ ?y . ?v :q :few }", "AS (SELECT DISTINCT", FALSE);
    check("?x :p ?y . ?y :p+ ?w OPTIONAL { ?w :q ?z } MINUS { ?v :p+ ?z . ?v :q :few }", "AS (SELECT DISTINCT", FALSE);
    check("?x :p ?y . ?y :p+ ?z MINUS { ?v :p+ ?z . ?u :p+ ?z }", "AS (SELECT DISTINCT", FALSE);
}

static void
test_products_are_kept(void)
{
    check("?x :few ?y . ?a :p+ ?b . ?b :p+ ?c", "AS MATERIALIZED (SELECT q0.s,q0.o", TRUE);
    check("?x :few ?y . ?a :p+ ?b . ?b :p+ ?y", "AS MATERIALIZED (SELECT p", FALSE);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/plan/rewrite/solutions", SparqlFixture, NULL, sparql_fixture_set_up_circle, test_solutions,
               sparql_fixture_tear_down);
    g_test_add_func("/plan/rewrite/ends-are-tested-first", test_ends_are_tested_first);
    g_test_add_func("/plan/rewrite/subselects-are-opened", test_subselects_are_opened);
    g_test_add_func("/plan/rewrite/searches-have-conditions", test_searches_have_conditions);
    g_test_add_func("/plan/rewrite/what-is-left-comes-last", test_what_is_left_comes_last);
    g_test_add_func("/plan/rewrite/small-exists-is-joined", test_small_exists_is_joined);
    g_test_add_func("/plan/rewrite/what-is-taken-away-is-made-once", test_what_is_taken_away_is_made_once);
    g_test_add_func("/plan/rewrite/products-are-kept", test_products_are_kept);
    g_test_add_func("/plan/rewrite/what-shares-nothing-is-by-itself", test_what_shares_nothing_is_by_itself);
    g_test_add_func("/plan/rewrite/groups-and-minus-are-looked-up", test_groups_and_minus_are_looked_up);
    return g_test_run();
}
