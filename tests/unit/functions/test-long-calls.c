/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * randomblob(), hex(), upper() and lower() beside SQLite's own, at their limits, and ended in their midst.
 */
#include "daemon/functions/long-calls.h"

#include "tests/unit/functions/plain-fixture.h"

static void
test_same(void)
{
    static const char *const values[] = { "NULL",
                                          "''",
                                          "0",
                                          "-1.5",
                                          "'aZ\u00c9\u00e9\U0001f600'",
                                          "x''",
                                          "x'00ff41'",
                                          "x'c3c3618041'",
                                          "'a'||x'00'||'b'",
                                          "zeroblob(3)",
                                          "9223372036854775807" };
    Plain self;

    plain_open(&self);
    for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
        static const char *const names[] = { "hex", "upper", "lower" };

        for (guint k = 0; k < G_N_ELEMENTS(names); k++) {
            g_autofree char *sql = g_strdup_printf("SELECT %s(%s)", names[k], values[i]);

            plain_assert_same(&self, sql);
        }
    }
    plain_close(&self);
}

static void
test_limits(void)
{
    static const char *const texts[] = { "SELECT upper('%s')", "SELECT lower('%s')", "SELECT hex('%s')",
                                         "SELECT length(randomblob(%d))", "SELECT length(randomblob(-%d))" };
    Plain self;

    plain_open(&self);
    (void) sqlite3_limit(self.ours, SQLITE_LIMIT_LENGTH, 1000);
    (void) sqlite3_limit(self.plain, SQLITE_LIMIT_LENGTH, 1000);
    for (gsize n = 498; n <= 1002; n += n == 501 ? 497 : 1)
        for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
            g_autofree char *text = g_strnfill(n, 'x');
            g_autofree char *number = g_strdup_printf("%" G_GSIZE_FORMAT, n);
            g_auto(GStrv) parts = g_strsplit(texts[i], i < 3 ? "%s" : "%d", 2);
            g_autofree char *sql = g_strjoinv(i < 3 ? text : number, parts);

            plain_assert_same(&self, sql);
        }
    plain_close(&self);
}

static void
test_interrupted(void)
{
    static const char *const calls[] = { "randomblob(1)", "hex('a')", "upper('a')", "lower('a')" };
    Plain self;

    plain_open(&self);
    plain_assert_interruptible(&self, calls, G_N_ELEMENTS(calls));
    plain_close(&self);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/long-calls/same", test_same);
    g_test_add_func("/functions/long-calls/limits", test_limits);
    g_test_add_func("/functions/long-calls/interrupted", test_interrupted);
    return g_test_run();
}
