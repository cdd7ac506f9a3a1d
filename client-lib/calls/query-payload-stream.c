/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The async forms of calls for payloads by descriptor, by stream and many at once. Each runs the sync form in a thread of GIO.
 *
 * Place: methods of QueryConnection, which may be shared by threads.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "client-lib/calls/query-call.h"
#include "client-lib/core/query-error.h"
#include "client-lib/query-payload.h"

typedef struct Call {
    gint64 id;
    int fd;               /* owned; -1: none */
    GInputStream *stream; /* (nullable) (owned) */
    GVariant *options;    /* (nullable) (owned) */
    gint64 *ids;          /* (nullable) (owned) */
    gsize n_ids;
} Call;

static Call *
call_new(gint64 id)
{
    Call *self = g_new0(Call, 1);

    self->id = id;
    self->fd = -1;
    return self;
}

static void
call_free(gpointer data)
{
    Call *self = data;

    if (self->fd >= 0)
        (void) close(self->fd);
    g_clear_object(&self->stream);
    g_clear_pointer(&self->options, g_variant_unref);
    g_free(self->ids);
    g_free(self);
}

/* @call: (transfer full). @fd: borrowed; -1: none */
static void
start(GTask *task, gpointer tag, Call *call, int fd, GVariant *options, GTaskThreadFunc func)
{
    g_autoptr(GTask) owned = task;

    call->options = options != NULL ? g_variant_ref_sink(options) : NULL;
    call->fd = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
    g_task_set_source_tag(task, tag);
    g_task_set_task_data(task, call, call_free);
    if (fd >= 0 && call->fd < 0)
        g_task_return_new_error(task, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "descriptor %d cannot be used: %s", fd,
                                g_strerror(errno));
    else
        g_task_run_in_thread(task, func);
}

static void
return_number(GTask *task, gssize number, GError *error)
{
    if (number >= 0)
        g_task_return_int(task, number);
    else
        g_task_return_error(task, error);
}

static void
return_pointer(GTask *task, gpointer pointer, GDestroyNotify destroy, GError *error)
{
    if (pointer != NULL)
        g_task_return_pointer(task, pointer, destroy);
    else
        g_task_return_error(task, error);
}

static void
store_payload_from_fd_in_thread(GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
    const Call *call = task_data;
    GError *error = NULL;
    gint64 result = query_connection_store_payload_from_fd(source_object, call->fd, call->options, cancellable, &error);

    return_number(task, result, error);
}

void
query_connection_store_payload_from_fd_async(QueryConnection *self, int fd, GVariant *options, GCancellable *cancellable,
                                             GAsyncReadyCallback callback, gpointer user_data)
{
    Call *call;

    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(fd >= 0);

    call = call_new(0);
    start(g_task_new(self, cancellable, callback, user_data), query_connection_store_payload_from_fd_async, call, fd, options,
          store_payload_from_fd_in_thread);
}

gint64
query_connection_store_payload_from_fd_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), -1);

    return g_task_propagate_int(G_TASK(result), error);
}

static void
store_payload_from_stream_in_thread(GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
    const Call *call = task_data;
    GError *error = NULL;
    gint64 result = query_connection_store_payload_from_stream(source_object, call->stream, call->options, cancellable, &error);

    return_number(task, result, error);
}

void
query_connection_store_payload_from_stream_async(QueryConnection *self, GInputStream *stream, GVariant *options,
                                                 GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    Call *call;

    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(G_IS_INPUT_STREAM(stream));

    call = call_new(0);
    call->stream = g_object_ref(stream);
    start(g_task_new(self, cancellable, callback, user_data), query_connection_store_payload_from_stream_async, call, -1, options,
          store_payload_from_stream_in_thread);
}

gint64
query_connection_store_payload_from_stream_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), -1);

    return g_task_propagate_int(G_TASK(result), error);
}

static void
replace_payload_from_fd_in_thread(GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
    const Call *call = task_data;
    GError *error = NULL;
    gboolean result = query_connection_replace_payload_from_fd(source_object, call->id, call->fd, call->options, cancellable,
                                                               &error);

    query_call_return_boolean(task, result, error);
}

