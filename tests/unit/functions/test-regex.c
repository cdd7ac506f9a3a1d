/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Matching: sets of characters by XPath's definitions, windows of start positions and their views, the cache.
 */
#include "daemon/functions/regex/regex.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const QdRegexBounds bounds = { .max_steps = 1000000 };

static gboolean
matches(const char *pattern, const char *flags, const char *text)
{
    g_autoptr(QdRegex) regex = qd_regex_new(pattern, strlen(pattern), flags, strlen(flags));

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
        const char *flags; /* (nullable) */
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
        /* flag i is for single characters and ranges */
        { "\\P{IsBasicLatin}", "k", FALSE, "i" },
        { "^\\p{IsBasicLatin}$", "\xe2\x84\xaa", FALSE, "i" }, /* the sign of kelvin, which is a k otherwise */
        { "^k$", "\xe2\x84\xaa", TRUE, "i" },
        { "^\\p{IsGreek}$", "\xc2\xb5", FALSE, "i" },
        { "^\\I$", "\xce\xb9", FALSE, "i" },
        { "^\\i$", "\xce\xb9", TRUE, "i" },
        { "^\\p{Lu}A$", "Aa", TRUE, "i" },
        { "^\\p{Lu}A$", "aa", FALSE, "i" },
        { "^\\p{IsGreek}+B$", "\xce\xb9\xce\x99\x62", TRUE, "i" },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        g_assert_cmpint(matches(cases[i].pattern, cases[i].flags != NULL ? cases[i].flags : "", cases[i].text), ==,
                        cases[i].matches);
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

/* Attempts that come to the end of a window's view, and those of many steps: the text before and after them changes nothing. */
static void
test_borders(void)
{
    static const struct {
        const char *pattern;
        const char *flags;
        const char *before; /* repeated */
        const char *text;   /* what is matched */
        const char *after;  /* repeated */
    } cases[] = {
        { "END", "", "ab", "END", "ab" },
        { "end", "i", "xy\xc3\xa9", "eNd", "xy" },
        { "^b", "m", "a\n", "b", "a\n" },
        { "b$", "m", "ab ", "b", "\nab " },
        { "c\\n^", "m", "ab", "c\n", "\n" },
        { "[0-9]+", "", "ab", "12345678901234567890", "ab" },
        { "<[^>]*>", "", "\xe2\x82\xac", "<\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac>", "a" },
        { "q.*q", "s", "ab", "qabababababababababababababababababq", "\xc3\xa9" },
        { "(x[ab]+)\\1", "", "ab ", "xababababxabababab", " ab" },
        { "([ab]+)+[cd]", "", "ax", "abababababababababababd", "x" }, /* more steps than an attempt without callouts has */
        { "a.z", "q", "az", "a.z", "az" },
        { "c$", "", "cb", "c", "" },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(QdRegex) regex = qd_regex_new(cases[i].pattern, strlen(cases[i].pattern), cases[i].flags, strlen(cases[i].flags));

        g_assert_nonnull(regex);
        for (gsize n = 0; n < 600; n++) {
            g_autoptr(GString) text = g_string_new(NULL);
            gsize before;
            gsize start = 0;
            gsize end = 0;

            for (gsize k = 0; k < n; k++)
                g_string_append(text, cases[i].before);
            before = text->len;
            g_string_append(text, cases[i].text);
            for (gsize k = 0; k < 700; k++)
                g_string_append(text, cases[i].after);
            g_assert_cmpint(qd_regex_search(regex, text->str, text->len, 0, &bounds), ==, QD_REGEX_MATCH);
            g_assert_true(qd_regex_get_group(regex, 0, &start, &end));
            g_assert_cmpuint(start, ==, before);
            g_assert_cmpuint(end, ==, before + strlen(cases[i].text));
        }
    }
}

/* A match far longer than a view, and none for a pattern that needs all of the text to know. */
static void
test_long_matches(void)
{
    g_autofree char *text = g_strnfill(1000000, 'a');
    g_autoptr(QdRegex) run = qd_regex_new("b(a*)c", 6, "", 0);
    g_autoptr(QdRegex) refused = qd_regex_new("(a+)+b", 6, "", 0);
    gsize start;
    gsize end;

    text[1000] = 'b';
    text[900000] = 'c';
    g_assert_cmpint(qd_regex_search(run, text, 1000000, 0, &bounds), ==, QD_REGEX_MATCH);
    g_assert_true(qd_regex_get_group(run, 0, &start, &end));
    g_assert_cmpuint(start, ==, 1000);
    g_assert_cmpuint(end, ==, 900001);
    g_assert_cmpint(qd_regex_search(run, text, 1000000, 1001, &bounds), ==, QD_REGEX_NO_MATCH);
    g_assert_cmpint(qd_regex_search(refused, text, 1000000, 1001, &bounds), ==, QD_REGEX_NO_MATCH);
}

static gboolean
end_work(gpointer data)
{
    return --*(gint *) data <= 0;
}

/*
 * A search reads no further than it has come: the text's later pages cannot be read. If each window read to the text's end, a
 * long text would take time by its square.
 */
static void
test_reads_on(void)
{
    static const char *const absent[][2] = {
        { "zzz", "" }, { "ZZZ", "i" }, { "[x-z]+q", "" }, { "^z", "m" }, { "az", "" }, { "a[b-d]z", "i" }, { "z.z", "q" },
    };
    const gsize page = (gsize) sysconf(_SC_PAGESIZE);
    char *text = mmap(NULL, 32 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    g_autoptr(QdRegex) present = qd_regex_new("AB", 2, "i", 1);

    g_assert_true(text != MAP_FAILED);
    for (gsize i = 0; i < 32 * page; i++)
        text[i] = "ab"[i % 2];
    g_assert_cmpint(mprotect(text + 4 * page, 28 * page, PROT_NONE), ==, 0);
    for (gsize i = 0; i < G_N_ELEMENTS(absent); i++) {
        g_autoptr(QdRegex) regex = qd_regex_new(absent[i][0], strlen(absent[i][0]), absent[i][1], strlen(absent[i][1]));
        gint left = 10;
        const QdRegexBounds ending = { 1000000, end_work, &left };

        g_assert_cmpint(qd_regex_search(regex, text, 32 * page, 0, &ending), ==, QD_REGEX_INTERRUPTED);
    }
    for (gsize start = 0; start < 3 * page; start += 2)
        g_assert_cmpint(qd_regex_search(present, text, 32 * page, start, &bounds), ==, QD_REGEX_MATCH);
    g_assert_cmpint(munmap(text, 32 * page), ==, 0);
}

/* Also one attempt, at one start position, is interrupted: PCRE2 does not count what a repeated letter takes. */
static void
test_interrupted_attempt(void)
{
    static const char *const patterns[] = { "^a*a*a*[bc]", "^([ab]*c|a|b)*[de]" };
    g_autofree char *text = g_strnfill(1000000, 'a');

    for (gsize i = 0; i < G_N_ELEMENTS(patterns); i++) {
        g_autoptr(QdRegex) regex = qd_regex_new(patterns[i], strlen(patterns[i]), "", 0);
        gint left = 20;
        const QdRegexBounds ending = { 1000000, end_work, &left };

        g_assert_cmpint(qd_regex_search(regex, text, 1000000, 0, &ending), ==, QD_REGEX_INTERRUPTED);
    }
}

/* A pattern that PCRE2 takes without callouts only. */
static void
test_long_pattern(void)
{
    g_autoptr(GString) text = g_string_new(NULL);

    for (guint i = 0; i < 1900; i++)
        g_string_append(text, "abc");
    g_assert_false(matches("^(abc){0,1900}d", "", text->str));
    g_string_append_c(text, 'd');
    g_assert_true(matches("^(abc){0,1900}d", "", text->str));
}

/* No letter d: known before most of the text is searched. */
static void
test_required_byte(void)
{
    static const char *const flags[] = { "", "i" };
    g_autofree char *text = g_strnfill(180000, 'a');

    for (gsize i = 0; i < G_N_ELEMENTS(flags); i++) {
        g_autoptr(QdRegex) regex = qd_regex_new("(a|b|c){0,12}(abc|a|bc){0,7}d", 29, flags[i], strlen(flags[i]));
        gint left = 40;
        const QdRegexBounds ending = { 1000000, end_work, &left };

        g_assert_cmpint(qd_regex_search(regex, text, 180000, 0, &ending), ==, QD_REGEX_NO_MATCH);
        text[170000] = i == 0 ? 'd' : 'D';
        left = 1000000;
        g_assert_cmpint(qd_regex_search(regex, text, 180000, 169000, &ending), ==, QD_REGEX_MATCH);
        text[170000] = 'a';
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
    g_test_add_func("/functions/regex/borders", test_borders);
    g_test_add_func("/functions/regex/long-matches", test_long_matches);
    g_test_add_func("/functions/regex/reads-on", test_reads_on);
    g_test_add_func("/functions/regex/interrupted-attempt", test_interrupted_attempt);
    g_test_add_func("/functions/regex/long-pattern", test_long_pattern);
    g_test_add_func("/functions/regex/required-byte", test_required_byte);
    g_test_add_func("/functions/regex/flags", test_flags);
    g_test_add_func("/functions/regex/cache", test_cache);
    return g_test_run();
}
