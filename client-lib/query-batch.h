/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Batches: several statements that write, as one transaction.
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
 * query_batch_add:
 * @self: a batch
 * @language: the language of @text
 * @text: one statement that writes; copied
 * @parameters: (nullable): a{sv}, see query_connection_query(); a floating one is consumed
 *
 * Adds a statement.
 */
QUERY_AVAILABLE_IN_0_1
void query_batch_add(QueryBatch *self, QueryLanguage language, const char *text, GVariant *parameters);

/**
 * query_batch_get_n_statements:
 * @self: a batch
 * Returns: the number of statements
 */
QUERY_AVAILABLE_IN_0_1
guint query_batch_get_n_statements(QueryBatch *self);

/**
 * query_batch_execute:
 * @self: a batch
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Executes all statements in one transaction. It is durable when this returns. The batch may be executed again.
 *
 * Errors: those of a statement: nothing was changed. After DISCONNECTED that is not known. Cancelling: as
 * query_connection_update().
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_batch_execute(QueryBatch *self, GCancellable *cancellable, GError **error);

/**
 * query_batch_execute_async:
 * @self: a batch, which is left alone until @callback is called
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_batch_execute().
 */
QUERY_AVAILABLE_IN_0_1
void query_batch_execute_async(QueryBatch *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_batch_execute_finish:
 * @self: a batch
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_batch_execute_finish(QueryBatch *self, GAsyncResult *result, GError **error);

/**
 * query_batch_get_changes:
 * @self: an executed batch
 * @index: of the statement, from 0
 * Returns: rows changed by that statement
 */
QUERY_AVAILABLE_IN_0_1
guint64 query_batch_get_changes(QueryBatch *self, guint index);

/**
 * query_batch_get_generation:
 * @self: an executed batch
 * Returns: the generation of the database that it made
 */
QUERY_AVAILABLE_IN_0_1
guint64 query_batch_get_generation(QueryBatch *self);

G_END_DECLS

#ifndef __GI_SCANNER__
#pragma GCC visibility pop
#endif
