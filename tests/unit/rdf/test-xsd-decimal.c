/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decimals: forms, exact arithmetic, rounding, and what does not fit.
 */
#include "daemon/rdf/xsd-decimal.h"

#include <math.h>
#include <string.h>

#define NINES_38 "99999999999999999999999999999999999999"

static QdDecimal
make(const char *text)
{
    QdDecimal value = { .digits = 0 };

    g_assert_true(qd_decimal_parse(text, strlen(text), &value));
    return value;
}

static void
assert_is(const QdDecimal *value, const char *expected)
{
    char text[QD_DECIMAL_TEXT_BYTES];

    g_assert_cmpuint(qd_decimal_format(value, FALSE, text), ==, strlen(expected));
    g_assert_cmpstr(text, ==, expected);
}

static void
test_forms(void)
{
    static const char *const forms[][2] = {
        { "0", "0" },
        { "-0", "0" },
        { "+007", "7" },
        { "5.", "5" },
        { ".5", "0.5" },
        { "-.50", "-0.5" },
        { "100", "100" },
        { "0.001000", "0.001" },
        { "1.0000000000000000000000000000000000000000000000000000000000", "1" },
        { NINES_38, NINES_38 },
        { "0.00000000000000000000000000000000000001", "0.00000000000000000000000000000000000001" },
        { "-1234567890123456789.0123456789012345678", "-1234567890123456789.0123456789012345678" },
    };
    static const char *const bad[] = {
        "", ".", "+", "-", "1e0", " 1", "1 ", "1.2.3", "--1", (NINES_38 "0"), "0x1", ("1." NINES_38)
    };
    QdDecimal value = make("2");
    char text[QD_DECIMAL_TEXT_BYTES];

    for (gsize i = 0; i < G_N_ELEMENTS(forms); i++) {
        value = make(forms[i][0]);
        assert_is(&value, forms[i][1]);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++)
        g_assert_false(qd_decimal_parse(bad[i], strlen(bad[i]), &value));
    value = make("2");
    (void) qd_decimal_format(&value, TRUE, text);
    g_assert_cmpstr(text, ==, "2.0");
}

static void
test_arithmetic(void)
{
    static const struct {
        gboolean (*function)(const QdDecimal *, const QdDecimal *, QdDecimal *);
        const char *a;
        const char *b;
        const char *result; /* NULL: refused */
    } cases[] = {
        { qd_decimal_add, "0.1", "0.2", "0.3" },
        { qd_decimal_add, "-1", "0.999", "-0.001" },
        { qd_decimal_add, NINES_38, "1", NULL },
        { qd_decimal_add, NINES_38, "0.4", NINES_38 },
        { qd_decimal_add, NINES_38, NINES_38, NULL },
        { qd_decimal_subtract, "-" NINES_38, NINES_38, NULL },
        { qd_decimal_add, "9.9999999999999999999999999999999999999", "9.9999999999999999999999999999999999999", "20" },
        { qd_decimal_subtract, "1", "0.9", "0.1" },
        { qd_decimal_multiply, "1.5", "-1.5", "-2.25" },
        { qd_decimal_multiply, "10000000000000000000", "10000000000000000000", NULL },
        { qd_decimal_multiply, "1000000000000000000", "1000000000000000000.5", "1000000000000000000500000000000000000" },
        { qd_decimal_multiply, "0.00000000000000000001", "0.00000000000000000001", "0" },
        { qd_decimal_divide, "1", "3", "0.333333333333333333" },
        { qd_decimal_divide, "2", "3", "0.666666666666666667" },
        { qd_decimal_divide, "-7", "2", "-3.5" },
        { qd_decimal_divide, "11.1", "5", "2.22" },
        { qd_decimal_divide, NINES_38, NINES_38, "1" },
        { qd_decimal_divide, "1", NINES_38, "0" },
        { qd_decimal_divide, "1", "0", NULL },
        { qd_decimal_divide, "1", "0.0", NULL },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        QdDecimal a = make(cases[i].a);
        QdDecimal b = make(cases[i].b);
        QdDecimal result;
        gboolean fits = cases[i].function(&a, &b, &result);

        g_test_message("%s %s", cases[i].a, cases[i].b);
        g_assert_cmpint(fits, ==, cases[i].result != NULL);
        if (fits)
            assert_is(&result, cases[i].result);
    }
}

