/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers: lexical spaces, facets, promotion, canonical forms.
 */
#include "daemon/rdf/xsd-number.h"

#include <math.h>
#include <string.h>

#include "daemon/rdf/term-id.h"

static QdNumber
make(QdXsdType type, const char *text)
{
    QdNumber value = { .type = QD_XSD_OTHER };

    g_test_message("%s", text);
    g_assert_true(qd_number_parse(type, text, strlen(text), &value));
    return value;
}

static void
assert_is(const QdNumber *value, QdXsdType type, const char *expected)
{
    char text[QD_NUMBER_TEXT_BYTES];

    g_assert_cmpint(value->type, ==, type);
    g_assert_cmpuint(qd_number_format(value, text), ==, strlen(expected));
    g_assert_cmpstr(text, ==, expected);
}

static void
test_lexical(void)
{
    static const struct {
        QdXsdType type;
        const char *text;
        const char *canonical; /* NULL: not in the lexical space */
    } cases[] = {
        { QD_XSD_INTEGER, "+007", "7" },
        { QD_XSD_INTEGER, "1.0", NULL },
        { QD_XSD_INTEGER, "1e0", NULL },
        { QD_XSD_BYTE, "127", "127" },
        { QD_XSD_BYTE, "128", NULL },
        { QD_XSD_UNSIGNED_LONG, "18446744073709551615", "18446744073709551615" },
        { QD_XSD_UNSIGNED_LONG, "18446744073709551616", NULL },
        { QD_XSD_LONG, "-9223372036854775809", NULL },
        { QD_XSD_NEGATIVE_INTEGER, "0", NULL },
        { QD_XSD_NON_POSITIVE_INTEGER, "-0", "0" },
        { QD_XSD_POSITIVE_INTEGER, "0", NULL },
        { QD_XSD_DECIMAL, "1", "1.0" },
        { QD_XSD_DECIMAL, "-00.10", "-0.1" },
        { QD_XSD_DECIMAL, "1E0", NULL },
        { QD_XSD_DOUBLE, "1", "1.0E0" },
        { QD_XSD_DOUBLE, "-10.2E3", "-1.02E4" },
        { QD_XSD_DOUBLE, ".1e-6", "1.0E-7" },
        { QD_XSD_DOUBLE, "1.", "1.0E0" },
        { QD_XSD_DOUBLE, "INF", "INF" },
        { QD_XSD_DOUBLE, "-INF", "-INF" },
        { QD_XSD_DOUBLE, "NaN", "NaN" },
        { QD_XSD_DOUBLE, "-0", "-0.0E0" },
        { QD_XSD_DOUBLE, "1e999", "INF" },
        { QD_XSD_DOUBLE, "inf", NULL },
        { QD_XSD_DOUBLE, "infinity", NULL },
        { QD_XSD_DOUBLE, "0x10", NULL },
        { QD_XSD_DOUBLE, "1e", NULL },
        { QD_XSD_DOUBLE, " 1", NULL },
        { QD_XSD_DOUBLE, "e1", NULL },
        { QD_XSD_FLOAT, "0.1", "1.0E-1" },
        { QD_XSD_FLOAT, "16777217", "1.6777216E7" },
        { QD_XSD_DATE, "1", NULL },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        QdNumber value;

        if (cases[i].canonical == NULL) {
            g_assert_false(qd_number_parse(cases[i].type, cases[i].text, strlen(cases[i].text), &value));
            continue;
        }
        value = make(cases[i].type, cases[i].text);
        assert_is(&value, qd_xsd_type_is_integer(cases[i].type) ? QD_XSD_INTEGER : cases[i].type, cases[i].canonical);
    }
}

/* SPARQL 1.1 §17.3: the wider type; integers divide to decimals. */
/* Few digits are read by a division: always what strtod() reads. */
static void
test_digits(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(5);

    for (guint i = 0; i < 100000; i++) {
        g_autoptr(GString) text = g_string_new(g_rand_boolean(rand) ? "-" : "");
        gint n_digits = g_rand_int_range(rand, 1, 20);
        gint point = g_rand_int_range(rand, -2, n_digits + 1);
        QdNumber number;

        for (gint k = 0; k < n_digits; k++) {
            if (k == point)
                g_string_append_c(text, '.');
            g_string_append_c(text, (char) ('0' + g_rand_int_range(rand, 0, 10)));
        }
        g_assert_true(qd_number_parse(QD_XSD_DOUBLE, text->str, text->len, &number));
        g_assert_true(number.real == g_ascii_strtod(text->str, NULL));
        g_assert_cmpint(signbit(number.real) != 0, ==, text->str[0] == '-');
    }
}

