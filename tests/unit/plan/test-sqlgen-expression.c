/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Conditions as SQL and values as programs, at each size up to where one call or one text ends; three truth values everywhere.
 */
#include <string.h>

#include "tests/unit/sparql/sparql-fixture.h"

#define N SPARQL_N_CIRCLE

static const char *const truths[] = { "true", "false", "?unbound" };

/* Of two truth values as SPARQL 1.1 §17.2 has them; 2 is an error. */
static guint
get_and(guint a, guint b)
{
    return a == 1 || b == 1 ? 1 : MAX(a, b);
}

static guint
get_or(guint a, guint b)
{
    return a == 0 || b == 0 ? 0 : (a == 2 || b == 2 ? 2 : 1);
}

/* As a filter, as a value that is bound, under a NOT, and within what keeps it from being SQL. */
static void
assert_truth(SparqlFixture *self, const char *expression, guint expected)
{
    static const char *const values[] = { "true\n", "false\n", "-\n" };
    g_autofree char *filter = g_strdup_printf("ASK { FILTER(%s) }", expression);
    g_autofree char *inverse = g_strdup_printf("ASK { FILTER(!(%s)) }", expression);
    g_autofree char *value = g_strdup_printf("SELECT ?v { BIND((%s) AS ?v) }", expression);
    g_autofree char *called = g_strdup_printf("ASK { FILTER(COALESCE(%s, 'none') = %s) }", expression,
                                              expected == 2 ? "'none'" : truths[expected]);

    sparql_assert_rows(self, filter, expected == 0 ? "true\n" : "false\n");
    sparql_assert_rows(self, inverse, expected == 1 ? "true\n" : "false\n");
    sparql_assert_rows(self, value, values[expected]);
    sparql_assert_rows(self, called, "true\n");
}

static void
test_logic(SparqlFixture *self, gconstpointer data)
{
    for (guint a = 0; a < 3; a++) {
        for (guint b = 0; b < 3; b++) {
            g_autofree char *both = g_strdup_printf("%s && %s", truths[a], truths[b]);
            g_autofree char *either = g_strdup_printf("%s || %s", truths[a], truths[b]);
            g_autofree char *mixed = g_strdup_printf("(%s || :n0 = :n1) && !(%s && :n0 = :n0)", truths[a], truths[b]);

            assert_truth(self, both, get_and(a, b));
            assert_truth(self, either, get_or(a, b));
            assert_truth(self, mixed, get_and(get_or(a, 1), b == 2 ? 2 : 1 - b));
        }
    }
}

static void
assert_has(const char *query, const char *part)
{
    g_autofree char *sql = sparql_get_sql(query);

    if (strstr(sql, part) == NULL)
        g_error("%s: no %s: %s", query, part, sql);
}

/* What is computed of a row is compared by the same program. What is the same for all rows is computed once, by SQLite. Sums take
 * numbers. */
static void
test_computed(void)
{
    assert_has("SELECT ?s { ?s :p ?o FILTER(STRLEN(?o) < 3) }", "(queryd_test(?");
    assert_has("SELECT ?s { ?s :p ?o ; :q ?x FILTER(?x > ?o + 1) }", "(queryd_test(?");
    assert_has("SELECT ?s { ?s :p ?o FILTER(?o < 1 + 2) }", "queryd_lt(q0.o,queryd_eval(");
    assert_has("SELECT ?s { ?s :p ?o FILTER(STRLEN(?o) < 1 + 2) }", "queryd_lt(queryd_eval(");
    assert_has("SELECT ?s { ?s :p ?o FILTER(?o < RAND()) }", "queryd_lt(");
    assert_has("SELECT (SUM(?o + 1) AS ?n) { ?s :p ?o ; :few ?x }", "queryd_sum(queryd_number(");
    assert_has("SELECT (AVG(DISTINCT ?o + 1) AS ?n) { ?s :p ?o ; :few ?x }", "queryd_avg(DISTINCT queryd_to_term(queryd_eval(");
    assert_has("SELECT (MAX(?o + 1) AS ?n) { ?s :p ?o ; :few ?x }", "queryd_max(queryd_eval(");
}

