/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Async forms of the calls of a connection that wait for the daemon: three functions for each.
 *
 * Place: methods of QueryConnection, which any thread may call. A QueryCall has the arguments, and the results for finish
 * functions.
 */
#include "client-lib/calls/query-call.h"

static gboolean
run_prepare(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    return query_call_take(call, query_connection_prepare(connection, call->language, call->text, cancellable, error),
                           g_object_unref);
}

void
query_connection_prepare_async(QueryConnection *self, QueryLanguage language, const char *text, GCancellable *cancellable,
                               GAsyncReadyCallback callback, gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(text != NULL);

    query_call_start(self, run_prepare, query_connection_prepare_async, &(QueryCallArguments){ .language = language, .text = text },
                     cancellable, callback, user_data);
}

QueryStatement *
query_connection_prepare_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    return query_call_finish_object(self, result, query_connection_prepare_async, error);
}

static gboolean
run_prepare_update(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    return query_call_take(call, query_connection_prepare_update(connection, call->language, call->text, cancellable, error),
                           g_object_unref);
}

void
query_connection_prepare_update_async(QueryConnection *self, QueryLanguage language, const char *text, GCancellable *cancellable,
                                      GAsyncReadyCallback callback, gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(text != NULL);

    query_call_start(self, run_prepare_update, query_connection_prepare_update_async,
                     &(QueryCallArguments){ .language = language, .text = text }, cancellable, callback, user_data);
}

QueryStatement *
query_connection_prepare_update_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    return query_call_finish_object(self, result, query_connection_prepare_update_async, error);
}

/* @call: (nullable) */
static gboolean
take_plan(QueryCall *call, char **sql, char **plan)
{
    if (call != NULL && sql != NULL)
        *sql = g_steal_pointer(&call->sql);
    if (call != NULL && plan != NULL)
        *plan = g_steal_pointer(&call->plan);
    return call != NULL;
}

static gboolean
run_explain(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    return query_connection_explain(connection, call->language, call->text, &call->sql, &call->plan, cancellable, error);
}

void
query_connection_explain_async(QueryConnection *self, QueryLanguage language, const char *text, GCancellable *cancellable,
                               GAsyncReadyCallback callback, gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(text != NULL);

    query_call_start(self, run_explain, query_connection_explain_async, &(QueryCallArguments){ .language = language, .text = text },
                     cancellable, callback, user_data);
}

gboolean
query_connection_explain_finish(QueryConnection *self, GAsyncResult *result, char **sql, char **plan, GError **error)
{
    return take_plan(query_call_finish(self, result, query_connection_explain_async, error), sql, plan);
}

static gboolean
run_analyze(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    return query_connection_analyze(connection, call->language, call->text, &call->sql, &call->plan, cancellable, error);
}

void
query_connection_analyze_async(QueryConnection *self, QueryLanguage language, const char *text, GCancellable *cancellable,
                               GAsyncReadyCallback callback, gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(text != NULL);

    query_call_start(self, run_analyze, query_connection_analyze_async, &(QueryCallArguments){ .language = language, .text = text },
                     cancellable, callback, user_data);
}

gboolean
query_connection_analyze_finish(QueryConnection *self, GAsyncResult *result, char **sql, char **plan, GError **error)
{
    return take_plan(query_call_finish(self, result, query_connection_analyze_async, error), sql, plan);
}

static gboolean
run_import(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    return query_connection_import(connection, call->fd, call->format, call->options, query_call_get_progress(call), call->progress,
                                   &call->n_rows, cancellable, error);
}

