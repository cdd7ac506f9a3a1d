/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cursors of a transaction that stay open while its next calls run (query_transaction_set_keeps_cursors()).
 */
#include <signal.h>
#include <sys/resource.h>

#include "client-lib/query-client.h"
#include "tests/e2e-client/client-calls.h"
#include "tests/e2e-client/private-bus.h"

#define SQL QUERY_LANGUAGE_SQL
#define N_ROWS 100000 /* more than any buffer on the way holds */
#define COUNTING "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
#define ROWS COUNTING " LIMIT 100000) SELECT i, 'row ' || i FROM n"
/* 5,000 rows, then an error. */
#define FAILING COUNTING " LIMIT 9000) SELECT CASE WHEN i <= 5000 THEN i ELSE json_extract('[', '$') END FROM n"
#define CANCELLED_USEC 200000

static PrivateBus *bus;

static QueryTransaction *
begin(QueryConnection *connection)
{
    g_autoptr(GError) error = NULL;
    QueryTransaction *transaction = query_connection_begin(connection, NULL, &error);

    g_assert_no_error(error);
    query_transaction_set_keeps_cursors(transaction, TRUE);
    return transaction;
}

static QueryCursor *
ask(QueryTransaction *transaction, const char *text)
{
    g_autoptr(GError) error = NULL;
    QueryCursor *cursor = query_transaction_query(transaction, SQL, text, NULL, NULL, &error);

    g_assert_no_error(error);
    return cursor;
}

static void
insert(QueryTransaction *transaction, gint64 a)
{
    g_autoptr(GError) error = NULL;

    g_assert_cmpint(query_transaction_update(transaction, SQL, "INSERT INTO t VALUES(:a)", g_variant_new_parsed("{'a': <%x>}", a),
                                             NULL, &error),
                    ==, 1);
    g_assert_no_error(error);
}

/* The next @n rows have the numbers from @first on. */
static void
assert_rows(QueryCursor *cursor, gint64 first, gint64 n)
{
    g_autoptr(GError) error = NULL;

    for (gint64 i = first; i < first + n; i++) {
        g_assert_true(query_cursor_next(cursor, NULL, &error));
        g_assert_cmpint(query_cursor_get_int64(cursor, 0), ==, i);
    }
}

