/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The translation of patterns: what comes out, and what is refused.
 */
#include "daemon/functions/regex/regex-pattern.h"

#include <string.h>

static void
test_translation(void)
{
    static const char *const cases[][2] = {
        { "abc", "abc" },
        { "a|b|", "a|b|" },
        { "(a)(?:b)\\1", "(a)(?:b)\\g{1}" },
        { "a{2}b{2,}c{2,3}?", "a{2}b{2,}c{2,3}?" },
        { "\\.-#", "\\x{2e}\\x{2d}\\x{23}" },
        { "[a-c\\-x]", "[a-c\\x{2d}x]" },
        { "[^\\d]", "[^\\p{Nd}]" },
        { "\\d+", "[\\p{Nd}]+" },
        { "\\p{Lu}\\P{IsBasicLatin}", "(?-i:[\\p{Lu}])(?-i:[\\x{80}-\\x{10ffff}])" },
        { "[a-z-[aeiou]]", "(?:(?![aeiou])[a-z])" },
        { "[a-z-[b-y-[k]]]", "(?:(?!(?:(?![k])[b-y]))[a-z])" },
        { "^.$", "^.$" },
        { "\xc3\xa9", "\\x{e9}" },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) out = g_string_new(NULL);

        g_test_message("%s", cases[i][0]);
        g_assert_true(qd_regex_translate(cases[i][0], strlen(cases[i][0]), FALSE, out));
        g_assert_cmpstr(out->str, ==, cases[i][1]);
    }
}

static void
test_refused(void)
{
    static const char *const cases[] = {
        "(",           ")",
        "(a",          "a)",
        "[",           "[]",
        "[^]",         "[a",
        "]",           "}",
        "{",           "a{",
        "a{1",         "a{,2}",
        "a{2,1}",      "*",
        "a**",         "a++",
        "a{1}{2}",     "?",
        "\\",          "\\b",
        "\\x41",       "\\Q",
        "\\A",         "(?=a)",
        "(?<a)",       "(?i)a",
        "(?#a)",       "(*FAIL)a",
        "\\1",         "(a\\1)",
        "(a)\\2",      "\\0",
        "\\p{X}",      "\\p{Greek}",
        "\\pL",        "\\p{L&}",
        "\\p{",        "[z-a]",
        "[[:alpha:]]", "a{99999}",
        "\\e",         "\\u0041",
        "[\\1]",       "\\p{IsNowhere}",
        "[a-\\d]",
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) out = g_string_new(NULL);

        g_test_message("%s", cases[i]);
        g_assert_false(qd_regex_translate(cases[i], strlen(cases[i]), FALSE, out));
    }
}

static void
test_skip_space(void)
{
    g_autoptr(GString) out = g_string_new(NULL);

    g_assert_true(qd_regex_translate(" a b\n{ 2 } [ c] + ? ", 20, TRUE, out));
    g_assert_cmpstr(out->str, ==, "ab{2}[\\x{20}c]+?");
}

static void
test_deep(void)
{
    g_autoptr(GString) pattern = g_string_new(NULL);
    g_autoptr(GString) out = g_string_new(NULL);

    for (guint i = 0; i < 101; i++)
        g_string_append(pattern, "(?:");
    for (guint i = 0; i < 101; i++)
        g_string_append_c(pattern, ')');
    g_assert_false(qd_regex_translate(pattern->str, pattern->len, FALSE, out));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/regex-pattern/translation", test_translation);
    g_test_add_func("/functions/regex-pattern/refused", test_refused);
    g_test_add_func("/functions/regex-pattern/skip-space", test_skip_space);
    g_test_add_func("/functions/regex-pattern/deep", test_deep);
    return g_test_run();
}
