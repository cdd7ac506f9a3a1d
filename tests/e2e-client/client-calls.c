/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Synchronous, each with its own error.
 */
#include "tests/e2e-client/client-calls.h"

QueryConnection *
client_open(void)
{
    g_autoptr(GError) error = NULL;
    QueryConnection *connection = query_connection_new(NULL, &error);

    g_assert_no_error(error);
    return connection;
}

QueryConnection *
client_open_with_table(void)
{
    QueryConnection *connection = client_open();

    client_execute(connection, "DROP TABLE IF EXISTS t");
    client_execute(connection, "CREATE TABLE t(a UNIQUE)");
    return connection;
}

void
client_execute(QueryConnection *connection, const char *text)
{
    g_autoptr(GError) error = NULL;

    (void) query_connection_update(connection, QUERY_LANGUAGE_SQL, text, NULL, NULL, &error);
    g_assert_no_error(error);
}

gint64
client_query_number(QueryConnection *connection, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = query_connection_query(connection, QUERY_LANGUAGE_SQL, text, NULL, NULL, &error);
    gint64 number;

    g_assert_no_error(error);
    g_assert_true(query_cursor_next(cursor, NULL, &error));
    number = query_cursor_get_int64(cursor, 0);
    g_assert_false(query_cursor_next(cursor, NULL, &error));
    g_assert_no_error(error);
    return number;
}

void
client_keep_result(GObject *object, GAsyncResult *result, gpointer user_data)
{
    *(GAsyncResult **) user_data = g_object_ref(result);
}

GAsyncResult *
client_wait_for(GAsyncResult **result)
{
    while (*result == NULL)
        (void) g_main_context_iteration(NULL, TRUE);
    return *result;
}

GAsyncResult *
client_take_result(GAsyncResult **result)
{
    (void) client_wait_for(result);
    return g_steal_pointer(result);
}

gpointer
client_kill_later(gpointer data)
{
    const ClientKiller *self = data;

    g_usleep(self->usec);
    g_cancellable_cancel(self->cancellable);
    return NULL;
}