static void
test_promotion(void)
{
    static const struct {
        QdXsdType a;
        QdXsdType b;
        QdNumberOp op;
        QdXsdType result;
        const char *text;
    } cases[] = {
        { QD_XSD_INTEGER, QD_XSD_INTEGER, QD_NUMBER_ADD, QD_XSD_INTEGER, "9" },
        { QD_XSD_SHORT, QD_XSD_UNSIGNED_INT, QD_NUMBER_MULTIPLY, QD_XSD_INTEGER, "14" },
        { QD_XSD_INTEGER, QD_XSD_INTEGER, QD_NUMBER_DIVIDE, QD_XSD_DECIMAL, "3.5" },
        { QD_XSD_INTEGER, QD_XSD_DECIMAL, QD_NUMBER_SUBTRACT, QD_XSD_DECIMAL, "5.0" },
        { QD_XSD_DECIMAL, QD_XSD_FLOAT, QD_NUMBER_ADD, QD_XSD_FLOAT, "9.0E0" },
        { QD_XSD_FLOAT, QD_XSD_DOUBLE, QD_NUMBER_DIVIDE, QD_XSD_DOUBLE, "3.5E0" },
        { QD_XSD_INTEGER, QD_XSD_DOUBLE, QD_NUMBER_ADD, QD_XSD_DOUBLE, "9.0E0" },
    };
    QdNumber zero = qd_number_from_int64(0);
    QdNumber real_zero = qd_number_from_double(0);
    QdNumber result;

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        QdNumber a = make(cases[i].a, "7");
        QdNumber b = make(cases[i].b, "2");

        g_assert_true(qd_number_compute(cases[i].op, &a, &b, &result));
        assert_is(&result, cases[i].result, cases[i].text);
    }
    g_assert_false(qd_number_compute(QD_NUMBER_DIVIDE, &zero, &zero, &result));
    g_assert_true(qd_number_compute(QD_NUMBER_DIVIDE, &zero, &real_zero, &result));
    assert_is(&result, QD_XSD_DOUBLE, "NaN");
}

static void
test_compare(void)
{
    QdNumber one = qd_number_from_int64(1);
    QdNumber decimal = make(QD_XSD_DECIMAL, "1.00");
    QdNumber real = make(QD_XSD_DOUBLE, "1.5");
    QdNumber nan = make(QD_XSD_DOUBLE, "NaN");

    g_assert_cmpint(qd_number_compare(&one, &decimal), ==, QD_NUMBER_EQUAL);
    g_assert_cmpint(qd_number_compare(&decimal, &real), ==, QD_NUMBER_LESS);
    g_assert_cmpint(qd_number_compare(&real, &one), ==, QD_NUMBER_GREATER);
    g_assert_cmpint(qd_number_compare(&nan, &nan), ==, QD_NUMBER_UNORDERED);
    g_assert_true(qd_number_is_true(&one));
    g_assert_false(qd_number_is_true(&nan));
}

static void
test_round(void)
{
    static const char *const cases[][3] = {
        /* value, round, floor */
        { "-0.2", "-0.0E0", "-1.0E0" },
        { "0.49999999999999994", "0.0E0", "0.0E0" },
        { "-2.5", "-2.0E0", "-3.0E0" },
        { "2.5", "3.0E0", "2.0E0" },
        { "INF", "INF", "INF" },
        { "NaN", "NaN", "NaN" },
        { "9007199254740993", "9.007199254740992E15", "9.007199254740992E15" },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        QdNumber value = make(QD_XSD_DOUBLE, cases[i][0]);
        QdNumber result = qd_number_round(&value, QD_NUMBER_ROUND);

        assert_is(&result, QD_XSD_DOUBLE, cases[i][1]);
        result = qd_number_round(&value, QD_NUMBER_FLOOR);
        assert_is(&result, QD_XSD_DOUBLE, cases[i][2]);
    }
}

static void
test_cast(void)
{
    QdNumber real = make(QD_XSD_DOUBLE, "-7.875");
    QdNumber inf = make(QD_XSD_FLOAT, "INF");
    QdNumber large = make(QD_XSD_DOUBLE, "1e300");
    QdNumber result;
    char text[QD_NUMBER_TEXT_BYTES];

    g_assert_true(qd_number_cast(&real, QD_XSD_INTEGER, &result));
    assert_is(&result, QD_XSD_INTEGER, "-7");
    g_assert_true(qd_number_cast(&real, QD_XSD_DECIMAL, &result));
    assert_is(&result, QD_XSD_DECIMAL, "-7.875");
    g_assert_false(qd_number_cast(&inf, QD_XSD_DECIMAL, &result));
    g_assert_false(qd_number_cast(&large, QD_XSD_INTEGER, &result));
    (void) qd_number_format_plain(&real, text);
    g_assert_cmpstr(text, ==, "-7.875");
    (void) qd_number_format_plain(&large, text);
    g_assert_cmpstr(text, ==, "1.0E300");
    real = make(QD_XSD_FLOAT, "0.1");
    (void) qd_number_format_plain(&real, text);
    g_assert_cmpstr(text, ==, "0.1");
}

static void
test_ids(void)
{
    QdNumber value;
    gint64 id = 0;

    g_assert_true(qd_term_id_from_integer(-42, &id));
    g_assert_true(qd_number_from_id(id, &value));
    assert_is(&value, QD_XSD_INTEGER, "-42");
    g_assert_true(qd_number_from_id(qd_term_id_make(QD_TAG_DECIMAL, -1500000 * 8 + 2), &value));
    assert_is(&value, QD_XSD_DECIMAL, "-1.5");
    g_assert_false(qd_number_from_id(qd_term_id_from_boolean(TRUE), &value));
    g_assert_false(qd_number_from_id(8, &value));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rdf/xsd-number/lexical", test_lexical);
    g_test_add_func("/rdf/xsd-number/digits", test_digits);
    g_test_add_func("/rdf/xsd-number/promotion", test_promotion);
    g_test_add_func("/rdf/xsd-number/compare", test_compare);
    g_test_add_func("/rdf/xsd-number/round", test_round);
    g_test_add_func("/rdf/xsd-number/cast", test_cast);
    g_test_add_func("/rdf/xsd-number/ids", test_ids);
    return g_test_run();
}
