/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Property paths from and to every kind of end, in every kind of graph; on a circle, where only a set of nodes ends.
 */
#include "tests/unit/sparql/sparql-fixture.h"

#define N SPARQL_N_CIRCLE

static gint64
count(SparqlFixture *self, const char *pattern)
{
    return sparql_take_number(self, g_strdup_printf("SELECT (COUNT(*) AS ?c) { %s }", pattern));
}

/* Of one path: the number of solutions from a node, between all of them, from each to itself, and of one that is nowhere. */
typedef struct Case {
    const char *path;
    gint64 n_from;
    gint64 n_all;
    gint64 n_loops;
    gint64 n_nowhere;
} Case;

static const Case cases[] = {
    { ":p", 1, N, 0, 0 },
    { "^:p", 1, N, 0, 0 },
    { ":p?", 2, 2 * N, N, 1 },
    { ":p*", N, N *N, N, 1 },
    { ":p+", N, N *N, N, 0 },
    { "(:p|^:p)", 2, 2 * N, 0, 0 },
    { "(:p|:p)", 2, 2 * N, 0, 0 }, /* an alternative keeps both */
    { "(:p|:none)", 1, N, 0, 0 },
    { "(:p|^:p)*", N, N *N, N, 1 },
    { "(:p/:p)", 1, N, 0, 0 },
    { "(:p/:p)*", N, N *N, N, 1 }, /* two and seven have no common divisor */
    { "(:p/:p/:p/:p/:p/:p/:p)+", 1, N, N, 0 },
    { "(:p/(:p|:none))+", N, N *N, N, 0 },
    { "((:p/:p)|(^:p/^:p)|:none)+", N, N *N, N, 0 },
    { "^(^:p/(:p|^:p))*", N, N *N, N, 1 },
    { "(:p/:none)?", 1, N, N, 1 },
    { "(:p/:p*)+", N, N *N, N, 0 },
    { "(:p*)*", N, N *N, N, 1 },
    { "(:p+)+", N, N *N, N, 0 },
    { "(:p?)+", N, N *N, N, 1 },
    { "(:p?/:p?)", 4, 4 * N, N, 0 }, /* two ways to the next; what is between is a variable */
    { "^(:p/:p)", 1, N, 0, 0 },
    { "^(:p*)", N, N *N, N, 1 },
    { "!:p", 0, 0, 0, 0 },
    { "!:none", 1, N, 0, 0 },
    { "!^:none", 1, N, 0, 0 },
    { "!(:none|^:none)", 2, 2 * N, 0, 0 },
    { "!(:p|^:none)", 1, N, 0, 0 },
    { "(!:none)*", N, N *N, N, 1 },
    { ":none", 0, 0, 0, 0 },
    { ":none*", 1, N, N, 1 },
    { ":none+", 0, 0, 0, 0 },
    { ":none?", 1, N, N, 1 },
};

static void
test_ends(SparqlFixture *self, gconstpointer data)
{
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const struct {
            char *pattern;
            gint64 n;
        } ends[] = {
            { g_strdup_printf(":n2 %s ?x", cases[i].path), cases[i].n_from },
            { g_strdup_printf("?x %s :n2", cases[i].path), cases[i].n_from },
            { g_strdup_printf("VALUES ?y { :n2 } ?y %s ?x", cases[i].path), cases[i].n_from },
            { g_strdup_printf("?y :p :n3 . ?y %s ?x", cases[i].path), cases[i].n_from },
            { g_strdup_printf("?y :p :n3 . ?x %s ?y", cases[i].path), cases[i].n_from },
            { g_strdup_printf("?y :p :n3 OPTIONAL { ?y %s ?x } FILTER(BOUND(?x))", cases[i].path), cases[i].n_from },
            { g_strdup_printf("?x %s ?y", cases[i].path), cases[i].n_all },
            { g_strdup_printf("?x %s ?x", cases[i].path), cases[i].n_loops },
            { g_strdup_printf("?x :p ?z . ?x %s ?x", cases[i].path), cases[i].n_loops },
            { g_strdup_printf(":nowhere %s ?x", cases[i].path), cases[i].n_nowhere },
            { g_strdup_printf("?x %s 'nothing'", cases[i].path), cases[i].n_nowhere },
            /* a variable is a node of the graph, however it is bound */
            { g_strdup_printf("BIND(:nowhere AS ?y) ?y %s ?x", cases[i].path), 0 },
            { g_strdup_printf("VALUES ?y { :nowhere } ?x %s ?y", cases[i].path), 0 },
        };

        for (guint k = 0; k < G_N_ELEMENTS(ends); k++) {
            gint64 n = count(self, ends[k].pattern);

            if (n != ends[k].n)
                g_error("%s: %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT, ends[k].pattern, n, ends[k].n);
            g_free(ends[k].pattern);
        }
    }
}

