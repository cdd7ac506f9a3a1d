/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Points in time: lexical spaces, the partial order, casts, sums.
 */
#include "daemon/rdf/xsd-date-time.h"

#include <string.h>

#include "daemon/rdf/term-id.h"

static QdDateTime
make(QdXsdType type, const char *text)
{
    QdDateTime value = { .type = QD_XSD_OTHER };

    g_test_message("%s", text);
    g_assert_true(qd_date_time_parse(type, text, strlen(text), &value));
    return value;
}

static void
assert_is(const QdDateTime *value, const char *expected)
{
    char text[QD_DATE_TIME_TEXT_BYTES];

    g_assert_cmpuint(qd_date_time_format(value, text), ==, strlen(expected));
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
        { QD_XSD_DATE_TIME, "2011-01-10T14:45:13.815-05:00", "2011-01-10T14:45:13.815-05:00" },
        { QD_XSD_DATE_TIME, "2011-12-31T24:00:00Z", "2012-01-01T00:00:00Z" },
        { QD_XSD_DATE_TIME, "2011-12-31T24:00:01Z", NULL },
        { QD_XSD_DATE_TIME, "-0044-03-15T12:00:00.500", "-0044-03-15T12:00:00.5" },
        { QD_XSD_DATE_TIME, "0000-02-29T00:00:00", "0000-02-29T00:00:00" },
        { QD_XSD_DATE_TIME, "12345-01-01T00:00:00+00:00", "12345-01-01T00:00:00Z" },
        { QD_XSD_DATE_TIME, "02011-01-01T00:00:00", NULL },
        { QD_XSD_DATE_TIME, "2011-1-01T00:00:00", NULL },
        { QD_XSD_DATE_TIME, "2011-01-01 00:00:00", NULL },
        { QD_XSD_DATE_TIME, "2011-02-29T00:00:00", NULL },
        { QD_XSD_DATE_TIME, "2011-01-01T00:00:60", NULL },
        { QD_XSD_DATE_TIME, "2011-01-01T00:00:00+15:00", NULL },
        { QD_XSD_DATE_TIME, "2011-01-01T00:00:00.", NULL },
        { QD_XSD_DATE_TIME, "2011-01-01", NULL },
        { QD_XSD_DATE_TIME, "", NULL },
        { QD_XSD_DATE_TIME_STAMP, "2011-01-01T00:00:00", NULL },
        { QD_XSD_DATE, "2011-01-01+14:00", "2011-01-01+14:00" },
        { QD_XSD_DATE, "1111111111-01-01", NULL },
        { QD_XSD_TIME, "24:00:00", "00:00:00" },
        { QD_XSD_TIME, "23:59:59.999999999999Z", "23:59:59.999999999999Z" },
        { QD_XSD_G_YEAR, "1999Z", "1999Z" },
        { QD_XSD_G_YEAR_MONTH, "1999-02", "1999-02" },
        { QD_XSD_G_YEAR_MONTH, "1999-13", NULL },
        { QD_XSD_G_MONTH, "--02", "--02" },
        { QD_XSD_G_MONTH_DAY, "--02-29", "--02-29" },
        { QD_XSD_G_MONTH_DAY, "--02-30", NULL },
        { QD_XSD_G_DAY, "---31-01:00", "---31-01:00" },
        { QD_XSD_G_DAY, "---32", NULL },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        QdDateTime value;

        g_test_message("%s", cases[i].text);
        if (cases[i].canonical == NULL) {
            g_assert_false(qd_date_time_parse(cases[i].type, cases[i].text, strlen(cases[i].text), &value));
            continue;
        }
        value = make(cases[i].type, cases[i].text);
        assert_is(&value, cases[i].canonical);
    }
}

