/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * strftime() beside SQLite's own: results, the statement's time, where 'now' is refused, and the limit.
 */
#include "daemon/sqlite/builtin/strftime.h"

#include "daemon/sqlite/builtin/builtin.h"
#include "tests/unit/functions/plain-fixture.h"

#define N_RANDOM 400000
#define MAX_ARGS 6

typedef struct Pieces {
    const char *const *texts;
    int n;
} Pieces;

static QdLimits limits;

static void
open_both(Plain *self)
{
    plain_open(self);
    qd_limits_init(&limits);
    g_assert_true(qd_strftime_register(self->ours, &limits, NULL));
}

static void
test_found(void)
{
    g_assert_nonnull(qd_builtin_find("strftime"));
    g_assert_null(qd_builtin_find("strf"));
    g_assert_null(qd_builtin_find("abs")); /* one argument */
    g_assert_null(qd_builtin_find("count"));
}

static char *
put_pieces(GRand *random, const Pieces *pieces, int n)
{
    GString *out = g_string_new(NULL);

    for (; n > 0; n--)
        g_string_append(out, pieces->texts[g_rand_int_range(random, 0, pieces->n)]);
    return g_string_free(out, FALSE);
}

/* Mostly a text that the argument is meant to have, else anything. */
static void
bind_random(GRand *random, sqlite3_stmt *const *stmts, int index, const Pieces *pieces, int n_pieces)
{
    g_autofree char *text = put_pieces(random, pieces, n_pieces);
    int kind = g_rand_int_range(random, 0, 24);
    double number = (g_rand_double(random) - 0.5) * (kind == 0 ? 1e20 : 1e7);

    for (int i = 0; i < 2; i++) {
        if (kind <= 1)
            (void) sqlite3_bind_double(stmts[i], index, number);
        else if (kind <= 3)
            (void) sqlite3_bind_int64(stmts[i], index, (gint64) number);
        else if (kind == 4)
            (void) sqlite3_bind_null(stmts[i], index);
        else if (kind == 5)
            (void) sqlite3_bind_blob(stmts[i], index, text, (int) strlen(text), SQLITE_TRANSIENT);
        else
            (void) sqlite3_bind_text(stmts[i], index, text, -1, SQLITE_TRANSIENT);
    }
}

static void
assert_same_row(sqlite3_stmt *const *stmts)
{
    int r[2] = { sqlite3_step(stmts[0]), sqlite3_step(stmts[1]) };
    int n[2] = { sqlite3_column_bytes(stmts[0], 0), sqlite3_column_bytes(stmts[1], 0) };
    g_autofree char *sql = NULL;

    if (r[0] == r[1] && n[0] == n[1] && sqlite3_column_type(stmts[0], 0) == sqlite3_column_type(stmts[1], 0) &&
        (n[0] == 0 || memcmp(sqlite3_column_blob(stmts[0], 0), sqlite3_column_blob(stmts[1], 0), (gsize) n[0]) == 0))
        return;
    sql = sqlite3_expanded_sql(stmts[0]);
    g_error("%s differs", sql);
}

static void
test_random(void)
{
    static const char *const conversions[] = { "%d", "%f", "%H", "%j", "%J", "%m", "%M", "%s", "%S", "%w", "%W", "%Y", "%%",
                                               "%e", "%F", "%p", "%",  "x",  "-",  ":",  " ",  "é",  "%G", "%u", "%R", "%n" };
    static const char *const values[] = { "2024-02-29",
                                          "1970-01-01 00:00:00",
                                          "9999-12-31T23:59:59.999",
                                          "0000-01-01",
                                          "12:34",
                                          "23:59:59.9999",
                                          "2460000.5",
                                          "1700000000",
                                          "-4713-11-24",
                                          "2024-13-01",
                                          "2024-02-30 24:00",
                                          "2024-01-01 10:00+02:00",
                                          "2024-01-01T10:00Z",
                                          "",
                                          " 2024-01-01",
                                          "1e10",
                                          "nonsense" };
    static const char *const modifiers[] = { "+1 day",     "-13 months", "+1.5 years",   "start of month", "start of year",
                                             "weekday 3",  "unixepoch",  "auto",         "julianday",      "+10:30",
                                             "-1000 days", "utc",        "start of day", "localtime",      "+1 fortnight",
                                             "NNN",        "subsec",     "ceiling",      "+0001-02-03",    "floor" };
    static const Pieces all[] = { { conversions, G_N_ELEMENTS(conversions) },
                                  { values, G_N_ELEMENTS(values) },
                                  { modifiers, G_N_ELEMENTS(modifiers) } };
    g_autoptr(GRand) random = g_rand_new_with_seed(20261123);
    Plain self;

    open_both(&self);
    for (int n_args = 2; n_args <= MAX_ARGS; n_args++) {
        g_autofree char *sql = g_strdup_printf("SELECT strftime(%.*s)", 3 * n_args - 1, "?1,?2,?3,?4,?5,?6");
        sqlite3_stmt *stmts[2] = { NULL, NULL };

        g_assert_cmpint(sqlite3_prepare_v2(self.ours, sql, -1, &stmts[0], NULL), ==, SQLITE_OK);
        g_assert_cmpint(sqlite3_prepare_v2(self.plain, sql, -1, &stmts[1], NULL), ==, SQLITE_OK);
        for (guint i = 0; i < N_RANDOM / (MAX_ARGS - 1); i++) {
            for (int k = 0; k < n_args; k++)
                bind_random(random, stmts, k + 1, &all[MIN(k, 2)], k == 0 ? g_rand_int_range(random, 0, 6) : 1);
            assert_same_row(stmts);
            (void) sqlite3_reset(stmts[0]);
            (void) sqlite3_reset(stmts[1]);
        }
        (void) sqlite3_finalize(stmts[0]);
        (void) sqlite3_finalize(stmts[1]);
    }
    plain_close(&self);
}

