/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Payloads: contents that have an id of their own in the store, small ones in rows, large ones in files.
 *
 * Part of query-client.h. In SQL they are queryd_payload(id), queryd_store_payload(blob), queryd_replace_payload(id, blob) and
 * queryd_delete_payload(id), in the transaction of the application's own rows. The table queryd_payload lists them.
 *
 * Options a{sv}, a floating one is consumed: media_type s (the type of the content), timeout_ms u, and durability s: "full" or
 * "relaxed". Without durability it is as query_connection_set_durability() says. Content that the caller has in memory goes by
 * the channel, as a file beside the store's, or through shared memory, whichever is faster.
 */
#pragma once

#include "query-client.h"

#ifndef __GI_SCANNER__
#pragma GCC visibility push(default)
#endif

G_BEGIN_DECLS

/**
 * query_connection_store_payload:
 * @self: a connection
 * @content: the content
 * @options: (nullable): a{sv}: media_type s, durability s, timeout_ms u
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Stores a payload. It is durable when this returns.
 *
 * Errors: TOO_BIG, DISK_FULL. After DISCONNECTED or cancellation it is not known whether it was stored.
 *
 * Returns: its id, from 1 on and never used again; -1 on error
 */
QUERY_AVAILABLE_IN_0_1
gint64 query_connection_store_payload(QueryConnection *self, GBytes *content, GVariant *options, GCancellable *cancellable,
                                      GError **error);

/**
 * query_connection_store_payload_async:
 * @self: a connection
 * @content: the content
 * @options: (nullable): see query_connection_store_payload()
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_store_payload().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_store_payload_async(QueryConnection *self, GBytes *content, GVariant *options, GCancellable *cancellable,
                                          GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_connection_store_payload_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: the id, -1 on error
 */
QUERY_AVAILABLE_IN_0_1
gint64 query_connection_store_payload_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_connection_store_payload_from_fd:
 * @self: a connection
 * @fd: borrowed; a file is read from its start, a pipe or socket to its end
 * @options: (nullable): see query_connection_store_payload()
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * The daemon reads the content from the descriptor.
 *
 * Returns: the id, -1 on error
 */
QUERY_AVAILABLE_IN_0_1
gint64 query_connection_store_payload_from_fd(QueryConnection *self, int fd, GVariant *options, GCancellable *cancellable,
                                              GError **error);

/**
 * query_connection_store_payload_from_fd_async:
 * @self: a connection
 * @fd: see query_connection_store_payload_from_fd(); a duplicate of it is used
 * @options: (nullable): see query_connection_store_payload()
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_store_payload_from_fd().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_store_payload_from_fd_async(QueryConnection *self, int fd, GVariant *options, GCancellable *cancellable,
                                                  GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_connection_store_payload_from_fd_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: the id, -1 on error
 */
QUERY_AVAILABLE_IN_0_1
gint64 query_connection_store_payload_from_fd_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_connection_store_payload_from_stream:
 * @self: a connection
 * @stream: read to its end, and left open
 * @options: (nullable): see query_connection_store_payload()
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Stores the content of a stream.
 *
 * Returns: the id, -1 on error
 */
QUERY_AVAILABLE_IN_0_1
gint64 query_connection_store_payload_from_stream(QueryConnection *self, GInputStream *stream, GVariant *options,
                                                  GCancellable *cancellable, GError **error);

/**
 * query_connection_store_payload_from_stream_async:
 * @self: a connection
 * @stream: see query_connection_store_payload_from_stream(); until the end it is not the caller's
 * @options: (nullable): see query_connection_store_payload()
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_store_payload_from_stream().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_store_payload_from_stream_async(QueryConnection *self, GInputStream *stream, GVariant *options,
                                                      GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_connection_store_payload_from_stream_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: the id, -1 on error
 */
QUERY_AVAILABLE_IN_0_1
gint64 query_connection_store_payload_from_stream_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_connection_replace_payload:
 * @self: a connection
 * @id: of a payload
 * @content: the new content
 * @options: (nullable): see query_connection_store_payload(); without a media_type it stays as it was
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Gives a payload other content. Descriptors that were opened before keep the old content.
 *
 * Errors: BAD_PARAMETER when there is no such payload.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_replace_payload(QueryConnection *self, gint64 id, GBytes *content, GVariant *options,
                                          GCancellable *cancellable, GError **error);

