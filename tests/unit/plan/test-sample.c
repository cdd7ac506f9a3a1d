/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Orders of joins by a few solutions that are looked up while they are made: what statistics of single predicates do not tell.
 */
#include <string.h>
#include <sys/resource.h>

#include "tests/unit/sparql/sparql-fixture.h"

#define N_NODES 200

/* x1 … in a chain of :up. Each has :a to a y, which has nothing, and :c to a z. Those are a chain of :up, too, and have three :b.
 */
static void
set_up(SparqlFixture *self, gconstpointer data)
{
    g_autofree char *nodes = NULL;
    g_autofree char *text = NULL;

    sparql_fixture_set_up(self, data);
    nodes = sparql_repeat(":x{i} :up :x{j} ; :a :y{i} ; :c :z{i} . :z{i} :b 1, 2, 3 ; :up :z{j} .", " ", 1, N_NODES);
    text = g_strdup_printf("INSERT DATA { %s }", nodes);
    g_assert_cmpuint(sparql_update(self, text), ==, 7 * N_NODES);
}

/* @first stands before @second in the SQL of @pattern. */
static void
check(SparqlFixture *self, const char *pattern, const char *first, const char *second)
{
    g_autofree char *sql = sparql_get_sql_of(self, pattern);
    const char *select = strstr(sql, "\nSELECT");
    const char *a = strstr(select != NULL ? select : sql, first);
    const char *b = strstr(select != NULL ? select : sql, second);

    if (a == NULL || b == NULL || a > b)
        g_error("%s: %s", pattern, sql);
}

static void
test_what_finds_nothing_is_first(SparqlFixture *self, gconstpointer data)
{
    const char *unite = "{ ?y :b ?u . ?y :up+ ?t } UNION { ?y :b ?v }";
    g_autofree char *none = g_strdup_printf("SELECT * { ?x :a ?y . ?x :up+ ?w %s }", unite);
    g_autofree char *many = g_strdup_printf("SELECT * { ?x :c ?y . ?x :up+ ?w %s }", unite);

    check(self, none, "CROSS JOIN u", "queryd_closure(q0.s,");
    check(self, many, "queryd_closure(q0.s,", "CROSS JOIN u");
    check(self, "SELECT * { ?x :a ?y . ?x :up+ ?w { SELECT DISTINCT ?y { ?y :up+ ?v } } }", "CROSS JOIN c", "queryd_closure(");
    check(self, "SELECT * { ?x :a ?y . ?x :up+ ?w { SELECT ?y (COUNT(*) AS ?n) { ?y :up+ ?v } GROUP BY ?y } }", "CROSS JOIN c",
          "queryd_closure(");
}

static void
test_circles_are_first(SparqlFixture *self, gconstpointer data)
{
    check(self, "SELECT * { ?x :up ?y . ?z :up* ?x . ?x :up+ ?x . ?x :a ?v }", "FROM p1 ", "queryd_steps('*'");
}

/* Values, OPTIONAL, FILTER and parts of which nothing is known change no solution. */
static void
test_solutions(SparqlFixture *self, gconstpointer data)
{
    static const struct {
        const char *pattern;
        gint64 n;
    } cases[] = {
        { "?x :a ?y . ?x :up+ ?w . VALUES ?w { :x3 :none } ?x :c ?z", 2 },
        { "?x :a ?y . :x3 :up+ ?x . ?x :c ?z OPTIONAL { ?z :up+ ?y }", N_NODES - 3 },
        { "?x :up+ ?w . ?x :a ?y { ?x :c ?z FILTER(?z = :z3) }", N_NODES + 1 - 3 },
        { "?x ?p ?y . ?x :up+ :x4 . ?y :b ?v", 9 },
        { "?x :up+ :x4 { SELECT ?x ?y { ?x :a ?y } LIMIT 1000 } GRAPH ?g { ?x :a ?y }", 0 },
        { "?x !(:a|:up) ?z . ?x :up+ :x4", 3 },
        { "?x :up+ ?x . ?x :a ?y", 0 },
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        gint64 n = sparql_take_number(self, g_strdup_printf("SELECT (COUNT(*) AS ?n) { %s }", cases[i].pattern));

        if (n != cases[i].n)
            g_error("%s: %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT, cases[i].pattern, n, cases[i].n);
    }
}

static glong
get_peak_kib(void)
{
    struct rusage usage;

    g_assert_cmpint(getrusage(RUSAGE_SELF, &usage), ==, 0);
    return usage.ru_maxrss;
}

/* 400 arms have 64 solutions each for each row of a sample: some of them are kept. */
static void
test_memory_is_bounded(SparqlFixture *self, gconstpointer data)
{
    g_autofree char *arms = sparql_repeat("{ ?s :b ?n }", " UNION ", 1, 400);
    g_autofree char *pattern = g_strdup_printf("SELECT * { ?z :b ?n . ?z :up+ ?w . %s . ?w :up+ ?v }", arms);
    g_autofree char *sql = NULL;
    glong before_kib = get_peak_kib();

    sql = sparql_get_sql_of(self, pattern);
    if (g_getenv("QUERYD_SANITIZER") == NULL) /* one keeps what was freed */
        g_assert_cmpint(get_peak_kib() - before_kib, <, 64 * 1024);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/plan/sample/what-finds-nothing-is-first", SparqlFixture, NULL, set_up, test_what_finds_nothing_is_first,
               sparql_fixture_tear_down);
    g_test_add("/plan/sample/circles-are-first", SparqlFixture, NULL, set_up, test_circles_are_first, sparql_fixture_tear_down);
    g_test_add("/plan/sample/solutions", SparqlFixture, NULL, set_up, test_solutions, sparql_fixture_tear_down);
    g_test_add("/plan/sample/memory-is-bounded", SparqlFixture, NULL, set_up, test_memory_is_bounded, sparql_fixture_tear_down);
    return g_test_run();
}
