/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cursors: the rows of a result, one after the other, and what its end said.
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
 * query_cursor_get_n_columns:
 * @self: a cursor
 * Returns: the number of columns
 */
QUERY_AVAILABLE_IN_0_1
guint query_cursor_get_n_columns(QueryCursor *self);

/**
 * query_cursor_get_column_name:
 * @self: a cursor
 * @column: from 0
 * Returns: (transfer none): the column's name; lives as long as @self
 */
QUERY_AVAILABLE_IN_0_1
const char *query_cursor_get_column_name(QueryCursor *self, guint column);

/**
 * query_cursor_get_column_type:
 * @self: a cursor
 * @column: from 0
 * Returns: (transfer none): the declared type, "" when there is none; lives as long as @self
 */
QUERY_AVAILABLE_IN_0_1
const char *query_cursor_get_column_type(QueryCursor *self, guint column);

/**
 * query_cursor_next:
 * @self: a cursor
 * @cancellable: (nullable): a #GCancellable; cancelling ends the cursor and the query in the daemon, but not the rows of an update
 * @error: (nullable): location for an error
 *
 * Moves to the next row. What getters returned for the last one is no longer valid.
 *
 * Errors: those of the query; the same one again when called again. Rows before an error are good, but not all.
 *
 * Returns: %TRUE with a row; %FALSE at the end (no error set) or on failure (error set)
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_cursor_next(QueryCursor *self, GCancellable *cancellable, GError **error);

/**
 * query_cursor_get_n_ready:
 * @self: a cursor
 *
 * For programs that must not wait: so many calls of query_cursor_next() return at once with a row. With 0 the next call may wait,
 * and query_cursor_next_async() is the one to use.
 *
 * Returns: the number of rows that have arrived and have not been read
 */
QUERY_AVAILABLE_IN_0_1
guint query_cursor_get_n_ready(QueryCursor *self);

/**
 * query_cursor_try_next:
 * @self: a cursor
 * @ret_has_row: (out): %TRUE with a row, %FALSE at the end
 * @error: (nullable): location for an error
 *
 * As query_cursor_next(), for programs that must not wait. If nothing has arrived it returns %FALSE without an error, and
 * query_cursor_next_async() is the call to use next.
 *
 * Returns: %TRUE if there is a row, or the end; %FALSE if it would have to wait (no error set) or on failure (error set)
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_cursor_try_next(QueryCursor *self, gboolean *ret_has_row, GError **error);

/**
 * query_cursor_next_async:
 * @self: a cursor
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_cursor_next(). When the row is already here, @callback comes with the next turn of the main loop.
 */
