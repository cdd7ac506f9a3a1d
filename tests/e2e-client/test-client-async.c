/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libquery-client's async calls, and what is cancelled, with the real daemon on a private bus.
 */
#include "client-lib/request/query-try.h"
#include "tests/e2e-client/client-calls.h"
#include "tests/e2e-client/private-bus.h"

#define SQL QUERY_LANGUAGE_SQL
#define COUNT_TO(n) "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " n ") SELECT i FROM n"

static gboolean
cancel_in_idle(gpointer data)
{
    g_cancellable_cancel(data);
    return G_SOURCE_REMOVE;
}

static void
test_async(void)
{
    g_autoptr(QueryConnection) connection = NULL;
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GAsyncResult) connected = NULL;
    g_autoptr(GAsyncResult) updated = NULL;
    g_autoptr(GAsyncResult) queried = NULL;
    g_autoptr(GAsyncResult) read = NULL;
    g_autoptr(GBytes) json = NULL;
    g_autoptr(GError) error = NULL;
    GAsyncResult *result = NULL;

    query_connection_new_async(NULL, client_keep_result, &result);
    connected = client_take_result(&result);
    connection = query_connection_new_finish(connected, &error);
    g_assert_no_error(error);
    query_connection_update_async(connection, SQL, "CREATE TABLE later(a)", NULL, NULL, client_keep_result, &result);
    updated = client_take_result(&result);
    g_assert_cmpint(query_connection_update_finish(connection, updated, &error), ==, 0);
    g_assert_no_error(error);
    query_connection_query_async(connection, SQL, COUNT_TO("200000"), NULL, NULL, client_keep_result, &result);
    queried = client_take_result(&result);
    cursor = query_connection_query_finish(connection, queried, &error);
    g_assert_no_error(error);
    query_cursor_read_json_async(cursor, 0, NULL, client_keep_result, &result);
    read = client_take_result(&result);
    json = query_cursor_read_json_finish(cursor, read, &error);
    g_assert_no_error(error);
    g_assert_nonnull(g_strrstr_len(g_bytes_get_data(json, NULL), (gssize) g_bytes_get_size(json), "{\"i\":200000}]"));
    g_assert_cmpuint(query_cursor_get_n_rows(cursor), ==, 200000);
}

typedef struct Tried {
    GAsyncResult *result;
    guint n_meanwhile;
} Tried;

static void
keep_tried(GObject *object, GAsyncResult *result, gpointer user_data)
{
    client_keep_result(object, result, &((Tried *) user_data)->result);
}

static void
count_meanwhile(gpointer user_data)
{
    ((Tried *) user_data)->n_meanwhile++;
}

/* (transfer full) (nullable): the cursor, at once or later */
static QueryCursor *
try_query(QueryConnection *connection, const char *text, Tried *tried, GError **error)
{
    g_autoptr(GError) failure = NULL;
    g_autoptr(GAsyncResult) result = NULL;
    QueryCursor *cursor = query_connection_try_query(connection, SQL, text, NULL, NULL, keep_tried, tried, count_meanwhile,
                                                     &failure);

    if (cursor != NULL || failure != NULL) {
        g_assert_true((cursor != NULL) != (failure != NULL));
        if (failure != NULL)
            g_propagate_error(error, g_steal_pointer(&failure));
        return cursor;
    }
    result = client_take_result(&tried->result);
    return query_connection_query_finish(connection, result, error);
}

/* Enough that some come at once, where that is possible, and others later. */
static void
test_try_query(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    Tried tried = { 0 };

    for (guint i = 0; i < 300; i++) {
        g_autofree char *text = i % 100 == 99 ? g_strdup("SELECT FROM") : g_strdup_printf("SELECT %u", i);
        g_autoptr(GError) error = NULL;
        g_autoptr(QueryCursor) cursor = try_query(connection, text, &tried, &error);

        g_assert_cmpuint(tried.n_meanwhile, ==, i + 1);
        if (i % 100 == 99) {
            g_assert_error(error, QUERY_ERROR, QUERY_ERROR_SYNTAX);
            continue;
        }
        g_assert_no_error(error);
        g_assert_true(query_cursor_next(cursor, NULL, &error));
        g_assert_cmpint(query_cursor_get_int64(cursor, 0), ==, i);
        g_assert_false(query_cursor_next(cursor, NULL, &error));
        g_assert_no_error(error);
    }
}

static void
test_try_query_that_takes_long(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    Tried tried = { 0 };
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = try_query(connection, "SELECT count(*) FROM (" COUNT_TO("200000") ")", &tried, &error);

    g_assert_no_error(error);
    g_assert_true(query_cursor_next(cursor, NULL, &error));
    g_assert_cmpint(query_cursor_get_int64(cursor, 0), ==, 200000);
}