static void
test_compare(void)
{
    static const struct {
        const char *a;
        const char *b;
        QdTimeRelation relation;
    } cases[] = {
        { "2002-04-02T12:00:00-01:00", "2002-04-02T17:00:00+04:00", QD_TIME_EQUAL },
        { "2002-04-02T12:00:00", "2002-04-02T12:00:00", QD_TIME_EQUAL },
        { "2002-04-02T12:00:00", "2002-04-02T12:00:00.001", QD_TIME_LESS },
        { "-0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z", QD_TIME_LESS },
        { "2002-04-02T12:00:00", "2002-04-02T12:00:00Z", QD_TIME_INDETERMINATE },
        { "2002-04-02T12:00:00", "2002-04-03T02:00:00Z", QD_TIME_INDETERMINATE },
        { "2002-04-02T12:00:00", "2002-04-03T02:00:01Z", QD_TIME_LESS },
        { "2002-04-04T12:00:00Z", "2002-04-02T12:00:00", QD_TIME_GREATER },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        QdDateTime a = make(QD_XSD_DATE_TIME, cases[i].a);
        QdDateTime b = make(QD_XSD_DATE_TIME, cases[i].b);

        g_assert_cmpint(qd_date_time_compare(&a, &b), ==, cases[i].relation);
    }
}

static void
test_cast(void)
{
    QdDateTime value = make(QD_XSD_DATE_TIME, "1969-12-31T23:00:01.5+02:00");
    QdDateTime result;

    g_assert_true(qd_date_time_cast(&value, QD_XSD_DATE, &result));
    assert_is(&result, "1969-12-31+02:00");
    g_assert_true(qd_date_time_cast(&value, QD_XSD_TIME, &result));
    assert_is(&result, "23:00:01.5+02:00");
    g_assert_false(qd_date_time_cast(&result, QD_XSD_DATE, &value));
    value = make(QD_XSD_DATE, "2000-01-01");
    g_assert_true(qd_date_time_cast(&value, QD_XSD_DATE_TIME, &result));
    assert_is(&result, "2000-01-01T00:00:00");
}

static void
test_add(void)
{
    static const struct {
        QdXsdType type;
        const char *value;
        const char *duration;
        gint sign;
        const char *result;
    } cases[] = {
        { QD_XSD_DATE_TIME, "2000-01-12T12:13:14Z", "P1Y3M5DT7H10M3.3S", 1, "2001-04-17T19:23:17.3Z" },
        { QD_XSD_DATE, "2000-01-31", "P1M", 1, "2000-02-29" },
        { QD_XSD_DATE, "2000-01-01", "P1M", -1, "1999-12-01" },
        { QD_XSD_DATE, "2000-01-01", "PT1S", -1, "1999-12-31" },
        { QD_XSD_TIME, "23:00:00", "PT2H", 1, "01:00:00" },
        { QD_XSD_DATE_TIME, "0001-01-01T00:00:00", "P2Y", -1, "-0001-01-01T00:00:00" },
    };
    QdDateTime value = make(QD_XSD_DATE_TIME, "999999999-12-31T00:00:00");
    QdDuration duration = { .type = QD_XSD_DURATION };
    QdDateTime result;

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        value = make(cases[i].type, cases[i].value);
        g_assert_true(qd_duration_parse(QD_XSD_DURATION, cases[i].duration, strlen(cases[i].duration), &duration));
        g_assert_true(qd_date_time_add(&value, &duration, cases[i].sign, &result));
        assert_is(&result, cases[i].result);
    }
    value = make(QD_XSD_DATE_TIME, "999999999-12-31T00:00:00");
    g_assert_true(qd_duration_parse(QD_XSD_DURATION, "P999999999999D", 14, &duration));
    g_assert_false(qd_date_time_add(&value, &duration, 1, &result));
    value = make(QD_XSD_TIME, "10:00:00Z");
    g_assert_true(qd_duration_parse(QD_XSD_YEAR_MONTH_DURATION, "P0M", 3, &duration));
    g_assert_false(qd_date_time_add(&value, &duration, 1, &result));
    g_assert_true(qd_duration_parse(QD_XSD_DURATION, "P1YT1H", 6, &duration));
    g_assert_false(qd_date_time_add(&value, &duration, -1, &result));
}

