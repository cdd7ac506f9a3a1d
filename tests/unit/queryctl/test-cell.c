/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Single values for eyes, and numbers of a command line.
 */
#include "client-lib/queryctl/cell.h"

#include <math.h>

#define BYTES(t, s)                                                \
    (QwValue)                                                      \
    {                                                              \
        .type = QW_TYPE_##t, .data = (s), .n_bytes = sizeof(s) - 1 \
    }

static void
assert_plain(QwValue value, const char *expected)
{
    g_autoptr(GString) out = g_string_new(NULL);

    qctl_cell_put_plain(&value, 10, out);
    g_assert_cmpstr(out->str, ==, expected);
}

static void
test_plain(void)
{
    assert_plain((QwValue){ .type = QW_TYPE_NULL }, "");
    assert_plain((QwValue){ .type = QW_TYPE_INTEGER, .integer = G_MININT64 }, "-9223372036854775808");
    assert_plain((QwValue){ .type = QW_TYPE_FLOAT, .real = -0.0 }, "-0.0");
    assert_plain((QwValue){ .type = QW_TYPE_FLOAT, .real = -INFINITY }, "-9e999");
    assert_plain(BYTES(BLOB, ""), "X''");
    assert_plain(BYTES(BLOB, "\0\xff"), "X'00ff'");
    assert_plain(BYTES(BLOB, "123456"), "X'3132333435…'");
    assert_plain(BYTES(TEXT, ""), "");
    assert_plain(BYTES(TEXT, "7"), "7");
    assert_plain(BYTES(TEXT, "a\tb\n"), "a b↵");
    assert_plain(BYTES(TEXT, "\"\\"), "\"\\");
    assert_plain(BYTES(TEXT, "a\0b"), "a\xef\xbf\xbd"
                                      "b");
    assert_plain(BYTES(TEXT, "a\xff"), "a\xef\xbf\xbd");
    assert_plain(BYTES(TEXT, "äöüäöüäöüäöü"), "äöüäöüäöüä…");
    /* What a terminal would obey is not shown. */
    assert_plain(BYTES(TEXT, "\033[1m"), "\xef\xbf\xbd[1m");
    assert_plain(BYTES(IRI, "http://x/"), "http://x/");
    assert_plain(BYTES(BNODE, "b0"), "_:b0");
    assert_plain(BYTES(LITERAL_LANG, "hi"), "hi");
}

static void
test_numbers(void)
{
    static const struct {
        const char *text;
        QwType type;
    } cases[] = {
        { "5", QW_TYPE_INTEGER },   { "-5", QW_TYPE_INTEGER }, { "0", QW_TYPE_INTEGER },
        { "1.50", QW_TYPE_FLOAT },  { "1e5", QW_TYPE_FLOAT },  { ".5", QW_TYPE_FLOAT },
        { "9e999", QW_TYPE_FLOAT }, { "007", QW_TYPE_TEXT },   { "+1", QW_TYPE_TEXT },
        { "", QW_TYPE_TEXT },       { "-", QW_TYPE_TEXT },     { "1-2", QW_TYPE_TEXT },
        { "0x10", QW_TYPE_TEXT },   { "1.2.3", QW_TYPE_TEXT }, { "inf", QW_TYPE_TEXT },
        { "5 ", QW_TYPE_TEXT },     { "1e", QW_TYPE_TEXT },    { "9223372036854775808", QW_TYPE_FLOAT },
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

    g_test_add_func("/queryctl/cell/plain", test_plain);
    g_test_add_func("/queryctl/cell/numbers", test_numbers);
    return g_test_run();
}
