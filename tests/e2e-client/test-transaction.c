/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Transactions of libquery-client with the real daemon.
 */
#include <signal.h>
#include <string.h>

#include "client-lib/query-client.h"
#include "tests/e2e-client/client-calls.h"
#include "tests/e2e-client/private-bus.h"

static PrivateBus *bus;

static gint64
take_number(QueryCursor *cursor)
{
    g_autoptr(GError) error = NULL;

    g_assert_true(query_cursor_next(cursor, NULL, &error));
    g_assert_no_error(error);
    return query_cursor_get_int64(cursor, 0);
}

static gint64
count(QueryConnection *connection)
{
    return client_query_number(connection, "SELECT count(*) FROM t");
}

static QueryTransaction *
begin(QueryConnection *connection)
{
    g_autoptr(GError) error = NULL;
    QueryTransaction *transaction = query_connection_begin(connection, NULL, &error);

    g_assert_no_error(error);
    return transaction;
}

static gint64
insert(QueryTransaction *transaction, gint64 a, GError **error)
{
    return query_transaction_update(transaction, QUERY_LANGUAGE_SQL, "INSERT INTO t VALUES(:a)",
                                    g_variant_new_parsed("{'a': <%x>}", a), NULL, error);
}

static QueryCursor *
ask(QueryTransaction *transaction, const char *text)
{
    g_autoptr(GError) error = NULL;
    QueryCursor *cursor = query_transaction_query(transaction, QUERY_LANGUAGE_SQL, text, NULL, NULL, &error);

    g_assert_no_error(error);
    return cursor;
}

/* Transactions --------------------------------------------------------------------------------------------------------- */

