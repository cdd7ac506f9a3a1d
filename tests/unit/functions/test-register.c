/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The SQL functions as generated SQL calls them.
 */
#include "daemon/functions/register.h"

#include "tests/unit/functions/expression-fixture.h"

static void
check(const char *expression, const char *expected)
{
    g_autoptr(Expressions) self = expressions_new();
    g_autofree char *sql = g_strconcat("SELECT ", expression, NULL);
    g_autofree char *result = expressions_query(self, sql);

    g_test_message("%s", expression);
    g_assert_cmpstr(result, ==, expected);
}

static void
test_comparisons(void)
{
    check("queryd_eq({1},{1.0}) || ''", "1");
    check("queryd_ne({1},{1.0}) || ''", "0");
    check("queryd_lt({1},{1.5}) || ''", "1");
    check("queryd_le({1},{1}) || ''", "1");
    check("queryd_gt({1},{1.5}) || ''", "0");
    check("queryd_ge({\"b\"},{\"a\"}) || ''", "1");
    check("queryd_lt({1},{\"a\"})", "unbound");
    check("queryd_eq(NULL,{1})", "unbound");
    check("queryd_ebv({\"\"}) || ''", "0");
    check("queryd_ebv({<a:b>})", "unbound");
}

static void
test_terms(void)
{
    g_autoptr(Expressions) self = expressions_new();
    g_autofree char *result = NULL;

    check("queryd_boolean(1)", "true");
    check("queryd_boolean(0)", "false");
    check("queryd_boolean(NULL)", "unbound");
    check("queryd_integer(5)", "5");
    check("queryd_integer(9223372036854775807)", "9223372036854775807");
    check("queryd_integer(-7)", "-7");
    /* what lives in line, and what does not */
    check("queryd_integer(144115188075855871)", "144115188075855871");
    check("typeof(queryd_integer(144115188075855871)) || typeof(queryd_integer(144115188075855872))", "integerblob");
    check("typeof(queryd_sum(queryd_integer(144115188075855871))) || typeof(queryd_sum(queryd_integer(144115188075855872)))",
          "integerblob");
    check("queryd_str_text({<a:b>})", "a:b");
    check("queryd_str_text({\"x\"@en})", "x");
    check("queryd_str_text({_:l})", "_:l");
    check("queryd_str_text(NULL)", "unbound");
    check("queryd_to_term(NULL)", "unbound");
    check("queryd_to_term({12})", "12");
    check("queryd_to_term(X'00')", "unbound");
    check("queryd_to_term('text')", "\"text\"");
    check("queryd_to_term(1.5)", "1.5E0");

    /* the dictionary's id where it has the term, else the blob */
    result = expressions_query(self,
                               "SELECT typeof(queryd_to_term('known')) || typeof({\"known\"}) || typeof(queryd_to_term('new'))");
    g_assert_cmpstr(result, ==, "integerintegerblob");
    g_clear_pointer(&result, g_free);
    result = expressions_query(self, "SELECT (queryd_to_term('known') = {\"known\"}) || ''");
    g_assert_cmpstr(result, ==, "1");
}

static void
test_test(void)
{
    g_autoptr(Expressions) self = expressions_new();
    g_autoptr(GByteArray) program = expressions_assemble("(< $0 5)", NULL);
    g_autoptr(GString) sql = g_string_new("WITH n(x) AS (VALUES ({1}),({9}),(NULL),({4.5})) SELECT x FROM n WHERE queryd_test(X'");
    g_autofree char *result = NULL;

    for (guint i = 0; i < program->len; i++)
        g_string_append_printf(sql, "%02x", program->data[i]);
    g_string_append(sql, "',x)");
    result = expressions_query(self, sql->str);
    g_assert_cmpstr(result, ==, "1 4.5");
}

static void
test_hostile(void)
{
    check("queryd_eval()", "error: not an expression program");
    check("queryd_eval(NULL)", "error: not an expression program");
    check("queryd_eval('x')", "error: not an expression program");
    check("queryd_eval(X'')", "error: not an expression program: it ends too early");
    check("queryd_eq(X'ff',X'00')", "unbound");
    check("queryd_eq(-1,0)", "unbound");
    check("queryd_str_text(12345)", "error: no term 12345");
    check("queryd_sort_key(-5)", "unbound");
}

/* A computed value above the limit of a value is an error, not memory. */
static void
test_too_big(void)
{
    g_autoptr(Expressions) self = expressions_new();
    g_autoptr(GByteArray) program = expressions_assemble("(CONCAT $0 $0 $0 $0)", NULL);
    g_autoptr(GString) sql = g_string_new("SELECT queryd_eval(X'");
    g_autofree char *result = NULL;

    for (guint i = 0; i < program->len; i++)
        g_string_append_printf(sql, "%02x", program->data[i]);
    g_string_append(sql, "',printf('%0400000000d',1))");
    result = expressions_query(self, sql->str);
    g_assert_cmpstr(result, ==, "error: string or blob too big");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/register/comparisons", test_comparisons);
    g_test_add_func("/functions/register/terms", test_terms);
    g_test_add_func("/functions/register/test", test_test);
    g_test_add_func("/functions/register/hostile", test_hostile);
    g_test_add_func("/functions/register/too-big", test_too_big);
    return g_test_run();
}
