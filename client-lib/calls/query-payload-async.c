/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The async forms of storing, replacing, deleting and loading a payload: each runs the sync form in a thread of GIO.
 *
 * Place: methods of QueryConnection, which may be shared by threads.
 */
#include "client-lib/query-payload.h"

typedef struct Call {
    gint64 id;
    GBytes *content;   /* (nullable) (owned) */
    GVariant *options; /* (nullable) (owned) */
} Call;

static void
call_free(gpointer data)
{
    Call *self = data;

    g_clear_pointer(&self->content, g_bytes_unref);
    g_clear_pointer(&self->options, g_variant_unref);
    g_free(self);
}

/* @content, @options: (nullable) */
static void
start(QueryConnection *self, gpointer tag, gint64 id, GBytes *content, GVariant *options, GTaskThreadFunc func,
      GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    g_autoptr(GTask) task = g_task_new(self, cancellable, callback, user_data);
    Call *call = g_new0(Call, 1);

    call->id = id;
    call->content = content != NULL ? g_bytes_ref(content) : NULL;
    call->options = options != NULL ? g_variant_ref_sink(options) : NULL;
    g_task_set_source_tag(task, tag);
    g_task_set_task_data(task, call, call_free);
    g_task_run_in_thread(task, func);
}

static void
return_boolean(GTask *task, gboolean ok, GError *error)
{
    if (ok)
        g_task_return_boolean(task, TRUE);
    else
        g_task_return_error(task, error);
}

static void
store_in_thread(GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
    const Call *call = task_data;
    GError *error = NULL;
    gint64 id = query_connection_store_payload(source_object, call->content, call->options, cancellable, &error);

    if (id >= 0)
        g_task_return_int(task, id);
    else
        g_task_return_error(task, error);
}

static void
replace_in_thread(GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
    const Call *call = task_data;
    GError *error = NULL;
    gboolean ok = query_connection_replace_payload(source_object, call->id, call->content, call->options, cancellable, &error);

    return_boolean(task, ok, error);
}

static void
delete_in_thread(GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
    GError *error = NULL;
    gboolean ok = query_connection_delete_payload(source_object, ((const Call *) task_data)->id, cancellable, &error);

    return_boolean(task, ok, error);
}

static void
load_in_thread(GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
    GError *error = NULL;
    GBytes *content = query_connection_load_payload(source_object, ((const Call *) task_data)->id, cancellable, &error);

    if (content != NULL)
        g_task_return_pointer(task, content, (GDestroyNotify) g_bytes_unref);
    else
        g_task_return_error(task, error);
}

void
query_connection_store_payload_async(QueryConnection *self, GBytes *content, GVariant *options, GCancellable *cancellable,
                                     GAsyncReadyCallback callback, gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(content != NULL);

    start(self, query_connection_store_payload_async, 0, content, options, store_in_thread, cancellable, callback, user_data);
}

gint64
query_connection_store_payload_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), -1);

    return g_task_propagate_int(G_TASK(result), error);
}

void
query_connection_replace_payload_async(QueryConnection *self, gint64 id, GBytes *content, GVariant *options,
                                       GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(id > 0);
    g_return_if_fail(content != NULL);

    start(self, query_connection_replace_payload_async, id, content, options, replace_in_thread, cancellable, callback, user_data);
}

gboolean
query_connection_replace_payload_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), FALSE);

    return g_task_propagate_boolean(G_TASK(result), error);
}

void
query_connection_delete_payload_async(QueryConnection *self, gint64 id, GCancellable *cancellable, GAsyncReadyCallback callback,
                                      gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));

    start(self, query_connection_delete_payload_async, id, NULL, NULL, delete_in_thread, cancellable, callback, user_data);
}

gboolean
query_connection_delete_payload_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), FALSE);

    return g_task_propagate_boolean(G_TASK(result), error);
}

void
query_connection_load_payload_async(QueryConnection *self, gint64 id, GCancellable *cancellable, GAsyncReadyCallback callback,
                                    gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));

    start(self, query_connection_load_payload_async, id, NULL, NULL, load_in_thread, cancellable, callback, user_data);
}

GBytes *
query_connection_load_payload_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), NULL);

    return g_task_propagate_pointer(G_TASK(result), error);
}
