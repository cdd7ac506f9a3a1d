/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Async forms of the calls of a connection that wait for the daemon: three functions for each.
 *
 * Place: methods of QueryConnection, which any thread may call. A QueryCall has the arguments, and the results for finish
 * functions.
 */
#include "client-lib/calls/query-call.h"

static gboolean
run_prepare(QueryCall *call, QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    call->statement = query_connection_prepare(connection, call->language, call->text, cancellable, error);
    return call->statement != NULL;
}

void
query_connection_prepare_async(QueryConnection *self, QueryLanguage language, const char *text, GCancellable *cancellable,
                               GAsyncReadyCallback callback, gpointer user_data)
{
    QueryCall *call;

    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(text != NULL);

    call = query_call_new(run_prepare);
    call->language = language;
    call->text = g_strdup(text);
    query_call_start(self, call, query_connection_prepare_async, cancellable, callback, user_data);
}

QueryStatement *
query_connection_prepare_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    QueryCall *call = query_call_finish(self, result, query_connection_prepare_async, error);

    return call != NULL ? g_steal_pointer(&call->statement) : NULL;
}

static gboolean
run_prepare_update(QueryCall *call, QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    call->statement = query_connection_prepare_update(connection, call->language, call->text, cancellable, error);
    return call->statement != NULL;
}

void
query_connection_prepare_update_async(QueryConnection *self, QueryLanguage language, const char *text, GCancellable *cancellable,
                                      GAsyncReadyCallback callback, gpointer user_data)
{
    QueryCall *call;

    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(text != NULL);

    call = query_call_new(run_prepare_update);
    call->language = language;
    call->text = g_strdup(text);
    query_call_start(self, call, query_connection_prepare_update_async, cancellable, callback, user_data);
}

QueryStatement *
query_connection_prepare_update_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    QueryCall *call = query_call_finish(self, result, query_connection_prepare_update_async, error);

    return call != NULL ? g_steal_pointer(&call->statement) : NULL;
}

static gboolean
run_explain(QueryCall *call, QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    return query_connection_explain(connection, call->language, call->text, &call->sql, &call->plan, cancellable, error);
}

void
query_connection_explain_async(QueryConnection *self, QueryLanguage language, const char *text, GCancellable *cancellable,
                               GAsyncReadyCallback callback, gpointer user_data)
{
    QueryCall *call;

    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(text != NULL);

    call = query_call_new(run_explain);
    call->language = language;
    call->text = g_strdup(text);
    query_call_start(self, call, query_connection_explain_async, cancellable, callback, user_data);
}

gboolean
query_connection_explain_finish(QueryConnection *self, GAsyncResult *result, char **sql, char **plan, GError **error)
{
    QueryCall *call = query_call_finish(self, result, query_connection_explain_async, error);

    if (call != NULL && sql != NULL)
        *sql = g_steal_pointer(&call->sql);
    if (call != NULL && plan != NULL)
        *plan = g_steal_pointer(&call->plan);
    return call != NULL;
}

static gboolean
run_import(QueryCall *call, QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    return query_connection_import(connection, call->fd, call->format, call->options, query_call_get_progress(call), call->progress,
                                   &call->n_rows, cancellable, error);
}

void
query_connection_import_async(QueryConnection *self, int fd, const char *format, GVariant *options, QueryProgressFunc progress,
                              gpointer progress_data, GDestroyNotify progress_destroy, GCancellable *cancellable,
                              GAsyncReadyCallback callback, gpointer user_data)
{
    QueryCall *call;

    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(fd >= 0);
    g_return_if_fail(format != NULL);

    call = query_call_new(run_import);
    query_call_set_fd(call, fd);
    call->format = g_strdup(format);
    call->options = options != NULL ? g_variant_ref_sink(options) : NULL;
    query_call_set_progress(call, progress, progress_data, progress_destroy);
    query_call_start(self, call, query_connection_import_async, cancellable, callback, user_data);
}

gboolean
query_connection_import_finish(QueryConnection *self, GAsyncResult *result, guint64 *n_rows, GError **error)
{
    QueryCall *call = query_call_finish(self, result, query_connection_import_async, error);

    if (call != NULL && n_rows != NULL)
        *n_rows = call->n_rows;
    return call != NULL;
}

static gboolean
run_dump(QueryCall *call, QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    return query_connection_dump(connection, call->fd, call->format, call->options, query_call_get_progress(call), call->progress,
                                 &call->n_rows, cancellable, error);
}

void
query_connection_dump_async(QueryConnection *self, int fd, const char *format, GVariant *options, QueryProgressFunc progress,
                            gpointer progress_data, GDestroyNotify progress_destroy, GCancellable *cancellable,
                            GAsyncReadyCallback callback, gpointer user_data)
{
    QueryCall *call;

    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(fd >= 0);
    g_return_if_fail(format != NULL);

    call = query_call_new(run_dump);
    query_call_set_fd(call, fd);
    call->format = g_strdup(format);
    call->options = options != NULL ? g_variant_ref_sink(options) : NULL;
    query_call_set_progress(call, progress, progress_data, progress_destroy);
    query_call_start(self, call, query_connection_dump_async, cancellable, callback, user_data);
}

