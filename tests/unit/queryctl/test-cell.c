/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Single values as fields; the end-to-end tests compare them with the daemon's.
 */
#include "client-lib/queryctl/cell.h"

#include <math.h>

#define INTEGER(i)                                       \
    {                                                    \
        .type = QUERY_VALUE_TYPE_INTEGER, .integer = (i) \
    }
#define FLOAT(r)                                    \
    {                                               \
        .type = QUERY_VALUE_TYPE_FLOAT, .real = (r) \
    }
#define BYTES(t, s)                                                         \
    {                                                                       \
        .type = QUERY_VALUE_TYPE_##t, .data = (s), .n_bytes = sizeof(s) - 1 \
    }

static void
assert_cell(QctlCell cell, const char *csv, const char *tsv, const char *json, const char *plain)
{
    g_autoptr(GString) out = g_string_new(NULL);

    qctl_cell_put_csv(&cell, out);
    g_assert_cmpstr(out->str, ==, csv);
    g_string_truncate(out, 0);
    qctl_cell_put_tsv(&cell, out);
    g_assert_cmpstr(out->str, ==, tsv);
    g_string_truncate(out, 0);
    qctl_cell_put_json(&cell, out);
    g_assert_cmpstr(out->str, ==, json);
    g_string_truncate(out, 0);
    qctl_cell_put_plain(&cell, 10, out);
    g_assert_cmpstr(out->str, ==, plain);
}

static void
test_values(void)
{
    assert_cell((QctlCell){ .type = QUERY_VALUE_TYPE_NULL }, "", "\\N", "null", "");
    assert_cell((QctlCell) INTEGER(G_MININT64), "-9223372036854775808", "-9223372036854775808", "-9223372036854775808",
                "-9223372036854775808");
    assert_cell((QctlCell) FLOAT(1), "1.0", "1.0", "1.0", "1.0");
    assert_cell((QctlCell) FLOAT(-0.0), "-0.0", "-0.0", "-0.0", "-0.0");
    assert_cell((QctlCell) FLOAT(1e300), "1e+300", "1e+300", "1e+300", "1e+300");
    assert_cell((QctlCell) FLOAT(5e-324), "5e-324", "5e-324", "5e-324", "5e-324");
    assert_cell((QctlCell) FLOAT(-INFINITY), "-9e999", "-9e999", "-9e999", "-9e999");
    assert_cell((QctlCell) BYTES(BLOB, ""), "X''", "\\x", "{\"base64\":\"\"}", "X''");
    assert_cell((QctlCell) BYTES(BLOB, "\0\xff"), "X'00ff'", "\\x00ff", "{\"base64\":\"AP8=\"}", "X'00ff'");
    assert_cell((QctlCell) BYTES(BLOB, "123456"), "X'313233343536'", "\\x313233343536", "{\"base64\":\"MTIzNDU2\"}",
                "X'3132333435…'");
}

