/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A query for a program that answers others, queryd-http.
 *
 * Place: internal to libquery-client and to programs of the same build; no interface for others.
 */
#pragma once

#include "client-lib/query-connection.h"

#pragma GCC visibility push(default) /* as query-client.map says */
/**
 * query_connection_try_query:
 * @self: a connection
 * @language: the language of @text
 * @text: one statement that reads
 * @parameters: (nullable): a{sv}, see query_connection_query()
 * @cancellable: (nullable): a #GCancellable, for a result that is not there at once
 * @callback: called later, unless the function returns a cursor or sets @error
 * @user_data: for @callback and @meanwhile
 * @meanwhile: (nullable): called when the request has been sent, before the wait: for work that the answer does not need at once
 * @error: (nullable): location for an error; not set when @callback will be called
 *
 * As query_connection_query_async(), for a program that answers others. It waits awake for a moment, 50 to 200 µs, as long as that
 * has paid. A result that comes within it needs no task and no turn of the main loop. query_cursor_steal_fd() may give -1 for it.
 *
 * Returns: (transfer full) (nullable): a cursor before the first row; %NULL on error, and when @callback will be called, which gets
 *   the result by query_connection_query_finish()
 */
QueryCursor *query_connection_try_query(QueryConnection *self, QueryLanguage language, const char *text, GVariant *parameters,
                                        GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data,
                                        void (*meanwhile)(gpointer user_data), GError **error);
#pragma GCC visibility pop
