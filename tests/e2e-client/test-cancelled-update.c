/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Updates that are cancelled while the daemon executes them: the result of the call says whether they were executed.
 */
#include <signal.h>
#include <unistd.h>

#include "client-lib/query-client.h"
#include "tests/e2e-client/client-calls.h"
#include "tests/e2e-client/private-bus.h"

#define SQL QUERY_LANGUAGE_SQL
#define ROUNDS 12
#define STEP_USEC 4000 /* each round is cancelled so much later; the update takes some 50 ms */
#define N_ROWS 200000
#define INSERT "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 200000) SELECT i FROM n"
#define LONG_USEC 200000

static PrivateBus *bus;

/* Returns: whether the call says that the update was executed */
typedef gboolean (*Call)(QueryConnection *connection, GCancellable *cancellable, GError **error);

static QueryStatement *
prepare(QueryConnection *connection, const char *text)
{
    g_autoptr(GError) error = NULL;
    QueryStatement *statement = query_connection_prepare_update(connection, SQL, text, NULL, &error);

    g_assert_no_error(error);
    return statement;
}

static QueryBatch *
make_batch(QueryConnection *connection)
{
    QueryBatch *batch = query_connection_create_batch(connection);

    query_batch_add(batch, SQL, INSERT, NULL);
    query_batch_add(batch, SQL, "UPDATE t SET a = -a", NULL);
    return batch;
}

/* The ways to update ----------------------------------------------------------------------------------------------------- */

static gboolean
call_update(QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    return query_connection_update(connection, SQL, INSERT, NULL, cancellable, error) == N_ROWS;
}

static gboolean
call_update_async(QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    g_autoptr(GAsyncResult) result = NULL;

    query_connection_update_async(connection, SQL, INSERT, NULL, cancellable, client_keep_result, &result);
    (void) client_wait_for(&result);
    return query_connection_update_finish(connection, result, error) == N_ROWS;
}

static gboolean
call_statement(QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryStatement) statement = prepare(connection, INSERT);

    return query_statement_update(statement, cancellable, error) == N_ROWS;
}

static gboolean
call_statement_async(QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryStatement) statement = prepare(connection, INSERT);
    g_autoptr(GAsyncResult) result = NULL;

    query_statement_update_async(statement, cancellable, client_keep_result, &result);
    (void) client_wait_for(&result);
    return query_statement_update_finish(statement, result, error) == N_ROWS;
}

/* All rows come, although the call that reads them is cancelled, too. */
static gboolean
call_returning(QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryStatement) statement = prepare(connection, INSERT " RETURNING a");
    g_autoptr(QueryCursor) cursor = query_statement_execute(statement, cancellable, error);
    gint64 n = 0;

    while (cursor != NULL && query_cursor_next(cursor, cancellable, error))
        n++;
    g_assert_true(cursor == NULL || n == N_ROWS);
    return cursor != NULL;
}

static gboolean
call_returning_async(QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryStatement) statement = prepare(connection, INSERT " RETURNING a");
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GAsyncResult) result = NULL;
    gboolean has_row = TRUE;
    gint64 n = -1;

    query_statement_execute_async(statement, cancellable, client_keep_result, &result);
    (void) client_wait_for(&result);
    cursor = query_statement_execute_finish(statement, result, error);
    for (; cursor != NULL && has_row; n++) {
        g_autoptr(GAsyncResult) step = NULL;

        query_cursor_next_async(cursor, cancellable, client_keep_result, &step);
        (void) client_wait_for(&step);
        has_row = query_cursor_next_finish(cursor, step, error);
    }
    g_assert_true(cursor == NULL || n == N_ROWS);
    return cursor != NULL;
}

static gboolean
call_batch(QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryBatch) batch = make_batch(connection);

    return query_batch_execute(batch, cancellable, error);
}

static gboolean
call_batch_async(QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryBatch) batch = make_batch(connection);
    g_autoptr(GAsyncResult) result = NULL;

    query_batch_execute_async(batch, cancellable, client_keep_result, &result);
    (void) client_wait_for(&result);
    return query_batch_execute_finish(batch, result, error);
}

/* The whole transaction: its first update, the second one or its end may be cancelled. */
static gboolean
call_transaction(QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryTransaction) transaction = query_connection_begin(connection, cancellable, error);

    return transaction != NULL && query_transaction_update(transaction, SQL, INSERT, NULL, cancellable, error) >= 0 &&
           query_transaction_commit(transaction, cancellable, error);
}

static gboolean
call_transaction_async(QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryTransaction) transaction = query_connection_begin(connection, cancellable, error);
    g_autoptr(GAsyncResult) updated = NULL;
    g_autoptr(GAsyncResult) committed = NULL;

    if (transaction == NULL)
        return FALSE;
    query_transaction_update_async(transaction, SQL, INSERT, NULL, cancellable, client_keep_result, &updated);
    (void) client_wait_for(&updated);
    if (query_transaction_update_finish(transaction, updated, error) < 0) {
        g_assert_false(query_transaction_is_open(transaction));
        return FALSE;
    }
    query_transaction_commit_async(transaction, cancellable, client_keep_result, &committed);
    (void) client_wait_for(&committed);
    return query_transaction_commit_finish(transaction, committed, error);
}

/* Tests ------------------------------------------------------------------------------------------------------------------ */

