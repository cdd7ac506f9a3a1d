/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The operators of SPARQL 1.1 §17.3: truth tables, promotion, and which literals are known to differ.
 */
#include "tests/unit/functions/expression-fixture.h"

static void
test_logic(void)
{
    static const char *const cases[][2] = {
        { "(|| true unbound)", "true" },
        { "(|| unbound true)", "true" },
        { "(|| false unbound)", "unbound" },
        { "(|| false false)", "false" },
        { "(|| unbound unbound)", "unbound" },
        { "(&& false unbound)", "false" },
        { "(&& unbound false)", "false" },
        { "(&& true unbound)", "unbound" },
        { "(&& true true true)", "true" },
        { "(! unbound)", "unbound" },
        { "(! 0)", "true" },
        { "(|| false false true)", "true" },
        { "(! <a:b>)", "unbound" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_truth(void)
{
    static const char *const cases[][2] = {
        { "(EBV \"a\")", "true" },
        { "(EBV \"\")", "false" },
        { "(EBV \"\"@en)", "false" },
        { "(EBV \"a\"@en)", "true" },
        { "(EBV 0)", "false" },
        { "(EBV 0.0)", "false" },
        { "(EBV 1e-9)", "true" },
        { "(EBV \"NaN\"^^xsd:double)", "false" },
        { "(EBV \"x\"^^xsd:integer)", "false" },
        { "(EBV \"maybe\"^^xsd:boolean)", "false" },
        { "(EBV \"1\"^^xsd:boolean)", "true" },
        { "(EBV <a:b>)", "unbound" },
        { "(EBV _:b)", "unbound" },
        { "(EBV \"2000-01-01\"^^xsd:date)", "unbound" },
        { "(EBV \"x\"^^<a:t>)", "unbound" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_equal(void)
{
    static const char *const cases[][2] = {
        { "(= 1 1.0)", "true" },
        { "(= 01 1)", "true" },
        { "(= 1 1e0)", "true" },
        { "(= 1 2)", "false" },
        { "(= \"a\" \"a\")", "true" },
        { "(= \"a\" \"b\")", "false" },
        { "(= \"a\"@en \"a\"@EN)", "true" },
        { "(= \"a\"@en \"a\"@fr)", "false" },
        { "(= \"a\"@en \"a\")", "false" },
        { "(= true \"1\"^^xsd:boolean)", "true" },
        { "(= <a:b> <a:b>)", "true" },
        { "(= <a:b> <a:c>)", "false" },
        { "(= <a:b> \"a:b\")", "false" },
        { "(= _:a _:a)", "true" },
        { "(= _:a _:b)", "false" },
        { "(= \"x\"^^<a:t> \"x\"^^<a:t>)", "true" },
        { "(= \"x\"^^<a:t> \"y\"^^<a:t>)", "unbound" },
        { "(!= \"x\"^^<a:t> \"y\"^^<a:t>)", "unbound" },
        { "(= \"x\"^^<a:t> \"x\")", "unbound" },
        { "(= \"x\"^^<a:t> \"x\"@en)", "false" },
        { "(= \"x\"^^<a:t> <a:b>)", "false" },
        { "(= \"x\"^^xsd:integer \"x\"^^xsd:integer)", "true" },
        { "(= \"x\"^^xsd:integer 1)", "unbound" },
        { "(= \"x\"^^xsd:integer \"x\")", "unbound" },
        { "(= 1 \"1\")", "false" },
        { "(!= 1 \"1\")", "true" },
        { "(= \"NaN\"^^xsd:double \"NaN\"^^xsd:double)", "false" },
        { "(!= \"NaN\"^^xsd:double 1)", "true" },
        { "(= unbound 1)", "unbound" },
        { "(= 9007199254740993 9007199254740992.0)", "false" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_equal_times(void)
{
    static const char *const cases[][2] = {
        { "(= \"2002-04-02T12:00:00-01:00\"^^xsd:dateTime \"2002-04-02T17:00:00+04:00\"^^xsd:dateTime)", "true" },
        { "(= \"2006-08-23\"^^xsd:date \"2006-08-23Z\"^^xsd:date)", "unbound" },
        { "(!= \"2006-08-23\"^^xsd:date \"2001-01-01Z\"^^xsd:date)", "true" },
        { "(= \"2006-08-23Z\"^^xsd:date \"2006-08-23+00:00\"^^xsd:date)", "true" },
        { "(!= \"2006-08-23T09:00:00+01:00\"^^xsd:dateTime \"2006-08-23\"^^xsd:date)", "true" },
        { "(= \"P1Y\"^^xsd:duration \"P12M\"^^xsd:yearMonthDuration)", "true" },
        { "(= \"PT24H\"^^xsd:dayTimeDuration \"P1D\"^^xsd:duration)", "true" },
        { "(= \"P1M\"^^xsd:duration \"P30D\"^^xsd:duration)", "false" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_same_term(void)
{
    static const char *const cases[][2] = {
        { "(SAMETERM 1 01)", "false" },
        { "(SAMETERM 1 1)", "true" },
        { "(SAMETERM \"a\"@en \"a\"@EN)", "true" },
        { "(SAMETERM \"x\"^^<a:t> \"y\"^^<a:t>)", "false" },
        { "(SAMETERM \"NaN\"^^xsd:double \"NaN\"^^xsd:double)", "true" },
        { "(SAMETERM 1 unbound)", "unbound" },
        { "(SAMETERM (+ 1 1) 2)", "true" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_order(void)
{
    static const char *const cases[][2] = {
        { "(< 1 2)", "true" },
        { "(> 1 2)", "false" },
        { "(<= 1 1.0)", "true" },
        { "(>= 1 1e0)", "true" },
        { "(< 1 \"NaN\"^^xsd:double)", "false" },
        { "(>= 1 \"NaN\"^^xsd:double)", "false" },
        { "(< \"a\" \"b\")", "true" },
        { "(< \"a\" \"B\")", "false" },
        { "(< \"a\" \"ab\")", "true" },
        { "(< \"￿\" \"𐀀\")", "true" },
        { "(< false true)", "true" },
        { "(< \"a\"@en \"b\"@en)", "unbound" },
        { "(< 1 \"2\")", "unbound" },
        { "(< <a:a> <a:b>)", "unbound" },
        { "(< _:a _:b)", "unbound" },
        { "(< \"x\"^^<a:t> \"y\"^^<a:t>)", "unbound" },
        { "(< \"2000-01-01\"^^xsd:date \"2000-01-02\"^^xsd:date)", "true" },
        { "(< \"2000-01-01T00:00:00\"^^xsd:dateTime \"2000-01-02T00:00:00Z\"^^xsd:dateTime)", "true" },
        { "(< \"2000-01-01T12:00:00\"^^xsd:dateTime \"2000-01-02T00:00:00Z\"^^xsd:dateTime)", "unbound" },
        { "(< \"2000-01-01\"^^xsd:date \"2000-01-02T00:00:00\"^^xsd:dateTime)", "unbound" },
        { "(< \"PT1H\"^^xsd:dayTimeDuration \"PT61M\"^^xsd:dayTimeDuration)", "true" },
        { "(< \"P1M\"^^xsd:duration \"P40D\"^^xsd:duration)", "unbound" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_in(void)
{
    static const char *const cases[][2] = {
        { "(IN 2 1 2 3)", "true" },
        { "(IN 2)", "false" },
        { "(IN 2 <a:b> 2.0)", "true" },
        { "(IN 2 unbound 2)", "true" },
        { "(IN 2 unbound 3)", "unbound" },
        { "(NOT_IN 2 1 3)", "true" },
        { "(NOT_IN 2 unbound 3)", "unbound" },
        { "(NOT_IN 2 unbound 2)", "false" },
        { "(IN unbound 1)", "unbound" },
        { "(IN unbound)", "unbound" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_arithmetic(void)
{
    static const char *const cases[][2] = {
        { "(+ 1 2)", "3" },
        { "(+ 1 2.5)", "3.5" },
        { "(- 1 2e0)", "-1.0E0" },
        { "(* 3 \"2\"^^xsd:float)", "\"6.0E0\"^^xsd:float" },
        { "(/ 7 2)", "3.5" },
        { "(/ 6 2)", "3.0" },
        { "(/ 1 0)", "unbound" },
        { "(/ 1 0.0)", "unbound" },
        { "(/ 1 0e0)", "INF" },
        { "(/ 1 3)", "0.333333333333333333" },
        { "(+ 9223372036854775807 1)", "9223372036854775808" },
        { "(* 99999999999999999999 99999999999999999999)", "unbound" },
        { "(- 0 9223372036854775808)", "-9223372036854775808" },
        { "(+ \"a\" \"b\")", "unbound" },
        { "(+ 1 \"1\")", "unbound" },
        { "(+ 1 unbound)", "unbound" },
        { "(+ \"x\"^^xsd:integer 1)", "unbound" },
        { "(NEG 5)", "-5" },
        { "(NEG -1.5e0)", "1.5E0" },
        { "(NEG \"5\")", "unbound" },
        { "(PLUS 05)", "05" },
        { "(PLUS \"5\")", "unbound" },
        { "(NEG (NEG 5))", "5" },
        { "(- \"2000-01-02T00:00:00Z\"^^xsd:dateTime \"2000-01-01T12:00:00Z\"^^xsd:dateTime)", "\"PT12H\"^^xsd:dayTimeDuration" },
        { "(+ \"2000-01-31\"^^xsd:date \"P1M\"^^xsd:yearMonthDuration)", "\"2000-02-29\"^^xsd:date" },
        { "(* \"2000-01-31\"^^xsd:date 2)", "unbound" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/operators/logic", test_logic);
    g_test_add_func("/functions/operators/truth", test_truth);
    g_test_add_func("/functions/operators/equal", test_equal);
    g_test_add_func("/functions/operators/equal-times", test_equal_times);
    g_test_add_func("/functions/operators/same-term", test_same_term);
    g_test_add_func("/functions/operators/order", test_order);
    g_test_add_func("/functions/operators/in", test_in);
    g_test_add_func("/functions/operators/arithmetic", test_arithmetic);
    return g_test_run();
}
