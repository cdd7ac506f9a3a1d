/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QueryNotifier: which tables and graphs commits have changed.
 *
 * Part of query-client.h. For the result of one query see QuerySubscription.
 */
#pragma once

#include "query-client.h"

#ifndef __GI_SCANNER__
#pragma GCC visibility push(default)
#endif

G_BEGIN_DECLS

/**
 * QueryNotifier:
 *
 * Emits #QueryNotifier::changed for commits by any client, until it is finalized. The signal is emitted in the thread-default
 * main context of the caller that created the notifier. It comes at once after a quiet time, then at least 40 ms apart.
 */
#define QUERY_TYPE_NOTIFIER (query_notifier_get_type())
G_DECLARE_FINAL_TYPE(QueryNotifier, query_notifier, QUERY, NOTIFIER, GObject)

/**
 * query_connection_create_notifier:
 * @self: a connection
 * @tables: (nullable) (array zero-terminated=1): only commits that change one of these tables
 * @graphs: (nullable) (array zero-terminated=1): or one of these graphs: IRIs, "" is the default graph
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * With neither @tables nor @graphs all commits are reported. No commit after the return of this function is missed.
 *
 * Errors: UNAVAILABLE, UNSUPPORTED on a direct connection.
 *
 * Returns: (transfer full): a notifier, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryNotifier *query_connection_create_notifier(QueryConnection *self, const char *const *tables, const char *const *graphs,
                                                GCancellable *cancellable, GError **error);

/**
 * query_connection_create_notifier_async:
 * @self: a connection
 * @tables: (nullable) (array zero-terminated=1): only commits that change one of these tables
 * @graphs: (nullable) (array zero-terminated=1): or one of these graphs
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_create_notifier().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_create_notifier_async(QueryConnection *self, const char *const *tables, const char *const *graphs,
                                            GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_connection_create_notifier_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): a notifier, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryNotifier *query_connection_create_notifier_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_notifier_get_generation:
 * @self: a notifier
 * Returns: what query_notifier_set_generation() has set
 */
QUERY_AVAILABLE_IN_0_1
guint64 query_notifier_get_generation(QueryNotifier *self);

/**
 * query_notifier_set_generation:
 * @self: a notifier
 * @generation: of what the application holds: query_cursor_get_generation() at the end of a result, or that of an update of its own
 *
 * Changes up to this generation are not reported.
 */
QUERY_AVAILABLE_IN_0_1
void query_notifier_set_generation(QueryNotifier *self, guint64 generation);

G_END_DECLS

#ifndef __GI_SCANNER__
#pragma GCC visibility pop
#endif
