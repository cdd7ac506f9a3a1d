/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * instr(), replace() and trim() beside SQLite's own, and ended in their midst.
 */
#include "daemon/functions/linear.h"

#include "tests/unit/functions/plain-fixture.h"

static void
test_same(void)
{
    static const char *const values[] = { "NULL", "''",      "1",   "-1.5",      "'aba'",           "'\u00e9\U0001f600a'",
                                          "x''",  "x'6100'", "'a'", "x'c380bf'", "'a'||x'00'||'b'", "zeroblob(2)" };
    static const char *const calls[] = { "instr(%s,%s)", "trim(%s,%s)",         "ltrim(%s,%s)",
                                         "rtrim(%s,%s)", "replace(%s,%s,'xy')", "replace('aba'||%s,%s,NULL)" };
    Plain self;

    plain_open(&self);
    for (guint i = 0; i < G_N_ELEMENTS(values); i++)
        for (guint k = 0; k < G_N_ELEMENTS(values); k++)
            for (guint c = 0; c < G_N_ELEMENTS(calls); c++) {
                g_auto(GStrv) parts = g_strsplit(calls[c], "%s", 3);
                g_autofree char *sql = g_strconcat("SELECT ", parts[0], values[i], parts[1], values[k], parts[2], NULL);

                plain_assert_same(&self, sql);
            }
    plain_close(&self);
}

/* A match at each place about the end of what is searched at once, of patterns of some lengths, one longer than that. */
static void
test_far_matches(void)
{
    static const guint n_pattern[] = { 1, 2, 7, 70000 };
    Plain self;

    plain_open(&self);
    for (guint i = 0; i < G_N_ELEMENTS(n_pattern); i++)
        for (guint place = 65536 - 9; place<65536 + 9; place += n_pattern[i]> 65536 ? 9 : 1) {
            g_autofree char *sql = g_strdup_printf(
                "WITH v(text, pattern) AS (SELECT printf('%%.*c%%.*c%%.*c', %u, 'a', %u, 'b', %u, "
                "'c'), printf('%%.*c', %u, 'b')) SELECT hex(replace(text, pattern, 'xyz')) FROM v",
                place, n_pattern[i], i % 2 == 0 ? 66000 : 1, n_pattern[i]);

            plain_assert_same(&self, sql);
        }
    plain_close(&self);
}

static void
test_interrupted(void)
{
    static const char *const calls[] = { "instr('a', 'b')", "replace('a', 'a', 'b')", "trim('  a')", "rtrim('a  ')" };
    Plain self;

    plain_open(&self);
    plain_assert_interruptible(&self, calls, G_N_ELEMENTS(calls));
    plain_close(&self);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/linear/same", test_same);
    g_test_add_func("/functions/linear/far-matches", test_far_matches);
    g_test_add_func("/functions/linear/interrupted", test_interrupted);
    return g_test_run();
}
