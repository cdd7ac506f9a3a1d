/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The async forms of storing, replacing, deleting and loading a payload.
 *
 * Place: methods of QueryConnection, which may be shared by threads.
 */
#include "client-lib/calls/query-call.h"

static gboolean
run_store(QueryCall *call, QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    call->id = query_connection_store_payload(connection, call->content, call->options, cancellable, error);
    return call->id >= 0;
}

void
query_connection_store_payload_async(QueryConnection *self, GBytes *content, GVariant *options, GCancellable *cancellable,
                                     GAsyncReadyCallback callback, gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(content != NULL);

    query_call_start(self, run_store, query_connection_store_payload_async,
                     &(QueryCallArguments){ .content = content, .options = options }, cancellable, callback, user_data);
}

gint64
query_connection_store_payload_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    const QueryCall *call = query_call_finish(self, result, query_connection_store_payload_async, error);

    return call != NULL ? call->id : -1;
}

static gboolean
run_replace(QueryCall *call, QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    return query_connection_replace_payload(connection, call->id, call->content, call->options, cancellable, error);
}

void
query_connection_replace_payload_async(QueryConnection *self, gint64 id, GBytes *content, GVariant *options,
                                       GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(id > 0);
    g_return_if_fail(content != NULL);

    query_call_start(self, run_replace, query_connection_replace_payload_async,
                     &(QueryCallArguments){ .id = id, .content = content, .options = options }, cancellable, callback, user_data);
}

gboolean
query_connection_replace_payload_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    return query_call_finish(self, result, query_connection_replace_payload_async, error) != NULL;
}

static gboolean
run_delete(QueryCall *call, QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    return query_connection_delete_payload(connection, call->id, cancellable, error);
}

void
query_connection_delete_payload_async(QueryConnection *self, gint64 id, GCancellable *cancellable, GAsyncReadyCallback callback,
                                      gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));

    query_call_start(self, run_delete, query_connection_delete_payload_async, &(QueryCallArguments){ .id = id }, cancellable,
                     callback, user_data);
}

gboolean
query_connection_delete_payload_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    return query_call_finish(self, result, query_connection_delete_payload_async, error) != NULL;
}

static gboolean
run_load(QueryCall *call, QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    call->content = query_connection_load_payload(connection, call->id, cancellable, error);
    return call->content != NULL;
}

void
query_connection_load_payload_async(QueryConnection *self, gint64 id, GCancellable *cancellable, GAsyncReadyCallback callback,
                                    gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));

    query_call_start(self, run_load, query_connection_load_payload_async, &(QueryCallArguments){ .id = id }, cancellable, callback,
                     user_data);
}

GBytes *
query_connection_load_payload_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    QueryCall *call = query_call_finish(self, result, query_connection_load_payload_async, error);

    return call != NULL ? g_steal_pointer(&call->content) : NULL;
}