/* Against 64-bit integers, at random scales: a = x·10^-i, b = y·10^-j. */
static void
test_random(void)
{
    for (guint i = 0; i < 100000; i++) {
        gint64 x = g_test_rand_int_range(-1000000, 1000000);
        gint64 y = g_test_rand_int_range(-1000000, 1000000);
        QdDecimal a = { .digits = x * 1000, .scale = 6 };
        QdDecimal b = { .digits = y, .scale = 3 };
        QdDecimal result;
        QdDecimal expected = { .digits = x + y, .scale = 3 };

        g_assert_true(qd_decimal_add(&a, &b, &result));
        g_assert_cmpint(qd_decimal_compare(&result, &expected), ==, 0);
        g_assert_cmpint(qd_decimal_compare(&a, &b), ==, (x > y) - (x < y));
        expected = (QdDecimal){ .digits = x * y, .scale = 6 };
        g_assert_true(qd_decimal_multiply(&a, &b, &result));
        g_assert_cmpint(qd_decimal_compare(&result, &expected), ==, 0);
        if (y == 0)
            continue;
        expected = a;
        a = result;
        g_assert_true(qd_decimal_divide(&a, &b, &result));
        g_assert_cmpint(qd_decimal_compare(&result, &expected), ==, 0);
    }
}

static void
test_round(void)
{
    static const struct {
        const char *value;
        const char *results[4]; /* half up, ceil, floor, truncate */
    } cases[] = {
        { "2.5", { "3", "3", "2", "2" } },  { "-2.5", { "-2", "-2", "-3", "-2" } }, { "-2.51", { "-3", "-2", "-3", "-2" } },
        { "0.49", { "0", "1", "0", "0" } }, { "7", { "7", "7", "7", "7" } },        { "-0.5", { "0", "0", "-1", "0" } },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        for (guint mode = QD_DECIMAL_ROUND_HALF_UP; mode <= QD_DECIMAL_TRUNCATE; mode++) {
            QdDecimal value = make(cases[i].value);
            QdDecimal result = qd_decimal_round(&value, (QdDecimalRounding) mode);

            assert_is(&result, cases[i].results[mode]);
        }
}

static void
test_double(void)
{
    static const struct {
        double real;
        const char *decimal; /* NULL: refused */
    } cases[] = {
        { 0.1, "0.1" },     { -2.5e3, "-2500" }, { 1e37, "10000000000000000000000000000000000000" },
        { 1e38, NULL },     { 1e-39, "0" },      { 123456789.125, "123456789.125" },
        { HUGE_VAL, NULL }, { NAN, NULL },       { 0, "0" },
    };
    QdDecimal value;

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_assert_cmpint(qd_decimal_from_double(cases[i].real, &value), ==, cases[i].decimal != NULL);
        if (cases[i].decimal != NULL)
            assert_is(&value, cases[i].decimal);
    }
    value = make("0.1");
    g_assert_cmpfloat(qd_decimal_to_double(&value), ==, 0.1);
    value = make("123456789012345678901234567890");
    g_assert_cmpfloat(qd_decimal_to_double(&value), ==, 123456789012345678901234567890.0);
}

static void
test_int64(void)
{
    QdDecimal value = make("9223372036854775807.00");
    gint64 number = 0;

    g_assert_true(qd_decimal_to_int64(&value, &number));
    g_assert_cmpint(number, ==, G_MAXINT64);
    value = make("9223372036854775808");
    g_assert_false(qd_decimal_to_int64(&value, &number));
    value = make("1.5");
    g_assert_false(qd_decimal_to_int64(&value, &number));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rdf/xsd-decimal/forms", test_forms);
    g_test_add_func("/rdf/xsd-decimal/arithmetic", test_arithmetic);
    g_test_add_func("/rdf/xsd-decimal/random", test_random);
    g_test_add_func("/rdf/xsd-decimal/round", test_round);
    g_test_add_func("/rdf/xsd-decimal/double", test_double);
    g_test_add_func("/rdf/xsd-decimal/int64", test_int64);
    return g_test_run();
}