/* Rows as they arrive, and a wait in the main loop only where there is none. */
static void
test_try_next(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryCursor) cursor = query_connection_query(connection, SQL, COUNT_TO("200000"), NULL, NULL, NULL);
    g_autoptr(GError) error = NULL;
    gboolean has_row = TRUE;
    gint64 n = 0;

    while (has_row) {
        if (!query_cursor_try_next(cursor, &has_row, &error)) {
            g_autoptr(GAsyncResult) read = NULL;
            GAsyncResult *result = NULL;

            g_assert_no_error(error);
            query_cursor_next_async(cursor, NULL, client_keep_result, &result);
            read = client_take_result(&result);
            has_row = query_cursor_next_finish(cursor, read, &error);
            g_assert_no_error(error);
        }
        if (has_row)
            g_assert_cmpint(query_cursor_get_int64(cursor, 0), ==, ++n);
    }
    g_assert_cmpint(n, ==, 200000);
    g_assert_cmpuint(query_cursor_get_n_rows(cursor), ==, 200000);
    g_assert_true(query_cursor_try_next(cursor, &has_row, &error)); /* the end is there as often as it is asked for */
    g_assert_false(has_row);
    query_cursor_close(cursor);
    has_row = TRUE;
    g_assert_false(query_cursor_try_next(cursor, &has_row, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_CLOSED);
    g_assert_true(has_row);
}

/* A query without rows for long: cancelled, the daemon stops, the connection lives on. */
static void
test_async_cancel(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(GCancellable) cancellable = g_cancellable_new();
    g_autoptr(GAsyncResult) queried = NULL;
    g_autoptr(GError) error = NULL;
    GAsyncResult *result = NULL;

    g_assert_cmpint(client_query_number(connection, "SELECT 1"), ==, 1);
    query_connection_query_async(connection, SQL, "SELECT count(*) FROM (" COUNT_TO("1000000000") ")", NULL, cancellable,
                                 client_keep_result, &result);
    g_idle_add(cancel_in_idle, cancellable);
    queried = client_take_result(&result);
    g_assert_null(query_connection_query_finish(connection, queried, &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    g_assert_cmpint(client_query_number(connection, "SELECT 1"), ==, 1);
}

/* Cancels as soon as the daemon says that it runs something. */
static gpointer
cancel_when_running(gpointer data)
{
    g_autoptr(QueryConnection) connection = client_open();
    guint n_queries = 0;

    while (n_queries == 0) {
        g_autoptr(GError) error = NULL;
        g_autoptr(GVariant) queries = query_connection_list_queries(connection, NULL, &error);

        g_assert_no_error(error);
        n_queries = (guint) g_variant_n_children(queries);
    }
    g_cancellable_cancel(data);
    return NULL;
}

/* A sync call is cancelled from another thread while it waits; the daemon then stops working for it. */
static void
test_sync_cancel(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(GCancellable) cancellable = g_cancellable_new();
    g_autoptr(GError) error = NULL;
    GThread *thread = g_thread_new("cancel", cancel_when_running, cancellable);
    gsize n_queries;

    g_assert_null(
        query_connection_query(connection, SQL, "SELECT count(*) FROM (" COUNT_TO("1000000000") ")", NULL, cancellable, &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    (void) g_thread_join(thread);
    do {
        g_autoptr(GVariant) queries = query_connection_list_queries(connection, NULL, NULL);

        g_assert_nonnull(queries);
        n_queries = g_variant_n_children(queries);
    } while (n_queries > 0);
    g_assert_cmpint(client_query_number(connection, "SELECT 1"), ==, 1);
}

/* One async call at a time: the second one is refused, the first one is not disturbed. */
static void
test_async_pending(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GAsyncResult) first = NULL;
    g_autoptr(GAsyncResult) second = NULL;
    g_autoptr(GError) error = NULL;
    GAsyncResult *first_result = NULL;
    GAsyncResult *second_result = NULL;

    /* the first row fills more than a page and goes out alone; the second one takes its time */
    cursor = query_connection_query(
        connection, SQL, "SELECT hex(zeroblob(60000)) UNION ALL SELECT max(i) FROM (" COUNT_TO("300000") ")", NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(query_cursor_next(cursor, NULL, &error));
    query_cursor_next_async(cursor, NULL, client_keep_result, &first_result);
    query_cursor_next_async(cursor, NULL, client_keep_result, &second_result);
    second = client_take_result(&second_result);
    g_assert_false(query_cursor_next_finish(cursor, second, &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_PENDING);
    g_clear_error(&error);
    first = client_take_result(&first_result);
    g_assert_true(query_cursor_next_finish(cursor, first, &error));
    g_assert_no_error(error);
    g_assert_cmpint(query_cursor_get_int64(cursor, 0), ==, 300000);
}

int
main(int argc, char **argv)
{
    PrivateBus *bus = private_bus_new();
    int status;

    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/client-async-e2e/async", test_async);
    g_test_add_func("/client-async-e2e/try-next", test_try_next);
    g_test_add_func("/client-async-e2e/try-query", test_try_query);
    g_test_add_func("/client-async-e2e/try-query-that-takes-long", test_try_query_that_takes_long);
    g_test_add_func("/client-async-e2e/async-cancel", test_async_cancel);
    g_test_add_func("/client-async-e2e/sync-cancel", test_sync_cancel);
    g_test_add_func("/client-async-e2e/async-pending", test_async_pending);
    status = g_test_run();
    private_bus_free(bus);
    return status;
}
