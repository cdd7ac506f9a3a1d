/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * UTF-8 is taken strictly, classes as the grammars draw them.
 */
#include "daemon/rdf/code-point.h"

#include <string.h>

static void
test_decode(void)
{
    static const struct {
        const char *text;
        gunichar c;
        guint n;
    } cases[] = {
        { "a", 'a', 1 },
        { "\xc3\xa9", 0xe9, 2 },
        { "\xe2\x82\xac", 0x20ac, 3 },
        { "\xf0\x9f\x98\x80", 0x1f600, 4 },
        { "\x80", 0, 0 },
        { "\xc0\x80", 0, 0 },
        { "\xed\xa0\x80", 0, 0 },
        { "\xf4\x90\x80\x80", 0, 0 },
        { "\xe2\x82", 0, 0 },
        { "\xf8\x88\x80\x80\x80", 0, 0 },
        { "", 0, 0 },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        gunichar c = 0;

        g_assert_cmpuint(qd_code_point_decode(cases[i].text, strlen(cases[i].text), &c), ==, cases[i].n);
        g_assert_cmpuint(c, ==, cases[i].c);
    }
}

static void
test_check(void)
{
    gsize bad = 0;

    g_assert_true(qd_code_point_check("a\0\xc3\xa9", 4, &bad));
    g_assert_false(qd_code_point_check("ab\xc3", 3, &bad));
    g_assert_cmpuint(bad, ==, 2);
}

static void
test_classes(void)
{
    g_assert_true(qd_code_point_is_pn_base('z'));
    g_assert_false(qd_code_point_is_pn_base('_'));
    g_assert_false(qd_code_point_is_pn_base(0xd7));
    g_assert_true(qd_code_point_is_name_start('7'));
    g_assert_false(qd_code_point_is_name_start('-'));
    g_assert_true(qd_code_point_is_pn('-'));
    g_assert_true(qd_code_point_is_pn(0xb7));
    g_assert_false(qd_code_point_is_pn(0x2041));
}

static void
test_hex(void)
{
    gunichar c = 0;

    g_assert_true(qd_code_point_parse_hex("20Ac", 4, &c));
    g_assert_cmpuint(c, ==, 0x20ac);
    g_assert_false(qd_code_point_parse_hex("20g0", 4, &c));
    g_assert_false(qd_code_point_parse_hex("D800", 4, &c));
    g_assert_false(qd_code_point_parse_hex("00110000", 8, &c));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rdf/code-point/decode", test_decode);
    g_test_add_func("/rdf/code-point/check", test_check);
    g_test_add_func("/rdf/code-point/classes", test_classes);
    g_test_add_func("/rdf/code-point/hex", test_hex);
    return g_test_run();
}
