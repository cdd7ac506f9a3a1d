/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts of any bytes.
 */
#include "client-lib/text/text-utf8.h"

static void
test_utf8(void)
{
    g_assert_cmpuint(qw_text_span_utf8("abc", 3), ==, 3);
    g_assert_cmpuint(qw_text_span_utf8("a\0c", 3), ==, 3);
    g_assert_cmpuint(qw_text_span_utf8("gr\xc3\xbc\xc3\x9f", 6), ==, 6);
    g_assert_cmpuint(qw_text_span_utf8("gr\xc3", 3), ==, 2);
    g_assert_cmpuint(qw_text_span_utf8("\xc0\x80", 2), ==, 0);
    g_assert_cmpuint(qw_text_span_utf8("\xed\xa0\x80", 3), ==, 0);
    g_assert_cmpuint(qw_text_span_utf8("\xf0\x9f\x98\x80", 4), ==, 4);
    g_assert_cmpuint(qw_text_span_utf8("\xf4\x90\x80\x80", 4), ==, 0);
    g_assert_cmpuint(qw_text_span_utf8("\xe0\x9f\xbf", 3), ==, 0);
    g_assert_cmpuint(qw_text_span_utf8("a\xff", 2), ==, 1);
}

static void
assert_lossy(const char *text, size_t n_bytes, const char *expected, bool replaced)
{
    g_autoptr(GString) out = g_string_new(NULL);
    g_autoptr(GString) again = g_string_new(NULL);

    g_assert_true(qw_text_append_lossy(out, text, n_bytes) == replaced);
    g_assert_cmpstr(out->str, ==, expected);
    g_assert_false(qw_text_append_lossy(again, out->str, out->len));
}

static void
test_lossy(void)
{
    assert_lossy("", 0, "", false);
    assert_lossy("gr\xc3\xbc\xc3\x9f", 6, "gr\xc3\xbc\xc3\x9f", false);
    assert_lossy("a\0b", 3,
                 "a\xef\xbf\xbd"
                 "b",
                 true);
    assert_lossy("a\xff\xfe", 3, "a\xef\xbf\xbd\xef\xbf\xbd", true);
    assert_lossy("\xc3", 1, "\xef\xbf\xbd", true);
    /* What sd-bus refuses though it is UTF-8. */
    assert_lossy("\xef\xbf\xbe", 3, "\xef\xbf\xbd", true);
    assert_lossy("\xef\xb7\x90x", 4, "\xef\xbf\xbdx", true);
    assert_lossy("\xf0\x9f\xbf\xbf", 4, "\xef\xbf\xbd", true);
}

static void
test_unique_names(void)
{
    static const char *const names[] = { "a", "a", "b", "a", "a_2", "", "", "\xff" };
    g_auto(GStrv) unique = qw_text_unique_names(names, G_N_ELEMENTS(names));
    g_autofree char *joined = g_strjoinv("|", unique);

    g_assert_cmpstr(joined, ==, "a|a_3|b|a_4|a_2||_2|\xef\xbf\xbd");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);

    g_test_add_func("/text/text-utf8/utf8", test_utf8);
    g_test_add_func("/text/text-utf8/lossy", test_lossy);
    g_test_add_func("/text/text-utf8/unique-names", test_unique_names);
    return g_test_run();
}
