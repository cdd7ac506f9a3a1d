/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Connections are made: to a daemon, to a database file, to an endpoint.
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
 * query_connection_new:
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Connects to the queryd of this session and starts it when it does not run.
 *
 * Errors: UNAVAILABLE, also when it does not start within five seconds; PROTOCOL if it speaks an incompatible protocol version.
 *
 * Returns: (transfer full): a new connection, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryConnection *query_connection_new(GCancellable *cancellable, GError **error);

/**
 * query_connection_new_async:
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_new().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_new_async(GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_connection_new_finish:
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): a new connection, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryConnection *query_connection_new_finish(GAsyncResult *result, GError **error);

/**
 * query_connection_new_for_store:
 * @store: (nullable): name of a store; %NULL is the default one
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * As query_connection_new(), for the queryd of a named store ("queryd@NAME").
 *
 * Errors: also BAD_PARAMETER for a name that no store can have.
 *
 * Returns: (transfer full): a new connection, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryConnection *query_connection_new_for_store(const char *store, GCancellable *cancellable, GError **error);

/**
 * query_connection_new_for_store_async:
 * @store: (nullable): name of a store; %NULL is the default one
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_new_for_store().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_new_for_store_async(const char *store, GCancellable *cancellable, GAsyncReadyCallback callback,
                                          gpointer user_data);

/**
 * query_connection_new_for_store_finish:
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): a new connection, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryConnection *query_connection_new_for_store_finish(GAsyncResult *result, GError **error);

/**
 * query_connection_new_direct:
 * @path: (nullable) (type filename): the database file; %NULL is that of the default store
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Reads the database file in this process, without the daemon. SQL and SPARQL queries have a snapshot of their own each, and
 * the statements, values, limits and errors of the daemon. Updates fail with READ_ONLY, what only a daemon can do with
 * UNSUPPORTED. The next execution sees later commits, also those that change tables. Generations are not known: 0. A result
 * ends after 5 minutes.
 *
 * The first of a process loads the module libquery-client-direct.so, and SQLite with it.
 *
 * Errors: UNAVAILABLE when this process cannot open the file, as in a sandbox, or the module is not installed. Use
 * query_connection_new() then. CORRUPT when the file is no database. UNSUPPORTED when a newer queryd wrote it, or it is on a
 * network file system.
 *
 * Returns: (transfer full): a new connection, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryConnection *query_connection_new_direct(const char *path, GCancellable *cancellable, GError **error);

/**
 * query_connection_new_direct_async:
 * @path: (nullable) (type filename): the database file; %NULL is that of the default store
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_new_direct().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_new_direct_async(const char *path, GCancellable *cancellable, GAsyncReadyCallback callback,
                                       gpointer user_data);

/**
 * query_connection_new_direct_finish:
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): a new connection, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryConnection *query_connection_new_direct_finish(GAsyncResult *result, GError **error);

/**
 * query_connection_new_remote:
 * @url: of a SPARQL 1.1 endpoint, http or https, without user and password
 * @options: (nullable): a{sv}, see below; a floating one is consumed
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Queries and updates another store by the SPARQL 1.1 Protocol. SPARQL queries give the same cursors, with rows that are read
 * while they arrive. Parameters become terms of the text. What a protocol of single requests cannot do fails with UNSUPPORTED:
 * SQL, transactions, batches, payloads, subscriptions, jobs. Generations, and how much an update has changed, are not known: 0.
 * The deadline counts the time in which the caller waits; by default there is none.
 *
 * Options: "update_url" s, where updates go (default: @url). "token" s, or "token_file" s with one (Bearer). "user" s and
 * "password" s, or "netrc" s, a file with them (Basic). "ca_file" s: certificates to trust. "format" s: the results that are
 * asked for, "json", "tsv" or "xml" (default: what the server has). "row_bytes" t: the size of the largest row.
 * "plain_credentials" b: send credentials over http to other machines, too.
 *
 * Nothing is sent before the first query. The first of a process loads the module libquery-client-remote.so, and libsoup with it.
 *
 * Errors: BAD_PARAMETER for a URL or an option that is not valid. ACCESS_DENIED for a file of credentials that others may read.
 * UNAVAILABLE when the module is not installed.
 *
 * Returns: (transfer full): a new connection, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryConnection *query_connection_new_remote(const char *url, GVariant *options, GCancellable *cancellable, GError **error);

/**
 * query_connection_new_remote_async:
 * @url: of a SPARQL 1.1 endpoint
 * @options: (nullable): a{sv}, see query_connection_new_remote()
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_new_remote().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_new_remote_async(const char *url, GVariant *options, GCancellable *cancellable, GAsyncReadyCallback callback,
                                       gpointer user_data);

/**
 * query_connection_new_remote_finish:
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): a new connection, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryConnection *query_connection_new_remote_finish(GAsyncResult *result, GError **error);

G_END_DECLS

#ifndef __GI_SCANNER__
#pragma GCC visibility pop
#endif
