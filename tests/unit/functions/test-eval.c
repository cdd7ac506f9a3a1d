/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is lazy, and how errors travel.
 */
#include "tests/unit/functions/expression-fixture.h"

static void
test_lazy(void)
{
    static const char *const cases[][2] = {
        { "(IF true 1 (/ 1 0))", "1" },
        { "(IF false (/ 1 0) 2)", "2" },
        { "(IF (/ 1 0) 1 2)", "unbound" },
        { "(IF \"\" 1 2)", "2" },
        { "(IF <a:b> 1 2)", "unbound" },
        { "(COALESCE (/ 1 0) unbound 3 4)", "3" },
        { "(COALESCE)", "unbound" },
        { "(COALESCE unbound (/ 1 0))", "unbound" },
        { "(COALESCE \"a\"@en)", "\"a\"@en" },
        { "(IF (IF unbound true false) 1 2)", "unbound" },
        { "(COALESCE (IF unbound 1 2) 5)", "5" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_errors(void)
{
    static const char *const cases[][2] = {
        { "(STR (/ 1 0))", "unbound" },
        { "(+ (/ 1 0) 1)", "unbound" },
        { "(ISIRI (/ 1 0))", "unbound" },
        { "(BOUND (/ 1 0))", "false" },
        { "(! (< 1 \"a\"))", "unbound" },
        { "(|| (< 1 \"a\") true)", "true" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_nested(void)
{
    static const char *const cases[][2] = {
        { "(IF (&& (> 3 2) (CONTAINS \"abc\" \"b\")) (CONCAT \"x\" (STR (+ 1 (* 2 3)))) \"no\")", "\"x7\"" },
        { "(STRLEN (REPLACE (UCASE \"abc\") \"B\" \"--\"))", "4" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_args(void)
{
    g_autoptr(Expressions) self = expressions_new();
    g_autoptr(GByteArray) program = expressions_assemble("(+ $0 $1)", NULL);
    g_autoptr(GString) hex = g_string_new(NULL);
    g_autofree char *sql = NULL;
    g_autofree char *few = NULL;
    g_autofree char *rows = NULL;
    g_autofree char *few_result = NULL;

    for (guint i = 0; i < program->len; i++)
        g_string_append_printf(hex, "%02x", program->data[i]);
    sql = g_strdup_printf("WITH n(x) AS (VALUES ({1}),({2.5}),(NULL),({\"a\"})) SELECT queryd_eval(X'%s',x,{10}) FROM n", hex->str);
    rows = expressions_query(self, sql);
    g_assert_cmpstr(rows, ==, "11 12.5 unbound unbound");
    few = g_strdup_printf("SELECT queryd_eval(X'%s',1)", hex->str);
    few_result = expressions_query(self, few);
    g_assert_true(g_str_has_prefix(few_result, "error: not an expression program: it has more arguments than the call"));
}

/* A look-up that fails ends the query: COALESCE does not hide it. */
static void
test_failure(void)
{
    g_autoptr(Expressions) self = expressions_new();
    g_autoptr(GByteArray) program = expressions_assemble("(COALESCE (STR $0) 1)", NULL);
    g_autoptr(GString) sql = g_string_new("SELECT queryd_eval(X'");
    g_autofree char *result = NULL;

    for (guint i = 0; i < program->len; i++)
        g_string_append_printf(sql, "%02x", program->data[i]);
    g_string_append(sql, "',{<a:b>})");
    self->fail = TRUE;
    result = expressions_query(self, sql->str);
    g_assert_true(g_str_has_prefix(result, "error: no term"));
}

/* As deep as the format allows. */
static void
test_deep(void)
{
    g_autoptr(Expressions) self = expressions_new();
    g_autoptr(GString) text = g_string_new(NULL);
    g_autofree char *result = NULL;
    g_autofree char *deeper = NULL;

    for (guint i = 0; i < 1000; i++)
        g_string_append(text, i % 2 == 0 ? "(+ 1 " : "(COALESCE ");
    g_string_append_c(text, '1');
    for (guint i = 0; i < 1000; i++)
        g_string_append_c(text, ')');
    result = expressions_run(self, text->str);
    g_assert_cmpstr(result, ==, "501");
    g_string_prepend(text, "(! ");
    g_string_append_c(text, ')');
    deeper = expressions_run(self, text->str);
    g_assert_cmpstr(deeper, ==, "error: expression is nested more than 1000 deep");
}

static void
test_volatile(void)
{
    g_autoptr(Expressions) self = expressions_new();
    g_autoptr(GByteArray) program = expressions_assemble("(RAND)", NULL);
    g_autofree char *sql = g_strdup_printf(
        "WITH n(x) AS (VALUES (1),(2),(3)), r(v) AS MATERIALIZED (SELECT queryd_eval_volatile(X'%02x%02x') FROM n) "
        "SELECT count(DISTINCT v) || '' FROM r",
        program->data[0], program->data[1]);
    g_autofree char *result = expressions_query(self, sql);

    g_assert_cmpstr(result, ==, "3");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/eval/lazy", test_lazy);
    g_test_add_func("/functions/eval/errors", test_errors);
    g_test_add_func("/functions/eval/nested", test_nested);
    g_test_add_func("/functions/eval/args", test_args);
    g_test_add_func("/functions/eval/failure", test_failure);
    g_test_add_func("/functions/eval/deep", test_deep);
    g_test_add_func("/functions/eval/volatile", test_volatile);
    return g_test_run();
}
