/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QueryTransaction: several queries and updates as one, with the application's own code between them.
 *
 * Part of query-client.h. For updates that are known in advance a QueryBatch does the same in one message.
 */
#pragma once

#include "query-client.h"

#ifndef __GI_SCANNER__
#pragma GCC visibility push(default)
#endif

G_BEGIN_DECLS

/**
 * QueryTransaction:
 *
 * Its queries see what its updates have written; other clients see it after the commit. No other client can write while it is
 * open, so its time is limited. By default it has 5 s between two calls and 30 s in all. Then the daemon rolls it back. An
 * update that fails is undone alone, and the transaction goes on. When the transaction has ended, each call fails with the
 * reason. Dropping the last reference rolls back. It belongs to one thread at a time, and has one call under way at a time. The
 * next call closes the open cursor, but see query_transaction_set_keeps_cursors().
 */
#define QUERY_TYPE_TRANSACTION (query_transaction_get_type())
G_DECLARE_FINAL_TYPE(QueryTransaction, query_transaction, QUERY, TRANSACTION, GObject)

/**
 * query_connection_begin:
 * @self: a connection
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Opens a transaction. It waits for the updates and transactions before it.
 *
 * Errors: BUSY, TIMEOUT when it has to wait for too long; READ_ONLY, ACCESS_DENIED.
 *
 * Returns: (transfer full): a transaction, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryTransaction *query_connection_begin(QueryConnection *self, GCancellable *cancellable, GError **error);

/**
 * query_connection_begin_async:
 * @self: a connection
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_begin().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_begin_async(QueryConnection *self, GCancellable *cancellable, GAsyncReadyCallback callback,
                                  gpointer user_data);

/**
 * query_connection_begin_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): a transaction, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryTransaction *query_connection_begin_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_transaction_query:
 * @self: a transaction
 * @language: the language of @text
 * @text: one statement that reads
 * @parameters: (nullable): a{sv}, see query_connection_query()
 * @cancellable: (nullable): a #GCancellable; cancelling ends the transaction
 * @error: (nullable): location for an error
 *
 * Runs a query in the transaction. The cursor of an earlier one that is still open is closed, but see
 * query_transaction_set_keeps_cursors().
 *
 * Returns: (transfer full): a cursor before the first row, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryCursor *query_transaction_query(QueryTransaction *self, QueryLanguage language, const char *text, GVariant *parameters,
                                     GCancellable *cancellable, GError **error);

/**
 * query_transaction_query_async:
 * @self: a transaction
 * @language: the language of @text
 * @text: one statement that reads
 * @parameters: (nullable): a{sv}, see query_connection_query()
 * @cancellable: (nullable): a #GCancellable; cancelling ends the transaction
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_transaction_query().
 */
QUERY_AVAILABLE_IN_0_1
void query_transaction_query_async(QueryTransaction *self, QueryLanguage language, const char *text, GVariant *parameters,
                                   GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_transaction_query_finish:
 * @self: a transaction
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): a cursor before the first row, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryCursor *query_transaction_query_finish(QueryTransaction *self, GAsyncResult *result, GError **error);

/**
 * query_transaction_update:
 * @self: a transaction
 * @language: the language of @text
 * @text: one statement that writes
 * @parameters: (nullable): a{sv}, see query_connection_query()
 * @cancellable: (nullable): a #GCancellable; cancelling ends the transaction
 * @error: (nullable): location for an error
 *
 * Executes an update in the transaction. With the same @text again it costs one message. An update that meets its deadline rolls
 * back the whole transaction.
 *
 * Returns: the number of changed rows, -1 on error
 */
QUERY_AVAILABLE_IN_0_1
gint64 query_transaction_update(QueryTransaction *self, QueryLanguage language, const char *text, GVariant *parameters,
                                GCancellable *cancellable, GError **error);

/**
 * query_transaction_update_async:
 * @self: a transaction
 * @language: the language of @text
 * @text: one statement that writes
 * @parameters: (nullable): a{sv}, see query_connection_query()
 * @cancellable: (nullable): a #GCancellable; cancelling ends the transaction
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_transaction_update().
 */
