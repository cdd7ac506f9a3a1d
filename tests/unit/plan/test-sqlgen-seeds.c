/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Subselects and OPTIONALs that begin from the values of a part of the join around them.
 */
#include <string.h>

#include "tests/unit/sparql/sparql-fixture.h"

/* The first SELECT DISTINCT of the SQL of @pattern reads @from; NULL: there is none. */
static void
check(const char *pattern, const char *from)
{
    g_autofree char *text = g_strdup_printf("SELECT * { %s }", pattern);
    g_autofree char *sql = sparql_get_sql(text);
    const char *found = strstr(sql, "AS MATERIALIZED (SELECT DISTINCT");
    const char *end = found != NULL ? strstr(found, " WHERE") : NULL;
    g_autofree char *head = found != NULL ? g_strndup(found, (gsize) (end - found)) : NULL;

    if (from == NULL ? found != NULL : (head == NULL || !g_str_has_suffix(head, from)))
        g_error("%s: %s", pattern, sql);
}

static void
test_subselects(void)
{
    check("?x :few ?y { SELECT DISTINCT ?y ?z { ?y :p+ ?v . ?v :p+ ?z } }", "FROM queryd_quad AS q1");
    check("?x :few ?y { SELECT DISTINCT ?y ?z { ?y :p+ ?v . ?v :p+ ?z FILTER EXISTS { ?z :p+ ?w } } }", "FROM queryd_quad AS q1");
    check("?x :few ?y { SELECT ?y (COUNT(*) AS ?n) { ?y :p+ ?z . ?z :p* ?v } GROUP BY ?y }", "FROM queryd_quad AS q1");
    check("?x :few ?y { SELECT ?y (COUNT(*) AS ?n) { ?y :p+ ?z OPTIONAL { ?z :q ?v } } GROUP BY ?y }", "FROM queryd_quad AS q1");
    /* what it counts is not restricted, nor what it cuts */
    check("?x :few ?z { SELECT (COUNT(?z) AS ?n) { ?y :p+ ?z . ?z :p* ?v } }", NULL);
    check("?x :few ?y { SELECT DISTINCT ?y ?z { ?y :p+ ?z . ?z :p* ?v } LIMIT 5 }", NULL);
    /* no path */
    check("?x :few ?y { SELECT DISTINCT ?y ?z { ?y :p ?z } }", NULL);
}

static void
test_optional(void)
{
    /* before what multiplies the solutions that it extends */
    check("?x :few ?y . ?y :p+ ?z . ?z :p+ ?u . ?u :p+ ?w . ?w :p+ ?t OPTIONAL { ?y :p+ ?v . ?v :q ?y }",
          "FROM c1 UNION ALL SELECT NULL FROM queryd_many");
    /* the ends of a path are those of its links; without links those that the other end has */
    check("?y :few+ ?x OPTIONAL { ?x :p+ ?x }", "SELECT DISTINCT q2.o FROM queryd_quad AS q2");
    check("?y :few* ?x . ?y :few+ ?z OPTIONAL { ?x :p+ ?x }",
          "SELECT DISTINCT c2.v1 FROM c2 UNION ALL SELECT NULL FROM queryd_many");
    check("?u :few+ ?y { ?y :p ?a } UNION { ?y :p+ ?b } OPTIONAL { ?y :p* ?v . ?v :q ?w }", "FROM queryd_quad AS q2");
    /* one that is unbound in some is compared, not begun from */
    check("?x :few+ ?y { ?x :p ?a } UNION { ?x :q ?b } OPTIONAL { ?y :p* ?b }", NULL);
}

/* The same solutions as those of the subselect on its own. */
static void
test_solutions(SparqlFixture *self, gconstpointer data)
{
    static const char *const subselects[] = {
        "SELECT DISTINCT ?y ?z { ?y :p+ ?z }",
        "SELECT ?y (COUNT(*) AS ?z) { ?y :p+ ?v } GROUP BY ?y",
        "SELECT ?y ?z { ?y :p+ ?z FILTER(?z != :n3) }",
        "SELECT DISTINCT ?y ?z { ?y :p+ ?z OPTIONAL { ?z :none ?v } }",
        "SELECT DISTINCT ?y ?z { ?y :p* ?z . ?y :p+ ?v }",
    };

    for (guint i = 0; i < G_N_ELEMENTS(subselects); i++) {
        gint64 joined = sparql_take_number(self, g_strdup_printf("SELECT (COUNT(*) AS ?n) { ?x :p ?y { %s } }", subselects[i]));
        gint64 alone = sparql_take_number(self, g_strdup_printf("SELECT (COUNT(*) AS ?n) { { %s } }", subselects[i]));

        g_assert_cmpint(joined, ==, alone);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/plan/sqlgen-seeds/subselects", test_subselects);
    g_test_add_func("/plan/sqlgen-seeds/optional", test_optional);
    g_test_add("/plan/sqlgen-seeds/solutions", SparqlFixture, NULL, sparql_fixture_set_up_circle, test_solutions,
               sparql_fixture_tear_down);
    return g_test_run();
}
