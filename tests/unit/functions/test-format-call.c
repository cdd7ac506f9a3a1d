/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * printf() beside SQLite's own: every letter with flags, widths and precisions, formats at random, and ended in its midst.
 */
#include "daemon/functions/long-calls.h"

#include <string.h>

#include "tests/unit/functions/plain-fixture.h"

static const char *const values[] = {
    "NULL",
    "0",
    "1",
    "-7",
    "9223372036854775807",
    "(-9223372036854775807-1)",
    "0.0",
    "-1.5",
    "1e300",
    "123456789.123",
    "''",
    "'a'",
    "'\u00e9\U0001f600x'",
    "'it''s \"so\"'",
    "'12x'",
    "x''",
    "x'00'",
    "x'8081'",
    "x'c3'",
    "'x'||x'00'||'y'",
};

static void
test_letters(void)
{
    static const char *const flags[] = { "", "-", "+", " ", "#", "!", "0", ",", "+ ", " +", "-0", "!-", "ll", "l" };
    static const char *const sizes[] = { "", "1", "12", ".0", ".1", "12.3", "*", ".*", "*.*", "3.200" };
    Plain self;

    plain_open(&self);
    for (const char *letter = "diuxXorpfeEgGsqQwzcn%TSyl"; *letter != '\0'; letter++)
        for (guint f = 0; f < G_N_ELEMENTS(flags); f++)
            for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
                const char *value = values[(f * 7 + s * 3 + (guint) *letter) % G_N_ELEMENTS(values)];
                g_autofree char *number = strchr(sizes[s], '*') == NULL ? g_strdup("")
                                                                        : g_strdup_printf("%d,5,", (int) (f + s) - 9);
                g_autofree char *sql = g_strdup_printf("SELECT printf('<%%%s%s%c>',%s%s,%s,%s)", flags[f], sizes[s], *letter,
                                                       number, value, value, value);

                plain_assert_same(&self, sql);
            }
    plain_close(&self);
}

static void
test_random(void)
{
    static const char alphabet[] = "%%%%%%-+ #!0,123.lsdqQwcxfegzn";
    g_autoptr(GRand) rand = g_rand_new_with_seed((guint32) g_test_rand_int());
    Plain self;

    plain_open(&self);
    for (guint i = 0; i < 20000; i++) {
        g_autoptr(GString) sql = g_string_new("SELECT format('");

        for (gint n = g_rand_int_range(rand, 0, 14), n_digits = 0; n > 0; n--) {
            char c = alphabet[g_rand_int_range(rand, 0, sizeof alphabet - 1)];

            n_digits = g_ascii_isdigit(c) ? n_digits + 1 : 0;
            g_string_append_c(sql, n_digits > 2 ? 's' : c); /* SQLite takes seconds for a precision of nine digits */
        }
        g_string_append_c(sql, '\'');
        for (gint n = g_rand_int_range(rand, 0, 4); n > 0; n--)
            g_string_append_printf(sql, ",%s", values[g_rand_int_range(rand, 0, G_N_ELEMENTS(values))]);
        g_string_append_c(sql, ')');
        plain_assert_same(&self, sql->str);
    }
    plain_close(&self);
}

static void
test_limits(void)
{
    static const char *const calls[] = {
        "SELECT printf()",
        "SELECT printf(NULL, 1)",
        "SELECT printf('')",
        "SELECT printf('%1000d', 1)",
        "SELECT printf('%1001d', 1)",
        "SELECT printf('%.2000d', 1)",
        "SELECT printf('%.2000c', 'a')",
        "SELECT printf('%,.900d', 1)",
        "SELECT printf('%.700f%.700f', 1.5, 1.5)",
        "SELECT printf('%s', zeroblob(1000))",
        "SELECT printf('%s%s%s', hex(zeroblob(200)), hex(zeroblob(200)), hex(zeroblob(200)))",
        "SELECT printf('%2147483647d', 1)",
        "SELECT printf('%99999999999d', 1)",
        "SELECT printf('%*d', -2147483648, 1)",
        "SELECT printf('%.*d', -2147483648, 1)",
    };
    Plain self;

    plain_open(&self);
    (void) sqlite3_limit(self.ours, SQLITE_LIMIT_LENGTH, 1000);
    (void) sqlite3_limit(self.plain, SQLITE_LIMIT_LENGTH, 1000);
    for (guint i = 0; i < G_N_ELEMENTS(calls); i++)
        plain_assert_same(&self, calls[i]);
    plain_close(&self);
}

static void
test_interrupted(void)
{
    static const char *const calls[] = { "printf('a')", "format('%d', 1)", "printf('%.9999999c', 'a')" };
    Plain self;

    plain_open(&self);
    plain_assert_interruptible(&self, calls, G_N_ELEMENTS(calls));
    plain_close(&self);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/format-call/letters", test_letters);
    g_test_add_func("/functions/format-call/random", test_random);
    g_test_add_func("/functions/format-call/limits", test_limits);
    g_test_add_func("/functions/format-call/interrupted", test_interrupted);
    return g_test_run();
}
