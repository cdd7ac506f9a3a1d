/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Further stores: databases beside the default one, each with a daemon of its own that the bus starts by name.
 *
 * Part of query-client.h. Connections to them: query_connection_new_for_store().
 */
#pragma once

#include "query-client.h"

#ifndef __GI_SCANNER__
#pragma GCC visibility push(default)
#endif

G_BEGIN_DECLS

/**
 * query_store_is_name:
 * @name: (nullable): a text
 *
 * Whether a further store can have this name: letters, digits and "_", at most 64, not a digit first, not "default". Or "app." and
 * the id of an application, whose store it is when it runs in a sandbox.
 *
 * Returns: whether it can
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_store_is_name(const char *name);

/**
 * query_store_create:
 * @name: of the new store
 * @ret_is_known: (out) (optional): whether the bus knows it already; else it does at the next login, if it reads the user's
 * services
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Makes a store of this user: a file by which the bus starts its daemon. The database comes into being with the first call. A
 * package that ships a store installs such a file instead.
 *
 * Errors: BAD_PARAMETER for a name that no store can have; %G_FILE_ERROR_EXIST if there is one, and others of #GFileError.
 *
 * Returns: TRUE on success
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_store_create(const char *name, gboolean *ret_is_known, GCancellable *cancellable, GError **error);

/**
 * query_store_create_async:
 * @name: of the new store
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_store_create().
 */
QUERY_AVAILABLE_IN_0_1
void query_store_create_async(const char *name, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_store_create_finish:
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: TRUE on success
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_store_create_finish(GAsyncResult *result, GError **error);

/**
 * query_store_list:
 *
 * The stores that were made for this user. Those of packages, and the default one, are not among them. It reads one folder.
 *
 * Returns: (transfer full) (array zero-terminated=1): the names, in order
 */
QUERY_AVAILABLE_IN_0_1
char **query_store_list(void);

/**
 * query_store_get_folder:
 * @name: (nullable): of a store; %NULL is the default one
 *
 * Returns: (transfer full) (type filename): where its database lies, or would
 */
QUERY_AVAILABLE_IN_0_1
char *query_store_get_folder(const char *name);

/**
 * query_store_remove:
 * @name: of the store
 * @deletes_data: delete its database and payloads, too
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * The bus does not start its daemon any more, and a running one ends with all that it has acknowledged on the disk. Without
 * @deletes_data the folder stays. A store of the same name that is made later finds it.
 *
 * Errors: BAD_PARAMETER for a name that no store can have; %G_FILE_ERROR_NOENT if there is none, and others of #GFileError.
 *
 * Returns: TRUE on success
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_store_remove(const char *name, gboolean deletes_data, GCancellable *cancellable, GError **error);

/**
 * query_store_remove_async:
 * @name: of the store
 * @deletes_data: delete its database and payloads, too
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_store_remove().
 */
QUERY_AVAILABLE_IN_0_1
void query_store_remove_async(const char *name, gboolean deletes_data, GCancellable *cancellable, GAsyncReadyCallback callback,
                              gpointer user_data);

/**
 * query_store_remove_finish:
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: TRUE on success
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_store_remove_finish(GAsyncResult *result, GError **error);

G_END_DECLS

#ifndef __GI_SCANNER__
#pragma GCC visibility pop
#endif