/* Equality with an IRI is SQL's; with what is unbound or no IRI it is not. */
static void
test_equality(SparqlFixture *self, gconstpointer data)
{
    assert_truth(self, ":n0 = :n0", 0);
    assert_truth(self, ":n0 = :n1", 1);
    assert_truth(self, ":n0 != :no", 0);
    assert_truth(self, ":no = :no", 0);
    assert_truth(self, ":no = IRI('" SPARQL_EX "no')", 0);
    assert_truth(self, ":n0 = 'n0'", 1);
    assert_truth(self, "?unbound = :n0", 2);
    assert_truth(self, "?unbound != ?unbound", 2);
    assert_truth(self, "sameTerm(?unbound, :n0)", 2);
    assert_truth(self, "1 = 1.0", 0);
    assert_truth(self, "sameTerm(1, 1.0)", 1);
    assert_truth(self, "'a' < 1", 2);
    assert_truth(self, "1 IN (2, ?unbound, 1)", 0);
    assert_truth(self, "1 IN (2, ?unbound)", 2);
    assert_truth(self, "1 NOT IN ()", 0);
    assert_truth(self, ":n0 IN (:n1, :n0)", 0);
    assert_truth(self, ":n0 NOT IN (:n1, :no)", 0);
}

static void
test_nesting(SparqlFixture *self, gconstpointer data)
{
    g_autoptr(GString) text = g_string_new("true");
    guint truth = 0;

    for (guint depth = 1; depth <= 40; depth++) {
        static const char *const around[] = { "!(%s)", "(false || (%s && :n0 = :n0))", "(IF(%s, true, false) && true)",
                                              "(:n0 = :n1 || %s)" };
        g_autofree char *inner = g_strdup(text->str);
        g_auto(GStrv) parts = g_strsplit(around[depth % 4], "%s", 2);

        g_string_printf(text, "%s%s%s", parts[0], inner, parts[1]);
        truth = depth % 4 == 0 ? 1 - truth : truth;
        assert_truth(self, text->str, truth);
    }
}

/* So many different variables as one call of SQLite takes; more is an error that says so. */
static void
test_arguments(SparqlFixture *self, gconstpointer data)
{
    for (guint n = 118; n <= 134; n++) {
        g_autofree char *names = sparql_repeat("?v{i}", " ", 0, n);
        g_autofree char *arguments = sparql_repeat("?v{i}", ", ", 0, n);
        g_autofree char *values = sparql_repeat("'{i}'", " ", 0, n);
        g_autofree char *last = g_strdup_printf("%u\n", n - 1);
        g_autofree char *concat = g_strdup_printf("SELECT (STRLEN(CONCAT(%s)) AS ?l) { VALUES (%s) { (%s) } }", arguments, names,
                                                  values);
        g_autofree char *in = g_strdup_printf("SELECT ?v%u { VALUES (%s) { (%s) } FILTER(?v%u IN (?u, %s)) }", n - 1, names, values,
                                              n - 1, arguments);
        g_autofree char *length = g_strdup_printf("%u\n", 10 + 2 * 90 + 3 * (n - 100));
        g_autoptr(GError) error = NULL;
        g_autofree char *rows = sparql_try_query(self, concat, &error);

        if (error != NULL)
            store_assert_error(error, QW_ERROR_TOO_COMPLEX, "a function with more than 126 different variables as arguments");
        g_assert_true(error != NULL ? n > 126 : g_strcmp0(rows, length) == 0);
        sparql_assert_rows(self, in, last);
    }
}

/* The same variable is one argument, however often. */
static void
test_long_lists(SparqlFixture *self, gconstpointer data)
{
    static const guint sizes[] = { 253, 254, 255, 256, 508, 509, 510, 1000 };

    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autofree char *list = sparql_repeat("{i}", ", ", 0, sizes[i]);
        g_autofree char *iris = sparql_repeat(":n{i}", ", ", 1, sizes[i]);

        g_assert_cmpint(
            sparql_take_number(self, g_strdup_printf("SELECT (COUNT(*) AS ?c) { VALUES ?x { 0 %u %u } FILTER(?x IN (%s)) }",
                                                     sizes[i] - 1, sizes[i], list)),
            ==, 2);
        g_assert_cmpint(
            sparql_take_number(self, g_strdup_printf("SELECT (COUNT(*) AS ?c) { ?x :p ?y FILTER(?x NOT IN (%s)) }", iris)), ==, 1);
    }
}

