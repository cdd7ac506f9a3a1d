/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * LIKE and GLOB beside SQLite's own, ended in their midst, and with an index for a prefix.
 */
#include "daemon/sqlite/builtin/pattern-calls.h"

#include "tests/unit/functions/plain-fixture.h"

#define N_RANDOM 60000

static void
open_both(Plain *self)
{
    plain_open(self);
    g_assert_true(qd_pattern_calls_register(self->ours, NULL));
}

static void
test_same(void)
{
    static const char *const texts[] = { "NULL",
                                         "''",
                                         "1",
                                         "-1.5",
                                         "'aB%'",
                                         "'a_b'",
                                         "'\u00e9\U0001f600a'",
                                         "x''",
                                         "x'61'",
                                         "'%'",
                                         "'abcabd'",
                                         "'A-]'",
                                         "'a' || char(0) || 'b'" };
    static const char *const patterns[] = {
        "NULL",     "''",
        "1",        "'%'",
        "'_'",      "'%_%'",
        "'a%'",     "'%b'",
        "'%bd'",    "'a!%'",
        "'%!%'",    "'%!'",
        "'!'",      "x'25'",
        "'*'",      "'?'",
        "'[a'",     "'[^a]*'",
        "'*[b-d]'", "'*[]-]'",
        "'[a-]*'",  "'*[^]]*'",
        "'*[a'",    "'\u00e9%'",
        "'%a%b%'",  "'%\U0001f600_'",
        "'*?d'",    "'%a' || char(0)",
    };
    static const char *const calls[] = { "like(%s,%s)",      "glob(%s,%s)",      "like(%s,%s,'!')",
                                         "like(%s,%s,'%%')", "like(%s,%s,'_')",  "like(%s,%s,'')",
                                         "like(%s,%s,'ab')", "like(%s,%s,NULL)", "like(%s,%s,x'ff')" };
    Plain self;

    open_both(&self);
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        for (guint k = 0; k < G_N_ELEMENTS(patterns); k++)
            for (guint c = 0; c < G_N_ELEMENTS(calls); c++) {
                g_auto(GStrv) parts = g_strsplit(calls[c], "%s", 3);
                g_autofree char *tail = g_strdup(g_str_equal(parts[2], ",'%%')") ? ",'%')" : parts[2]);
                g_autofree char *sql = g_strconcat("SELECT ", parts[0], patterns[k], parts[1], texts[i], tail, NULL);

                plain_assert_same(&self, sql);
            }
    plain_close(&self);
}

/* Few characters, so that much matches; some pieces are not UTF-8. */
static char *
make_random(GRand *random, const char *const *pieces, int n_pieces, int n_max)
{
    GString *out = g_string_new("CAST(x'");

    for (int n = g_rand_int_range(random, 0, n_max); n > 0; n--) {
        const char *piece = pieces[g_rand_int_range(random, 0, n_pieces)];

        for (; *piece != '\0'; piece++)
            g_string_append_printf(out, "%02x", (guchar) *piece);
    }
    return g_string_free(g_string_append(out, "' AS TEXT)"), FALSE);
}

static void
test_random(void)
{
    static const char *const texts[] = {
        "a", "a", "b", "A", "-", "]", "\u00e9", "\u00c9", "%", "*", "\xed\xa0\x80", "\xc1\x81", "\x85", "\xc2", "\xff\xbf"
    };
    static const char *const patterns[] = {
        "a", "b",        "B", "\u00e9",       "%",    "%",    "_",   "!", "*", "*", "?", "[", "[a-b]", "[^", "]",
        "-", "[\u00e9]", "^", "\xed\xa0\x80", "\xc2", "\x85", "\xff"
    };
    static const char *const forms[] = { "SELECT %s LIKE %s", "SELECT %s GLOB %s", "SELECT %s LIKE %s ESCAPE '!'" };
    g_autoptr(GRand) random = g_rand_new_with_seed(20261123);
    Plain self;

    open_both(&self);
    for (guint i = 0; i < N_RANDOM; i++) {
        g_autofree char *text = make_random(random, texts, G_N_ELEMENTS(texts), 12);
        g_autofree char *pattern = make_random(random, patterns, G_N_ELEMENTS(patterns), 8);
        g_auto(GStrv) parts = g_strsplit(forms[i % G_N_ELEMENTS(forms)], "%s", 3);
        g_autofree char *sql = g_strconcat(parts[0], text, parts[1], pattern, parts[2], NULL);

        plain_assert_same(&self, sql);
    }
    plain_close(&self);
}