void
query_connection_replace_payload_from_fd_async(QueryConnection *self, gint64 id, int fd, GVariant *options,
                                               GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    Call *call;

    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(fd >= 0);

    call = call_new(id);
    start(g_task_new(self, cancellable, callback, user_data), query_connection_replace_payload_from_fd_async, call, fd, options,
          replace_payload_from_fd_in_thread);
}

gboolean
query_connection_replace_payload_from_fd_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), FALSE);

    return g_task_propagate_boolean(G_TASK(result), error);
}

static void
replace_payload_from_stream_in_thread(GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
    const Call *call = task_data;
    GError *error = NULL;
    gboolean result = query_connection_replace_payload_from_stream(source_object, call->id, call->stream, call->options,
                                                                   cancellable, &error);

    query_call_return_boolean(task, result, error);
}

void
query_connection_replace_payload_from_stream_async(QueryConnection *self, gint64 id, GInputStream *stream, GVariant *options,
                                                   GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    Call *call;

    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(G_IS_INPUT_STREAM(stream));

    call = call_new(id);
    call->stream = g_object_ref(stream);
    start(g_task_new(self, cancellable, callback, user_data), query_connection_replace_payload_from_stream_async, call, -1, options,
          replace_payload_from_stream_in_thread);
}

gboolean
query_connection_replace_payload_from_stream_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), FALSE);

    return g_task_propagate_boolean(G_TASK(result), error);
}

static void
load_payloads_in_thread(GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
    const Call *call = task_data;
    GError *error = NULL;
    GPtrArray *result = query_connection_load_payloads(source_object, call->ids, call->n_ids, cancellable, &error);

    return_pointer(task, result, (GDestroyNotify) g_ptr_array_unref, error);
}

void
query_connection_load_payloads_async(QueryConnection *self, const gint64 *ids, gsize n_ids, GCancellable *cancellable,
                                     GAsyncReadyCallback callback, gpointer user_data)
{
    Call *call;

    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(ids != NULL || n_ids == 0);

    call = call_new(0);
    call->ids = g_memdup2(ids, n_ids * sizeof *ids);
    call->n_ids = n_ids;
    start(g_task_new(self, cancellable, callback, user_data), query_connection_load_payloads_async, call, -1, NULL,
          load_payloads_in_thread);
}

GPtrArray *
query_connection_load_payloads_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), NULL);

    return g_task_propagate_pointer(G_TASK(result), error);
}

static void
open_payload_in_thread(GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
    const Call *call = task_data;
    GError *error = NULL;
    int result = query_connection_open_payload(source_object, call->id, cancellable, &error);

    return_number(task, result, error);
}

void
query_connection_open_payload_async(QueryConnection *self, gint64 id, GCancellable *cancellable, GAsyncReadyCallback callback,
                                    gpointer user_data)
{
    Call *call;

    g_return_if_fail(QUERY_IS_CONNECTION(self));

    call = call_new(id);
    start(g_task_new(self, cancellable, callback, user_data), query_connection_open_payload_async, call, -1, NULL,
          open_payload_in_thread);
}

int
query_connection_open_payload_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), -1);

    return (int) g_task_propagate_int(G_TASK(result), error);
}

static void
read_payload_in_thread(GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
    const Call *call = task_data;
    GError *error = NULL;
    GInputStream *result = query_connection_read_payload(source_object, call->id, cancellable, &error);

    return_pointer(task, result, g_object_unref, error);
}

void
query_connection_read_payload_async(QueryConnection *self, gint64 id, GCancellable *cancellable, GAsyncReadyCallback callback,
                                    gpointer user_data)
{
    Call *call;

    g_return_if_fail(QUERY_IS_CONNECTION(self));

    call = call_new(id);
    start(g_task_new(self, cancellable, callback, user_data), query_connection_read_payload_async, call, -1, NULL,
          read_payload_in_thread);
}

GInputStream *
query_connection_read_payload_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), NULL);

    return g_task_propagate_pointer(G_TASK(result), error);
}
