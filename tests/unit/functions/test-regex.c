/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Matching: sets of characters by XPath's definitions, windows of start positions, the cache.
 */
#include "daemon/functions/regex/regex.h"

#include <string.h>

static const QdRegexBounds bounds = { .max_steps = 1000000 };

static gboolean
matches(const char *pattern, const char *text)
{
    g_autoptr(QdRegex) regex = qd_regex_new(pattern, strlen(pattern), "", 0);

    g_test_message("%s on %s", pattern, text);
    g_assert_nonnull(regex);
    return qd_regex_search(regex, text, strlen(text), 0, &bounds) == QD_REGEX_MATCH;
}

static void
test_sets(void)
{
    static const struct {
        const char *pattern;
        const char *text;
        gboolean matches;
    } cases[] = {
        { "^\\s$", "\t", TRUE },
        { "^\\s$", "\xc2\xa0", FALSE }, /* a no-break space is none of XML's */
        { "^\\S$", "\xc2\xa0", TRUE },
        { "^[\\S]$", "\v", TRUE },
        { "^\\d$", "\xd9\xa3", TRUE }, /* an Arabic three */
        { "^\\D$", "a", TRUE },
        { "^\\w+$", "a\xc3\xa9$1", TRUE }, /* "$" is a symbol */
        { "^\\w$", "_", FALSE },           /* "_" is punctuation */
        { "^\\W$", "_", TRUE },
        { "^\\i\\c*$", "_a-1.b", TRUE },
        { "^\\i$", "1", FALSE },
        { "^\\I$", "1", TRUE },
        { "^\\C$", ",", TRUE },
        { "^\\C$", "-", FALSE },
        { "^\\p{Lu}$", "\xc3\x89", TRUE },
        { "^[\\p{Lu}\\d]+$", "A1", TRUE },
        { "^[a-z-[aeiou]]+$", "xyz", TRUE },
        { "^[a-z-[aeiou]]+$", "xya", FALSE },
        { "^[^a-c-[x]]$", "x", FALSE },
        { "^\\p{IsGreek}$", "\xce\xb1", TRUE },
        { "^(a)?b\\1$", "b", TRUE }, /* an unset group is empty */
        { "a$", "a\n", FALSE },
        { "^\\P{IsPrivateUse}$", "a", TRUE },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        g_assert_cmpint(matches(cases[i].pattern, cases[i].text), ==, cases[i].matches);
}

/* Matches at, before and across the borders of windows. */
static void
test_windows(void)
{
    g_autoptr(QdRegex) regex = qd_regex_new("\xc3\xa9(b*)", 6, "", 0);

    for (gsize n = 0; n < 600; n++) {
        g_autoptr(GString) text = g_string_new(NULL);
        gsize start;
        gsize end;

        for (gsize i = 0; i < n; i++)
            g_string_append(text, i % 3 == 0 ? "\xc3\xa8" : "x");
        start = text->len;
        g_string_append(text, "\xc3\xa9"
                              "bbb");
        g_assert_cmpint(qd_regex_search(regex, text->str, text->len, 0, &bounds), ==, QD_REGEX_MATCH);
        g_assert_true(qd_regex_get_group(regex, 0, &start, &end));
        g_assert_cmpuint(end, ==, text->len);
        g_assert_cmpuint(start, ==, text->len - 5);
        g_assert_true(qd_regex_get_group(regex, 1, &start, &end));
        g_assert_cmpuint(end - start, ==, 3);
        g_assert_cmpint(qd_regex_search(regex, text->str, text->len, text->len - 3, &bounds), ==, QD_REGEX_NO_MATCH);
    }
}

static void
test_flags(void)
{
    g_autoptr(QdRegex) literal = qd_regex_new("a.(", 3, "qsm", 3);

    g_assert_nonnull(literal);
    g_assert_true(qd_regex_is_literal(literal));
    g_assert_cmpint(qd_regex_search(literal, "xa.(", 4, 0, &bounds), ==, QD_REGEX_MATCH);
    g_assert_null(qd_regex_new("a", 1, "g", 1));
    g_assert_null(qd_regex_new("\xff", 1, "", 0));
    g_assert_false(qd_regex_matches_empty(literal));
}

static void
test_cache(void)
{
    QdRegexCache *cache = qd_regex_cache_new();
    QdRegex *first = qd_regex_cache_get(cache, "a", 1, "", 0);

    g_assert_nonnull(first);
    g_assert_true(qd_regex_cache_get(cache, "a", 1, "", 0) == first);
    g_assert_true(qd_regex_cache_get(cache, "a", 1, "i", 1) != first);
    g_assert_null(qd_regex_cache_get(cache, "(", 1, "", 0));
    for (guint i = 0; i < 100; i++) {
        g_autofree char *pattern = g_strdup_printf("a%u", i);

        g_assert_nonnull(qd_regex_cache_get(cache, pattern, strlen(pattern), "", 0));
    }
    g_assert_nonnull(qd_regex_cache_get(cache, "a", 1, "", 0));
    g_assert_null(qd_regex_cache_free(cache));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/regex/sets", test_sets);
    g_test_add_func("/functions/regex/windows", test_windows);
    g_test_add_func("/functions/regex/flags", test_flags);
    g_test_add_func("/functions/regex/cache", test_cache);
    return g_test_run();
}
