/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * OPTIONAL, MINUS and filters as parts of a join with a path: where they come, and that they keep their solutions there.
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
    /* before and after what multiplies */
    { "?x :p ?y OPTIONAL { ?y :p+ ?z } ?x :p+ ?w", N *N *N },
    { "?x :p ?y OPTIONAL { ?y :none ?z } ?y :p+ ?w", N *N },
    { "?x :p ?y OPTIONAL { ?y :p* ?z . ?z :p :n3 } ?y :p+ ?w MINUS { ?w :p :n3 }", N *(N - 1) },
    { "?x :p+ ?y FILTER NOT EXISTS { ?y :p+ ?z . ?z :p :n3 }", 0 },
    { "?x :p+ ?y FILTER EXISTS { ?y :p+ ?z . ?z :p :n3 } FILTER(?x != :n3)", N *(N - 1) },
    { "?x :p+ ?y MINUS { ?y :p ?z . ?z :p :n3 } ?x :p ?w", N *(N - 1) },
    /* two that bind the same keep their order */
    { "?x :p ?y OPTIONAL { ?y :p ?z } OPTIONAL { ?x :p ?z . ?z :p+ ?w }", N },
    { "?x :p ?y OPTIONAL { ?x :p ?z . ?z :p+ ?w } OPTIONAL { ?y :p ?z }", N *N },
    { "?x :p ?y OPTIONAL { ?y :p :n3 . ?y :p ?z } OPTIONAL { ?y :p+ ?z }", (N - 1) * N + 1 },
    { "?x :p ?y OPTIONAL { ?y :none ?z } OPTIONAL { ?y :p+ ?z } FILTER(BOUND(?z))", N *N },
    /* a filter sees the variables of its group alone, in which ?z is not bound */
    { "{ ?x :p ?y FILTER EXISTS { ?x :p+ ?z . ?z :p ?x } } ?z :p ?w", N *N },
    { "?z :p ?w { ?x :p ?y FILTER EXISTS { ?x :p+ ?z . ?z :p ?x } }", N *N },
    { "?z :p ?w { ?x :p ?y OPTIONAL { ?x :p+ ?y . ?z :none ?x } }", N *N },
    { "?z :p ?w { ?x :p ?y MINUS { ?x :p+ ?y . ?z :p ?x } }", 0 },
    /* what may be unbound is compared */
    { "?x :p ?y OPTIONAL { ?y :p :n3 . ?y :p ?z } MINUS { ?y :p+ ?z . ?z :p :n4 }", 0 },
    { "?x :p ?y OPTIONAL { ?y :p :n3 . ?y :p ?z } MINUS { ?y :p+ ?z . ?z :p :n5 }", 1 },
    { "?x :p ?y OPTIONAL { ?y :p :n3 . ?y :p ?z } FILTER NOT EXISTS { ?y :p+ ?z . ?z :none ?q }", N },
    { "?x :p ?y OPTIONAL { ?y :p :n3 . ?y :p ?z } OPTIONAL { ?y :p+ ?z . ?z :p+ ?w }", (N - 1) * N *N + N },
    /* counts of a path that is counted by itself */
    { "{ SELECT ?x (COUNT(*) AS ?k) { ?x :p ?y . ?y :p+ ?z } GROUP BY ?x } FILTER(?k = 7)", N },
    { "{ SELECT ?x (COUNT(*) AS ?k) (COUNT(*) AS ?m) { ?x :p* ?y . ?y :p+ ?z } GROUP BY ?x } FILTER(?k = 49 && ?m = 49)", N },
    { "{ SELECT ?x (COUNT(*) AS ?k) { ?x :p ?y . ?y :p+ ?z . ?z :none ?u } GROUP BY ?x }", 0 },
    { "{ SELECT ?x (COUNT(DISTINCT ?y) AS ?k) { ?x :p ?y . ?y :p+ ?z } GROUP BY ?x } FILTER(?k = 1)", N },
    { "{ SELECT ?x (COUNT(*) AS ?k) { ?x :p ?y . ?x :p+ ?z . ?z :p+ ?x } GROUP BY ?x HAVING(COUNT(*) = 7) }", N },
    /* a UNION of which one arm binds what a path needs */
    { "?x :p+ ?y . ?z :p+ ?y { ?x :p :n3 } UNION { ?z :p+ ?x }", N *N + N *N *N },
    { "?x :p+ ?y { ?x :p :n3 } UNION { ?z :p ?x } OPTIONAL { ?z :p+ ?w } ?z :p+ ?y", N *N *N + N *N *N },
    /* no step: each node */
    { "?x :p* ?x . ?x :p ?y", N },
    { "?x :p ?y . ?y :p? ?y . ?x :p+ ?z", N *N },
    { "?x :p ?y OPTIONAL { ?y :p* ?y . ?y :p ?z }", N },
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

/* @first stands before @second in the SQL of @pattern. */
static void
check(SparqlFixture *self, const char *pattern, const char *first, const char *second)
{
    g_autofree char *text = g_strdup_printf("SELECT * { %s }", pattern);
    g_autofree char *sql = sparql_get_sql_of(self, text);
    const char *a = strstr(sql, first);
    const char *b = strstr(sql, second);

    if (a == NULL || b == NULL || a > b)
        g_error("%s: %s", pattern, sql);
}

static void
test_place(SparqlFixture *self, gconstpointer data)
{
    check(self, "?x :p ?y . ?y :p+ ?w OPTIONAL { ?x :none ?z }", "LEFT JOIN", "queryd_closure(");
    check(self, "?x :p ?y . ?y :p+ ?w MINUS { ?x :p+ ?z . ?z :none ?x }", "NOT EXISTS(SELECT 1 FROM", "queryd_closure(q0.s,");
    check(self, "?x :p ?y OPTIONAL { ?y :p+ ?z } { ?y :none ?a } UNION { ?x :none ?a }", "NOT MATERIALIZED",
          "LEFT JOIN queryd_closure(");
    /* a node alone is no search */
    check(self, "?x :p ?y . ?y :p* ?y", "EXISTS(SELECT 1 FROM queryd_quad AS z", "z.o=");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/sparql/sqlgen-steps/solutions", SparqlFixture, NULL, sparql_fixture_set_up_circle, test_solutions,
               sparql_fixture_tear_down);
    g_test_add("/sparql/sqlgen-steps/place", SparqlFixture, NULL, sparql_fixture_set_up_circle, test_place,
               sparql_fixture_tear_down);
    return g_test_run();
}