QUERY_AVAILABLE_IN_0_1
void query_cursor_next_async(QueryCursor *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_cursor_next_finish:
 * @self: a cursor
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: %TRUE with a row; %FALSE at the end (no error set) or on failure (error set)
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_cursor_next_finish(QueryCursor *self, GAsyncResult *result, GError **error);

/**
 * query_cursor_get_value_type:
 * @self: a cursor on a row
 * @column: from 0
 * Returns: the type of the value
 */
QUERY_AVAILABLE_IN_0_1
QueryValueType query_cursor_get_value_type(QueryCursor *self, guint column);

/**
 * query_cursor_is_null:
 * @self: a cursor on a row
 * @column: from 0
 * Returns: whether the value is NULL
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_cursor_is_null(QueryCursor *self, guint column);

/**
 * query_cursor_get_int64:
 * @self: a cursor on a row
 * @column: from 0
 * Returns: the value; a FLOAT cut to an integer, of a string the number it begins with; 0 for the rest
 */
QUERY_AVAILABLE_IN_0_1
gint64 query_cursor_get_int64(QueryCursor *self, guint column);

/**
 * query_cursor_get_double:
 * @self: a cursor on a row
 * @column: from 0
 * Returns: the value; of a string the number it begins with; 0 for the rest
 */
QUERY_AVAILABLE_IN_0_1
double query_cursor_get_double(QueryCursor *self, guint column);

/**
 * query_cursor_get_boolean:
 * @self: a cursor on a row
 * @column: from 0
 * Returns: %TRUE for a number that is not 0, and for the strings "true" and "1"
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_cursor_get_boolean(QueryCursor *self, guint column);

/**
 * query_cursor_get_string:
 * @self: a cursor on a row
 * @column: from 0
 * @n_bytes: (out) (optional): its length
 *
 * TEXT and RDF terms unchanged, always followed by a NUL; numbers with the fewest digits that read back the same. TEXT may contain
 * NUL, and bytes that are not UTF-8.
 *
 * Returns: (nullable) (transfer none): the string, valid until the next query_cursor_next(); %NULL for NULL and BLOB
 */
QUERY_AVAILABLE_IN_0_1
const char *query_cursor_get_string(QueryCursor *self, guint column, gsize *n_bytes);

/**
 * query_cursor_get_bytes:
 * @self: a cursor on a row
 * @column: from 0
 * Returns: (nullable) (transfer full): a copy of the bytes, of a BLOB or of the string; %NULL for NULL
 */
QUERY_AVAILABLE_IN_0_1
GBytes *query_cursor_get_bytes(QueryCursor *self, guint column);

/**
 * query_cursor_get_data:
 * @self: a cursor on a row
 * @column: index of a column
 * @n_bytes: (out): number of bytes
 *
 * As query_cursor_get_bytes() without a copy: valid until the cursor moves or is closed.
 *
 * Returns: (transfer none) (nullable) (array length=n_bytes) (element-type guint8): the bytes; %NULL for NULL
 */
QUERY_AVAILABLE_IN_0_1
const guint8 *query_cursor_get_data(QueryCursor *self, guint column, gsize *n_bytes);

/**
 * query_cursor_get_date_time:
 * @self: a cursor on a row
 * @column: from 0
 * Returns: (nullable) (transfer full): the time of an ISO 8601 text or xsd:dateTime (UTC if it names no zone). Of an INTEGER it
 *   is seconds since 1970; %NULL for the rest
 */
QUERY_AVAILABLE_IN_0_1
GDateTime *query_cursor_get_date_time(QueryCursor *self, guint column);

/**
 * query_cursor_get_value:
 * @self: a cursor on a row
 * @column: from 0
 * @value: (out caller-allocates): an uninitialized #GValue, which the caller unsets
 *
 * Initializes @value: gint64 for INTEGER, gdouble for FLOAT, a string for TEXT and RDF terms, a #GVariant of type ay for BLOB. For
 * NULL it is a string that is %NULL. Bytes of a text that are not UTF-8 become U+FFFD. (A #GBytes would not outlive @value in
 * Python.)
 */
QUERY_AVAILABLE_IN_0_1
void query_cursor_get_value(QueryCursor *self, guint column, GValue *value);

/**
 * query_cursor_get_variant:
 * @self: a cursor on a row
 * @column: from 0
 *
 * Returns: (transfer full): the value as query_connection_query() takes parameters: x, d, s, ay, (sss) for an RDF term, and the
 * empty signature for NULL. Bytes of a text that are not UTF-8 become U+FFFD
 */
QUERY_AVAILABLE_IN_0_1
GVariant *query_cursor_get_variant(QueryCursor *self, guint column);

/**
 * query_cursor_get_datatype:
 * @self: a cursor on a row
 * @column: from 0
 * Returns: (nullable) (transfer none): the datatype IRI of a typed literal, valid until the next query_cursor_next()
 */
QUERY_AVAILABLE_IN_0_1
const char *query_cursor_get_datatype(QueryCursor *self, guint column);

/**
 * query_cursor_get_language:
 * @self: a cursor on a row
 * @column: from 0
 * Returns: (nullable) (transfer none): the tag of a literal with a language, valid until the next query_cursor_next()
 */
QUERY_AVAILABLE_IN_0_1
const char *query_cursor_get_language(QueryCursor *self, guint column);

/**
 * query_cursor_read_json:
 * @self: a cursor
 * @max_rows: how many rows to read at most; 0: all that are left
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Reads many rows at once, as a JSON array of objects with the column names as keys: for languages in which per-value calls are
 * expensive. INTEGER and FLOAT are numbers, a BLOB is base64, what is not UTF-8 becomes U+FFFD. Columns with equal names all occur.
 * The first call on a result without rows gives an empty array.
 *
 * Errors: as query_cursor_next(); the rows of this call are lost then.
 *
 * Returns: (transfer full) (nullable): the text, in UTF-8; %NULL at the end (no error set) or on failure (error set)
 */
QUERY_AVAILABLE_IN_0_1
GBytes *query_cursor_read_json(QueryCursor *self, guint64 max_rows, GCancellable *cancellable, GError **error);

/**
 * query_cursor_read_json_async:
 * @self: a cursor
 * @max_rows: how many rows to read at most; 0: all that are left
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_cursor_read_json().
 */
QUERY_AVAILABLE_IN_0_1
void query_cursor_read_json_async(QueryCursor *self, guint64 max_rows, GCancellable *cancellable, GAsyncReadyCallback callback,
                                  gpointer user_data);

/**
 * query_cursor_read_json_finish:
 * @self: a cursor
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full) (nullable): the text, in UTF-8; %NULL at the end (no error set) or on failure (error set)
 */
QUERY_AVAILABLE_IN_0_1
GBytes *query_cursor_read_json_finish(QueryCursor *self, GAsyncResult *result, GError **error);

/**
 * query_cursor_get_n_rows:
 * @self: a cursor
 * Returns: the number of rows of the whole result; 0 before its end was reached
 */
QUERY_AVAILABLE_IN_0_1
guint64 query_cursor_get_n_rows(QueryCursor *self);

/**
 * query_cursor_is_stable:
 * @self: a cursor
 *
 * Tells whether the result depends on the database and the parameters alone. It is the same then as long as the generation is.
 * A statement that calls NOW(), RAND(), random(), datetime() and their like may give another one. So may a pragma.
 *
 * Returns: %TRUE if the result is stable; %FALSE if it may not be, or if the daemon is too old to tell
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_cursor_is_stable(QueryCursor *self);

/**
 * query_cursor_get_generation:
 * @self: a cursor
 * Returns: the generation of the database that was read or written; 0 before the end of the result was reached
 */
QUERY_AVAILABLE_IN_0_1
guint64 query_cursor_get_generation(QueryCursor *self);

/**
 * query_cursor_get_elapsed_usec:
 * @self: a cursor
 * Returns: the microseconds that the result took in the daemon; 0 before its end was reached
 */
QUERY_AVAILABLE_IN_0_1
guint64 query_cursor_get_elapsed_usec(QueryCursor *self);

/**
 * query_cursor_get_changes:
 * @self: a cursor
 * Returns: the rows changed by an update with RETURNING; 0 before the end of the result was reached
 */
QUERY_AVAILABLE_IN_0_1
gint64 query_cursor_get_changes(QueryCursor *self);

/**
 * query_cursor_get_last_insert_rowid:
 * @self: a cursor
 * Returns: the rowid inserted last by an update with RETURNING; 0 before the end of the result was reached
 */
QUERY_AVAILABLE_IN_0_1
gint64 query_cursor_get_last_insert_rowid(QueryCursor *self);

/**
 * query_cursor_close:
 * @self: a cursor
 *
 * Ends the cursor, and the query in the daemon if it still runs. Dropping the last reference does the same.
 */
QUERY_AVAILABLE_IN_0_1
void query_cursor_close(QueryCursor *self);

/**
 * query_cursor_steal_fd:
 * @self: a cursor before its first row
 *
 * Takes the descriptor on which the rows come, at a record boundary; docs/wire-format.md says how to read it. The cursor is
 * closed then. Only before the first query_cursor_next().
 *
 * Returns: the descriptor, which the caller closes; -1 when there is none to take, and nothing has changed
 */
QUERY_AVAILABLE_IN_0_1
int query_cursor_steal_fd(QueryCursor *self);

G_END_DECLS

#ifndef __GI_SCANNER__
#pragma GCC visibility pop
#endif