static void
test_texts(void)
{
    assert_cell((QctlCell) BYTES(TEXT, ""), "\"\"", "", "\"\"", "");
    assert_cell((QctlCell) BYTES(TEXT, "7"), "\"7\"", "\"7\"", "\"7\"", "7");
    assert_cell((QctlCell) BYTES(TEXT, "007"), "007", "007", "\"007\"", "007");
    assert_cell((QctlCell) BYTES(TEXT, "1e+300"), "\"1e+300\"", "\"1e+300\"", "\"1e+300\"", "1e+300");
    assert_cell((QctlCell) BYTES(TEXT, "a\tb\n"), "\"a\tb\n\"", "a\\tb\\n", "\"a\\tb\\n\"", "a b↵");
    assert_cell((QctlCell) BYTES(TEXT, "\"\\"), "\"\"\"\\\"", "\"\"\"\\\\\"", "\"\\\"\\\\\"", "\"\\");
    assert_cell((QctlCell) BYTES(TEXT, "a\0b"), "CAST(X'610062' AS TEXT)", "a\\000b", "\"a\\u0000b\"",
                "a\xef\xbf\xbd"
                "b");
    assert_cell((QctlCell) BYTES(TEXT, "a\xff"), "CAST(X'61ff' AS TEXT)", "a\\377", "{\"text_base64\":\"Yf8=\"}", "a\xef\xbf\xbd");
    assert_cell((QctlCell) BYTES(TEXT, "X'1"), "\"X'1\"", "X'1", "\"X'1\"", "X'1");
    assert_cell((QctlCell) BYTES(TEXT, "\xef\xbb\xbfx"), "\"\xef\xbb\xbfx\"", "\"\xef\xbb\xbfx\"", "\"\xef\xbb\xbfx\"",
                "\xef\xbb\xbfx");
    assert_cell((QctlCell) BYTES(TEXT, "äöüäöüäöüäöü"), "äöüäöüäöüäöü", "äöüäöüäöüäöü", "\"äöüäöüäöüäöü\"", "äöüäöüäöüä…");
    /* What a terminal would obey is not shown. */
    assert_cell((QctlCell) BYTES(TEXT, "\033[1m"), "\033[1m", "\033[1m", "\"\\u001b[1m\"", "\xef\xbf\xbd[1m");
}

static void
test_terms(void)
{
    QctlCell literal = BYTES(LITERAL_LANG, "hi");
    QctlCell typed = BYTES(LITERAL_TYPED, "x");

    literal.tag = "en";
    typed.tag = "http://t";
    assert_cell((QctlCell) BYTES(IRI, "http://x/"), "http://x/", "http://x/", "\"http://x/\"", "http://x/");
    assert_cell((QctlCell) BYTES(BNODE, "b0"), "_:b0", "_:b0", "\"_:b0\"", "_:b0");
    assert_cell(literal, "hi", "hi", "{\"value\":\"hi\",\"language\":\"en\"}", "hi");
    assert_cell(typed, "x", "x", "{\"value\":\"x\",\"datatype\":\"http://t\"}", "x");
}

static void
test_numbers(void)
{
    static const struct {
        const char *text;
        QueryValueType type;
    } cases[] = {
        { "5", QUERY_VALUE_TYPE_INTEGER },   { "-5", QUERY_VALUE_TYPE_INTEGER }, { "0", QUERY_VALUE_TYPE_INTEGER },
        { "1.50", QUERY_VALUE_TYPE_FLOAT },  { "1e5", QUERY_VALUE_TYPE_FLOAT },  { ".5", QUERY_VALUE_TYPE_FLOAT },
        { "9e999", QUERY_VALUE_TYPE_FLOAT }, { "007", QUERY_VALUE_TYPE_TEXT },   { "+1", QUERY_VALUE_TYPE_TEXT },
        { "", QUERY_VALUE_TYPE_TEXT },       { "-", QUERY_VALUE_TYPE_TEXT },     { "1-2", QUERY_VALUE_TYPE_TEXT },
        { "0x10", QUERY_VALUE_TYPE_TEXT },   { "1.2.3", QUERY_VALUE_TYPE_TEXT }, { "inf", QUERY_VALUE_TYPE_TEXT },
        { "5 ", QUERY_VALUE_TYPE_TEXT },     { "1e", QUERY_VALUE_TYPE_TEXT },    { "9223372036854775808", QUERY_VALUE_TYPE_FLOAT },
    };
    gint64 integer = 0;
    double real = 0;

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        g_assert_cmpint(qctl_number_parse(cases[i].text, &integer, &real), ==, cases[i].type);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);

    g_test_add_func("/queryctl/cell/values", test_values);
    g_test_add_func("/queryctl/cell/texts", test_texts);
    g_test_add_func("/queryctl/cell/terms", test_terms);
    g_test_add_func("/queryctl/cell/numbers", test_numbers);
    return g_test_run();
}
