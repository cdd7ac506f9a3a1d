/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Set functions over groups: errors, empty groups, overflow, DISTINCT.
 */
#include "tests/unit/functions/expression-fixture.h"

static void
check(const char *members, const char *aggregate, const char *expected)
{
    g_autoptr(Expressions) self = expressions_new();
    g_autofree char *sql = g_strdup_printf("WITH n(v) AS (%s) SELECT %s FROM n", members, aggregate);
    g_autofree char *result = expressions_query(self, sql);

    g_test_message("%s: %s", aggregate, members);
    g_assert_cmpstr(result, ==, expected);
}

static void
test_sum(void)
{
    check("VALUES ({1}),({2}),({3.5})", "queryd_sum(v)", "6.5");
    check("VALUES ({1}),({2})", "queryd_sum(v)", "3");
    check("VALUES ({1}),({1})", "queryd_sum(DISTINCT v)", "1");
    check("VALUES ({1}),({1.0})", "queryd_sum(DISTINCT v)", "2.0");
    check("VALUES ({9223372036854775807}),({9223372036854775807})", "queryd_sum(v)", "18446744073709551614");
    check("VALUES ({1}),({\"a\"})", "queryd_sum(v)", "unbound");
    check("VALUES ({1}),(NULL)", "queryd_sum(v)", "unbound");
    check("VALUES ({1}),({_:b})", "queryd_sum(v)", "unbound");
    check("SELECT 1 WHERE 0", "queryd_sum(v)", "0");
}

/* What queryd_number() gives: no text is made of floating point. */
static void
check_summands(const char *members, const char *program, const char *aggregate, const char *expected)
{
    g_autoptr(GByteArray) bytes = expressions_assemble(program, NULL);
    g_autoptr(GString) sql = g_string_new(aggregate);
    g_autoptr(GString) hex = g_string_new("X'");

    for (guint i = 0; i < bytes->len; i++)
        g_string_append_printf(hex, "%02x", bytes->data[i]);
    g_string_append_c(hex, '\'');
    g_assert_cmpuint(g_string_replace(sql, "$", hex->str, 0), >, 0);
    check(members, sql->str, expected);
}

static void
test_summands(void)
{
    check_summands("VALUES ({1}),({2})", "(xsd:float $0)", "queryd_sum(queryd_number($,v))", "\"3.0E0\"^^xsd:float");
    check_summands("VALUES ({\"0.1\"}),({\"0.2\"})", "(xsd:double $0)", "queryd_sum(queryd_number($,v))", "3.0000000000000004E-1");
    check_summands("VALUES ({1}),({\"NaN\"})", "(xsd:double $0)", "queryd_sum(queryd_number($,v))", "NaN");
    check_summands("VALUES ({1}),({\"INF\"})", "(xsd:double $0)", "queryd_avg(queryd_number($,v))", "INF");
    check_summands("VALUES ({1}),({2})", "(+ $0 1)", "queryd_sum(queryd_number($,v))", "5");
    check_summands("VALUES ({1}),({2})", "(+ $0 1.5)", "queryd_sum(queryd_number($,v),3)", "18.0");
    check_summands("VALUES ({1}),({\"a\"})", "(xsd:float $0)", "queryd_sum(queryd_number($,v))", "unbound");
    check_summands("VALUES ({1}),({2})", "(STR $0)", "queryd_sum(queryd_number($,v))", "unbound");
    check_summands("VALUES (X'f01100000000000000f0')", "$0", "max(queryd_eval($,v))", "unbound");
}

static void
test_avg(void)
{
    check("VALUES ({1}),({2})", "queryd_avg(v)", "1.5");
    check("VALUES ({1}),({2.2}),({3.5}),({2.2}),({2.2})", "queryd_avg(v)", "2.22");
    check("VALUES ({1}),({2e0})", "queryd_avg(v)", "1.5E0");
    check("VALUES ({1}),({<a:b>})", "queryd_avg(v)", "unbound");
    check("SELECT 1 WHERE 0", "queryd_avg(v)", "0");
}

