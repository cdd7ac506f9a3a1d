/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Joins, OPTIONAL, UNION and MINUS of each size, over those where one SELECT is cut into several. On a circle the answer does
 * not depend on the size.
 */
#include "tests/unit/sparql/sparql-fixture.h"

#define N SPARQL_N_CIRCLE
/* Above QD_TABLES_MAX (24), and above the 64 tables of SQLite with OPTIONAL's two for each. */
#define N_SIZES 70u

static gint64
count(SparqlFixture *self, char *pattern)
{
    g_autofree char *owned = pattern;

    return sparql_take_number(self, g_strdup_printf("SELECT (COUNT(*) AS ?count) { %s }", pattern));
}

static void
test_chain(SparqlFixture *self, gconstpointer data)
{
    for (guint n = 1; n <= N_SIZES; n++) {
        g_autofree char *tail = sparql_repeat("?a{i} :p ?a{j}", " . ", 1, n);

        g_assert_cmpint(count(self, g_strdup(tail)), ==, N);
        g_assert_cmpint(count(self, g_strdup_printf(":n0 :p ?a1 . %s", tail)), ==, 1);
        g_assert_cmpint(count(self, g_strdup_printf("?a1 :p :n0 . %s . ?a%u :p ?a0", tail, n + 1)), ==, 1);
    }
}

static void
test_optional(SparqlFixture *self, gconstpointer data)
{
    for (guint n = 1; n <= N_SIZES; n++) {
        g_autofree char *found = sparql_repeat("OPTIONAL { ?a{i} :p ?a{j} }", " ", 1, n);
        g_autofree char *missed = sparql_repeat("OPTIONAL { ?a{i} :none ?a{j} }", " ", 1, n);
        g_autofree char *pairs = sparql_repeat("OPTIONAL { ?a1 :p ?x{i} . ?x{i} :p ?y{i} }", " ", 1, n);

        g_assert_cmpint(count(self, g_strdup_printf("?a0 :p ?a1 %s FILTER(BOUND(?a%u))", found, n + 1)), ==, N);
        /* what is unbound joins with everything, from the third on */
        g_assert_cmpint(count(self, g_strdup_printf("?a0 :p ?a1 %s FILTER(!BOUND(?a%u))", missed, n + 1)), ==, N);
        g_assert_cmpint(count(self, g_strdup_printf("?a0 :p ?a1 %s FILTER(BOUND(?y%u))", pairs, n)), ==, N);
    }
}

/* A UNION is written once for each of its arms where SQLite merges it: what is joined multiplies. */
static void
test_union(SparqlFixture *self, gconstpointer data)
{
    for (guint n = 1; n <= 18; n++) {
        g_autofree char *left = sparql_repeat("{ ?a :p ?b{i} }", " UNION ", 0, n);
        g_autofree char *right = sparql_repeat("{ ?a :p ?c{i} }", " UNION ", 0, 18 - n + 1);

        g_assert_cmpint(count(self, g_strdup(left)), ==, N * n);
        g_assert_cmpint(count(self, g_strdup_printf("{ %s } { %s }", left, right)), ==, N * n * (18 - n + 1));
        g_assert_cmpint(count(self, g_strdup_printf("?a :p ?x OPTIONAL { %s }", left)), ==, N * n);
        g_assert_cmpint(count(self, g_strdup_printf("?a :p ?x MINUS { %s }", left)), ==, 0);
        g_assert_cmpint(count(self, g_strdup_printf("?a :p ?x MINUS { %s FILTER(?a = :n1) }", left)), ==, N - 1);
    }
}

static void
test_minus(SparqlFixture *self, gconstpointer data)
{
    for (guint n = 1; n <= 40; n++) {
        g_autofree char *nothing = sparql_repeat("MINUS { ?a :none ?x{i} }", " ", 0, n);
        g_autofree char *unshared = sparql_repeat("MINUS { ?x{i} :p ?y{i} }", " ", 0, n);

        g_assert_cmpint(count(self, g_strdup_printf("?a :p ?b %s", nothing)), ==, N);
        g_assert_cmpint(count(self, g_strdup_printf("?a :p ?b %s", unshared)), ==, N);
        g_assert_cmpint(count(self, g_strdup_printf("?a :p ?b %s MINUS { :n3 :p ?b }", unshared)), ==, N - 1);
    }
    /* compatible, but nothing bound in common: the row stays */
    g_assert_cmpint(count(self, g_strdup("?a :p ?b OPTIONAL { ?a :none ?c } MINUS { ?c :p ?d }")), ==, N);
    g_assert_cmpint(count(self, g_strdup("VALUES (?a ?c) { (:n0 UNDEF) (:n1 :n2) } MINUS { VALUES (?c ?a) { (:n2 UNDEF) } }")), ==,
                    1);
}

/* Without a variable in common each solution meets each. */
static void
test_product(SparqlFixture *self, gconstpointer data)
{
    gint64 expected = 1;

    for (guint n = 1; n <= 5; n++) {
        expected *= N;
        g_assert_cmpint(count(self, sparql_repeat("?a{i} :p ?b{i}", " . ", 0, n)), ==, expected);
    }
    g_assert_cmpint(count(self, sparql_repeat("{ SELECT ?a{i} { ?a{i} :p ?b } LIMIT 2 }", " ", 0, 10)), ==, 1 << 10);
}

/* What one side leaves unbound joins with what the other side binds, whichever comes first. */
static void
test_unbound(SparqlFixture *self, gconstpointer data)
{
    static const char *const patterns[] = {
        "VALUES ?a { UNDEF :n1 } ?a :p ?b",
        "?a :p ?b VALUES ?a { UNDEF :n1 }",
        "VALUES (?a ?b) { (UNDEF UNDEF) (:n1 UNDEF) } ?a :p ?b",
        "{ ?a :p ?b } { { } UNION { ?a :p :n2 } }",
        "{ { } UNION { ?a :p :n2 } } { ?a :p ?b }",
        "{ VALUES ?a { UNDEF :n1 } } { SELECT * { ?a :p ?b } LIMIT 100 }",
        "{ OPTIONAL { :n1 :none ?a } } UNION { BIND(:n1 AS ?a) } ?a :p ?b",
    };

    for (guint i = 0; i < G_N_ELEMENTS(patterns); i++) {
        g_assert_cmpint(count(self, g_strdup(patterns[i])), ==, N + 1);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) \
    g_test_add("/plan/sqlgen-join/" path, SparqlFixture, NULL, sparql_fixture_set_up_circle, func, sparql_fixture_tear_down)
    ADD("chain", test_chain);
    ADD("optional", test_optional);
    ADD("union", test_union);
    ADD("minus", test_minus);
    ADD("product", test_product);
    ADD("unbound", test_unbound);
    return g_test_run();
}