void
query_connection_import_async(QueryConnection *self, int fd, const char *format, GVariant *options, QueryProgressFunc progress,
                              gpointer progress_data, GDestroyNotify progress_destroy, GCancellable *cancellable,
                              GAsyncReadyCallback callback, gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(fd >= 0);
    g_return_if_fail(format != NULL);

    query_call_start(self, run_import, query_connection_import_async,
                     &(QueryCallArguments){ .fd = &fd,
                                            .format = format,
                                            .options = options,
                                            .progress = progress,
                                            .progress_data = progress_data,
                                            .progress_destroy = progress_destroy },
                     cancellable, callback, user_data);
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
run_dump(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    return query_connection_dump(connection, call->fd, call->format, call->options, query_call_get_progress(call), call->progress,
                                 &call->n_rows, cancellable, error);
}

void
query_connection_dump_async(QueryConnection *self, int fd, const char *format, GVariant *options, QueryProgressFunc progress,
                            gpointer progress_data, GDestroyNotify progress_destroy, GCancellable *cancellable,
                            GAsyncReadyCallback callback, gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(fd >= 0);
    g_return_if_fail(format != NULL);

    query_call_start(self, run_dump, query_connection_dump_async,
                     &(QueryCallArguments){ .fd = &fd,
                                            .format = format,
                                            .options = options,
                                            .progress = progress,
                                            .progress_data = progress_data,
                                            .progress_destroy = progress_destroy },
                     cancellable, callback, user_data);
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
run_export(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    return query_connection_export(connection, call->language, call->text, call->format, call->fd, call->options, &call->n_rows,
                                   &call->n_bytes, cancellable, error);
}

void
query_connection_export_async(QueryConnection *self, QueryLanguage language, const char *text, const char *format, int fd,
                              GVariant *options, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(text != NULL);
    g_return_if_fail(format != NULL);
    g_return_if_fail(fd >= 0);

    query_call_start(self, run_export, query_connection_export_async,
                     &(QueryCallArguments){ .language = language, .text = text, .format = format, .fd = &fd, .options = options },
                     cancellable, callback, user_data);
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
run_backup(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    return query_connection_backup(connection, call->fd, query_call_get_progress(call), call->progress, cancellable, error);
}

void
query_connection_backup_async(QueryConnection *self, int fd, QueryProgressFunc progress, gpointer progress_data,
                              GDestroyNotify progress_destroy, GCancellable *cancellable, GAsyncReadyCallback callback,
                              gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(fd >= 0);

    query_call_start(self, run_backup, query_connection_backup_async,
                     &(QueryCallArguments){
                         .fd = &fd, .progress = progress, .progress_data = progress_data, .progress_destroy = progress_destroy },
                     cancellable, callback, user_data);
}

gboolean
query_connection_backup_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    return query_call_finish(self, result, query_connection_backup_async, error) != NULL;
}

static gboolean
run_restore(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    return query_connection_restore_full(connection, call->fd, call->flag, query_call_get_progress(call), call->progress,
                                         &call->messages, cancellable, error);
}

void
query_connection_restore_async(QueryConnection *self, int fd, gboolean check_only, QueryProgressFunc progress,
                               gpointer progress_data, GDestroyNotify progress_destroy, GCancellable *cancellable,
                               GAsyncReadyCallback callback, gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(fd >= 0);

    query_call_start(self, run_restore, query_connection_restore_async,
                     &(QueryCallArguments){ .fd = &fd,
                                            .flag = check_only,
                                            .progress = progress,
                                            .progress_data = progress_data,
                                            .progress_destroy = progress_destroy },
                     cancellable, callback, user_data);
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
run_check(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    return query_connection_check(connection, call->flag, &call->messages, cancellable, error);
}

void
query_connection_check_async(QueryConnection *self, gboolean quick, GCancellable *cancellable, GAsyncReadyCallback callback,
                             gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));

    query_call_start(self, run_check, query_connection_check_async, &(QueryCallArguments){ .flag = quick }, cancellable, callback,
                     user_data);
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
run_optimize(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    return query_connection_optimize(connection, call->flag, cancellable, error);
}

void
query_connection_optimize_async(QueryConnection *self, gboolean warm, GCancellable *cancellable, GAsyncReadyCallback callback,
                                gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));

    query_call_start(self, run_optimize, query_connection_optimize_async, &(QueryCallArguments){ .flag = warm }, cancellable,
                     callback, user_data);
}