gboolean
query_connection_dump_finish(QueryConnection *self, GAsyncResult *result, guint64 *n_quads, GError **error)
{
    QueryCall *call = query_call_finish(self, result, query_connection_dump_async, error);

    if (call != NULL && n_quads != NULL)
        *n_quads = call->n_rows;
    return call != NULL;
}

static gboolean
run_export(QueryCall *call, QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    return query_connection_export(connection, call->language, call->text, call->format, call->fd, call->options, &call->n_rows,
                                   &call->n_bytes, cancellable, error);
}

void
query_connection_export_async(QueryConnection *self, QueryLanguage language, const char *text, const char *format, int fd,
                              GVariant *options, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    QueryCall *call;

    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(text != NULL);
    g_return_if_fail(format != NULL);
    g_return_if_fail(fd >= 0);

    call = query_call_new(run_export);
    call->language = language;
    call->text = g_strdup(text);
    call->format = g_strdup(format);
    query_call_set_fd(call, fd);
    call->options = options != NULL ? g_variant_ref_sink(options) : NULL;
    query_call_start(self, call, query_connection_export_async, cancellable, callback, user_data);
}

gboolean
query_connection_export_finish(QueryConnection *self, GAsyncResult *result, guint64 *n_rows, guint64 *n_bytes, GError **error)
{
    QueryCall *call = query_call_finish(self, result, query_connection_export_async, error);

    if (call != NULL && n_rows != NULL)
        *n_rows = call->n_rows;
    if (call != NULL && n_bytes != NULL)
        *n_bytes = call->n_bytes;
    return call != NULL;
}

static gboolean
run_backup(QueryCall *call, QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    return query_connection_backup(connection, call->fd, query_call_get_progress(call), call->progress, cancellable, error);
}

void
query_connection_backup_async(QueryConnection *self, int fd, QueryProgressFunc progress, gpointer progress_data,
                              GDestroyNotify progress_destroy, GCancellable *cancellable, GAsyncReadyCallback callback,
                              gpointer user_data)
{
    QueryCall *call;

    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(fd >= 0);

    call = query_call_new(run_backup);
    query_call_set_fd(call, fd);
    query_call_set_progress(call, progress, progress_data, progress_destroy);
    query_call_start(self, call, query_connection_backup_async, cancellable, callback, user_data);
}

gboolean
query_connection_backup_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    return query_call_finish(self, result, query_connection_backup_async, error) != NULL;
}

static gboolean
run_restore(QueryCall *call, QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    return query_connection_restore_full(connection, call->fd, call->flag, query_call_get_progress(call), call->progress,
                                         &call->messages, cancellable, error);
}

void
query_connection_restore_async(QueryConnection *self, int fd, gboolean check_only, QueryProgressFunc progress,
                               gpointer progress_data, GDestroyNotify progress_destroy, GCancellable *cancellable,
                               GAsyncReadyCallback callback, gpointer user_data)
{
    QueryCall *call;

    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(fd >= 0);

    call = query_call_new(run_restore);
    query_call_set_fd(call, fd);
    call->flag = check_only;
    query_call_set_progress(call, progress, progress_data, progress_destroy);
    query_call_start(self, call, query_connection_restore_async, cancellable, callback, user_data);
}

gboolean
query_connection_restore_finish(QueryConnection *self, GAsyncResult *result, char ***messages, GError **error)
{
    QueryCall *call = query_call_finish(self, result, query_connection_restore_async, error);

    if (call != NULL && messages != NULL)
        *messages = g_steal_pointer(&call->messages);
    return call != NULL;
}

static gboolean
run_check(QueryCall *call, QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    return query_connection_check(connection, call->flag, &call->messages, cancellable, error);
}

void
query_connection_check_async(QueryConnection *self, gboolean quick, GCancellable *cancellable, GAsyncReadyCallback callback,
                             gpointer user_data)
{
    QueryCall *call;

    g_return_if_fail(QUERY_IS_CONNECTION(self));

    call = query_call_new(run_check);
    call->flag = quick;
    query_call_start(self, call, query_connection_check_async, cancellable, callback, user_data);
}

gboolean
query_connection_check_finish(QueryConnection *self, GAsyncResult *result, char ***messages, GError **error)
{
    gboolean is_sound = query_call_finish(self, result, query_connection_check_async, error) != NULL;

    if (messages != NULL && g_task_is_valid(result, self)) { /* also of a database that is damaged */
        QueryCall *call = g_task_get_task_data(G_TASK(result));

        *messages = g_steal_pointer(&call->messages);
    }
    return is_sound;
}

static gboolean
run_optimize(QueryCall *call, QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    return query_connection_optimize(connection, call->flag, cancellable, error);
}

void
query_connection_optimize_async(QueryConnection *self, gboolean warm, GCancellable *cancellable, GAsyncReadyCallback callback,
                                gpointer user_data)
{
    QueryCall *call;

    g_return_if_fail(QUERY_IS_CONNECTION(self));

    call = query_call_new(run_optimize);
    call->flag = warm;
    query_call_start(self, call, query_connection_optimize_async, cancellable, callback, user_data);
}

