/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The async forms of the constructors of QueryConnection.
 *
 * Place: GAsyncInitable's own functions do the work.
 */
#include "client-lib/query-client.h"

void
query_connection_new_for_store_async(const char *store, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    g_async_initable_new_async(QUERY_TYPE_CONNECTION, G_PRIORITY_DEFAULT, cancellable, callback, user_data, "store", store, NULL);
}

QueryConnection *
query_connection_new_for_store_finish(GAsyncResult *result, GError **error)
{
    g_autoptr(GObject) source = NULL;
    GObject *object;

    g_return_val_if_fail(G_IS_ASYNC_RESULT(result), NULL);
    source = g_async_result_get_source_object(result);
    g_return_val_if_fail(QUERY_IS_CONNECTION(source), NULL);

    object = g_async_initable_new_finish(G_ASYNC_INITABLE(source), result, error);
    return object != NULL ? QUERY_CONNECTION(object) : NULL;
}

void
query_connection_new_async(GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    query_connection_new_for_store_async(NULL, cancellable, callback, user_data);
}

QueryConnection *
query_connection_new_finish(GAsyncResult *result, GError **error)
{
    return query_connection_new_for_store_finish(result, error);
}

void
query_connection_new_direct_async(const char *path, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    g_async_initable_new_async(QUERY_TYPE_CONNECTION, G_PRIORITY_DEFAULT, cancellable, callback, user_data, "is-direct", TRUE,
                               "path", path, NULL);
}

QueryConnection *
query_connection_new_direct_finish(GAsyncResult *result, GError **error)
{
    return query_connection_new_for_store_finish(result, error);
}

void
query_connection_new_remote_async(const char *url, GVariant *options, GCancellable *cancellable, GAsyncReadyCallback callback,
                                  gpointer user_data)
{
    g_autoptr(GVariant) owned = options != NULL ? g_variant_ref_sink(options) : NULL;

    g_return_if_fail(url != NULL);
    g_return_if_fail(owned == NULL || g_variant_is_of_type(owned, G_VARIANT_TYPE_VARDICT));

    g_async_initable_new_async(QUERY_TYPE_CONNECTION, G_PRIORITY_DEFAULT, cancellable, callback, user_data, "url", url,
                               "remote-options", owned, NULL);
}

QueryConnection *
query_connection_new_remote_finish(GAsyncResult *result, GError **error)
{
    return query_connection_new_for_store_finish(result, error);
}
