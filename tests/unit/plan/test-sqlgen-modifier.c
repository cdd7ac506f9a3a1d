/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Computed columns, groups, tables of values, order and slices, at each size up to where one call of SQLite ends.
 */
#include "tests/unit/sparql/sparql-fixture.h"

#define N SPARQL_N_CIRCLE

/* An expression that stands where its variable is named grows twofold: it has to be cut. */
static void
test_extend(SparqlFixture *self, gconstpointer data)
{
    for (guint n = 1; n <= 40; n++) {
        g_autofree char *binds = sparql_repeat("BIND(?x{i} + ?x{i} AS ?x{j})", " ", 0, n);

        g_assert_cmpint(sparql_take_number(self, g_strdup_printf("SELECT ?x%u { BIND(1 AS ?x0) %s }", n, binds)), ==,
                        G_GINT64_CONSTANT(1) << n);
        g_assert_cmpint(
            sparql_take_number(self, g_strdup_printf("SELECT (SUM(?x%u) AS ?s) { ?a :p ?b BIND(1 AS ?x0) %s }", n, binds)), ==,
            N * (G_GINT64_CONSTANT(1) << n));
    }
}

/* BINDs that each use the one before, of which the last is of interest, or some, or all; named once, twice, or by EXISTS. */
static void
test_chain(SparqlFixture *self, gconstpointer data)
{
    static const guint sizes[] = { 1, 2, 3, 7, 8, 20, 47, 48, 49, 50, 100, 200 };

    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        guint n = sizes[i];
        g_autofree char *binds = sparql_repeat("BIND(?x{i} + 1 AS ?x{j})", " ", 0, n);
        g_autofree char *texts = sparql_repeat("BIND(IF(BOUND(?x{i}) && ?x{i} > 5, ?x{i}, ?x{i} + 1) AS ?x{j})", " ", 0, n);

        g_assert_cmpint(sparql_take_number(self, g_strdup_printf("SELECT ?x%u { BIND(1 AS ?x0) %s }", n, binds)), ==, n + 1);
        g_assert_cmpint(
            sparql_take_number(self, g_strdup_printf("SELECT (?x%u - ?x%u + ?x0 AS ?d) { BIND(1 AS ?x0) %s }", n, n / 2, binds)),
            ==, n - n / 2 + 1);
        g_assert_cmpint(sparql_take_number(self, g_strdup_printf("SELECT (SUM(?x%u) AS ?s) { { SELECT * { ?a :p ?b BIND(1 AS ?x0) "
                                                                 "%s } } }",
                                                                 n, binds)),
                        ==, N * (n + 1));
        g_assert_cmpint(
            sparql_take_number(self, g_strdup_printf("SELECT ?x%u { BIND(1 AS ?x0) %s } ORDER BY ?x%u", n, texts, n / 2)), ==,
            MIN(n + 1, 6));
        g_assert_cmpint(sparql_take_number(self, g_strdup_printf("SELECT ?e { BIND(1 AS ?x0) %s BIND(EXISTS { ?a :p ?b "
                                                                 "FILTER(?x%u > 1 && ?a = :n1) } AS ?y) BIND(IF(?y, 7, 8) AS ?e) }",
                                                                 binds, n)),
                        ==, 7);
    }
}

/* A value that is another each time is made once, also where it is named once and not projected. */
static void
test_volatile(SparqlFixture *self, gconstpointer data)
{
    g_assert_cmpint(sparql_take_number(self, g_strdup("SELECT (IF(?u = ?v, 1, 0) AS ?n) { BIND(UUID() AS ?r) BIND(STR(?r) AS ?t) "
                                                      "BIND(CONCAT(?t, 'x') AS ?u) BIND(CONCAT(?t, 'x') AS ?v) }")),
                    ==, 1);
}

/* Keys that are unbound are a group of their own; so many keys, aggregates and columns as one likes. */
static void
test_group(SparqlFixture *self, gconstpointer data)
{
    static const guint sizes[] = { 1, 2, 62, 99, 100, 101, 126, 127, 128, 201, 300 };

    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        guint n = sizes[i];
        g_autofree char *names = sparql_repeat("?k{i}", " ", 0, n);
        g_autofree char *row = sparql_repeat("1", " ", 0, n);
        g_autofree char *other = sparql_repeat("UNDEF", " ", 1, n - 1);
        g_autofree char *counts = sparql_repeat("(SUM(?k{i}) AS ?s{i})", " ", 0, n);

        g_assert_cmpint(
            sparql_take_number(self, g_strdup_printf("SELECT (COUNT(*) AS ?c) { { SELECT %s { VALUES (%s) { (%s) (%s) (2 %s) } "
                                                     "} GROUP BY %s } }",
                                                     names, names, row, row, other, names)),
            ==, 2);
        g_assert_cmpint(
            sparql_take_number(self, g_strdup_printf("SELECT (COUNT(*) AS ?c) { { SELECT %s { VALUES (%s) { (%s) (%s) } } } "
                                                     "FILTER(?s0 = 2 && ?s%u = 2) }",
                                                     counts, names, row, row, n - 1)),
            ==, 1);
    }
}