QUERY_AVAILABLE_IN_0_1
void query_transaction_update_async(QueryTransaction *self, QueryLanguage language, const char *text, GVariant *parameters,
                                    GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_transaction_update_finish:
 * @self: a transaction
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: the number of changed rows, -1 on error
 */
QUERY_AVAILABLE_IN_0_1
gint64 query_transaction_update_finish(QueryTransaction *self, GAsyncResult *result, GError **error);

/**
 * query_transaction_update_returning:
 * @self: a transaction
 * @language: the language of @text
 * @text: one statement that writes
 * @parameters: (nullable): a{sv}, see query_connection_query()
 * @cancellable: (nullable): a #GCancellable; cancelling ends the transaction
 * @error: (nullable): location for an error
 *
 * Executes an update in the transaction, and reads the rows of its RETURNING. The update is done when the cursor is at its end,
 * which may be an error. Closing the cursor before, and the next call of the transaction, read the rest. At its end the cursor has
 * the number of changed rows.
 *
 * Returns: (transfer full): a cursor before the first row, without columns when the statement has no RETURNING; %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryCursor *query_transaction_update_returning(QueryTransaction *self, QueryLanguage language, const char *text,
                                                GVariant *parameters, GCancellable *cancellable, GError **error);

/**
 * query_transaction_update_returning_async:
 * @self: a transaction
 * @language: the language of @text
 * @text: one statement that writes
 * @parameters: (nullable): a{sv}, see query_connection_query()
 * @cancellable: (nullable): a #GCancellable; cancelling ends the transaction
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_transaction_update_returning().
 */
QUERY_AVAILABLE_IN_0_1
void query_transaction_update_returning_async(QueryTransaction *self, QueryLanguage language, const char *text,
                                              GVariant *parameters, GCancellable *cancellable, GAsyncReadyCallback callback,
                                              gpointer user_data);

/**
 * query_transaction_update_returning_finish:
 * @self: a transaction
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): a cursor before the first row, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryCursor *query_transaction_update_returning_finish(QueryTransaction *self, GAsyncResult *result, GError **error);

/**
 * query_transaction_prepare:
 * @self: a transaction
 * @language: the language of @text
 * @text: one statement that reads
 * @cancellable: (nullable): a #GCancellable; cancelling ends the transaction
 * @error: (nullable): location for an error
 *
 * Prepares a query that may name tables which the transaction has made. query_transaction_execute() runs it in a transaction of
 * the same connection, query_statement_execute() outside of all.
 *
 * Returns: (transfer full): a statement, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryStatement *query_transaction_prepare(QueryTransaction *self, QueryLanguage language, const char *text,
                                          GCancellable *cancellable, GError **error);

/**
 * query_transaction_prepare_async:
 * @self: a transaction
 * @language: the language of @text
 * @text: one statement that reads
 * @cancellable: (nullable): a #GCancellable; cancelling ends the transaction
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_transaction_prepare().
 */
QUERY_AVAILABLE_IN_0_1
void query_transaction_prepare_async(QueryTransaction *self, QueryLanguage language, const char *text, GCancellable *cancellable,
                                     GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_transaction_prepare_finish:
 * @self: a transaction
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): a statement, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryStatement *query_transaction_prepare_finish(QueryTransaction *self, GAsyncResult *result, GError **error);

/**
 * query_transaction_prepare_update:
 * @self: a transaction
 * @language: the language of @text
 * @text: one statement that writes
 * @cancellable: (nullable): a #GCancellable; cancelling ends the transaction
 * @error: (nullable): location for an error
 *
 * As query_transaction_prepare(), of an update.
 *
 * Returns: (transfer full): a statement, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryStatement *query_transaction_prepare_update(QueryTransaction *self, QueryLanguage language, const char *text,
                                                 GCancellable *cancellable, GError **error);

/**
 * query_transaction_prepare_update_async:
 * @self: a transaction
 * @language: the language of @text
 * @text: one statement that writes
 * @cancellable: (nullable): a #GCancellable; cancelling ends the transaction
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_transaction_prepare_update().
 */
QUERY_AVAILABLE_IN_0_1
void query_transaction_prepare_update_async(QueryTransaction *self, QueryLanguage language, const char *text,
                                            GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_transaction_prepare_update_finish:
 * @self: a transaction
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): a statement, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryStatement *query_transaction_prepare_update_finish(QueryTransaction *self, GAsyncResult *result, GError **error);

/**
 * query_transaction_execute:
 * @self: a transaction
 * @statement: a statement of the same connection, however it was prepared
 * @cancellable: (nullable): a #GCancellable; cancelling ends the transaction
 * @error: (nullable): location for an error
 *
 * Runs a statement in the transaction with the values that are bound now. After query_statement_add_row() an update runs once for
 * each row, all or none. An update is done when the cursor is at its end, see query_transaction_update_returning().
 *
 * Errors: BAD_PARAMETER for a parameter without a value, those of the statement.
 *
 * Returns: (transfer full): a cursor before the first row, without columns for an update without RETURNING; %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryCursor *query_transaction_execute(QueryTransaction *self, QueryStatement *statement, GCancellable *cancellable,
                                       GError **error);

/**
 * query_transaction_execute_async:
 * @self: a transaction
 * @statement: a statement of the same connection
 * @cancellable: (nullable): a #GCancellable; cancelling ends the transaction
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_transaction_execute(). Values bound after the call count for the next one.
 */
QUERY_AVAILABLE_IN_0_1
void query_transaction_execute_async(QueryTransaction *self, QueryStatement *statement, GCancellable *cancellable,
                                     GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_transaction_execute_finish:
 * @self: a transaction
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): a cursor before the first row, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryCursor *query_transaction_execute_finish(QueryTransaction *self, GAsyncResult *result, GError **error);

/**
 * query_transaction_savepoint:
 * @self: a transaction
 * @name: any text in UTF-8, quoted by the library; as in SQLite it may be in use already, and ASCII letters have no case
 * @cancellable: (nullable): a #GCancellable; cancelling ends the transaction
 * @error: (nullable): location for an error
 *
 * Makes a savepoint, to which query_transaction_rollback_to() goes back. Savepoints nest.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_transaction_savepoint(QueryTransaction *self, const char *name, GCancellable *cancellable, GError **error);

/**
 * query_transaction_release:
 * @self: a transaction
 * @name: the name of a savepoint, see query_transaction_savepoint()
 * @cancellable: (nullable): a #GCancellable; cancelling ends the transaction
 * @error: (nullable): location for an error
 *
 * Forgets the youngest savepoint of this name, and those made after it. What was written stays in the transaction.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_transaction_release(QueryTransaction *self, const char *name, GCancellable *cancellable, GError **error);

/**
 * query_transaction_rollback_to:
 * @self: a transaction
 * @name: the name of a savepoint, see query_transaction_savepoint()
 * @cancellable: (nullable): a #GCancellable; cancelling ends the transaction
 * @error: (nullable): location for an error
 *
 * Undoes what was written since the youngest savepoint of this name was made, and forgets those made after it. It stays itself.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_transaction_rollback_to(QueryTransaction *self, const char *name, GCancellable *cancellable, GError **error);

/**
 * query_transaction_savepoint_async:
 * @self: a transaction
 * @name: any text in UTF-8
 * @cancellable: (nullable): a #GCancellable; cancelling ends the transaction
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_transaction_savepoint().
 */
QUERY_AVAILABLE_IN_0_1
void query_transaction_savepoint_async(QueryTransaction *self, const char *name, GCancellable *cancellable,
                                       GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_transaction_savepoint_finish:
 * @self: a transaction
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_transaction_savepoint_finish(QueryTransaction *self, GAsyncResult *result, GError **error);

/**
 * query_transaction_release_async:
 * @self: a transaction
 * @name: the name of a savepoint
 * @cancellable: (nullable): a #GCancellable; cancelling ends the transaction
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_transaction_release().
 */
QUERY_AVAILABLE_IN_0_1
void query_transaction_release_async(QueryTransaction *self, const char *name, GCancellable *cancellable,
                                     GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_transaction_release_finish:
 * @self: a transaction
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_transaction_release_finish(QueryTransaction *self, GAsyncResult *result, GError **error);

/**
 * query_transaction_rollback_to_async:
 * @self: a transaction
 * @name: the name of a savepoint
 * @cancellable: (nullable): a #GCancellable; cancelling ends the transaction
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_transaction_rollback_to().
 */
QUERY_AVAILABLE_IN_0_1
void query_transaction_rollback_to_async(QueryTransaction *self, const char *name, GCancellable *cancellable,
                                         GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_transaction_rollback_to_finish:
 * @self: a transaction
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_transaction_rollback_to_finish(QueryTransaction *self, GAsyncResult *result, GError **error);

/**
 * query_transaction_commit:
 * @self: a transaction
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Makes all of it durable and visible, and ends the transaction.
 *
 * Errors: why nothing was kept. After DISCONNECTED that is not known. Cancelling: as query_connection_update().
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_transaction_commit(QueryTransaction *self, GCancellable *cancellable, GError **error);

/**
 * query_transaction_rollback:
 * @self: a transaction
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Undoes all of it, and ends the transaction. To drop it has the same effect.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_transaction_rollback(QueryTransaction *self, GCancellable *cancellable, GError **error);

/**
 * query_transaction_commit_async:
 * @self: a transaction
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_transaction_commit().
 */
QUERY_AVAILABLE_IN_0_1
void query_transaction_commit_async(QueryTransaction *self, GCancellable *cancellable, GAsyncReadyCallback callback,
                                    gpointer user_data);

/**
 * query_transaction_commit_finish:
 * @self: a transaction
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_transaction_commit_finish(QueryTransaction *self, GAsyncResult *result, GError **error);

/**
 * query_transaction_rollback_async:
 * @self: a transaction
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_transaction_rollback().
 */
QUERY_AVAILABLE_IN_0_1
void query_transaction_rollback_async(QueryTransaction *self, GCancellable *cancellable, GAsyncReadyCallback callback,
                                      gpointer user_data);

/**
 * query_transaction_rollback_finish:
 * @self: a transaction
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_transaction_rollback_finish(QueryTransaction *self, GAsyncResult *result, GError **error);

/**
 * query_transaction_set_keeps_cursors:
 * @self: a transaction
 * @keeps_cursors: whether a cursor stays open when the next call of the transaction comes
 *
 * By default the next call closes the cursor that is open. With %TRUE the call first reads the rest of its rows, as they are then,
 * and the cursor gives them afterwards. They are in memory, up to 16 MiB in the process, and then in a temporary file. That takes
 * as long as the query. A cursor stays open after the end of the transaction, too.
 */
QUERY_AVAILABLE_IN_0_1
void query_transaction_set_keeps_cursors(QueryTransaction *self, gboolean keeps_cursors);

/**
 * query_transaction_is_open:
 * @self: a transaction
 *
 * Whether it is open as far as its calls have shown. The daemon may have rolled it back since the last call, for example because
 * it was idle: the next call fails and says so. After such an error, or when the channel was lost, it is not open, and every call
 * fails. query_transaction_rollback() still succeeds after such an error. An older daemon does not report it: there it is open
 * until query_transaction_commit() or query_transaction_rollback().
 *
 * Returns: %FALSE after query_transaction_commit() or query_transaction_rollback(), after an error that has ended it, and when its
 *     channel was lost
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_transaction_is_open(QueryTransaction *self);

/**
 * query_transaction_get_last_insert_rowid:
 * @self: a transaction
 * Returns: the rowid that its last update inserted last
 */
QUERY_AVAILABLE_IN_0_1
gint64 query_transaction_get_last_insert_rowid(QueryTransaction *self);

/**
 * query_transaction_get_generation:
 * @self: a transaction
 * Returns: the generation of the database that its commit made; before that, the one that it began from
 */
QUERY_AVAILABLE_IN_0_1
guint64 query_transaction_get_generation(QueryTransaction *self);

G_END_DECLS

#ifndef __GI_SCANNER__
#pragma GCC visibility pop
#endif