static void
test_ids(void)
{
    static const char *const forms[] = { "2011-02-01T01:02:03.25", "1969-12-31T23:59:59Z", "2011-02-01T01:02:03.123-05:30" };

    for (gsize i = 0; i < G_N_ELEMENTS(forms); i++) {
        QdTerm term = { QD_TERM_TYPED, forms[i], strlen(forms[i]), QD_XSD_NAMESPACE "dateTime", 41 };
        QdDateTime value;
        gint64 id = 0;

        term.n_qualifier = strlen(term.qualifier);
        g_assert_true(qd_term_id_from_term(&term, &id));
        g_assert_true(qd_date_time_from_id(id, &value));
        assert_is(&value, forms[i]);
    }
}

static void
test_durations(void)
{
    static const struct {
        QdXsdType type;
        const char *text;
        const char *canonical;
    } cases[] = {
        { QD_XSD_DURATION, "P1Y2M3DT4H5M6.7S", "P1Y2M3DT4H5M6.7S" },
        { QD_XSD_DURATION, "-P14M", "-P1Y2M" },
        { QD_XSD_DURATION, "PT36H", "P1DT12H" },
        { QD_XSD_DURATION, "P0D", "PT0S" },
        { QD_XSD_DURATION, "P", NULL },
        { QD_XSD_DURATION, "P1DT", NULL },
        { QD_XSD_DURATION, "P1S", NULL },
        { QD_XSD_DURATION, "P1D1Y", NULL },
        { QD_XSD_DURATION, "P1.5D", NULL },
        { QD_XSD_DURATION, "1D", NULL },
        { QD_XSD_DURATION, "P9999999999999D", NULL },
        { QD_XSD_DAY_TIME_DURATION, "PT0.5S", "PT0.5S" },
        { QD_XSD_DAY_TIME_DURATION, "P0M", NULL },
        { QD_XSD_YEAR_MONTH_DURATION, "P0M", "P0M" },
        { QD_XSD_YEAR_MONTH_DURATION, "PT1S", NULL },
        { QD_XSD_YEAR_MONTH_DURATION, "P1D", NULL },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        QdDuration value;
        char text[QD_DATE_TIME_TEXT_BYTES];
        gboolean good = qd_duration_parse(cases[i].type, cases[i].text, strlen(cases[i].text), &value);

        g_test_message("%s", cases[i].text);
        g_assert_cmpint(good, ==, cases[i].canonical != NULL);
        if (!good)
            continue;
        (void) qd_duration_format(&value, text);
        g_assert_cmpstr(text, ==, cases[i].canonical);
    }
}

static void
test_subtract(void)
{
    QdDateTime a = make(QD_XSD_DATE_TIME, "2000-10-30T06:12:00-05:00");
    QdDateTime b = make(QD_XSD_DATE_TIME, "1999-11-28T09:00:00Z");
    QdDateTime c = make(QD_XSD_DATE_TIME, "1999-11-28T09:00:00");
    QdDuration result;
    char text[QD_DATE_TIME_TEXT_BYTES];

    g_assert_true(qd_date_time_subtract(&a, &b, &result));
    (void) qd_duration_format(&result, text);
    g_assert_cmpstr(text, ==, "P337DT2H12M");
    g_assert_false(qd_date_time_subtract(&a, &c, &result));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rdf/xsd-date-time/lexical", test_lexical);
    g_test_add_func("/rdf/xsd-date-time/compare", test_compare);
    g_test_add_func("/rdf/xsd-date-time/cast", test_cast);
    g_test_add_func("/rdf/xsd-date-time/add", test_add);
    g_test_add_func("/rdf/xsd-date-time/ids", test_ids);
    g_test_add_func("/rdf/xsd-date-time/durations", test_durations);
    g_test_add_func("/rdf/xsd-date-time/subtract", test_subtract);
    return g_test_run();
}
