/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * REGEX and REPLACE: flags, groups, errors.
 */
#include <sys/resource.h>

#include "tests/unit/functions/expression-fixture.h"

static void
test_regex(void)
{
    static const char *const cases[][2] = {
        { "(REGEX \"abcDEFghiJKL\" \"GHI\")", "false" },
        { "(REGEX \"abcDEFghiJKL\" \"DeFghI\" \"i\")", "true" },
        { "(REGEX \"abc\"@en \"b\")", "true" },
        { "(REGEX \"abc\" \"\")", "true" },
        { "(REGEX \"abc\" \"^b\")", "false" },
        { "(REGEX \"a\\nc\" \"a.c\")", "false" },
        { "(REGEX \"a\\nc\" \"a.c\" \"s\")", "true" },
        { "(REGEX \"a\\nb\\nc\" \"^b$\" \"m\")", "true" },
        { "(REGEX \"a\\nb\\nc\" \"^b$\")", "false" },
        { "(REGEX \"ab\\n\" \"b$\")", "false" },
        { "(REGEX \"a\\nc\" \" a\\n[\\\\n]c \" \"x\")", "true" },
        { "(REGEX \"a c\" \"a[ ]c\" \"x\")", "true" },
        { "(REGEX \"ac\" \"a c\" \"x\")", "true" },
        { "(REGEX \"a?+*.{}()[]c\" \"a?+*.{}()[]C\" \"iq\")", "true" },
        { "(REGEX \"abc\" \"a.c\" \"q\")", "false" },
        { "(REGEX \"abc\" \"b\" \"z\")", "unbound" },
        { "(REGEX \"abc\" \"(\")", "unbound" },
        { "(REGEX 1 \"1\")", "unbound" },
        { "(REGEX <a:b> \"a\")", "unbound" },
        { "(REGEX \"abc\" \"b\"@en)", "unbound" },
        { "(REGEX \"É\" \"é\" \"i\")", "true" },
        { "(REGEX \"hé\" \"^..$\")", "true" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_replace(void)
{
    static const char *const cases[][2] = {
        { "(REPLACE \"abcd\" \"b\" \"Z\")", "\"aZcd\"" },
        { "(REPLACE \"abab\" \"B\" \"Z\" \"i\")", "\"aZaZ\"" },
        { "(REPLACE \"abab\"@en \"B.\" \"Z\" \"i\")", "\"aZb\"@en" },
        { "(REPLACE \"abracadabra\" \"bra\" \"*\")", "\"a*cada*\"" },
        { "(REPLACE \"abracadabra\" \"a.*a\" \"*\")", "\"*\"" },
        { "(REPLACE \"abracadabra\" \"a.*?a\" \"*\")", "\"*c*bra\"" },
        { "(REPLACE \"abracadabra\" \"a\" \"\")", "\"brcdbr\"" },
        { "(REPLACE \"abracadabra\" \"a(.)\" \"a$1$1\")", "\"abbraccaddabbra\"" },
        { "(REPLACE \"AAAA\" \"A+\" \"b\")", "\"b\"" },
        { "(REPLACE \"darted\" \"^(.*?)d(.*)$\" \"$1c$2\")", "\"carted\"" },
        { "(REPLACE \"abcd\" \"(ab)|(a)\" \"[1=$1][2=$2]\")", "\"[1=ab][2=]cd\"" },
        { "(REPLACE \"abc\" \"b\" \"$0$0\")", "\"abbc\"" },
        { "(REPLACE \"abc\" \"(b)\" \"$12\")", "\"ab2c\"" },
        { "(REPLACE \"abc\" \"b\" \"\\\\$\")", "\"a$c\"" },
        { "(REPLACE \"a.c\" \".\" \"$\" \"q\")", "\"a$c\"" },
        { "(REPLACE \"abc\" \"x*\" \"-\")", "unbound" },
        { "(REPLACE \"abc\" \"b\" \"$\")", "unbound" },
        { "(REPLACE \"abc\" \"b\" \"\\\\n\")", "unbound" },
        { "(REPLACE \"abc\" \"z\" \"$\")", "unbound" }, /* also where nothing matches */
        { "(REPLACE \"abc\" \"z\" \"a$b\")", "unbound" },
        { "(REPLACE \"abc\" \"z\" \"\\\\n\")", "unbound" },
        { "(REPLACE \"\" \"z\" \"\\\\\")", "unbound" },
        { "(REPLACE \"abc\" \"z\" \"$9\\\\$\")", "\"abc\"" },
        { "(REPLACE \"abc\" \"z\" \"$\" \"q\")", "\"abc\"" },
        { "(REPLACE \"abc\" \"b\" \"x\"@en)", "unbound" },
        { "(REPLACE 1 \"1\" \"2\")", "unbound" },
        { "(REPLACE \"\" \"a\" \"b\")", "\"\"" },
        { "(REPLACE \"aAbBaC\" \"a\" \"~/\" \"i\")", "\"~/~/bB~/C\"" },
        { "(REPLACE \"banana\" \"ana\" \"*\")", "\"b*na\"" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

/* What would take exponential time ends with an error that names the limit; a long text can be interrupted. */
static void
test_bounds(void)
{
    g_autoptr(Expressions) self = expressions_new();
    g_autoptr(GString) pattern = g_string_new("(REGEX \"a\" \"");
    g_autofree char *steps = expressions_run(self, "(REGEX \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\" \"^(a+)+$\")");
    g_autofree char *size = NULL;

    g_assert_cmpstr(steps, ==, "error: regular expression takes too many steps: the limit 'regex_steps' is 1000000");
    for (guint i = 0; i < 1025; i++)
        g_string_append_c(pattern, 'a');
    g_string_append(pattern, "\")");
    size = expressions_run(self, pattern->str);
    g_assert_cmpstr(size, ==, "error: regular expression is too long: the limit 'regex_pattern_bytes' is 1024 bytes");
}

static int
count_down(gpointer data)
{
    return --*(gint *) data == 0;
}

static void
test_interrupt(void)
{
    g_autoptr(Expressions) self = expressions_new();
    g_autoptr(GString) text = g_string_new("(REGEX \"");
    g_autofree char *result = NULL;
    gint left = 10;

    for (guint i = 0; i < 100000; i++)
        g_string_append_c(text, 'a');
    g_string_append(text, "\" \"a*[bc]\")");
    self->context.interrupted = count_down;
    self->context.data = &left;
    result = expressions_run(self, text->str);
    g_assert_cmpstr(result, ==, "error: interrupted");
    g_assert_cmpint(left, <=, 0);
}

static long
get_peak_kib(void)
{
    struct rusage usage;

    g_assert_cmpint(getrusage(RUSAGE_SELF, &usage), ==, 0);
    return usage.ru_maxrss;
}

/* One replacement of 3,000 times the text is too big before it is there; one of nothing at all is interrupted. */
static void
test_large_replacement(void)
{
    g_autoptr(Expressions) self = expressions_new_limited(1000000);
    g_autoptr(GString) large = g_string_new("(STRLEN (REPLACE \"");
    g_autoptr(GString) empty = g_string_new("(REPLACE \"");
    g_autofree char *too_big = NULL;
    g_autofree char *interrupted = NULL;
    long before = get_peak_kib();
    gint left = 5;

    for (guint i = 0; i < 100000; i++)
        g_string_append_c(large, 'a');
    g_string_append(large, "\" \"^a+$\" \"");
    for (guint i = 0; i < 3000; i++)
        g_string_append(large, "$0");
    g_string_append(large, "\"))");
    too_big = expressions_run(self, large->str);
    g_assert_cmpstr(too_big, ==, "error: string or blob too big");
    g_assert_cmpint(get_peak_kib() - before, <, 100000);

    g_string_append(empty, "abababababababab\" \"a\" \"");
    for (guint i = 0; i < 3000; i++)
        g_string_append(empty, "$9");
    g_string_append(empty, "\")");
    self->context.interrupted = count_down;
    self->context.data = &left;
    interrupted = expressions_run(self, empty->str);
    g_assert_cmpstr(interrupted, ==, "error: interrupted");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/regex-calls/regex", test_regex);
    g_test_add_func("/functions/regex-calls/replace", test_replace);
    g_test_add_func("/functions/regex-calls/bounds", test_bounds);
    g_test_add_func("/functions/regex-calls/interrupt", test_interrupt);
    g_test_add_func("/functions/regex-calls/large-replacement", test_large_replacement);
    return g_test_run();
}