static void
test_commit(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(QueryTransaction) transaction = begin(connection);
    guint64 before = query_transaction_get_generation(transaction);
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;

    for (gint64 a = 1; a <= 3; a++)
        g_assert_cmpint(insert(transaction, a, &error), ==, 1);
    g_assert_cmpint(query_transaction_get_last_insert_rowid(transaction), ==, 3);
    cursor = ask(transaction, "SELECT count(*) FROM t");
    g_assert_cmpint(take_number(cursor), ==, 3);
    g_assert_cmpint(count(connection), ==, 0);

    g_assert_cmpint(insert(transaction, 2, &error), ==, -1);
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_CONSTRAINT);
    g_clear_error(&error);
    g_assert_true(query_transaction_commit(transaction, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(query_transaction_get_generation(transaction), ==, before + 1);
    g_assert_cmpint(count(connection), ==, 3);

    g_assert_false(query_transaction_commit(transaction, NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_CLOSED);
}

static void
test_rollback(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(GError) error = NULL;

    for (guint i = 0; i < 2; i++) {
        g_autoptr(QueryTransaction) transaction = begin(connection);

        g_assert_cmpint(insert(transaction, 1, &error), ==, 1);
        if (i == 0) /* the second one is dropped */
            g_assert_true(query_transaction_rollback(transaction, NULL, &error));
    }
    client_execute(connection, "INSERT INTO t VALUES(7)"); /* waits for the daemon's having seen that */
    g_assert_cmpint(count(connection), ==, 1);
}

/* A cursor left half read does not end the transaction, and a parameter that is missing does not either. */
static void
test_half_read(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(QueryTransaction) transaction = begin(connection);
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;

    g_assert_cmpint(insert(transaction, 1, &error), ==, 1);
    cursor = ask(transaction, "WITH RECURSIVE n(i) AS (SELECT 5 UNION ALL SELECT i + 1 FROM n) SELECT i, hex(zeroblob(50)) FROM n");
    g_assert_cmpint(take_number(cursor), ==, 5);
    g_assert_cmpint(query_transaction_update(transaction, QUERY_LANGUAGE_SQL, "INSERT INTO t VALUES(:a)", NULL, NULL, &error), ==,
                    -1);
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
    g_clear_error(&error);
    g_assert_false(query_cursor_next(cursor, NULL, NULL));
    g_assert_cmpint(insert(transaction, 2, &error), ==, 1);
    g_assert_true(query_transaction_commit(transaction, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpint(count(connection), ==, 2);
}

/* Also with names that have to be quoted, and one that is taken twice. */
static void
test_savepoints(void)
{
    static const char *const outer = "a \"b\"; COMMIT --";
    static const char *const inner = "\xc3\xa4'`]";
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(QueryTransaction) transaction = begin(connection);
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;

    g_assert_cmpint(insert(transaction, 1, &error), ==, 1);
    g_assert_true(query_transaction_savepoint(transaction, outer, NULL, &error));
    g_assert_cmpint(query_transaction_get_last_insert_rowid(transaction), ==, 1);
    g_assert_cmpint(insert(transaction, 2, &error), ==, 1);
    for (guint i = 0; i < 2; i++)
        g_assert_true(query_transaction_savepoint(transaction, inner, NULL, &error));
    g_assert_cmpint(insert(transaction, 3, &error), ==, 1);
    g_assert_true(query_transaction_rollback_to(transaction, inner, NULL, &error));
    g_assert_cmpint(insert(transaction, 4, &error), ==, 1);
    for (guint i = 0; i < 2; i++)
        g_assert_true(query_transaction_release(transaction, inner, NULL, &error));
    g_assert_false(query_transaction_release(transaction, inner, NULL, &error));
    g_assert_nonnull(error);
    g_clear_error(&error);
    cursor = ask(transaction, "SELECT group_concat(a, '') + 0 FROM (SELECT a FROM t ORDER BY a)");
    g_assert_cmpint(take_number(cursor), ==, 124);

    g_assert_true(query_transaction_rollback_to(transaction, outer, NULL, &error));
    g_assert_false(query_transaction_rollback_to(transaction, "\xff", NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_SYNTAX);
    g_clear_error(&error);
    g_assert_cmpint(insert(transaction, 5, &error), ==, 1);
    g_assert_true(query_transaction_commit(transaction, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpint(count(connection), ==, 2);
    g_assert_false(query_transaction_savepoint(transaction, outer, NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_CLOSED);
}

static QueryCursor *
insert_returning(QueryTransaction *transaction, const char *text)
{
    g_autoptr(GError) error = NULL;
    QueryCursor *cursor = query_transaction_update_returning(transaction, QUERY_LANGUAGE_SQL, text, NULL, NULL, &error);

    g_assert_no_error(error);
    return cursor;
}

/* A cursor that is read to its end, one that is left half read, one of a statement without RETURNING. */
static void
test_returning(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(QueryTransaction) transaction = begin(connection);
    g_autoptr(QueryCursor) read = insert_returning(transaction, "INSERT INTO t VALUES(7), (8) RETURNING a + 1");
    g_autoptr(QueryCursor) left = NULL;
    g_autoptr(QueryCursor) without = NULL;
    g_autoptr(GError) error = NULL;

    g_assert_cmpint(take_number(read), ==, 8);
    g_assert_cmpint(take_number(read), ==, 9);
    g_assert_false(query_cursor_next(read, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpint(query_cursor_get_changes(read), ==, 2);
    g_assert_cmpint(query_transaction_get_last_insert_rowid(transaction), ==, 2);

    left = insert_returning(transaction, "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) "
                                         "INSERT INTO t SELECT i FROM n RETURNING a, hex(zeroblob(50))");
    g_assert_cmpint(take_number(left), ==, 10);
    without = insert_returning(transaction, "DELETE FROM t WHERE a = 7");
    g_assert_cmpuint(query_cursor_get_n_columns(without), ==, 0);
    g_assert_false(query_cursor_next(without, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpint(query_cursor_get_changes(without), ==, 1);
    g_assert_null(query_transaction_query(transaction, QUERY_LANGUAGE_SQL, "DELETE FROM t RETURNING a", NULL, NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_READ_ONLY);
    g_clear_error(&error);
    g_assert_true(query_transaction_commit(transaction, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpint(count(connection), ==, 1 + 29991);
}

static void
add_row(QueryStatement *statement, gint64 value)
{
    g_autoptr(GError) error = NULL;

    g_assert_true(query_statement_bind_int64(statement, "1", value, &error));
    g_assert_true(query_statement_add_row(statement, &error));
    g_assert_no_error(error);
}

/* Of a table that only the transaction knows: rows at once, a query, and both again after the commit. */
static void
test_statements(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(QueryConnection) other = client_open_with_table();
    g_autoptr(QueryTransaction) transaction = begin(connection);
    g_autoptr(QueryStatement) insert = NULL;
    g_autoptr(QueryStatement) ask = NULL;
    g_autoptr(QueryStatement) foreign = NULL;
    g_autoptr(QueryCursor) inserted = NULL;
    g_autoptr(QueryCursor) asked = NULL;
    g_autoptr(GError) error = NULL;

    g_assert_cmpint(query_transaction_update(transaction, QUERY_LANGUAGE_SQL, "CREATE TABLE own(a UNIQUE)", NULL, NULL, NULL), ==,
                    0);
    insert = query_transaction_prepare_update(transaction, QUERY_LANGUAGE_SQL, "INSERT INTO own VALUES(?)", NULL, &error);
    g_assert_no_error(error);
    g_assert_null(query_transaction_execute(transaction, insert, NULL, &error)); /* without a value */
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
    g_clear_error(&error);
    for (gint64 i = 1; i <= 1000; i++)
        add_row(insert, i);
    inserted = query_transaction_execute(transaction, insert, NULL, &error);
    g_assert_no_error(error);
    g_assert_false(query_cursor_next(inserted, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpint(query_cursor_get_changes(inserted), ==, 1000);
    g_assert_cmpint(query_transaction_get_last_insert_rowid(transaction), ==, 1000);

    g_assert_null(query_transaction_prepare(transaction, QUERY_LANGUAGE_SQL, "SELECT b FROM own", NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_SYNTAX);
    g_clear_error(&error);
    foreign = query_connection_prepare(other, QUERY_LANGUAGE_SQL, "SELECT 1", NULL, &error);
    g_assert_null(query_transaction_execute(transaction, foreign, NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
    g_clear_error(&error);
    ask = query_transaction_prepare(transaction, QUERY_LANGUAGE_SQL, "SELECT sum(a) FROM own WHERE a > ?", NULL, &error);
    g_assert_no_error(error);
    g_assert_true(query_statement_bind_int64(ask, "1", 998, &error));
    asked = query_transaction_execute(transaction, ask, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpint(take_number(asked), ==, 1999);

    add_row(insert, 1001);
    add_row(insert, 1);
    g_clear_object(&inserted);
    inserted = query_transaction_execute(transaction, insert, NULL, &error);
    g_assert_true(inserted == NULL || !query_cursor_next(inserted, NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_CONSTRAINT);
    g_clear_error(&error);
    g_assert_true(query_transaction_commit(transaction, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpint(query_statement_update(insert, NULL, &error), ==, -1); /* 1 is bound: the rows were dropped */
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_CONSTRAINT);
    g_clear_error(&error);
    g_clear_object(&asked);
    asked = query_statement_execute(ask, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpint(take_number(asked), ==, 1999);
    g_assert_cmpint(query_connection_update(connection, QUERY_LANGUAGE_SQL, "DROP TABLE own", NULL, NULL, &error), ==, 0);
}

static void
count_notification(GObject *object, GParamSpec *spec, gpointer user_data)
{
    guint *n = user_data;

    g_assert_false(query_transaction_is_open(QUERY_TRANSACTION(object)));
    (*n)++;
}

static void
test_ended_by_the_daemon(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(QueryTransaction) transaction = begin(connection);
    g_autoptr(GError) error = NULL;
    guint n_notifications = 0;

    g_signal_connect(transaction, "notify::is-open", G_CALLBACK(count_notification), &n_notifications);
    g_assert_cmpint(insert(transaction, 1, &error), ==, 1);
    private_bus_kill_daemon(bus, SIGKILL);
    g_assert_cmpint(insert(transaction, 2, &error), ==, -1);
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED);
    g_clear_error(&error);
    g_assert_cmpuint(n_notifications, ==, 1);
    g_assert_false(query_transaction_commit(transaction, NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_CLOSED);
    g_assert_cmpint(count(connection), ==, 0);
}

/* What ended it is the error of each call, until ROLLBACK gives the channel back for another transaction. */
static void
check_rolled_back(QueryConnection *connection, QueryTransaction *transaction, guint n_notifications)
{
    g_autoptr(QueryTransaction) next = NULL;
    g_autoptr(GError) error = NULL;

    g_assert_false(query_transaction_is_open(transaction));
    g_assert_cmpuint(n_notifications, ==, 1);
    g_assert_cmpint(insert(transaction, 2, &error), ==, -1);
    g_assert_nonnull(strstr(error->message, "transaction was rolled back"));
    g_assert_true(query_transaction_rollback(transaction, NULL, NULL));
    g_assert_cmpint(count(connection), ==, 0);

    next = begin(connection);
    g_assert_true(query_transaction_is_open(next));
    g_assert_true(query_transaction_rollback(next, NULL, NULL));
}

/* It is the connection's, and not that of a statement before on the channel. */
static void
test_deadline_of_begin(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(QueryConnection) late = client_open();
    g_autoptr(QueryTransaction) holder = begin(connection);
    const char *const texts[] = { "no statement", "SELECT 1" };

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(QueryCursor) cursor = NULL;

        query_connection_set_timeout_msec(late, 0);
        cursor = query_connection_query(late, QUERY_LANGUAGE_SQL, texts[i], NULL, NULL, NULL);
        g_clear_object(&cursor);
        query_connection_set_timeout_msec(late, 100);
        g_assert_null(query_connection_begin(late, NULL, &error));
        g_assert_error(error, QUERY_ERROR, QUERY_ERROR_TIMEOUT);
        g_assert_true(query_transaction_is_open(holder));
        g_assert_cmpint(insert(holder, (gint64) i, NULL), ==, 1); /* it is not idle */
    }
    g_assert_true(query_transaction_commit(holder, NULL, NULL));
}

/* By a statement's error, and by a deadline. Of the latter the daemon's other thread may send the error. */
static void
test_rolled_back(void)
{
    const char *const texts[] = {
        "INSERT OR ROLLBACK INTO t VALUES(1)",
        "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n) INSERT INTO t SELECT i FROM n",
    };
    g_autoptr(QueryConnection) connection = client_open_with_table();

    query_connection_set_timeout_msec(connection, 200);
    for (gsize i = 0; i < 2 * G_N_ELEMENTS(texts); i++) {
        const char *text = texts[i / 2];
        g_autoptr(QueryTransaction) transaction = begin(connection);
        g_autoptr(GAsyncResult) result = NULL;
        g_autoptr(GError) error = NULL;
        guint n_notifications = 0;

        g_signal_connect(transaction, "notify::is-open", G_CALLBACK(count_notification), &n_notifications);
        g_assert_cmpint(insert(transaction, 1, &error), ==, 1);
        g_assert_cmpint(insert(transaction, 1, &error), ==, -1);
        g_clear_error(&error);
        g_assert_true(query_transaction_is_open(transaction)); /* the statement alone was undone */
        g_assert_cmpuint(n_notifications, ==, 0);
        if (i % 2 == 0) {
            g_assert_cmpint(query_transaction_update(transaction, QUERY_LANGUAGE_SQL, text, NULL, NULL, &error), ==, -1);
        } else {
            query_transaction_update_async(transaction, QUERY_LANGUAGE_SQL, text, NULL, NULL, client_keep_result, &result);
            g_assert_cmpint(query_transaction_update_finish(transaction, client_wait_for(&result), &error), ==, -1);
        }
        g_assert_nonnull(strstr(error->message, "transaction was rolled back"));
        check_rolled_back(connection, transaction, n_notifications);
    }
}

/* Another program waits to write, while a result of the transaction is half read. */
static void
test_rolled_back_under_a_cursor(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(QueryConnection) other = client_open();
    g_autoptr(QueryTransaction) transaction = begin(connection);
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GAsyncResult) result = NULL;
    g_autoptr(GError) error = NULL;
    guint n_notifications = 0;

    g_signal_connect(transaction, "notify::is-open", G_CALLBACK(count_notification), &n_notifications);
    cursor = ask(transaction,
                 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, hex(zeroblob(100)) FROM n");
    g_assert_true(query_cursor_next(cursor, NULL, &error));
    query_connection_update_async(other, QUERY_LANGUAGE_SQL, "DELETE FROM t", NULL, NULL, client_keep_result, &result);
    g_assert_cmpint(query_connection_update_finish(other, client_wait_for(&result), &error), ==, 0);
    g_assert_no_error(error);
    g_assert_true(query_transaction_is_open(transaction)); /* no call has said otherwise */

    while (query_cursor_next(cursor, NULL, &error))
        continue;
    g_assert_nonnull(strstr(error->message, "transaction was rolled back"));
    check_rolled_back(connection, transaction, n_notifications);
}

static void
test_async(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(QueryTransaction) transaction = NULL;
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GAsyncResult) begun = NULL;
    g_autoptr(GAsyncResult) inserted = NULL;
    g_autoptr(GAsyncResult) refused = NULL;
    g_autoptr(GAsyncResult) asked = NULL;
    g_autoptr(GAsyncResult) committed = NULL;
    g_autoptr(GError) error = NULL;

    query_connection_begin_async(connection, NULL, client_keep_result, &begun);
    transaction = query_connection_begin_finish(connection, client_wait_for(&begun), &error);
    g_assert_no_error(error);
    query_transaction_update_async(transaction, QUERY_LANGUAGE_SQL, "INSERT INTO t VALUES(1)", NULL, NULL, client_keep_result,
                                   &inserted);
    query_transaction_rollback_async(transaction, NULL, client_keep_result, &refused); /* one at a time */
    g_assert_false(query_transaction_rollback_finish(transaction, client_wait_for(&refused), &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_PENDING);
    g_clear_error(&error);
    g_assert_cmpint(query_transaction_update_finish(transaction, client_wait_for(&inserted), &error), ==, 1);
    query_transaction_query_async(transaction, QUERY_LANGUAGE_SQL, "SELECT a + 41 FROM t", NULL, NULL, client_keep_result, &asked);
    cursor = query_transaction_query_finish(transaction, client_wait_for(&asked), &error);
    g_assert_no_error(error);
    g_assert_cmpint(take_number(cursor), ==, 42);
    query_transaction_commit_async(transaction, NULL, client_keep_result, &committed);
    g_assert_true(query_transaction_commit_finish(transaction, client_wait_for(&committed), &error));
    g_assert_no_error(error);
    g_assert_cmpint(count(connection), ==, 1);
}

static void
test_async_statements(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(QueryTransaction) transaction = begin(connection);
    g_autoptr(GAsyncResult) prepared = NULL;
    g_autoptr(GAsyncResult) prepared_update = NULL;
    g_autoptr(GAsyncResult) failed = NULL;
    g_autoptr(QueryStatement) insert = NULL;
    g_autoptr(QueryStatement) ask = NULL;
    g_autoptr(QueryCursor) inserted = NULL;
    g_autoptr(QueryCursor) asked = NULL;
    g_autoptr(GError) error = NULL;

    g_assert_cmpint(query_transaction_update(transaction, QUERY_LANGUAGE_SQL, "CREATE TABLE own(a)", NULL, NULL, NULL), ==, 0);
    query_transaction_prepare_update_async(transaction, QUERY_LANGUAGE_SQL, "INSERT INTO own VALUES(42)", NULL, client_keep_result,
                                           &prepared_update);
    insert = query_transaction_prepare_update_finish(transaction, client_wait_for(&prepared_update), &error);
    g_assert_no_error(error);
    inserted = query_transaction_execute(transaction, insert, NULL, &error);
    g_assert_no_error(error);
    g_assert_false(query_cursor_next(inserted, NULL, &error));
    query_transaction_prepare_async(transaction, QUERY_LANGUAGE_SQL, "SELECT b FROM own", NULL, client_keep_result, &failed);
    g_assert_null(query_transaction_prepare_finish(transaction, client_wait_for(&failed), &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_SYNTAX);
    g_clear_error(&error);
    query_transaction_prepare_async(transaction, QUERY_LANGUAGE_SQL, "SELECT a FROM own", NULL, client_keep_result, &prepared);
    ask = query_transaction_prepare_finish(transaction, client_wait_for(&prepared), &error);
    g_assert_no_error(error);
    asked = query_transaction_execute(transaction, ask, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpint(take_number(asked), ==, 42);
    g_assert_true(query_transaction_rollback(transaction, NULL, &error));
    g_assert_no_error(error);
}

static void
test_async_savepoints(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(QueryTransaction) transaction = begin(connection);
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GAsyncResult) made = NULL;
    g_autoptr(GAsyncResult) inserted = NULL;
    g_autoptr(GAsyncResult) undone = NULL;
    g_autoptr(GAsyncResult) released = NULL;
    g_autoptr(GAsyncResult) again = NULL;
    g_autoptr(GError) error = NULL;

    query_transaction_savepoint_async(transaction, "one", NULL, client_keep_result, &made);
    g_assert_true(query_transaction_savepoint_finish(transaction, client_wait_for(&made), &error));
    query_transaction_update_returning_async(transaction, QUERY_LANGUAGE_SQL, "INSERT INTO t VALUES(41) RETURNING a + 1", NULL,
                                             NULL, client_keep_result, &inserted);
    cursor = query_transaction_update_returning_finish(transaction, client_wait_for(&inserted), &error);
    g_assert_no_error(error);
    g_assert_cmpint(take_number(cursor), ==, 42);
    query_transaction_rollback_to_async(transaction, "one", NULL, client_keep_result, &undone);
    g_assert_true(query_transaction_rollback_to_finish(transaction, client_wait_for(&undone), &error));
    query_transaction_release_async(transaction, "one", NULL, client_keep_result, &released);
    g_assert_true(query_transaction_release_finish(transaction, client_wait_for(&released), &error));
    g_assert_no_error(error);
    query_transaction_release_async(transaction, "one", NULL, client_keep_result, &again);
    g_assert_false(query_transaction_release_finish(transaction, client_wait_for(&again), &error));
    g_assert_nonnull(error);
    g_clear_error(&error);
    g_assert_true(query_transaction_commit(transaction, NULL, &error));
    g_assert_cmpint(count(connection), ==, 0);
}

int
main(int argc, char *argv[])
{
    int r;

    bus = private_bus_new();
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/transaction/commit", test_commit);
    g_test_add_func("/transaction/deadline-of-begin", test_deadline_of_begin);
    g_test_add_func("/transaction/rollback", test_rollback);
    g_test_add_func("/transaction/half-read", test_half_read);
    g_test_add_func("/transaction/savepoints", test_savepoints);
    g_test_add_func("/transaction/returning", test_returning);
    g_test_add_func("/transaction/statements", test_statements);
    g_test_add_func("/transaction/ended-by-the-daemon", test_ended_by_the_daemon);
    g_test_add_func("/transaction/rolled-back", test_rolled_back);
    g_test_add_func("/transaction/rolled-back-under-a-cursor", test_rolled_back_under_a_cursor);
    g_test_add_func("/transaction/async", test_async);
    g_test_add_func("/transaction/async-savepoints", test_async_savepoints);
    g_test_add_func("/transaction/async-statements", test_async_statements);
    r = g_test_run();
    private_bus_free(bus);
    return r;
}