static void
test_limit(void)
{
    Plain self;

    open_both(&self);
    (void) sqlite3_limit(self.ours, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 18);
    (void) sqlite3_limit(self.plain, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 18);
    plain_assert_same(&self, "SELECT 'abcd' LIKE 'abcdefghijklmnopqr'");
    plain_assert_same(&self, "SELECT 'abcd' LIKE 'abcdefghijklmnopqrs'");
    plain_assert_same(&self, "SELECT 'abcd' GLOB 'abcdefghijklmnopqrs'");
    plain_close(&self);
}

static void
test_interrupted(void)
{
    static const char *const calls[] = {
        "like('%a' || printf('%.*c', 200, '_') || 'b', printf('%.*c', 100000, 'a'))",
        "like('%\u00e9' || printf('%.*c', 100, '_') || 'b', replace(hex(zeroblob(100000)), '0', '\u00e9'))",
        "like('%\u00e9', printf('%.*c', 100000, 'a'))",
        "glob('*a' || printf('%.*c', 200, '?') || 'b', printf('%.*c', 100000, 'a'))",
        "glob('*[a]' || printf('%.*c', 200, '?') || 'b', printf('%.*c', 100000, 'a'))",
        "glob('*[b]', printf('%.*c', 100000, 'a'))",
    };
    Plain self;

    open_both(&self);
    plain_assert_interruptible(&self, calls, G_N_ELEMENTS(calls));
    plain_close(&self);
}

/* The rows that were looked at one after the other. */
static int
count_scanned(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    int n_scanned;

    g_assert_cmpint(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_step(stmt), ==, SQLITE_ROW);
    g_assert_cmpint(sqlite3_column_int(stmt, 0), ==, 1);
    n_scanned = sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_FULLSCAN_STEP, FALSE);
    (void) sqlite3_finalize(stmt);
    return n_scanned;
}

static void
test_index_serves_prefix(void)
{
    static const char *const forms[] = { "a LIKE 'aB%1'", "a LIKE 'aB%1' ESCAPE '!'", "b GLOB 'ab*1'", "like('ab%1', a)" };
    Plain self;

    open_both(&self);
    for (guint i = 0; i < G_N_ELEMENTS(forms); i++) {
        g_autofree char *sql = g_strconcat("SELECT count(*) FROM t WHERE ", forms[i], NULL);

        for (int k = 0; k < 2; k++) {
            sqlite3 *db = k == 0 ? self.ours : self.plain;

            if (i == 0)
                g_assert_cmpint(
                    sqlite3_exec(db,
                                 "CREATE TABLE t (a TEXT COLLATE NOCASE, b TEXT); CREATE INDEX i ON t (a);"
                                 "CREATE INDEX j ON t (b); INSERT INTO t VALUES ('abc1', 'abc1'), ('x', 'x'), ('y', 'y')",
                                 NULL, NULL, NULL),
                    ==, SQLITE_OK);
            g_assert_cmpint(count_scanned(db, sql), ==, 0);
        }
    }
    plain_close(&self);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sqlite/pattern-calls/same", test_same);
    g_test_add_func("/sqlite/pattern-calls/random", test_random);
    g_test_add_func("/sqlite/pattern-calls/limit", test_limit);
    g_test_add_func("/sqlite/pattern-calls/interrupted", test_interrupted);
    g_test_add_func("/sqlite/pattern-calls/index-serves-prefix", test_index_serves_prefix);
    return g_test_run();
}