/* Two constants: the answer is one row or none. */
static void
test_constants(SparqlFixture *self, gconstpointer data)
{
    g_assert_cmpint(count(self, ":n2 :p* :n1"), ==, 1);
    g_assert_cmpint(count(self, ":n2 :p+ :n2"), ==, 1);
    g_assert_cmpint(count(self, ":n2 :p? :n4"), ==, 0);
    g_assert_cmpint(count(self, ":n2 (:p|:p)+ :n1"), ==, 1);
    g_assert_cmpint(count(self, ":nowhere :p* :nowhere"), ==, 1);
    g_assert_cmpint(count(self, ":nowhere :p? :nowhere"), ==, 1);
    g_assert_cmpint(count(self, ":nowhere :p+ :nowhere"), ==, 0);
    g_assert_cmpint(count(self, ":nowhere (:p?/:p?) :nowhere"), ==, 1);
    g_assert_cmpint(count(self, "'x' :p* 'x'"), ==, 1);
    g_assert_cmpint(count(self, "'x' :p* 'y'"), ==, 0);
}

/* A path stays within its graph; the nodes of length zero are those of the graph. */
static void
test_graphs(SparqlFixture *self, gconstpointer data)
{
    (void) sparql_update(self, "INSERT DATA { GRAPH :g { :n0 :p :n3 } GRAPH :h { :n3 :p :n5 } }");
    g_assert_cmpint(count(self, "GRAPH :g { :n0 :p* ?x }"), ==, 2);
    g_assert_cmpint(count(self, "GRAPH ?g { :n0 :p+ ?x }"), ==, 1);
    g_assert_cmpint(count(self, "GRAPH ?g { :n3 :p+ ?x }"), ==, 1);
    g_assert_cmpint(count(self, "GRAPH ?g { ?x :p* ?y }"), ==, 6);
    g_assert_cmpint(count(self, "GRAPH ?g { ?x :p/:p ?y }"), ==, 0);
    g_assert_cmpint(count(self, "GRAPH ?g { :nowhere :p* ?y }"), ==, 2);
    g_assert_cmpint(count(self, "GRAPH :none { ?x :p* ?y }"), ==, 0);
    g_assert_cmpint(sparql_take_number(self, g_strdup("SELECT (COUNT(*) AS ?c) FROM :g FROM :h { :n0 :p+ ?x }")), ==, 2);
    g_assert_cmpint(sparql_take_number(self, g_strdup("SELECT (COUNT(*) AS ?c) FROM :g FROM :h { ?x :p* ?y }")), ==, 6);
    g_assert_cmpint(sparql_take_number(self, g_strdup("SELECT (COUNT(*) AS ?c) FROM NAMED :g { GRAPH ?g { ?x :p* ?y } }")), ==, 3);
    g_assert_cmpint(count(self, "GRAPH ?g { ?x :p :n3 } :n0 :p+ ?x"), ==, 1);
}

static void
test_sizes(SparqlFixture *self, gconstpointer data)
{
    for (guint n = 1; n <= 70; n++) {
        g_autofree char *sequence = sparql_repeat(":p", "/", 0, n);
        g_autofree char *others = sparql_repeat(":q{i}", "|", 0, n);
        g_autofree char *end = g_strdup_printf("?x %s ?y", sequence);
        g_autofree char *alternative = g_strdup_printf(":n0 %s|:p ?x", others);
        g_autofree char *negated = g_strdup_printf(":n0 !(%s) ?x", others);
        g_autofree char *closure = g_strdup_printf(":n0 (%s|:p/%s)* ?x", others, sequence);

        g_assert_cmpint(count(self, end), ==, N);
        g_assert_cmpint(count(self, alternative), ==, 1);
        g_assert_cmpint(count(self, negated), ==, 1);
        g_assert_cmpint(count(self, closure), ==, (n + 1) % N == 0 ? 1 : N);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) \
    g_test_add("/plan/sqlgen-path/" path, SparqlFixture, NULL, sparql_fixture_set_up_circle, func, sparql_fixture_tear_down)
    ADD("ends", test_ends);
    ADD("constants", test_constants);
    ADD("graphs", test_graphs);
    ADD("sizes", test_sizes);
    return g_test_run();
}
