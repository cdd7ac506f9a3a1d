/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Casts: what can be cast to what, and the forms that come out.
 */
#include "tests/unit/functions/expression-fixture.h"

static void
test_string(void)
{
    static const char *const cases[][2] = {
        { "(xsd:string <a:b>)", "\"a:b\"" },
        { "(xsd:string \"x\")", "\"x\"" },
        { "(xsd:string 01)", "\"1\"" },
        { "(xsd:string 1.50)", "\"1.5\"" },
        { "(xsd:string 2.0)", "\"2\"" },
        { "(xsd:string 1e0)", "\"1\"" },
        { "(xsd:string 1e7)", "\"1.0E7\"" },
        { "(xsd:string \"1\"^^xsd:boolean)", "\"true\"" },
        { "(xsd:string \"2002-10-10T17:00:00Z\"^^xsd:dateTime)", "\"2002-10-10T17:00:00Z\"" },
        { "(xsd:string \"x\"@en)", "unbound" },
        { "(xsd:string _:b)", "unbound" },
        { "(xsd:string \"x\"^^<a:t>)", "\"x\"" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_boolean(void)
{
    static const char *const cases[][2] = {
        { "(xsd:boolean \"true\")", "true" },
        { "(xsd:boolean \" 0 \")", "false" },
        { "(xsd:boolean \"TRUE\")", "unbound" },
        { "(xsd:boolean 0.0)", "false" },
        { "(xsd:boolean -1)", "true" },
        { "(xsd:boolean \"NaN\"^^xsd:float)", "false" },
        { "(xsd:boolean \"0.0\")", "unbound" },
        { "(xsd:boolean <a:b>)", "unbound" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_integer(void)
{
    static const char *const cases[][2] = {
        { "(xsd:integer \"13\")", "13" },
        { "(xsd:integer \"1.5\")", "unbound" },
        { "(xsd:integer \"1E0\")", "unbound" },
        { "(xsd:integer 2.5)", "2" },
        { "(xsd:integer -7.875e0)", "-7" },
        { "(xsd:integer true)", "1" },
        { "(xsd:integer \"INF\"^^xsd:double)", "unbound" },
        { "(xsd:integer \"99999999999999999999\")", "99999999999999999999" },
        { "(xsd:integer \"2002-10-10\"^^xsd:date)", "unbound" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_decimal(void)
{
    static const char *const cases[][2] = {
        { "(xsd:decimal \"+33.3300\")", "33.33" },
        { "(xsd:decimal \"0\")", "0.0" },
        { "(xsd:decimal 1)", "1.0" },
        { "(xsd:decimal 1.25e0)", "1.25" },
        { "(xsd:decimal 1e300)", "unbound" },
        { "(xsd:decimal \"1e0\")", "unbound" },
        { "(xsd:decimal false)", "0.0" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_double(void)
{
    static const char *const cases[][2] = {
        { "(xsd:double \"-10.2E3\")", "-1.02E4" },
        { "(xsd:double \"0E1\")", "0.0E0" },
        { "(xsd:double 2.5)", "2.5E0" },
        { "(xsd:double \"x\")", "unbound" },
        { "(xsd:double \"INF\")", "INF" },
        { "(xsd:float \"1.25\")", "\"1.25E0\"^^xsd:float" },
        { "(xsd:float 0.1)", "\"1.0E-1\"^^xsd:float" },
        { "(xsd:double true)", "1.0E0" },
        { "(xsd:double \"1\"@en)", "unbound" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_time(void)
{
    static const char *const cases[][2] = {
        { "(xsd:dateTime \"2002-10-10T17:00:00Z\")", "\"2002-10-10T17:00:00Z\"^^xsd:dateTime" },
        { "(xsd:dateTime \"2002-10-10\")", "unbound" },
        { "(xsd:dateTime \"2002-10-10+01:00\"^^xsd:date)", "\"2002-10-10T00:00:00+01:00\"^^xsd:dateTime" },
        { "(xsd:date \"2002-10-10T17:00:00Z\"^^xsd:dateTime)", "\"2002-10-10Z\"^^xsd:date" },
        { "(xsd:time \"2002-10-10T17:00:00\"^^xsd:dateTime)", "\"17:00:00\"^^xsd:time" },
        { "(xsd:date \"17:00:00\"^^xsd:time)", "unbound" },
        { "(xsd:dateTime 5)", "unbound" },
        { "(xsd:dayTimeDuration \"P1Y2DT3H\"^^xsd:duration)", "\"P2DT3H\"^^xsd:dayTimeDuration" },
        { "(xsd:yearMonthDuration \"P1Y2DT3H\"^^xsd:duration)", "\"P1Y\"^^xsd:yearMonthDuration" },
        { "(xsd:duration \"PT36H\")", "\"P1DT12H\"^^xsd:duration" },
        { "(xsd:duration 1)", "unbound" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/cast-calls/string", test_string);
    g_test_add_func("/functions/cast-calls/boolean", test_boolean);
    g_test_add_func("/functions/cast-calls/integer", test_integer);
    g_test_add_func("/functions/cast-calls/decimal", test_decimal);
    g_test_add_func("/functions/cast-calls/double", test_double);
    g_test_add_func("/functions/cast-calls/time", test_time);
    return g_test_run();
}