static void
assert_end(QueryCursor *cursor, guint64 n_rows)
{
    g_autoptr(GError) error = NULL;

    g_assert_false(query_cursor_next(cursor, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(query_cursor_get_n_rows(cursor), ==, n_rows);
}

/* Twenty at once, an update after each row; the current row stays, and the rest comes after the commit. */
static void
test_many(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(QueryTransaction) transaction = begin(connection);
    g_autoptr(GError) error = NULL;
    QueryCursor *cursors[20];

    for (guint i = 0; i < G_N_ELEMENTS(cursors); i++) {
        const char *text;

        cursors[i] = ask(transaction, i % 2 == 0 ? ROWS : "SELECT a, a FROM t");
        if (i % 2 == 0) {
            assert_rows(cursors[i], 1, 2);
            text = query_cursor_get_string(cursors[i], 1, NULL);
            insert(transaction, i + 1);
            g_assert_cmpstr(text, ==, "row 2");
            g_assert_cmpint(query_cursor_get_int64(cursors[i], 0), ==, 2);
        }
    }
    g_assert_true(query_transaction_commit(transaction, NULL, &error));
    g_assert_no_error(error);
    for (guint i = 0; i < G_N_ELEMENTS(cursors); i++) {
        if (i % 2 == 0) {
            assert_rows(cursors[i], 3, N_ROWS - 2);
            assert_end(cursors[i], N_ROWS);
        } else {
            for (guint k = 0; k < i / 2 + 1; k++) /* what was there when it was set aside */
                assert_rows(cursors[i], 2 * k + 1, 1);
            assert_end(cursors[i], i / 2 + 1);
        }
        g_object_unref(cursors[i]);
    }
    g_assert_cmpint(client_query_number(connection, "SELECT count(*) FROM t"), ==, G_N_ELEMENTS(cursors) / 2);
}

static void
test_returning(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(QueryTransaction) transaction = begin(connection);
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;
    gint64 last;

    cursor = query_transaction_update_returning(
        transaction, SQL, "INSERT INTO t " COUNTING " LIMIT 5000) SELECT i FROM n RETURNING a", NULL, NULL, &error);
    g_assert_no_error(error);
    assert_rows(cursor, 1, 1);
    g_object_unref(ask(transaction, "SELECT 1"));
    last = query_transaction_get_last_insert_rowid(transaction);
    g_assert_cmpint(last, ==, 5000);
    assert_rows(cursor, 2, 4999);
    assert_end(cursor, 5000);
    g_assert_true(query_transaction_rollback(transaction, NULL, &error));
}

/* The error comes when its row is asked for; the transaction goes on. */
static void
test_failure(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(QueryTransaction) transaction = begin(connection);
    g_autoptr(QueryCursor) cursor = ask(transaction, FAILING);
    g_autoptr(GError) error = NULL;

    assert_rows(cursor, 1, 1);
    insert(transaction, 1);
    g_assert_true(query_transaction_is_open(transaction));
    g_assert_true(query_transaction_commit(transaction, NULL, &error));
    assert_rows(cursor, 2, 4999);
    g_assert_false(query_cursor_next(cursor, NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_SYNTAX);
    g_assert_cmpint(client_query_number(connection, "SELECT count(*) FROM t"), ==, 1);
}

/* A call that waits for the rest of an endless result can be cancelled. The cursor goes on, and can be closed. */
static void
test_endless(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(QueryTransaction) transaction = begin(connection);
    g_autoptr(QueryCursor) cursor = ask(transaction, COUNTING ") SELECT i FROM n");
    g_autoptr(GCancellable) cancellable = g_cancellable_new();
    g_autoptr(GError) error = NULL;
    ClientKiller killer = { cancellable, CANCELLED_USEC };
    GThread *thread = g_thread_new("kill", client_kill_later, &killer);

    assert_rows(cursor, 1, 1);
    g_assert_cmpint(query_transaction_update(transaction, SQL, "INSERT INTO t VALUES(1)", NULL, cancellable, &error), ==, -1);
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    (void) g_thread_join(thread);
    g_clear_error(&error);
    assert_rows(cursor, 2, N_ROWS);
    query_cursor_close(cursor);
    insert(transaction, 2);
    g_assert_true(query_transaction_commit(transaction, NULL, &error));
    g_assert_cmpint(client_query_number(connection, "SELECT sum(a) FROM t"), ==, 2);
}

/* There is no room for the rest of it: the cursor says so, and the transaction goes on. */
static void
test_no_room(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(QueryTransaction) transaction = begin(connection);
    g_autoptr(QueryCursor) cursor = ask(transaction, COUNTING " LIMIT 200) SELECT i, zeroblob(1000000) FROM n");
    const struct rlimit none = { .rlim_cur = 0, .rlim_max = RLIM_INFINITY };
    const struct rlimit any = { .rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY };
    g_autoptr(GError) error = NULL;

    (void) signal(SIGXFSZ, SIG_IGN);
    assert_rows(cursor, 1, 1);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &none), ==, 0);
    insert(transaction, 1);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &any), ==, 0);
    while (query_cursor_next(cursor, NULL, &error))
        continue;
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_DISK_FULL);
    g_clear_error(&error);
    g_assert_true(query_transaction_commit(transaction, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpint(client_query_number(connection, "SELECT count(*) FROM t"), ==, 1);
}

int
main(int argc, char **argv)
{
    int status;

    g_test_init(&argc, &argv, NULL);
    bus = private_bus_new();
    g_test_add_func("/transaction-cursors/many", test_many);
    g_test_add_func("/transaction-cursors/returning", test_returning);
    g_test_add_func("/transaction-cursors/failure", test_failure);
    g_test_add_func("/transaction-cursors/endless", test_endless);
    g_test_add_func("/transaction-cursors/no-room", test_no_room);
    status = g_test_run();
    private_bus_free(bus);
    return status;
}
