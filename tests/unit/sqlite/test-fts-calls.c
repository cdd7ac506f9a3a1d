/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * FTS5's functions beside SQLite's own: results, and that a statement that is over ends within them.
 */
#include "daemon/sqlite/builtin/fts-calls.h"

#include "daemon/base/interrupt.h"
#include "tests/unit/functions/plain-fixture.h"

#define N_ROWS 200
/* Matches that SQLite's own snippet() looks at some hours. */
#define MANY "INSERT INTO f VALUES(replace(hex(zeroblob(500000)), '0', 'a '), 'a')"

static const char *const words[] = { "a", "b", "ab", "aéz", "B", "row", "." };
static const char *const queries[] = { "a", "a OR b", "\"a b\"", "NEAR(a b, 3)", "ro*", "{t} : a AND b", "a NOT row" };
static guint n_looks;

static void
execute(sqlite3 *db, const char *sql)
{
    char *message = NULL;

    g_assert_cmpint(sqlite3_exec(db, sql, NULL, NULL, &message), ==, SQLITE_OK);
    g_assert_null(message);
}

static void
open_both(Plain *self)
{
    plain_open(self);
    g_assert_true(qd_fts_calls_register(self->ours, NULL));
    execute(self->ours, "CREATE VIRTUAL TABLE f USING fts5(t, u)");
    execute(self->plain, "CREATE VIRTUAL TABLE f USING fts5(t, u)");
}

/* All rows as one text. */
static char *
read_all(sqlite3 *db, const char *sql)
{
    GString *out = g_string_new(NULL);
    sqlite3_stmt *stmt = NULL;
    int r;

    g_assert_cmpint(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), ==, SQLITE_OK);
    while ((r = sqlite3_step(stmt)) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(stmt); i++)
            g_string_append_printf(out, "%s|", (const char *) sqlite3_column_text(stmt, i));
    g_assert_cmpint(r, ==, SQLITE_DONE);
    (void) sqlite3_finalize(stmt);
    return g_string_free(out, FALSE);
}

static void
test_results(void)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(12);
    Plain self;

    open_both(&self);
    for (guint i = 0; i < N_ROWS; i++) {
        g_autoptr(GString) sql = g_string_new("INSERT INTO f VALUES('");

        for (gint n = g_rand_int_range(random, 0, 90); n > 0; n--)
            g_string_append_printf(sql, "%s ", words[g_rand_int_range(random, 0, G_N_ELEMENTS(words))]);
        g_string_append(sql, "', 'b a')");
        execute(self.ours, sql->str);
        execute(self.plain, sql->str);
    }
    for (guint i = 0; i < G_N_ELEMENTS(queries); i++) {
        g_autofree char *sql = g_strdup_printf(
            "SELECT rowid, highlight(f, 0, '<', '>'), snippet(f, -1, '<', '>', '..', 6), bm25(f, 2.0), rank FROM f('%s')"
            " ORDER BY rank, rowid",
            queries[i]);
        g_autofree char *ours = read_all(self.ours, sql);
        g_autofree char *theirs = read_all(self.plain, sql);

        g_assert_cmpstr(ours, ==, theirs);
        g_assert_cmpuint(strlen(ours), >, 100);
    }
    plain_close(&self);
}

static gboolean
look(void *data)
{
    return ++n_looks > 1000;
}

static void
test_ends(void)
{
    static const char *const calls[] = { "snippet(f, 0, '<', '>', '..', 64)", "highlight(f, 0, '<', '>')", "bm25(f)", "rank" };
    Plain self;

    open_both(&self);
    execute(self.ours, MANY);
    for (guint i = 0; i < G_N_ELEMENTS(calls); i++) {
        QdInterrupt interrupt = { .look = look, .is_always_due = TRUE };
        g_autofree char *sql = g_strdup_printf("SELECT %s FROM f('a')", calls[i]);
        sqlite3_stmt *stmt = NULL;

        n_looks = 0;
        g_assert_cmpint(sqlite3_prepare_v2(self.ours, sql, -1, &stmt, NULL), ==, SQLITE_OK);
        qd_interrupt_begin(&interrupt);
        g_assert_cmpint(sqlite3_step(stmt), ==, SQLITE_INTERRUPT);
        qd_interrupt_end(&interrupt);
        (void) sqlite3_finalize(stmt);
    }
    plain_close(&self);
}

/* Other functions that an application's extension has registered before: nothing is touched. */
static void
test_twice(void)
{
    g_autofree char *rows = NULL;
    Plain self;

    open_both(&self);
    g_assert_true(qd_fts_calls_register(self.ours, NULL));
    execute(self.ours, "INSERT INTO f VALUES('a', 'b')");
    rows = read_all(self.ours, "SELECT highlight(f, 0, '<', '>') FROM f('a')");
    g_assert_cmpstr(rows, ==, "<a>|");
    plain_close(&self);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sqlite/fts-calls/results", test_results);
    g_test_add_func("/sqlite/fts-calls/ends", test_ends);
    g_test_add_func("/sqlite/fts-calls/twice", test_twice);
    return g_test_run();
}
