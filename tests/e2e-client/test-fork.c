/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A child of fork() that uses what its parent has opened: each call fails, and the parent goes on as if there were no child.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "client-lib/query-client.h"
#include "tests/e2e-client/client-calls.h"
#include "tests/e2e-client/private-bus.h"

#define SQL QUERY_LANGUAGE_SQL
#define N_ROWS 200000
#define ROWS "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 200000) SELECT i FROM n"

typedef struct Opened {
    QueryConnection *connection;
    QueryTransaction *transaction;
    QueryStatement *statement;
    QueryCursor *cursor;
} Opened;

/* Ends the child with @status, which says what was not as it has to be. */
static void
expect(gboolean is_closed, GError **error, int status)
{
    if (!is_closed || !g_error_matches(*error, QUERY_ERROR, QUERY_ERROR_CLOSED))
        _exit(status);
    g_clear_error(error);
}

static void
run_child(const Opened *opened)
{
    g_autoptr(QueryConnection) own = NULL;
    g_autoptr(GError) error = NULL;

    while (query_cursor_next(opened->cursor, NULL, &error))
        continue;
    expect(error != NULL, &error, 1);
    expect(query_transaction_update(opened->transaction, SQL, "INSERT INTO t VALUES('child')", NULL, NULL, &error) < 0, &error, 2);
    expect(!query_transaction_commit(opened->transaction, NULL, &error), &error, 3);
    expect(!query_transaction_rollback(opened->transaction, NULL, &error), &error, 4);
    expect(query_statement_update(opened->statement, NULL, &error) < 0, &error, 5);
    expect(query_connection_update(opened->connection, SQL, "INSERT INTO t VALUES('child')", NULL, NULL, &error) < 0, &error, 6);
    expect(query_connection_get_stats(opened->connection, NULL, &error) == NULL, &error, 7);
    own = query_connection_new(NULL, &error);
    expect(own == NULL, &error, 8);
    g_object_unref(opened->cursor);
    g_object_unref(opened->statement);
    g_object_unref(opened->transaction);
    g_object_unref(opened->connection);
    _exit(0);
}

static void
test_fork(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryStatement)
        statement = query_connection_prepare_update(connection, SQL, "INSERT INTO t VALUES('s')", NULL, &error);
    g_autoptr(QueryTransaction) transaction = query_connection_begin(connection, NULL, &error);
    g_autoptr(QueryCursor) cursor = query_connection_query(connection, SQL, ROWS, NULL, NULL, &error);
    guint n_rows = 1;
    int status = -1;
    pid_t child;

    g_assert_no_error(error);
    g_assert_true(query_cursor_next(cursor, NULL, &error));
    g_assert_cmpint(query_transaction_update(transaction, SQL, "INSERT INTO t VALUES('parent')", NULL, NULL, &error), ==, 1);
    child = fork();
    if (child == 0)
        run_child(&(Opened){ connection, transaction, statement, cursor });
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_cmpint(status, ==, 0);

    while (query_cursor_next(cursor, NULL, &error))
        n_rows++;
    g_assert_no_error(error);
    g_assert_cmpuint(n_rows, ==, N_ROWS);
    g_assert_cmpint(query_transaction_update(transaction, SQL, "INSERT INTO t VALUES('too')", NULL, NULL, &error), ==, 1);
    g_assert_true(query_transaction_commit(transaction, NULL, &error));
    g_assert_cmpint(query_statement_update(statement, NULL, &error), ==, 1);
    g_assert_cmpint(client_query_number(connection, "SELECT count(*) FROM t"), ==, 3);
}

int
main(int argc, char **argv)
{
    PrivateBus *bus = private_bus_new();
    int status;

    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/client-e2e/fork", test_fork);
    status = g_test_run();
    private_bus_free(bus);
    return status;
}
