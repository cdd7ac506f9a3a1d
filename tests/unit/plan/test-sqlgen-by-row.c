/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * UNION and OPTIONAL as tables that are looked up or searched from each row on their left. They give the same solutions as any
 * other form, and nothing on the left is kept.
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
    { "?x :p+ ?y { ?y :p ?z } UNION { ?y :p+ ?w }", N *N *(1 + N) },
    { "?x :p+ ?y { ?y :p ?z } UNION { ?y :none ?z }", N *N },
    { "?x :p+ ?y { ?y :p+ ?z } UNION { ?z :p+ ?y } ?z :p :n0", 2 * N *N },
    { "?x :p+ ?y { ?y :p ?z . ?z :p* ?w } UNION { ?y :none ?z . ?z :p* ?w }", N *N *N },
    { "?x :p ?y { ?y :p+ ?x } UNION { ?y :p ?x }", N },
    { "?x :p ?y { ?y :p+ ?z { ?z :p ?v } UNION { ?z :p+ ?w } } UNION { ?y :p ?v }", N *(N *(1 + N) + 1) },
    { "?x :p+ ?y { ?y :p|:p+ ?z } UNION { ?y :none+ ?z }", N *N *(1 + N) },
    { "?x :p+ ?y { ?y :p :n3 } UNION { :n2 :p+ ?y }", N + N *N },
    { "?x :p+ ?y { ?a :p :n3 } UNION { ?y :p ?b } ?x :p ?c", 2 * N *N },
    { "?x :p+ ?y { ?y :p+ ?z } UNION { ?y :p ?w } { ?y :p ?v } UNION { ?y :p+ ?u }", N *N *(N + 1) * (N + 1) },
    { "?x :p+ ?y { ?y :p+ ?z } UNION { ?y :p ?w } OPTIONAL { ?z :p :n1 }", N *N *(N + 1) },
    { "?x :p+ ?y { ?y :p+ ?z } UNION { ?y :p ?w } FILTER(BOUND(?w))", N *N },
    { "?x :p+ ?y { ?y :p+ ?z } UNION { ?y :p ?w } MINUS { ?w :p :n1 }", N *N *N + N *(N - 1) },
    /* the search is from the left, after a table that finds nothing */
    { "?x :p+ ?y OPTIONAL { ?y :none ?a . ?y :p+ ?z }", N *N },
    { "?x :p+ ?y OPTIONAL { ?y :p :n3 . ?y :p+ ?z }", N *N + N *(N - 1) },
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
test_nothing_is_kept(void)
{
    g_autofree char *sql = sparql_get_sql("SELECT * { ?x :p ?y . ?y :p+ ?z { ?z :p+ ?v } UNION { ?z :p ?w } }");
    g_autofree char *plain = sparql_get_sql("SELECT * { ?x :p ?y { ?y :p ?v } UNION { ?y :none ?w } }");

    /* the numbers of the arms alone */
    g_assert_nonnull(strstr(sql, "(n) AS MATERIALIZED (SELECT 1 UNION ALL SELECT 2)"));
    g_assert_null(strstr(sql, "MATERIALIZED (SELECT q"));
    g_assert_null(strstr(sql, "queryd_many"));
    g_assert_nonnull(strstr(sql, "CASE u"));
    /* without a path there is nothing to gain */
    g_assert_null(strstr(plain, "CASE u"));
}

static void
test_searches_are_guarded(void)
{
    g_autofree char *sql = sparql_get_sql("SELECT * { ?x :p ?y OPTIONAL { ?y :p :n3 . ?y :p+ ?z } }");

    g_assert_nonnull(strstr(sql, " LEFT JOIN queryd_closure(CASE WHEN q"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/plan/sqlgen-by-row/solutions", SparqlFixture, NULL, sparql_fixture_set_up_circle, test_solutions,
               sparql_fixture_tear_down);
    g_test_add_func("/plan/sqlgen-by-row/nothing-is-kept", test_nothing_is_kept);
    g_test_add_func("/plan/sqlgen-by-row/searches-are-guarded", test_searches_are_guarded);
    return g_test_run();
}
