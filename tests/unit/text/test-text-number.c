/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers as texts, and texts that are numbers.
 */
#include "client-lib/text/text-number.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static void
test_int64(void)
{
    static const int64_t values[] = { 0, 1, -1, 9, 10, -10, 1234567890123, INT64_MAX, INT64_MIN };
    char buffer[QW_TEXT_NUMBER_BYTES + 1];

    for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
        g_autofree char *expected = g_strdup_printf("%" G_GINT64_FORMAT, values[i]);

        *qw_text_put_int64(buffer, values[i]) = 0;
        g_assert_cmpstr(buffer, ==, expected);
    }
}

static void
assert_double(double value, const char *expected)
{
    char buffer[QW_TEXT_NUMBER_BYTES + 1];

    *qw_text_put_double(buffer, value) = 0;
    g_assert_cmpstr(buffer, ==, expected);
}

static void
test_double(void)
{
    assert_double(0.0, "0.0");
    assert_double(-0.0, "-0.0");
    assert_double(1.0, "1.0");
    assert_double(-1.5, "-1.5");
    assert_double(0.1, "0.1");
    assert_double(0.30000000000000004, "0.30000000000000004");
    assert_double(3.14159265, "3.14159265");
    assert_double(1.0 / 3.0, "0.3333333333333333");
    assert_double(123456.05, "123456.05");
    assert_double(99999999999999.0, "99999999999999.0");
    assert_double(1e15, "1e+15");
    assert_double(9007199254740993.0, "9007199254740992.0");
    assert_double(1e300, "1e+300");
    assert_double(5e-324, "5e-324");
    assert_double(2.2250738585072014e-308, "2.2250738585072014e-308");
    assert_double(1.7976931348623157e308, "1.7976931348623157e+308");
    assert_double(0.0001, "0.0001");
    assert_double(0.00001, "1e-05");
    assert_double(INFINITY, "9e999");
    assert_double(-INFINITY, "-9e999");
}

/* Any bits: the text is short enough and gives the same bits back. */
static void
test_double_random(void)
{
    for (guint i = 0; i < 200000; i++) {
        uint64_t bits = (uint64_t) g_test_rand_int() << 32 | (uint32_t) g_test_rand_int();
        char buffer[QW_TEXT_NUMBER_BYTES + 1];
        QwValue value = { 0 };
        double real = 0;
        char *end = NULL;

        if (i % 4 == 0)
            real = (double) (int64_t) bits / (double) (1u << (i % 20)) / 1000000.0;
        else if (i % 4 == 1)
            real = (double) (g_test_rand_int() % 100000) / 100.0;
        else
            memcpy(&real, &bits, sizeof real);
        if (isnan(real))
            continue;
        end = qw_text_put_double(buffer, real);
        g_assert_cmpint(end - buffer, <=, 25);
        g_assert_true(qw_text_parse_number(buffer, (size_t) (end - buffer), &value));
        g_assert_cmpint(value.type, ==, QW_TYPE_FLOAT);
        g_assert_cmpmem(&value.real, sizeof value.real, &real, sizeof real);
    }
}

static void
test_not_canonical(void)
{
    static const char *const texts[] = {
        "",    "-",   "+1",  "007", "00",  "-0",    "1.",         ".5", "1.50", "1e5",  "1E+20", "0x10",   "1 ",
        " 1",  "1,5", "inf", "nan", "--1", "1.0.0", "2024-01-01", "1e", "1e+",  "1.e5", "9e998", "10e999", "9223372036854775808",
        "0.10"
    };
    QwValue value = { 0 };

    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        if (qw_text_parse_number(texts[i], strlen(texts[i]), &value))
            g_error("'%s' was taken as a number", texts[i]);
    }
    g_assert_true(qw_text_parse_number("-9223372036854775808", 20, &value));
    g_assert_cmpint(value.integer, ==, INT64_MIN);
    g_assert_true(qw_text_parse_number("9e999", 5, &value));
    g_assert_true(isinf(value.real));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);

    g_test_add_func("/text/text-number/int64", test_int64);
    g_test_add_func("/text/text-number/double", test_double);
    g_test_add_func("/text/text-number/double-random", test_double_random);
    g_test_add_func("/text/text-number/not-canonical", test_not_canonical);
    return g_test_run();
}
