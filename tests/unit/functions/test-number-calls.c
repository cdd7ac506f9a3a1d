/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions on numbers, dates and times.
 */
#include "tests/unit/functions/expression-fixture.h"

static void
test_round(void)
{
    static const char *const cases[][2] = {
        { "(ABS -1)", "1" },        { "(ABS -1.5)", "1.5" },         { "(ABS \"-1\"^^xsd:byte)", "1" }, { "(ROUND 2.4999)", "2.0" },
        { "(ROUND 2.5)", "3.0" },   { "(ROUND -2.5)", "-2.0" },      { "(CEIL 10.5)", "11.0" },         { "(CEIL -10.5)", "-10.0" },
        { "(FLOOR 10.5)", "10.0" }, { "(FLOOR -10.5e0)", "-1.1E1" }, { "(FLOOR \"1\")", "unbound" },    { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_rand(void)
{
    static const char *const cases[][2] = {
        { "(&& (>= (RAND) 0) (< (RAND) 1))", "true" },
        { "(DATATYPE (RAND))", "<http://www.w3.org/2001/XMLSchema#double>" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_parts(void)
{
    static const char *const cases[][2] = {
        { "(YEAR \"2011-01-10T14:45:13.815-05:00\"^^xsd:dateTime)", "2011" },
        { "(MONTH \"2011-01-10T14:45:13.815-05:00\"^^xsd:dateTime)", "1" },
        { "(DAY \"2011-01-10T14:45:13.815-05:00\"^^xsd:dateTime)", "10" },
        { "(HOURS \"2011-01-10T14:45:13.815-05:00\"^^xsd:dateTime)", "14" },
        { "(MINUTES \"2011-01-10T14:45:13.815-05:00\"^^xsd:dateTime)", "45" },
        { "(SECONDS \"2011-01-10T14:45:13.815-05:00\"^^xsd:dateTime)", "13.815" },
        { "(YEAR \"-0001-12-31T24:00:00\"^^xsd:dateTime)", "0" },
        { "(YEAR \"2011-01-10\"^^xsd:date)", "2011" },
        { "(HOURS \"2011-01-10\"^^xsd:date)", "unbound" },
        { "(YEAR \"10:00:00\"^^xsd:time)", "unbound" },
        { "(MINUTES \"10:30:00\"^^xsd:time)", "30" },
        { "(YEAR \"2011-13-10T14:45:13\"^^xsd:dateTime)", "unbound" },
        { "(YEAR \"2011\")", "unbound" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_zone(void)
{
    static const char *const cases[][2] = {
        { "(TIMEZONE \"2011-01-10T14:45:13.815-05:00\"^^xsd:dateTime)", "\"-PT5H\"^^xsd:dayTimeDuration" },
        { "(TIMEZONE \"2011-01-10T14:45:13.815Z\"^^xsd:dateTime)", "\"PT0S\"^^xsd:dayTimeDuration" },
        { "(TIMEZONE \"2011-01-10T14:45:13.815\"^^xsd:dateTime)", "unbound" },
        { "(TZ \"2011-01-10T14:45:13.815-05:00\"^^xsd:dateTime)", "\"-05:00\"" },
        { "(TZ \"2011-01-10T14:45:13.815Z\"^^xsd:dateTime)", "\"Z\"" },
        { "(TZ \"2011-01-10T14:45:13+00:00\"^^xsd:dateTime)", "\"+00:00\"" },
        { "(TZ \"2011-01-10T14:45:13.815\"^^xsd:dateTime)", "\"\"" },
        { "(TZ \"2011\")", "unbound" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

/* One moment for a whole execution. */
static void
test_now(void)
{
    g_autoptr(Expressions) self = expressions_new();
    g_autofree char *now = NULL;
    g_autofree char *year = NULL;

    self->context.now_usec = G_GINT64_CONSTANT(1300000000123456);
    now = expressions_run(self, "(NOW)");
    g_assert_cmpstr(now, ==, "\"2011-03-13T07:06:40.123456Z\"^^xsd:dateTime");
    year = expressions_run(self, "(YEAR (NOW))");
    g_assert_cmpstr(year, ==, "2011");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/number-calls/round", test_round);
    g_test_add_func("/functions/number-calls/rand", test_rand);
    g_test_add_func("/functions/number-calls/parts", test_parts);
    g_test_add_func("/functions/number-calls/zone", test_zone);
    g_test_add_func("/functions/number-calls/now", test_now);
    return g_test_run();
}
