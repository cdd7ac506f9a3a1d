/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The async forms of calls for payloads.
 *
 * Place: methods of QueryConnection, which may be shared by threads.
 */
#include <glib/gstdio.h>

#include "client-lib/calls/query-call.h"

static gboolean
run_store(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
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
    return query_call_finish_number(self, result, query_connection_store_payload_async, error);
}

static gboolean
run_replace(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
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
run_delete(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
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
run_load(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    return query_call_take(call, query_connection_load_payload(connection, call->id, cancellable, error),
                           (GDestroyNotify) g_bytes_unref);
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
    return query_call_finish_object(self, result, query_connection_load_payload_async, error);
}

static gboolean
run_store_payload_from_fd(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    call->id = query_connection_store_payload_from_fd(connection, call->fd, call->options, cancellable, error);
    return call->id >= 0;
}

void
query_connection_store_payload_from_fd_async(QueryConnection *self, int fd, GVariant *options, GCancellable *cancellable,
                                             GAsyncReadyCallback callback, gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(fd >= 0);

    query_call_start(self, run_store_payload_from_fd, query_connection_store_payload_from_fd_async,
                     &(QueryCallArguments){ .fd = &fd, .options = options }, cancellable, callback, user_data);
}

gint64
query_connection_store_payload_from_fd_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    return query_call_finish_number(self, result, query_connection_store_payload_from_fd_async, error);
}

static gboolean
run_store_payload_from_stream(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    call->id = query_connection_store_payload_from_stream(connection, call->stream, call->options, cancellable, error);
    return call->id >= 0;
}

void
query_connection_store_payload_from_stream_async(QueryConnection *self, GInputStream *stream, GVariant *options,
                                                 GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(G_IS_INPUT_STREAM(stream));

    query_call_start(self, run_store_payload_from_stream, query_connection_store_payload_from_stream_async,
                     &(QueryCallArguments){ .stream = stream, .options = options }, cancellable, callback, user_data);
}

gint64
query_connection_store_payload_from_stream_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    return query_call_finish_number(self, result, query_connection_store_payload_from_stream_async, error);
}

static gboolean
run_replace_payload_from_fd(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    return query_connection_replace_payload_from_fd(connection, call->id, call->fd, call->options, cancellable, error);
}

void
query_connection_replace_payload_from_fd_async(QueryConnection *self, gint64 id, int fd, GVariant *options,
                                               GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(fd >= 0);

    query_call_start(self, run_replace_payload_from_fd, query_connection_replace_payload_from_fd_async,
                     &(QueryCallArguments){ .id = id, .fd = &fd, .options = options }, cancellable, callback, user_data);
}

gboolean
query_connection_replace_payload_from_fd_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    return query_call_finish(self, result, query_connection_replace_payload_from_fd_async, error) != NULL;
}

static gboolean
run_replace_payload_from_stream(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    return query_connection_replace_payload_from_stream(connection, call->id, call->stream, call->options, cancellable, error);
}

void
query_connection_replace_payload_from_stream_async(QueryConnection *self, gint64 id, GInputStream *stream, GVariant *options,
                                                   GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(G_IS_INPUT_STREAM(stream));

    query_call_start(self, run_replace_payload_from_stream, query_connection_replace_payload_from_stream_async,
                     &(QueryCallArguments){ .id = id, .stream = stream, .options = options }, cancellable, callback, user_data);
}

gboolean
query_connection_replace_payload_from_stream_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    return query_call_finish(self, result, query_connection_replace_payload_from_stream_async, error) != NULL;
}

static gboolean
run_load_payloads(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    return query_call_take(call, query_connection_load_payloads(connection, call->ids, call->n_ids, cancellable, error),
                           (GDestroyNotify) g_ptr_array_unref);
}

void
query_connection_load_payloads_async(QueryConnection *self, const gint64 *ids, gsize n_ids, GCancellable *cancellable,
                                     GAsyncReadyCallback callback, gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(ids != NULL || n_ids == 0);

    query_call_start(self, run_load_payloads, query_connection_load_payloads_async,
                     &(QueryCallArguments){ .ids = ids, .n_ids = n_ids }, cancellable, callback, user_data);
}

GPtrArray *
query_connection_load_payloads_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    return query_call_finish_object(self, result, query_connection_load_payloads_async, error);
}

static gboolean
run_open_payload(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    call->fd = query_connection_open_payload(connection, call->id, cancellable, error);
    return call->fd >= 0;
}

void
query_connection_open_payload_async(QueryConnection *self, gint64 id, GCancellable *cancellable, GAsyncReadyCallback callback,
                                    gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));

    query_call_start(self, run_open_payload, query_connection_open_payload_async, &(QueryCallArguments){ .id = id }, cancellable,
                     callback, user_data);
}

int
query_connection_open_payload_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    QueryCall *call = query_call_finish(self, result, query_connection_open_payload_async, error);

    return call != NULL ? g_steal_fd(&call->fd) : -1; /* without a finish it is closed with the call */
}

static gboolean
run_read_payload(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    return query_call_take(call, query_connection_read_payload(connection, call->id, cancellable, error), g_object_unref);
}

void
query_connection_read_payload_async(QueryConnection *self, gint64 id, GCancellable *cancellable, GAsyncReadyCallback callback,
                                    gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));

    query_call_start(self, run_read_payload, query_connection_read_payload_async, &(QueryCallArguments){ .id = id }, cancellable,
                     callback, user_data);
}

GInputStream *
query_connection_read_payload_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    return query_call_finish_object(self, result, query_connection_read_payload_async, error);
}
