/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Groups by cases: an OPTIONAL that shares nothing with what is before it, with and without solutions, below all that reads it.
 */
#include "tests/unit/sparql/sparql-fixture.h"

/* Of a pattern: the number of solutions where the OPTIONAL has solutions, and where it has none. */
typedef struct Case {
    const char *pattern; /* "%s": the predicate of the OPTIONAL */
    gint64 n_present;
    gint64 n_absent;
} Case;

#define N SPARQL_N_CIRCLE

static const Case cases[] = {
    { "OPTIONAL { ?a %s ?b } ?b :p ?c", N, N },
    { "OPTIONAL { ?a %s ?b } MINUS { ?b :p ?c }", 0, 1 },
    { "OPTIONAL { ?a %s ?b } FILTER EXISTS { ?b :p :n3 }", 1, 1 },
    { "OPTIONAL { ?a %s ?b } FILTER NOT EXISTS { ?b :p :n3 }", N - 1, 0 },
    { "OPTIONAL { ?a %s ?b } OPTIONAL { ?b :p+ ?c }", N *N, N *N },
    { "?x :p :n1 OPTIONAL { ?a %s ?b } ?b :p ?c", N, N },
    { "OPTIONAL { ?a %s ?b FILTER(?b = :n3) } ?b :p ?c", 1, N },
};

static void
test_cases(SparqlFixture *self, gconstpointer data)
{
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *predicates[] = { ":p", ":none" };

        for (guint k = 0; k < G_N_ELEMENTS(predicates); k++) {
            g_auto(GStrv) parts = g_strsplit(cases[i].pattern, "%s", 2);
            g_autofree char *pattern = g_strconcat(parts[0], predicates[k], parts[1], NULL);
            gint64 n = sparql_take_number(self, g_strdup_printf("SELECT (COUNT(*) AS ?n) { %s }", pattern));
            gint64 expected = k == 0 ? cases[i].n_present : cases[i].n_absent;

            if (n != expected)
                g_error("%s: %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT, pattern, n, expected);
        }
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/plan/sqlgen-cases/cases", SparqlFixture, NULL, sparql_fixture_set_up_circle, test_cases, sparql_fixture_tear_down);
    return g_test_run();
}
