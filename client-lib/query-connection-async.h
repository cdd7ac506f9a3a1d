/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Async forms of the calls of a connection that wait for the daemon.
 *
 * Each runs in a thread of GLib's pool; its callback comes in the caller's thread-default main context. Options that are set on the
 * connection count as they are when the thread begins.
 *
 * Part of query-client.h.
 */
#pragma once

#include "query-client.h"

#ifndef __GI_SCANNER__
#pragma GCC visibility push(default)
#endif

G_BEGIN_DECLS

/**
 * query_connection_prepare_async:
 * @self: a connection
 * @language: the language of @text
 * @text: one statement that reads
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_prepare().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_prepare_async(QueryConnection *self, QueryLanguage language, const char *text, GCancellable *cancellable,
                                    GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_connection_prepare_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): a statement, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryStatement *query_connection_prepare_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_connection_prepare_update_async:
 * @self: a connection
 * @language: the language of @text
 * @text: one statement that writes
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_prepare_update().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_prepare_update_async(QueryConnection *self, QueryLanguage language, const char *text,
                                           GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_connection_prepare_update_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): a statement, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryStatement *query_connection_prepare_update_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_connection_explain_async:
 * @self: a connection
 * @language: the language of @text
 * @text: one statement that reads
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_explain().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_explain_async(QueryConnection *self, QueryLanguage language, const char *text, GCancellable *cancellable,
                                    GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_connection_explain_finish:
 * @self: a connection
 * @result: what the callback was given
 * @sql: (out) (optional) (transfer full): the SQL that a SPARQL text becomes
 * @plan: (out) (optional) (transfer full): how it is executed
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_explain_finish(QueryConnection *self, GAsyncResult *result, char **sql, char **plan, GError **error);

/**
 * query_connection_analyze_async:
 * @self: a connection
 * @language: the language of @text
 * @text: one statement that reads
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_analyze().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_analyze_async(QueryConnection *self, QueryLanguage language, const char *text, GCancellable *cancellable,
                                    GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_connection_analyze_finish:
 * @self: a connection
 * @result: what the callback was given
 * @sql: (out) (optional) (transfer full): the SQL that a SPARQL text becomes
 * @plan: (out) (optional) (transfer full): how it is executed
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_analyze_finish(QueryConnection *self, GAsyncResult *result, char **sql, char **plan, GError **error);

/**
 * query_connection_import_async:
 * @self: a connection
 * @fd: see query_connection_import(); duplicated
 * @format: see query_connection_import()
 * @options: (nullable): see query_connection_import()
 * @progress: (scope notified) (nullable) (closure progress_data) (destroy progress_destroy): called with the progress, as @callback
 * is
 * @progress_data: for @progress
 * @progress_destroy: frees @progress_data after the last report
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_import().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_import_async(QueryConnection *self, int fd, const char *format, GVariant *options, QueryProgressFunc progress,
                                   gpointer progress_data, GDestroyNotify progress_destroy, GCancellable *cancellable,
                                   GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_connection_import_finish:
 * @self: a connection
 * @result: what the callback was given
 * @n_rows: (out) (optional): rows, or quads of the document
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_import_finish(QueryConnection *self, GAsyncResult *result, guint64 *n_rows, GError **error);

/**
 * query_connection_dump_async:
 * @self: a connection
 * @fd: see query_connection_dump(); duplicated
 * @format: see query_connection_dump()
 * @options: (nullable): see query_connection_dump()
 * @progress: (scope notified) (nullable) (closure progress_data) (destroy progress_destroy): called with the progress, as @callback
 * is
 * @progress_data: for @progress
 * @progress_destroy: frees @progress_data after the last report
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_dump().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_dump_async(QueryConnection *self, int fd, const char *format, GVariant *options, QueryProgressFunc progress,
                                 gpointer progress_data, GDestroyNotify progress_destroy, GCancellable *cancellable,
                                 GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_connection_dump_finish:
 * @self: a connection
 * @result: what the callback was given
 * @n_quads: (out) (optional): quads written
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_dump_finish(QueryConnection *self, GAsyncResult *result, guint64 *n_quads, GError **error);

/**
 * query_connection_export_async:
 * @self: a connection
 * @language: the language of @text
 * @text: one statement that reads
 * @format: see query_connection_export()
 * @fd: see query_connection_export(); duplicated
 * @options: (nullable): see query_connection_export()
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_export().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_export_async(QueryConnection *self, QueryLanguage language, const char *text, const char *format, int fd,
                                   GVariant *options, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_connection_export_finish:
 * @self: a connection
 * @result: what the callback was given
 * @n_rows: (out) (optional): rows written
 * @n_bytes: (out) (optional): bytes written
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_export_finish(QueryConnection *self, GAsyncResult *result, guint64 *n_rows, guint64 *n_bytes,
                                        GError **error);

/**
 * query_connection_backup_async:
 * @self: a connection
 * @fd: see query_connection_backup(); duplicated
 * @progress: (scope notified) (nullable) (closure progress_data) (destroy progress_destroy): called with the progress, as @callback
 * is
 * @progress_data: for @progress
 * @progress_destroy: frees @progress_data after the last report
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_backup().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_backup_async(QueryConnection *self, int fd, QueryProgressFunc progress, gpointer progress_data,
                                   GDestroyNotify progress_destroy, GCancellable *cancellable, GAsyncReadyCallback callback,
                                   gpointer user_data);

/**
 * query_connection_backup_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_backup_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_connection_restore_async:
 * @self: a connection
 * @fd: see query_connection_restore(); duplicated
 * @check_only: only look whether it could be restored
 * @progress: (scope notified) (nullable) (closure progress_data) (destroy progress_destroy): called with the progress, as @callback
 * is
 * @progress_data: for @progress
 * @progress_destroy: frees @progress_data after the last report
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_restore_full().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_restore_async(QueryConnection *self, int fd, gboolean check_only, QueryProgressFunc progress,
                                    gpointer progress_data, GDestroyNotify progress_destroy, GCancellable *cancellable,
                                    GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_connection_restore_finish:
 * @self: a connection
 * @result: what the callback was given
 * @messages: (out) (optional) (array zero-terminated=1) (transfer full): see query_connection_restore_full()
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_restore_finish(QueryConnection *self, GAsyncResult *result, char ***messages, GError **error);

/**
 * query_connection_check_async:
 * @self: a connection
 * @quick: leave out what takes long
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_check().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_check_async(QueryConnection *self, gboolean quick, GCancellable *cancellable, GAsyncReadyCallback callback,
                                  gpointer user_data);

/**
 * query_connection_check_finish:
 * @self: a connection
 * @result: what the callback was given
 * @messages: (out) (optional) (array zero-terminated=1) (transfer full): see query_connection_check()
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_check_finish(QueryConnection *self, GAsyncResult *result, char ***messages, GError **error);

/**
 * query_connection_optimize_async:
 * @self: a connection
 * @warm: see query_connection_optimize()
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_optimize().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_optimize_async(QueryConnection *self, gboolean warm, GCancellable *cancellable, GAsyncReadyCallback callback,
                                     gpointer user_data);

/**
 * query_connection_optimize_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_optimize_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_connection_reload_async:
 * @self: a connection
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_reload().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_reload_async(QueryConnection *self, GCancellable *cancellable, GAsyncReadyCallback callback,
                                   gpointer user_data);

/**
 * query_connection_reload_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_reload_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_connection_set_full_text_async:
 * @self: a connection
 * @options: see query_connection_set_full_text()
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_set_full_text().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_set_full_text_async(QueryConnection *self, GVariant *options, GCancellable *cancellable,
                                          GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_connection_set_full_text_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_set_full_text_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_connection_get_stats_async:
 * @self: a connection
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_get_stats().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_get_stats_async(QueryConnection *self, GCancellable *cancellable, GAsyncReadyCallback callback,
                                      gpointer user_data);

/**
 * query_connection_get_stats_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): see query_connection_get_stats(), %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
GVariant *query_connection_get_stats_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_connection_get_limits_async:
 * @self: a connection
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_get_limits().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_get_limits_async(QueryConnection *self, GCancellable *cancellable, GAsyncReadyCallback callback,
                                       gpointer user_data);

/**
 * query_connection_get_limits_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): see query_connection_get_limits(), %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
GVariant *query_connection_get_limits_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_connection_list_queries_async:
 * @self: a connection
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_list_queries().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_list_queries_async(QueryConnection *self, GCancellable *cancellable, GAsyncReadyCallback callback,
                                         gpointer user_data);

/**
 * query_connection_list_queries_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): see query_connection_list_queries(), %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
GVariant *query_connection_list_queries_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_connection_cancel_query_async:
 * @self: a connection
 * @id: of query_connection_list_queries()
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_cancel_query().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_cancel_query_async(QueryConnection *self, guint64 id, GCancellable *cancellable, GAsyncReadyCallback callback,
                                         gpointer user_data);

/**
 * query_connection_cancel_query_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_cancel_query_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_connection_get_daemon_property_async:
 * @self: a connection
 * @name: a property of org.queryd.Query1
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_get_daemon_property().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_get_daemon_property_async(QueryConnection *self, const char *name, GCancellable *cancellable,
                                                GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_connection_get_daemon_property_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): see query_connection_get_daemon_property(), %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
GVariant *query_connection_get_daemon_property_finish(QueryConnection *self, GAsyncResult *result, GError **error);

G_END_DECLS

#ifndef __GI_SCANNER__
#pragma GCC visibility pop
#endif