static void
test_extremes(void)
{
    check("VALUES ({2}),({10}),({1.5})", "queryd_min(v)", "1.5");
    check("VALUES ({2}),({10}),({1.5})", "queryd_max(v)", "10");
    check("VALUES ({\"a\"}),({2}),({<a:b>})", "queryd_min(v)", "<a:b>");
    check("VALUES ({\"a\"}),({2}),({<a:b>})", "queryd_max(v)", "\"a\"");
    check("VALUES (NULL),({2}),({3})", "queryd_min(v)", "2");
    check("VALUES ({01}),({1})", "queryd_min(v)", "01");
    check("VALUES ({1}),({01})", "queryd_min(v)", "1");
    check("VALUES ({1.50}),({1.5}),({1.500})", "queryd_min(v)", "1.50");
    check("VALUES ({1.50}),({1.5}),({1.500})", "queryd_max(v)", "1.50");
    check("VALUES ({3}),({1}),({2.5}),({-7}),({\"a\"}),({9})", "queryd_max(v)", "\"a\"");
    check("VALUES ({3}),({1}),({2.5}),({-7}),({4}),({9e0}),({8})", "queryd_max(v)", "9e0");
    check("VALUES ({3}),({_:b}),({2}),({1}),(NULL)", "queryd_max(v)", "3");
    check("VALUES ({3}),({2000000000000000000}),({4})", "queryd_max(v)", "2000000000000000000");
    check("SELECT 1 WHERE 0", "queryd_min(v)", "unbound");
    check("VALUES (NULL)", "queryd_max(v)", "unbound");
}

static void
test_sample(void)
{
    check("VALUES (NULL),({2}),({3})", "queryd_sample(v)", "2");
    check("VALUES (NULL)", "queryd_sample(v)", "unbound");
    check("SELECT 1 WHERE 0", "queryd_sample(v)", "unbound");
}

static void
test_group_concat(void)
{
    check("VALUES ({\"a\"@en}),({1}),({<a:b>})", "queryd_group_concat(v)", "\"a 1 a:b\"");
    check("VALUES ({\"a\"}),({\"b\"})", "queryd_group_concat(v,', ')", "\"a, b\"");
    check("VALUES ({\"a\"}),({\"b\"})", "queryd_group_concat(v,{\"\"})", "\"ab\"");
    check("VALUES ({\"a\"}),({\"a\"})", "queryd_group_concat(DISTINCT v)", "\"a\"");
    check("VALUES ({\"\"}),({\"\"})", "queryd_group_concat(v,'-')", "\"-\"");
    check("VALUES ({\"a\"}),({_:b})", "queryd_group_concat(v)", "unbound");
    check("VALUES ({\"a\"}),(NULL)", "queryd_group_concat(v)", "unbound");
    check("SELECT 1 WHERE 0", "queryd_group_concat(v)", "\"\"");
    check("VALUES ({\"a\"}),({\"b\"}),({\"a\"})", "queryd_list_join(queryd_group_list(DISTINCT v),'; ')", "\"a; b\"");
    check("VALUES ({\"a\"}),({_:b})", "queryd_list_join(queryd_group_list(v),'; ')", "unbound");
    check("SELECT 1 WHERE 0", "queryd_list_join(queryd_group_list(v),'; ')", "\"\"");
    check("SELECT 1", "queryd_list_join(X'ffffffff00',' ')", "unbound");
}

/* Several groups at once, and one that grows beyond SQLite's limit. */
static void
test_groups(void)
{
    g_autoptr(Expressions) self = expressions_new();
    g_autofree char *groups = expressions_query(
        self, "WITH n(g,v) AS (VALUES (1,{1}),(2,{\"x\"}),(1,{2}),(3,{5})) SELECT queryd_sum(v) FROM n GROUP BY g");
    g_autofree char *large = NULL;

    g_assert_cmpstr(groups, ==, "3 unbound 5");
    (void) sqlite3_limit(self->db, SQLITE_LIMIT_LENGTH, 100000);
    large = expressions_query(self, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 1000) "
                                    "SELECT queryd_group_concat(printf('%0200d', i)) FROM n");
    g_assert_cmpstr(large, ==, "error: string or blob too big");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/aggregate/sum", test_sum);
    g_test_add_func("/functions/aggregate/summands", test_summands);
    g_test_add_func("/functions/aggregate/avg", test_avg);
    g_test_add_func("/functions/aggregate/extremes", test_extremes);
    g_test_add_func("/functions/aggregate/sample", test_sample);
    g_test_add_func("/functions/aggregate/group-concat", test_group_concat);
    g_test_add_func("/functions/aggregate/groups", test_groups);
    return g_test_run();
}