/* Each level sees its own variables, and those of all around it. */
static void
test_exists(SparqlFixture *self, gconstpointer data)
{
    for (guint depth = 1; depth <= 14; depth++) {
        g_autofree char *open = sparql_repeat("FILTER EXISTS { ?a{i} :p ?a{j} ", "", 1, depth);
        g_autofree char *not = sparql_repeat("FILTER NOT EXISTS { ?a{i} :p ?a{j} ", "", 1, depth);
        g_autofree char *close = sparql_repeat("}", "", 0, depth);

        g_assert_cmpint(sparql_take_number(self, g_strdup_printf("SELECT (COUNT(*) AS ?c) { ?a0 :p ?a1 %s FILTER(?a0 != ?a%u) %s }",
                                                                 open, depth + 1, close)),
                        ==, (depth + 1) % N == 0 ? 0 : N);
        g_assert_cmpint(sparql_take_number(self, g_strdup_printf("SELECT (COUNT(*) AS ?c) { ?a0 :p ?a1 %s %s }", not, close)), ==,
                        depth % 2 == 0 ? N : 0);
    }
    assert_truth(self, "EXISTS { :n0 :p :n1 } && NOT EXISTS { :n1 :p :n0 }", 0);
    assert_truth(self, "EXISTS { :n0 :p ?x FILTER(?x = ?unbound) }", 1);
}

/* What is equal by its value alone is found, whichever of both is looked up. */
static void
test_equal_variables(SparqlFixture *self, gconstpointer data)
{
    g_autofree char *sql = NULL;

    (void) sparql_update(
        self, "INSERT DATA { :x :v 1, 1.0, \"1\"^^<http://www.w3.org/2001/XMLSchema#int>, 1e0, 01, 2, \"1\", \"a\", \"a\"@en,"
              " :n1, true, \"1\"^^<http://www.w3.org/2001/XMLSchema#boolean>, 0, -1 . :x :nan \"NaN\"^^"
              "<http://www.w3.org/2001/XMLSchema#double> }");
    /* five forms of 1, two of true, seven that are equal to themselves alone */
    sparql_assert_rows(self, "SELECT (COUNT(*) AS ?n) { ?s :v ?a . ?t :v ?b FILTER(?a = ?b) }", "36\n");
    sparql_assert_rows(self, "SELECT (COUNT(*) AS ?n) { ?s :v ?a . ?t :v ?b FILTER(!(?a != ?b)) }", "36\n");
    sparql_assert_rows(self, "SELECT (COUNT(*) AS ?n) { ?s :nan ?a . ?t :nan ?b FILTER(?a = ?b) }", "0\n");
    sparql_assert_rows(self, "SELECT ?t { :n0 :p ?a . ?t :v ?b FILTER(?b = ?a) }", ":x\n");
    sparql_assert_rows(self, "SELECT ?t { :n0 :p ?a OPTIONAL { ?t :none ?b } FILTER(?b = ?a) }", "");
    sql = sparql_get_sql("SELECT ?t { :x :few ?a . ?t :p ?b FILTER(?b = ?a) }");
    if (strstr(sql, "q1.o BETWEEN iif(") == NULL)
        g_error("%s", sql);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) \
    g_test_add("/plan/sqlgen-expression/" path, SparqlFixture, NULL, sparql_fixture_set_up_circle, func, sparql_fixture_tear_down)
    ADD("logic", test_logic);
    ADD("equality", test_equality);
    ADD("nesting", test_nesting);
    ADD("arguments", test_arguments);
    ADD("long-lists", test_long_lists);
    ADD("exists", test_exists);
    ADD("equal-variables", test_equal_variables);
    g_test_add_func("/plan/sqlgen-expression/computed", test_computed);
    return g_test_run();
}
