/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_connection_begin(): the request that opens a transaction keeps its channel for it.
 *
 * Place: public function of QueryConnection.
 */
#include "client-lib/core/query-error.h"
#include "client-lib/direct/query-direct.h"
#include "client-lib/query-connection-private.h"
#include "client-lib/transaction/query-transaction-private.h"

static QueryRequest *
create_begin(QueryConnection *connection, GError **error)
{
    QueryDirect *direct = query_connection_get_direct(connection);
    g_autoptr(QueryCommand) command = NULL;

    if (direct != NULL && query_direct_can_update(direct)) {
        g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_UNSUPPORTED,
                            "a remote connection has no transactions: an update may be several operations with ';'");
        return NULL;
    }
    if (direct != NULL) {
        g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_READ_ONLY, "a direct connection cannot write");
        return NULL;
    }
    command = query_connection_create_command(connection, QUERY_LANGUAGE_SQL, QUERY_COMMAND_ANY_TEXT, FALSE, error);
    return command != NULL
               ? query_request_new(query_connection_get_endpoint(connection), QUERY_REQUEST_BEGIN, command, NULL, NULL, NULL)
               : NULL;
}

static QueryTransaction *
transaction_new(QueryConnection *connection, QueryRequest *request)
{
    QueryTransaction *self = g_object_new(QUERY_TYPE_TRANSACTION, NULL);

    self->connection = g_object_ref(connection);
    self->command = query_command_ref(query_request_get_command(request));
    self->channel = query_request_steal_channel(request);
    self->generation = query_request_get_end(request)->generation;
    return self;
}

void
query_transaction_set_keeps_cursors(QueryTransaction *self, gboolean keeps_cursors)
{
    g_return_if_fail(QUERY_IS_TRANSACTION(self));

    self->keeps_cursors = keeps_cursors;
}

QueryTransaction *
query_connection_begin(QueryConnection *self, GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryRequest) request = NULL;

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), NULL);

    request = create_begin(self, error);
    if (request == NULL || !query_request_run(request, cancellable, error))
        return NULL;
    return transaction_new(self, request);
}

static void
on_begun(GTask *task, QueryRequest *request)
{
    g_task_return_pointer(task, transaction_new(g_task_get_source_object(task), request), g_object_unref);
}

void
query_connection_begin_async(QueryConnection *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    g_autoptr(GTask) task = NULL;
    GError *error = NULL;

    g_return_if_fail(QUERY_IS_CONNECTION(self));

    task = g_task_new(self, cancellable, callback, user_data);
    g_task_set_source_tag(task, query_connection_begin_async);
    query_request_run_async(create_begin(self, &error), task, on_begun, &error);
}

QueryTransaction *
query_connection_begin_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), NULL);

    return g_task_propagate_pointer(G_TASK(result), error);
}
