/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The total order.
 */
#include "tests/unit/functions/expression-fixture.h"

/* Each is below the next. */
static void
test_order(void)
{
    static const char *const terms[] = {
        "unbound",
        "_:a",
        "_:b",
        "<a:a>",
        "<a:ab>",
        "<a:b>",
        "\"NaN\"^^xsd:double",
        "\"-INF\"^^xsd:double",
        "-100000000000000000000",
        "-9007199254740993",
        "-9007199254740992",
        "-1.5",
        "-1",
        "-0.000001",
        "0",
        "1e-300",
        "0.5",
        "1",
        "9007199254740992",
        "9007199254740993",
        "100000000000000000000",
        "1e300",
        "\"INF\"^^xsd:float",
        "false",
        "true",
        "\"1999-12-31T23:00:00Z\"^^xsd:dateTime",
        "\"2000-01-01T00:00:00\"^^xsd:dateTime",
        "\"2000-01-01T00:00:00Z\"^^xsd:dateTime",
        "\"1000-01-01\"^^xsd:date",
        "\"P1M\"^^xsd:duration",
        "\"P40D\"^^xsd:duration",
        "\"\"",
        "\"\\0\"",
        "\"\\0\\0\"",
        "\"a\"",
        "\"a\"@de",
        "\"a\"@en",
        "\"a\\0\"",
        "\"ab\"",
        "\"b\"",
        "\"a\"^^<a:s>",
        "\"a\"^^<a:t>",
        "\"b\"^^<a:t>",
    };
    g_autoptr(Expressions) self = expressions_new();

    for (gsize i = 0; i + 1 < G_N_ELEMENTS(terms); i++) {
        g_autofree char *sql = NULL;
        g_autofree char *result = NULL;

        sql = i == 0 ? g_strdup_printf("SELECT (queryd_sort_key(NULL) IS NULL) || (queryd_sort_key({%s}) IS NULL)", terms[1])
                     : g_strdup_printf("SELECT (queryd_sort_key({%s}) < queryd_sort_key({%s})) || ''", terms[i], terms[i + 1]);
        result = expressions_query(self, sql);
        g_test_message("%s %s", terms[i], terms[i + 1]);
        g_assert_cmpstr(result, ==, i == 0 ? "10" : "1");
    }
}

static void
test_equal(void)
{
    static const char *const pairs[][2] = {
        { "1", "1.0" },
        { "1", "\"1\"^^xsd:byte" },
        { "0.5", "5e-1" },
        { "0", "-0e0" },
        { "\"2000-01-01T00:00:00+01:00\"^^xsd:dateTime", "\"1999-12-31T23:00:00Z\"^^xsd:dateTime" },
        { "\"a\"@en", "\"a\"@EN" },
        { "\"P1Y\"^^xsd:duration", "\"P12M\"^^xsd:yearMonthDuration" },
        { "true", "\"1\"^^xsd:boolean" },
    };
    g_autoptr(Expressions) self = expressions_new();

    for (gsize i = 0; i < G_N_ELEMENTS(pairs); i++) {
        g_autofree char *sql = g_strdup_printf("SELECT (queryd_sort_key({%s}) = queryd_sort_key({%s})) || ''", pairs[i][0],
                                               pairs[i][1]);
        g_autofree char *result = expressions_query(self, sql);

        g_assert_cmpstr(result, ==, "1");
    }
}

static char *
random_number(void)
{
    gint n = g_test_rand_int_range(-20, 20);

    switch (g_test_rand_int_range(0, 5)) {
    case 0:
        return g_strdup_printf("%d", n);
    case 1:
        return g_strdup_printf("%d.5", n);
    case 2:
        return g_strdup_printf("%de0", n);
    case 3:
        return g_strdup_printf("%de15", n);
    default: /* of five */
        return g_strdup_printf("\"%d\"^^xsd:float", n);
    }
}

/* Where "<" knows an answer, the keys have the same. */
static void
test_agrees(void)
{
    g_autoptr(Expressions) self = expressions_new();

    for (guint i = 0; i < 2000; i++) {
        g_autofree char *a = random_number();
        g_autofree char *b = random_number();
        g_autofree char *sql = g_strdup_printf(
            "SELECT (queryd_lt({%s},{%s}) = (queryd_sort_key({%s}) < queryd_sort_key({%s}))) || ''", a, b, a, b);
        g_autofree char *result = expressions_query(self, sql);

        g_test_message("%s %s", a, b);
        g_assert_cmpstr(result, ==, "1");
    }
}

static int
interrupt(void *data)
{
    return TRUE;
}

/* In pieces of 1 MiB: each zero byte is two, and between pieces and where it grows it can be ended. */
static void
test_large(void)
{
    static const char *const cases[][2] = {
        { "length(queryd_sort_key(CAST(zeroblob(2500000) AS TEXT)))", "5000003" },
        { "hex(substr(queryd_sort_key(printf('%.*c', 1048576, 'b')), 1048576))", "62620000" },
        { "hex(substr(queryd_sort_key(printf('%.*c', 1048575, 'b') || char(0) || 'c'), 1048575))", "626200FF630000" },
        { "hex(substr(queryd_sort_key(printf('%.*c', 1048576, 'b') || char(0)), 1048576))", "626200FF0000" },
    };
    g_autoptr(Expressions) self = expressions_new();

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *sql = g_strdup_printf("SELECT (%s) || ''", cases[i][0]);
        g_autofree char *result = expressions_query(self, sql);

        g_assert_cmpstr(result, ==, cases[i][1]);
    }
    self->context.interrupted = interrupt;
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *sql = g_strdup_printf("SELECT (%s) || ''", cases[i][0]);
        g_autofree char *result = expressions_query(self, sql);

        g_assert_cmpstr(result, ==, "error: interrupted");
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/sort-key/order", test_order);
    g_test_add_func("/functions/sort-key/equal", test_equal);
    g_test_add_func("/functions/sort-key/agrees", test_agrees);
    g_test_add_func("/functions/sort-key/large", test_large);
    return g_test_run();
}
