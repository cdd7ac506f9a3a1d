/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of the program go into a table by one statement.
 */
#include "daemon/quads/insert-source.h"

#include "tests/unit/store/store-fixture.h"

typedef struct Counter {
    gint64 value;
    gint64 end;
    gint64 fails_at;
    QdConnection *interrupts; /* NULL: none */
} Counter;

static gboolean
next(gpointer data, gboolean *ret_more, GError **error)
{
    Counter *self = data;

    self->value++;
    if (self->value == self->fails_at) {
        qd_error_set(error, QW_ERROR_TOO_BIG, "row %" G_GINT64_FORMAT " is too big", self->value);
        return FALSE;
    }
    if (self->interrupts != NULL && self->value == 10)
        sqlite3_interrupt(qd_connection_get_db(self->interrupts));
    *ret_more = self->value <= self->end;
    return TRUE;
}

static void
get(gpointer data, sqlite3_context *context, int column)
{
    const Counter *self = data;

    if (column == 0)
        sqlite3_result_int64(context, self->value / 2);
    else if (column == 1)
        sqlite3_result_text(context, "text", -1, SQLITE_STATIC);
}

static gboolean
feed(StoreFixture *fixture, Counter *counter, const char *verb, guint64 *ret_n, GError **error)
{
    g_autofree char *sql = g_strdup_printf("%s INTO t SELECT a, b, c FROM queryd_source", verb);
    const QdInsertSource source = { next, get, counter };

    return qd_insert_source_run(fixture->writer, sql, &source, ret_n, error);
}

static void
set_up(StoreFixture *fixture, gconstpointer data)
{
    store_fixture_set_up(fixture, data);
    store_execute(fixture->writer, "CREATE TABLE t(a INTEGER PRIMARY KEY, b, c)");
}

static void
test_rows(StoreFixture *fixture, gconstpointer data)
{
    Counter counter = { .end = 1001 };
    g_autoptr(GError) error = NULL;
    guint64 n = 0;

    g_assert_true(feed(fixture, &counter, "INSERT OR IGNORE", &n, &error));
    g_assert_cmpuint(n, ==, 501); /* 0, 1, 1, … 500, 500 */
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM t WHERE b='text' AND c IS NULL"), ==, 501);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT sum(a) FROM t"), ==, 500 * 501 / 2);
    /* none */
    counter = (Counter){ 0 };
    g_assert_true(feed(fixture, &counter, "INSERT", &n, &error));
    g_assert_cmpuint(n, ==, 0);
}

/* If the source or SQLite ends it early, the error is theirs, and no row stays. */
static void
test_failures(StoreFixture *fixture, gconstpointer data)
{
    Counter counter = { .end = 100, .fails_at = 50 };
    g_autoptr(GError) error = NULL;

    g_assert_false(feed(fixture, &counter, "INSERT OR IGNORE", NULL, &error));
    store_assert_error(error, QW_ERROR_TOO_BIG, "row 50 is too big");
    g_clear_error(&error);
    counter = (Counter){ .end = 100 };
    g_assert_false(feed(fixture, &counter, "INSERT", NULL, &error));
    store_assert_error(error, QW_ERROR_CONSTRAINT, "t.a");
    g_clear_error(&error);
    counter = (Counter){ .end = 100000, .interrupts = fixture->writer };
    g_assert_false(feed(fixture, &counter, "INSERT OR IGNORE", NULL, &error));
    g_assert_error(error, QD_ERROR, QW_ERROR_CANCELLED);
    g_assert_cmpint(counter.value, <, 100000);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM t"), ==, 0);
}

/* The virtual table is there for that statement alone. */
static void
test_gone(StoreFixture *fixture, gconstpointer data)
{
    Counter counter = { .end = 1 };
    g_autoptr(GError) error = NULL;

    g_assert_true(feed(fixture, &counter, "INSERT OR IGNORE", NULL, &error));
    g_assert_false(qd_connection_execute(fixture->writer, "SELECT * FROM queryd_source", &error));
    store_assert_error(error, QW_ERROR_SYNTAX, "no such table");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/quads/insert-source/rows", StoreFixture, NULL, set_up, test_rows, store_fixture_tear_down);
    g_test_add("/quads/insert-source/failures", StoreFixture, NULL, set_up, test_failures, store_fixture_tear_down);
    g_test_add("/quads/insert-source/gone", StoreFixture, NULL, set_up, test_gone, store_fixture_tear_down);
    return g_test_run();
}