static void
test_result(gconstpointer data)
{
    const Call call = *(const Call *) data;
    g_autoptr(QueryConnection) connection = client_open();
    guint n_cancelled = 0;

    client_execute(connection, "DROP TABLE IF EXISTS t");
    client_execute(connection, "CREATE TABLE t(a)");
    for (guint i = 0; i < ROUNDS; i++) {
        g_autoptr(GCancellable) cancellable = g_cancellable_new();
        g_autoptr(GError) error = NULL;
        ClientKiller killer = { cancellable, i * STEP_USEC };
        GThread *thread = g_thread_new("kill", client_kill_later, &killer);
        gboolean ok = call(connection, cancellable, &error);

        (void) g_thread_join(thread);
        if (ok)
            g_assert_no_error(error);
        else
            g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
        n_cancelled += !ok;
        client_execute(connection, "DELETE FROM t WHERE 0"); /* after all that the client's lane has */
        g_assert_cmpint(client_query_number(connection, "SELECT count(*) FROM t"), ==, ok ? N_ROWS : 0);
        client_execute(connection, "DELETE FROM t");
    }
    g_test_message("%u of %u were cancelled", n_cancelled, ROUNDS);
    g_assert_cmpuint(n_cancelled, >, 0);
}

/* Of a daemon that does not answer it is not known. */
static void
test_stuck(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(QueryStatement) statement = prepare(connection, "INSERT INTO t VALUES(1)");
    g_autoptr(GCancellable) cancellable = g_cancellable_new();
    g_autoptr(GError) error = NULL;
    ClientKiller killer = { cancellable, LONG_USEC };
    pid_t pid = private_bus_get_owner_pid(bus, "org.queryd.Query1");
    GThread *thread;

    private_bus_stop(pid);
    thread = g_thread_new("kill", client_kill_later, &killer);
    g_assert_cmpint(query_statement_update(statement, cancellable, &error), ==, -1);
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED);
    g_assert_nonnull(strstr(error->message, "not known"));
    (void) g_thread_join(thread);
    g_assert_cmpint(kill(pid, SIGCONT), ==, 0);
    client_execute(connection, "INSERT INTO t VALUES(2)");
}

static gpointer
query_in_thread(gpointer data)
{
    g_autoptr(GError) error = NULL;

    g_assert_null(query_statement_execute(data, NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED);
    return NULL;
}

/* It has no channel yet. */
static gpointer
update_in_thread(gpointer data)
{
    g_autoptr(GError) error = NULL;

    g_assert_cmpint(query_connection_update(data, SQL, "INSERT INTO t VALUES(3)", NULL, NULL, &error), ==, -1);
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED);
    g_assert_nonnull(strstr(error->message, "Prepare"));
    return NULL;
}

static gpointer
explain_in_thread(gpointer data)
{
    g_autoptr(GError) error = NULL;

    g_assert_false(query_connection_explain(data, SQL, "SELECT 1", NULL, NULL, NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED);
    return NULL;
}

/* A call with a deadline ends although the daemon is stopped. */
static void
test_patience(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(QueryConnection) other = client_open();
    g_autoptr(QueryConnection) third = client_open();
    g_autoptr(QueryConnection) patient = client_open();
    g_autoptr(QueryStatement) statement = NULL;
    g_autoptr(QueryStatement) waiting = NULL;
    g_autoptr(GAsyncResult) result = NULL;
    g_autoptr(GError) error = NULL;
    pid_t pid = private_bus_get_owner_pid(bus, "org.queryd.Query1");
    GThread *threads[3];
    gint64 started_usec;

    query_connection_set_timeout_msec(connection, 1);
    query_connection_set_timeout_msec(other, 1);
    query_connection_set_timeout_msec(third, 1);
    statement = prepare(connection, "INSERT INTO t VALUES(1)");
    waiting = query_connection_prepare(other, SQL, "SELECT 1", NULL, &error);
    g_assert_no_error(error);
    private_bus_stop(pid);
    started_usec = g_get_monotonic_time();
    threads[0] = g_thread_new("query", query_in_thread, waiting);
    threads[1] = g_thread_new("update", update_in_thread, third);
    threads[2] = g_thread_new("explain", explain_in_thread, third);
    query_statement_update_async(statement, NULL, client_keep_result, &result);
    (void) client_wait_for(&result);
    g_assert_cmpint(query_statement_update_finish(statement, result, &error), ==, -1);
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED);
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
        (void) g_thread_join(threads[i]);
    g_assert_cmpint(g_get_monotonic_time() - started_usec, <, 25 * G_USEC_PER_SEC);
    g_assert_cmpint(kill(pid, SIGCONT), ==, 0);
    g_assert_cmpint(client_query_number(patient, "SELECT count(*) FROM t WHERE a = 3"), ==, 0);
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *path;
        Call call;
    } calls[] = {
        { "/client-e2e/cancelled-update/update", call_update },
        { "/client-e2e/cancelled-update/update-async", call_update_async },
        { "/client-e2e/cancelled-update/statement", call_statement },
        { "/client-e2e/cancelled-update/statement-async", call_statement_async },
        { "/client-e2e/cancelled-update/returning", call_returning },
        { "/client-e2e/cancelled-update/returning-async", call_returning_async },
        { "/client-e2e/cancelled-update/batch", call_batch },
        { "/client-e2e/cancelled-update/batch-async", call_batch_async },
        { "/client-e2e/cancelled-update/transaction", call_transaction },
        { "/client-e2e/cancelled-update/transaction-async", call_transaction_async },
    };
    int status;

    bus = private_bus_new();
    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(calls); i++)
        g_test_add_data_func(calls[i].path, &calls[i].call, test_result);
    g_test_add_func("/client-e2e/cancelled-update/stuck", test_stuck);
    g_test_add_func("/client-e2e/cancelled-update/patience", test_patience);
    status = g_test_run();
    private_bus_free(bus);
    return status;
}