gboolean
query_connection_optimize_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    return query_call_finish(self, result, query_connection_optimize_async, error) != NULL;
}

static gboolean
run_reload(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    return query_connection_reload(connection, cancellable, error);
}

void
query_connection_reload_async(QueryConnection *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));

    query_call_start(self, run_reload, query_connection_reload_async, NULL, cancellable, callback, user_data);
}

gboolean
query_connection_reload_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    return query_call_finish(self, result, query_connection_reload_async, error) != NULL;
}

static gboolean
run_set_full_text(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    return query_connection_set_full_text(connection, call->options, cancellable, error);
}

void
query_connection_set_full_text_async(QueryConnection *self, GVariant *options, GCancellable *cancellable,
                                     GAsyncReadyCallback callback, gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(options != NULL);

    query_call_start(self, run_set_full_text, query_connection_set_full_text_async, &(QueryCallArguments){ .options = options },
                     cancellable, callback, user_data);
}

gboolean
query_connection_set_full_text_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    return query_call_finish(self, result, query_connection_set_full_text_async, error) != NULL;
}

static gboolean
run_get_stats(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    return query_call_take(call, query_connection_get_stats(connection, cancellable, error), (GDestroyNotify) g_variant_unref);
}

void
query_connection_get_stats_async(QueryConnection *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));

    query_call_start(self, run_get_stats, query_connection_get_stats_async, NULL, cancellable, callback, user_data);
}

GVariant *
query_connection_get_stats_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    return query_call_finish_object(self, result, query_connection_get_stats_async, error);
}

static gboolean
run_get_limits(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    return query_call_take(call, query_connection_get_limits(connection, cancellable, error), (GDestroyNotify) g_variant_unref);
}

void
query_connection_get_limits_async(QueryConnection *self, GCancellable *cancellable, GAsyncReadyCallback callback,
                                  gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));

    query_call_start(self, run_get_limits, query_connection_get_limits_async, NULL, cancellable, callback, user_data);
}

GVariant *
query_connection_get_limits_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    return query_call_finish_object(self, result, query_connection_get_limits_async, error);
}

static gboolean
run_list_queries(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    return query_call_take(call, query_connection_list_queries(connection, cancellable, error), (GDestroyNotify) g_variant_unref);
}

void
query_connection_list_queries_async(QueryConnection *self, GCancellable *cancellable, GAsyncReadyCallback callback,
                                    gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));

    query_call_start(self, run_list_queries, query_connection_list_queries_async, NULL, cancellable, callback, user_data);
}

GVariant *
query_connection_list_queries_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    return query_call_finish_object(self, result, query_connection_list_queries_async, error);
}

static gboolean
run_cancel_query(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    return query_connection_cancel_query(connection, (guint64) call->id, cancellable, error);
}

void
query_connection_cancel_query_async(QueryConnection *self, guint64 id, GCancellable *cancellable, GAsyncReadyCallback callback,
                                    gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));

    query_call_start(self, run_cancel_query, query_connection_cancel_query_async, &(QueryCallArguments){ .id = (gint64) id },
                     cancellable, callback, user_data);
}

gboolean
query_connection_cancel_query_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    return query_call_finish(self, result, query_connection_cancel_query_async, error) != NULL;
}

static gboolean
run_get_daemon_property(QueryCall *call, gpointer connection, GCancellable *cancellable, GError **error)
{
    return query_call_take(call, query_connection_get_daemon_property(connection, call->text, cancellable, error),
                           (GDestroyNotify) g_variant_unref);
}

void
query_connection_get_daemon_property_async(QueryConnection *self, const char *name, GCancellable *cancellable,
                                           GAsyncReadyCallback callback, gpointer user_data)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(name != NULL);

    query_call_start(self, run_get_daemon_property, query_connection_get_daemon_property_async,
                     &(QueryCallArguments){ .text = name }, cancellable, callback, user_data);
}

GVariant *
query_connection_get_daemon_property_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    return query_call_finish_object(self, result, query_connection_get_daemon_property_async, error);
}