/**
 * query_connection_replace_payload_async:
 * @self: a connection
 * @id: of a payload
 * @content: the new content
 * @options: (nullable): see query_connection_replace_payload()
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_replace_payload().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_replace_payload_async(QueryConnection *self, gint64 id, GBytes *content, GVariant *options,
                                            GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_connection_replace_payload_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_replace_payload_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_connection_replace_payload_from_fd:
 * @self: a connection
 * @id: of a payload
 * @fd: see query_connection_store_payload_from_fd()
 * @options: (nullable): see query_connection_replace_payload()
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_replace_payload_from_fd(QueryConnection *self, gint64 id, int fd, GVariant *options,
                                                  GCancellable *cancellable, GError **error);

/**
 * query_connection_replace_payload_from_fd_async:
 * @self: a connection
 * @id: of a payload
 * @fd: see query_connection_store_payload_from_fd_async()
 * @options: (nullable): see query_connection_replace_payload()
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_replace_payload_from_fd().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_replace_payload_from_fd_async(QueryConnection *self, gint64 id, int fd, GVariant *options,
                                                    GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_connection_replace_payload_from_fd_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_replace_payload_from_fd_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_connection_replace_payload_from_stream:
 * @self: a connection
 * @id: of a payload
 * @stream: read to its end, and left open
 * @options: (nullable): see query_connection_replace_payload()
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_replace_payload_from_stream(QueryConnection *self, gint64 id, GInputStream *stream, GVariant *options,
                                                      GCancellable *cancellable, GError **error);

/**
 * query_connection_replace_payload_from_stream_async:
 * @self: a connection
 * @id: of a payload
 * @stream: see query_connection_store_payload_from_stream_async()
 * @options: (nullable): see query_connection_replace_payload()
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_replace_payload_from_stream().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_replace_payload_from_stream_async(QueryConnection *self, gint64 id, GInputStream *stream, GVariant *options,
                                                        GCancellable *cancellable, GAsyncReadyCallback callback,
                                                        gpointer user_data);

/**
 * query_connection_replace_payload_from_stream_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_replace_payload_from_stream_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_connection_delete_payload:
 * @self: a connection
 * @id: of a payload
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Deletes a payload. Descriptors that were opened before keep the content.
 *
 * Errors: BAD_PARAMETER when there is no such payload.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_delete_payload(QueryConnection *self, gint64 id, GCancellable *cancellable, GError **error);

/**
 * query_connection_delete_payload_async:
 * @self: a connection
 * @id: of a payload
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_delete_payload().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_delete_payload_async(QueryConnection *self, gint64 id, GCancellable *cancellable,
                                           GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_connection_delete_payload_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_delete_payload_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_connection_load_payload:
 * @self: a connection, also a direct one
 * @id: of a payload
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Reads a payload. A large one is mapped from its file and not copied.
 *
 * Errors: BAD_PARAMETER when there is no such payload, CORRUPT when its file is missing or damaged.
 *
 * Returns: (transfer full): the content, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
GBytes *query_connection_load_payload(QueryConnection *self, gint64 id, GCancellable *cancellable, GError **error);

/**
 * query_connection_load_payload_async:
 * @self: a connection, also a direct one
 * @id: of a payload
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_load_payload().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_load_payload_async(QueryConnection *self, gint64 id, GCancellable *cancellable, GAsyncReadyCallback callback,
                                         gpointer user_data);

/**
 * query_connection_load_payload_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): the content, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
GBytes *query_connection_load_payload_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_connection_load_payloads:
 * @self: a connection, also a direct one
 * @ids: (array length=n_ids): of payloads
 * @n_ids: how many
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * As query_connection_load_payload(), for many in few calls.
 *
 * Returns: (transfer container) (element-type GBytes): the contents in the order of the ids, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
GPtrArray *query_connection_load_payloads(QueryConnection *self, const gint64 *ids, gsize n_ids, GCancellable *cancellable,
                                          GError **error);

/**
 * query_connection_load_payloads_async:
 * @self: a connection
 * @ids: (array length=n_ids): of payloads
 * @n_ids: how many
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_load_payloads().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_load_payloads_async(QueryConnection *self, const gint64 *ids, gsize n_ids, GCancellable *cancellable,
                                          GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_connection_load_payloads_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer container) (element-type GBytes): the contents in the order of the ids, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
GPtrArray *query_connection_load_payloads_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_connection_open_payload:
 * @self: a connection
 * @id: of a payload
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Opens a payload for reading or mapping; its content never changes.
 *
 * Returns: a descriptor, which the caller closes; -1 on error
 */
QUERY_AVAILABLE_IN_0_1
int query_connection_open_payload(QueryConnection *self, gint64 id, GCancellable *cancellable, GError **error);

/**
 * query_connection_open_payload_async:
 * @self: a connection
 * @id: of a payload
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_open_payload().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_open_payload_async(QueryConnection *self, gint64 id, GCancellable *cancellable, GAsyncReadyCallback callback,
                                         gpointer user_data);

/**
 * query_connection_open_payload_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: a descriptor, which the caller closes; -1 on error
 */
QUERY_AVAILABLE_IN_0_1
int query_connection_open_payload_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_connection_read_payload:
 * @self: a connection
 * @id: of a payload
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Opens a payload as a stream.
 *
 * Returns: (transfer full): a stream, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
GInputStream *query_connection_read_payload(QueryConnection *self, gint64 id, GCancellable *cancellable, GError **error);

/**
 * query_connection_read_payload_async:
 * @self: a connection
 * @id: of a payload
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_read_payload().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_read_payload_async(QueryConnection *self, gint64 id, GCancellable *cancellable, GAsyncReadyCallback callback,
                                         gpointer user_data);

/**
 * query_connection_read_payload_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): a stream, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
GInputStream *query_connection_read_payload_finish(QueryConnection *self, GAsyncResult *result, GError **error);

G_END_DECLS

#ifndef __GI_SCANNER__
#pragma GCC visibility pop
#endif