gboolean
query_connection_optimize_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    return query_call_finish(self, result, query_connection_optimize_async, error) != NULL;
}

static gboolean
run_reload(QueryCall *call, QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    return query_connection_reload(connection, cancellable, error);
}

void
query_connection_reload_async(QueryConnection *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    QueryCall *call;

    g_return_if_fail(QUERY_IS_CONNECTION(self));

    call = query_call_new(run_reload);
    query_call_start(self, call, query_connection_reload_async, cancellable, callback, user_data);
}

gboolean
query_connection_reload_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    return query_call_finish(self, result, query_connection_reload_async, error) != NULL;
}

static gboolean
run_set_full_text(QueryCall *call, QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    return query_connection_set_full_text(connection, call->options, cancellable, error);
}

void
query_connection_set_full_text_async(QueryConnection *self, GVariant *options, GCancellable *cancellable,
                                     GAsyncReadyCallback callback, gpointer user_data)
{
    QueryCall *call;

    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(options != NULL);

    call = query_call_new(run_set_full_text);
    call->options = g_variant_ref_sink(options);
    query_call_start(self, call, query_connection_set_full_text_async, cancellable, callback, user_data);
}

gboolean
query_connection_set_full_text_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    return query_call_finish(self, result, query_connection_set_full_text_async, error) != NULL;
}

static gboolean
run_get_stats(QueryCall *call, QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    call->variant = query_connection_get_stats(connection, cancellable, error);
    return call->variant != NULL;
}

void
query_connection_get_stats_async(QueryConnection *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    QueryCall *call;

    g_return_if_fail(QUERY_IS_CONNECTION(self));

    call = query_call_new(run_get_stats);
    query_call_start(self, call, query_connection_get_stats_async, cancellable, callback, user_data);
}

GVariant *
query_connection_get_stats_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    QueryCall *call = query_call_finish(self, result, query_connection_get_stats_async, error);

    return call != NULL ? g_steal_pointer(&call->variant) : NULL;
}

static gboolean
run_get_limits(QueryCall *call, QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    call->variant = query_connection_get_limits(connection, cancellable, error);
    return call->variant != NULL;
}

void
query_connection_get_limits_async(QueryConnection *self, GCancellable *cancellable, GAsyncReadyCallback callback,
                                  gpointer user_data)
{
    QueryCall *call;

    g_return_if_fail(QUERY_IS_CONNECTION(self));

    call = query_call_new(run_get_limits);
    query_call_start(self, call, query_connection_get_limits_async, cancellable, callback, user_data);
}

GVariant *
query_connection_get_limits_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    QueryCall *call = query_call_finish(self, result, query_connection_get_limits_async, error);

    return call != NULL ? g_steal_pointer(&call->variant) : NULL;
}

static gboolean
run_list_queries(QueryCall *call, QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    call->variant = query_connection_list_queries(connection, cancellable, error);
    return call->variant != NULL;
}

void
query_connection_list_queries_async(QueryConnection *self, GCancellable *cancellable, GAsyncReadyCallback callback,
                                    gpointer user_data)
{
    QueryCall *call;

    g_return_if_fail(QUERY_IS_CONNECTION(self));

    call = query_call_new(run_list_queries);
    query_call_start(self, call, query_connection_list_queries_async, cancellable, callback, user_data);
}

GVariant *
query_connection_list_queries_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    QueryCall *call = query_call_finish(self, result, query_connection_list_queries_async, error);

    return call != NULL ? g_steal_pointer(&call->variant) : NULL;
}

static gboolean
run_cancel_query(QueryCall *call, QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    return query_connection_cancel_query(connection, call->id, cancellable, error);
}

void
query_connection_cancel_query_async(QueryConnection *self, guint64 id, GCancellable *cancellable, GAsyncReadyCallback callback,
                                    gpointer user_data)
{
    QueryCall *call;

    g_return_if_fail(QUERY_IS_CONNECTION(self));

    call = query_call_new(run_cancel_query);
    call->id = id;
    query_call_start(self, call, query_connection_cancel_query_async, cancellable, callback, user_data);
}

gboolean
query_connection_cancel_query_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    return query_call_finish(self, result, query_connection_cancel_query_async, error) != NULL;
}

static gboolean
run_get_daemon_property(QueryCall *call, QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    call->variant = query_connection_get_daemon_property(connection, call->text, cancellable, error);
    return call->variant != NULL;
}

void
query_connection_get_daemon_property_async(QueryConnection *self, const char *name, GCancellable *cancellable,
                                           GAsyncReadyCallback callback, gpointer user_data)
{
    QueryCall *call;

    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(name != NULL);

    call = query_call_new(run_get_daemon_property);
    call->text = g_strdup(name);
    query_call_start(self, call, query_connection_get_daemon_property_async, cancellable, callback, user_data);
}

GVariant *
query_connection_get_daemon_property_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    QueryCall *call = query_call_finish(self, result, query_connection_get_daemon_property_async, error);

    return call != NULL ? g_steal_pointer(&call->variant) : NULL;
}