static void
test_distinct(SparqlFixture *self, gconstpointer data)
{
    static const guint sizes[] = { 1, 2, 100, 101, 127, 128, 300 };

    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autofree char *names = sparql_repeat("?k{i}", " ", 0, sizes[i]);
        g_autofree char *row = sparql_repeat("1", " ", 1, sizes[i] - 1);

        g_assert_cmpint(
            sparql_take_number(self, g_strdup_printf("SELECT (COUNT(DISTINCT *) AS ?c) { VALUES (%s) { (1 %s) (2 %s) (1 %s) } }",
                                                     names, row, row, row)),
            ==, 2);
        g_assert_cmpint(
            sparql_take_number(self, g_strdup_printf("SELECT (COUNT(*) AS ?c) { { SELECT DISTINCT * { VALUES (%s) { (1 %s) "
                                                     "(1 %s) (UNDEF %s) } } } }",
                                                     names, row, row, row)),
            ==, 2);
    }
    /* equal values that are other terms are other solutions */
    sparql_assert_rows(self, "SELECT (COUNT(DISTINCT ?x) AS ?c) { VALUES ?x { 1 1.0 '1' '1'@en 01 1 } }", "5\n");
    /* a computed term and a stored one are the same */
    sparql_assert_rows(self,
                       "SELECT (COUNT(DISTINCT ?x) AS ?c) { { BIND(:n0 AS ?x) } UNION { BIND(IRI('" SPARQL_EX "n0') AS ?x) } "
                       "UNION { ?x :p :n1 } }",
                       "1\n");
}

/* Of what is not selected, and by many keys: those before the last are all the same. */
static void
test_order(SparqlFixture *self, gconstpointer data)
{
    static const guint sizes[] = { 1, 2, 63, 64, 65, 127, 128 };

    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autofree char *names = sparql_repeat("?k{i}", " ", 0, sizes[i]);
        g_autofree char *same = sparql_repeat("1", " ", 1, sizes[i] - 1);
        g_autofree char *text = g_strdup_printf(
            "SELECT ?name { VALUES (%s ?last ?name) { (%s 1 2 'b') (%s 1 1 'a') (%s 1 3 'c') } } "
            "ORDER BY %s DESC(?last)",
            names, same, same, same, names);

        sparql_assert_rows(self, text, "c\nb\na\n");
    }
    sparql_assert_rows(self, "SELECT ?x { VALUES ?x { 'b' 2 :n0 UNDEF 10 'a'@en 'a' } } ORDER BY ?x",
                       "-\n:n0\n2\n10\na\na@en\nb\n");
    sparql_assert_rows(self, "SELECT DISTINCT ?a { ?a :p ?b } ORDER BY DESC(?b) LIMIT 2", ":n5\n:n4\n");
}

static void
test_slice(SparqlFixture *self, gconstpointer data)
{
    static const struct {
        const char *slice;
        guint n_rows;
    } cases[] = {
        { "LIMIT 0", 0 },
        { "LIMIT 1", 1 },
        { "LIMIT 7", 7 },
        { "LIMIT 8", 7 },
        { "OFFSET 6", 1 },
        { "OFFSET 7", 0 },
        { "OFFSET 2 LIMIT 3", 3 },
        { "LIMIT 3 OFFSET 5", 2 },
        { "LIMIT 9223372036854775807", 7 },
        { "OFFSET 9223372036854775807", 0 },
        { "LIMIT 9223372036854775807 OFFSET 9223372036854775807", 0 },
        { "LIMIT 9223372036854775807 OFFSET 1", 6 },
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_assert_cmpint(
            sparql_take_number(
                self, g_strdup_printf("SELECT (COUNT(*) AS ?c) { { SELECT * { ?a :p ?b } ORDER BY ?a %s } }", cases[i].slice)),
            ==, cases[i].n_rows);
        g_assert_cmpint(
            sparql_take_number(self, g_strdup_printf("SELECT (COUNT(*) AS ?c) { { SELECT DISTINCT ?a { { ?a :p ?b } UNION "
                                                     "{ ?a :p ?c } } %s } }",
                                                     cases[i].slice)),
            ==, cases[i].n_rows);
    }
}

/* A table of values of any size, with and without columns. */
static void
test_values(SparqlFixture *self, gconstpointer data)
{
    static const guint sizes[] = { 0, 1, 2, 99, 100, 101, 199, 200, 201, 499, 500, 501, 2000 };

    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autofree char *one = sparql_repeat("{i}", " ", 0, sizes[i]);
        g_autofree char *two = sparql_repeat("({i} UNDEF)", " ", 0, sizes[i]);
        g_autofree char *none = sparql_repeat("()", " ", 0, sizes[i]);

        g_assert_cmpint(sparql_take_number(self, g_strdup_printf("SELECT (COUNT(DISTINCT ?x) AS ?c) { VALUES ?x { %s } }", one)),
                        ==, sizes[i]);
        g_assert_cmpint(sparql_take_number(self, g_strdup_printf("SELECT (COUNT(?x) AS ?c) { VALUES (?x ?y) { %s } }", two)), ==,
                        sizes[i]);
        g_assert_cmpint(sparql_take_number(self, g_strdup_printf("SELECT (COUNT(*) AS ?c) { VALUES () { %s } }", none)), ==,
                        sizes[i]);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) \
    g_test_add("/plan/sqlgen-modifier/" path, SparqlFixture, NULL, sparql_fixture_set_up_circle, func, sparql_fixture_tear_down)
    ADD("extend", test_extend);
    ADD("chain", test_chain);
    ADD("volatile", test_volatile);
    ADD("group", test_group);
    ADD("distinct", test_distinct);
    ADD("order", test_order);
    ADD("slice", test_slice);
    ADD("values", test_values);
    return g_test_run();
}