/* One time for all calls of a statement, which is that of the functions that are SQLite's. */
static void
test_now(void)
{
    static const char *const statements[] = {
        ("WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 20000) SELECT count(DISTINCT "
         "strftime('%J', 'now') || julianday('now') || strftime('%f')) FROM c WHERE strftime('%s', 'now', i || ' days') > 0"),
        "SELECT strftime('%Y-%m-%d %H:%M:%S', 'now') = current_timestamp AND datetime() = current_timestamp",
        "SELECT abs(strftime('%J') - julianday()) < 1e-8",
    };
    Plain self;

    open_both(&self);
    for (guint i = 0; i < G_N_ELEMENTS(statements); i++) {
        g_autofree char *result = plain_run(self.ours, statements[i]);

        g_assert_cmpstr(result, ==, "1 1 31");
    }
    plain_close(&self);
}

/* Calls that SQLite allows in a schema, and others that it refuses. */
static void
test_schema(void)
{
    static const char *const statements[] = {
        "CREATE TABLE t (d, y AS (strftime('%Y', d)), z AS (date(d, 'start of month')) STORED, CHECK (strftime('%Y', d) > '1'))",
        "CREATE INDEX i ON t (strftime('%m', d)) WHERE date(d) > '2000'",
        "CREATE VIEW v AS SELECT datetime(d, '+1 day') AS e FROM t",
        "CREATE TRIGGER g AFTER INSERT ON t WHEN new.d < '2001' BEGIN UPDATE t SET d = datetime(d, 'start of year'); END",
        "INSERT INTO t VALUES ('2024-05-06 07:08'), (2451545)",
        "INSERT INTO t VALUES ('2000-05-06')",
        "INSERT INTO t VALUES ('nonsense')",
        "SELECT group_concat(d || y || z || e) FROM t, v",
        "INSERT INTO t VALUES ('now')",
        "CREATE TABLE now_check (a CHECK (strftime('%Y', 'now') > a)); INSERT INTO now_check VALUES (1)",
        "INSERT INTO now_check VALUES (1)",
        "CREATE TABLE now_default (a, b DEFAULT (strftime('%Y', 'now') > '2000'))",
        "INSERT INTO now_default (a) VALUES (1)",
        "SELECT b FROM now_default",
        "CREATE INDEX now_index ON now_default (strftime('%Y', 'now'))",
        "CREATE INDEX local_index ON now_default (datetime(a, 'localtime'))",
        "CREATE TABLE now_generated (a, b AS (date('now')))",
        "INSERT INTO now_generated VALUES (1)",
        "SELECT b FROM now_generated",
        "CREATE INDEX ok_index ON now_default (unixepoch(a))",
    };
    Plain self;

    open_both(&self);
    for (guint i = 0; i < G_N_ELEMENTS(statements); i++)
        plain_assert_same(&self, statements[i]);
    plain_close(&self);
}

static void
test_limit(void)
{
    static const char *const refused[] = {
        "strftime(printf('%.*c', 65537, 'x'), 0)",
        "strftime(zeroblob(65537), 0)",
        "strftime(printf('%.*c', 65537, 'x'))",
    };
    Plain self;

    open_both(&self);
    plain_assert_same(&self, "SELECT strftime(replace(printf('%.*c', 32767, '0'), '0', '%J') || 'x', 0)");
    plain_assert_same(&self, "SELECT strftime('%Y', 0, printf('%.*c', 70000, '0') || '1 days')");
    plain_assert_same(&self, "SELECT strftime()");
    for (guint i = 0; i < G_N_ELEMENTS(refused); i++) {
        g_autofree char *sql = g_strdup_printf("SELECT %s", refused[i]);
        g_autofree char *result = plain_run(self.ours, sql);

        g_assert_true(g_str_has_suffix(result, "the limit 'strftime_format_bytes' is 65536 bytes"));
    }
    plain_close(&self);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sqlite/strftime/found", test_found);
    g_test_add_func("/sqlite/strftime/random", test_random);
    g_test_add_func("/sqlite/strftime/now", test_now);
    g_test_add_func("/sqlite/strftime/schema", test_schema);
    g_test_add_func("/sqlite/strftime/limit", test_limit);
    return g_test_run();
}
