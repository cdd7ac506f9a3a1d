/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The holders of snapshots of the database, and for how long. The writer sees it: its log can be emptied only without
 * snapshots.
 */
#include "tests/unit/client/direct-module/direct-fixture.h"

#define WAIT_USEC (60 * G_USEC_PER_SEC)
#define LONG_MSEC 3600000

/* TRUE when the whole log could be written back and emptied: there is no snapshot of before the last commit. */
static gboolean
checkpoint(DirectFixture *self)
{
    sqlite3 *db = qd_connection_get_db(self->store.writer);

    (void) sqlite3_busy_timeout(db, 0);
    store_execute(self->store.writer, "UPDATE t SET v = random() WHERE id = 1"); /* the same value again would write nothing */
    return store_get_int64(self->store.writer, "PRAGMA wal_checkpoint(TRUNCATE)") == 0;
}

static void
set_age(DirectFixture *self, guint64 age_msec)
{
    query_direct_set_times(query_connection_get_direct(self->connection), age_msec, LONG_MSEC);
}

/* Rows that are all in the page: the cursor may stay open as long as it likes. */
static void
test_small_results_hold_none(DirectFixture *self, gconstpointer data)
{
    g_autoptr(QueryCursor) cursor = direct_query(self->connection, "SELECT id, v FROM t ORDER BY id LIMIT 20");
    g_autoptr(GError) error = NULL;

    g_assert_true(query_cursor_next(cursor, NULL, &error));
    g_assert_true(checkpoint(self));
    g_assert_cmpuint(direct_count_rows(cursor, &error), ==, 19);
    g_assert_no_error(error);
}

static void
test_close_ends_it(DirectFixture *self, gconstpointer data)
{
    QueryCursor *cursor = direct_query(self->connection, "SELECT id, v FROM t");

    g_assert_false(checkpoint(self));
    query_cursor_close(cursor);
    g_assert_true(checkpoint(self));
    g_object_unref(cursor);

    cursor = direct_query(self->connection, "SELECT id, v FROM t");
    g_assert_false(checkpoint(self));
    g_object_unref(cursor);
    g_assert_true(checkpoint(self));
}

/* The rows of a forgotten cursor are not asked for: the thread ends its snapshot. The row it stands on stays good. */
static void
test_forgotten_cursor(DirectFixture *self, gconstpointer data)
{
    g_autoptr(QueryCursor) forgotten = NULL;
    g_autoptr(QueryCursor) other = NULL;
    g_autoptr(GError) error = NULL;
    gint64 deadline_usec = g_get_monotonic_time() + WAIT_USEC;
    guint n_rows = 1;

    set_age(self, 150);
    forgotten = direct_query(self->connection, "SELECT id, v FROM t ORDER BY id");
    other = direct_query(self->connection, "SELECT v FROM t");
    g_assert_true(query_cursor_next(forgotten, NULL, &error));
    g_assert_false(checkpoint(self));
    while (!checkpoint(self) && g_get_monotonic_time() < deadline_usec)
        g_thread_yield();
    g_assert_true(checkpoint(self));
    g_assert_cmpint(query_cursor_get_int64(forgotten, 1), ==, 1);
    while (query_cursor_next(forgotten, NULL, &error)) /* the rest of its page */
        g_assert_cmpint(query_cursor_get_int64(forgotten, 0), ==, ++n_rows);
    direct_assert_error(error, QUERY_ERROR_TIMEOUT, "result is too old: the limit 'snapshot_age_ms' is 150 ms");
    g_assert_cmpuint(n_rows, <, 20000);
}

/* One that is being read says the same, in both threads. */
static void
test_slow_reader(DirectFixture *self, gconstpointer data)
{
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;
    gint64 start_usec = g_get_monotonic_time();

    set_age(self, 150);
    cursor = direct_query(self->connection, "SELECT a.id FROM t a, t b, t c");
    while (query_cursor_next(cursor, NULL, &error))
        continue;
    direct_assert_error(error, QUERY_ERROR_TIMEOUT, "result is too old");
    g_assert_cmpint(g_get_monotonic_time() - start_usec, >=, 150000);
}

/* The thread comes and goes, and is waited for. */
static void
test_thread_comes_again(DirectFixture *self, gconstpointer data)
{
    for (guint i = 0; i < 3; i++) {
        g_autoptr(QueryCursor) cursor = NULL;
        gint64 deadline_usec = g_get_monotonic_time() + WAIT_USEC;

        set_age(self, 30);
        cursor = direct_query(self->connection, "SELECT id, v FROM t");
        while (!checkpoint(self) && g_get_monotonic_time() < deadline_usec)
            g_thread_yield();
        g_assert_true(checkpoint(self));
    }
    set_age(self, LONG_MSEC);
    g_object_unref(direct_query(self->connection, "SELECT id, v FROM t"));
    g_clear_object(&self->connection);
}

/* As many as there may be: the next one works all the same, and so do those that have given their snapshots up for it. */
static void
test_too_many(DirectFixture *self, gconstpointer data)
{
    gint64 n_expected = direct_query_int64(self->connection, "SELECT count(*) FROM t");
    g_autoptr(GPtrArray) cursors = g_ptr_array_new_with_free_func(g_object_unref);

    for (guint i = 0; i < 70; i++)
        g_ptr_array_add(cursors, direct_query(self->connection, "SELECT id, v FROM t"));
    g_assert_cmpint(direct_query_int64(self->connection, "SELECT 1"), ==, 1);
    for (guint i = 0; i < cursors->len; i++) {
        g_autoptr(GError) error = NULL;
        gint64 n = 0;

        while (query_cursor_next(cursors->pdata[i], NULL, &error))
            n++;
        g_assert_no_error(error);
        g_assert_cmpint(n, ==, n_expected);
    }
}

#define ADD(path, func) \
    g_test_add("/client/direct-snapshots/" path, DirectFixture, NULL, direct_fixture_set_up, func, direct_fixture_tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("small-results-hold-none", test_small_results_hold_none);
    ADD("close-ends-it", test_close_ends_it);
    ADD("forgotten-cursor", test_forgotten_cursor);
    ADD("slow-reader", test_slow_reader);
    ADD("thread-comes-again", test_thread_comes_again);
    ADD("too-many", test_too_many);
    return g_test_run();
}
