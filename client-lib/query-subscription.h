/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QuerySubscription: a query whose result is watched.
 *
 * Part of query-client.h. For tables and graphs as a whole see QueryNotifier.
 */
#pragma once

#include "query-client.h"

#ifndef __GI_SCANNER__
#pragma GCC visibility push(default)
#endif

G_BEGIN_DECLS

/**
 * QuerySubscription:
 *
 * Emits #QuerySubscription::stale when the result of a query may have changed, until it is finalized. The signal is emitted in
 * the thread-default main context of the caller that created the subscription. It comes at once after a quiet time, then at
 * least 40 ms apart. It does not run the query. When the daemon was restarted, it subscribes again and emits the signal once.
 */
#define QUERY_TYPE_SUBSCRIPTION (query_subscription_get_type())
G_DECLARE_FINAL_TYPE(QuerySubscription, query_subscription, QUERY, SUBSCRIPTION, GObject)

/**
 * query_connection_subscribe:
 * @self: a connection
 * @language: the language of @text
 * @text: one statement that reads
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Watches the result of a query. If the query is run after this function has returned, no change is missed.
 *
 * Errors: those of the statement, LIMIT_EXCEEDED, UNSUPPORTED on a direct connection.
 *
 * Returns: (transfer full): a subscription, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QuerySubscription *query_connection_subscribe(QueryConnection *self, QueryLanguage language, const char *text,
                                              GCancellable *cancellable, GError **error);

/**
 * query_connection_subscribe_async:
 * @self: a connection
 * @language: the language of @text
 * @text: one statement that reads
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_subscribe().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_subscribe_async(QueryConnection *self, QueryLanguage language, const char *text, GCancellable *cancellable,
                                      GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_connection_subscribe_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): a subscription, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QuerySubscription *query_connection_subscribe_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_connection_subscribe_with_keys:
 * @self: a connection
 * @text: one SQL statement that reads
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * As query_connection_subscribe() for SQL. Before #QuerySubscription::stale the subscription emits
 * #QuerySubscription::rows-changed. That names the changed rows of the tables that the query reads, by their keys. While there is
 * such a subscription, writers note the rows that they change. SPARQL has no keys: a row of its results is no subject of a triple.
 *
 * Returns: (transfer full): a subscription, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QuerySubscription *query_connection_subscribe_with_keys(QueryConnection *self, const char *text, GCancellable *cancellable,
                                                        GError **error);

/**
 * query_connection_subscribe_with_keys_async:
 * @self: a connection
 * @text: one SQL statement that reads
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_subscribe_with_keys().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_subscribe_with_keys_async(QueryConnection *self, const char *text, GCancellable *cancellable,
                                                GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_connection_subscribe_with_keys_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): a subscription, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QuerySubscription *query_connection_subscribe_with_keys_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_subscription_get_generation:
 * @self: a subscription
 * Returns: what query_subscription_set_generation() has set; before, the generation of the database when it was made
 */
QUERY_AVAILABLE_IN_0_1
guint64 query_subscription_get_generation(QuerySubscription *self);

/**
 * query_subscription_set_generation:
 * @self: a subscription
 * @generation: of the result that the application holds: query_cursor_get_generation() at its end
 *
 * Changes up to this generation are in the result and are not reported.
 */
QUERY_AVAILABLE_IN_0_1
void query_subscription_set_generation(QuerySubscription *self, guint64 generation);

/**
 * query_subscription_is_stale:
 * @self: a subscription
 * Returns: whether a change is known that is later than the result of query_subscription_set_generation()
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_subscription_is_stale(QuerySubscription *self);

G_END_DECLS

#ifndef __GI_SCANNER__
#pragma GCC visibility pop
#endif
