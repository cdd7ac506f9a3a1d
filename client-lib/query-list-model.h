/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QueryListModel: the result of a query as a list for user interfaces, and QueryRow: one of its rows.
 *
 * Part of query-client.h. docs/lists.md says how it works.
 */
#pragma once

#include "query-client.h"

#ifndef __GI_SCANNER__
#pragma GCC visibility push(default)
#endif

G_BEGIN_DECLS

/**
 * QueryRow:
 *
 * One row of a #QueryListModel. A row that has not arrived yet has no columns and no values. It fills in later, and notifies
 * #QueryRow:values then, and again with each change of the row.
 */
#define QUERY_TYPE_ROW (query_row_get_type())
G_DECLARE_FINAL_TYPE(QueryRow, query_row, QUERY, ROW, GObject)

/**
 * query_row_is_loaded:
 * @self: a row
 *
 * Returns: whether the values have arrived
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_row_is_loaded(QueryRow *self);

/**
 * query_row_get_position:
 * @self: a row
 *
 * Returns: the position in the model now; %G_MAXUINT if the row is no longer in it
 */
QUERY_AVAILABLE_IN_0_1
guint query_row_get_position(QueryRow *self);

/**
 * query_row_get_n_columns:
 * @self: a row
 *
 * Returns: the number of columns; 0 before the row is loaded
 */
QUERY_AVAILABLE_IN_0_1
guint query_row_get_n_columns(QueryRow *self);

/**
 * query_row_get_column_name:
 * @self: a row
 * @column: from 0
 *
 * Returns: (nullable) (transfer none): the column's name; %NULL when there is no such column
 */
QUERY_AVAILABLE_IN_0_1
const char *query_row_get_column_name(QueryRow *self, guint column);

/**
 * query_row_find_column:
 * @self: a row
 * @name: of a column
 *
 * Returns: the first column with this name, from 0; -1 when there is none, or the row is not loaded
 */
QUERY_AVAILABLE_IN_0_1
int query_row_find_column(QueryRow *self, const char *name);

/**
 * query_row_get_value_type:
 * @self: a row
 * @column: from 0
 *
 * Returns: the type of the value; %QUERY_VALUE_TYPE_NULL also when there is none
 */
QUERY_AVAILABLE_IN_0_1
QueryValueType query_row_get_value_type(QueryRow *self, guint column);

/**
 * query_row_get_int64:
 * @self: a row
 * @column: from 0
 *
 * Returns: the value as query_cursor_get_int64() gives it; 0 when there is none
 */
QUERY_AVAILABLE_IN_0_1
gint64 query_row_get_int64(QueryRow *self, guint column);

/**
 * query_row_get_double:
 * @self: a row
 * @column: from 0
 *
 * Returns: the value as query_cursor_get_double() gives it; 0 when there is none
 */
QUERY_AVAILABLE_IN_0_1
double query_row_get_double(QueryRow *self, guint column);

/**
 * query_row_get_boolean:
 * @self: a row
 * @column: from 0
 *
 * Returns: the value as query_cursor_get_boolean() gives it; %FALSE when there is none
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_row_get_boolean(QueryRow *self, guint column);

/**
 * query_row_dup_string:
 * @self: a row
 * @column: from 0
 *
 * Numbers have the fewest digits that read back the same. Bytes of a text that are not UTF-8 become U+FFFD.
 *
 * Returns: (nullable) (transfer full): the value as UTF-8; %NULL for NULL, for a BLOB, and when there is none
 */
QUERY_AVAILABLE_IN_0_1
char *query_row_dup_string(QueryRow *self, guint column);

/**
 * query_row_dup_text:
 * @self: a row
 * @name: of a column
 *
 * For labels, also as a closure of an expression.
 *
 * Returns: (transfer full): query_row_dup_string() of the column with this name; "" instead of %NULL
 */
QUERY_AVAILABLE_IN_0_1
char *query_row_dup_text(QueryRow *self, const char *name);

/**
 * query_row_get_date_time:
 * @self: a row
 * @column: from 0
 *
 * Returns: (nullable) (transfer full): the time as query_cursor_get_date_time() gives it
 */
QUERY_AVAILABLE_IN_0_1
GDateTime *query_row_get_date_time(QueryRow *self, guint column);

/**
 * query_row_get_value:
 * @self: a row
 * @column: from 0
 * @value: (out caller-allocates): an uninitialized #GValue, which the caller unsets
 *
 * Initializes @value as query_cursor_get_value() does; as for NULL when there is no value.
 */
QUERY_AVAILABLE_IN_0_1
void query_row_get_value(QueryRow *self, guint column, GValue *value);

/**
 * query_row_get_variant:
 * @self: a row
 * @column: from 0
 *
 * Returns: (transfer full): the value as query_cursor_get_variant() gives it; as for NULL when there is none
 */
QUERY_AVAILABLE_IN_0_1
GVariant *query_row_get_variant(QueryRow *self, guint column);

/**
 * QueryListModel:
 *
 * The result of a query as a #GListModel of #QueryRow. It has only those rows in memory that are asked for, and some around them.
 * It never waits: a row that is not here yet is an empty one that fills in. Commits by any client change the list, with the
 * smallest #GListModel::items-changed that is true for the rows that the application holds.
 *
 * It belongs to the thread in whose thread-default main context it was made. It keeps no row that the application does not hold.
 */
#define QUERY_TYPE_LIST_MODEL (query_list_model_get_type())
G_DECLARE_FINAL_TYPE(QueryListModel, query_list_model, QUERY, LIST_MODEL, GObject)

/**
 * query_list_model_new:
 * @connection: (nullable): where the queries run
 *
 * Returns: (transfer full): a list without rows; query_list_model_set_query() gives it a query
 */
QUERY_AVAILABLE_IN_0_1
QueryListModel *query_list_model_new(QueryConnection *connection);

/**
 * query_list_model_set_query:
 * @self: a list
 * @language: the language of @text
 * @text: (nullable): one statement that reads; %NULL: an empty list
 * @parameters: (nullable): a{sv}, see query_connection_query(); a floating one is consumed
 *
 * Sets the query whose result the list is. The old rows stay until the first rows of the new result are here. Then the list
 * is emptied and filled, which are two signals. An error of the statement goes to #QueryListModel:error.
 *
 * A query in SQL becomes part of a longer one. To a query in SPARQL the order, LIMIT and OFFSET are appended. So it has no FROM,
 * and at its end no LIMIT, OFFSET or VALUES. It has an ORDER BY only without query_list_model_set_order().
 */
QUERY_AVAILABLE_IN_0_1
void query_list_model_set_query(QueryListModel *self, QueryLanguage language, const char *text, GVariant *parameters);

/**
 * query_list_model_set_order:
 * @self: a list
 * @columns: (nullable) (array zero-terminated=1): names of columns of the result, with " DESC" for the other direction. %NULL: the
 *   order of the query's own text
 * @key: (nullable): name of a column whose value no other row has and that is never NULL, such as the table's primary key
 *
 * Sets by which columns the result is sorted, and what tells one row from another. The key is the last column of the order, in the
 * direction of the first. In SQL with a key, and columns of one direction without NULL, an index finds each part of the list.
 * Otherwise the daemon skips the rows before it one by one.
 */
QUERY_AVAILABLE_IN_0_1
void query_list_model_set_order(QueryListModel *self, const char *const *columns, const char *key);

/**
 * query_list_model_refresh:
 * @self: a list
 *
 * Reads again what the application holds. The list does so itself after commits. It cannot know when a function of time or chance
 * has another result, or that a file has changed that is opened directly.
 */
QUERY_AVAILABLE_IN_0_1
void query_list_model_refresh(QueryListModel *self);

/**
 * query_list_model_get_connection:
 * @self: a list
 *
 * Returns: (nullable) (transfer none): where the queries run
 */
QUERY_AVAILABLE_IN_0_1
QueryConnection *query_list_model_get_connection(QueryListModel *self);

/**
 * query_list_model_is_loading:
 * @self: a list
 *
 * Returns: whether rows that the application holds, or the number of rows, are still to come
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_list_model_is_loading(QueryListModel *self);

/**
 * query_list_model_get_error:
 * @self: a list
 *
 * Returns: (nullable) (transfer none): why the last query failed, %NULL when it did not
 */
QUERY_AVAILABLE_IN_0_1
const GError *query_list_model_get_error(QueryListModel *self);

/**
 * query_list_model_get_generation:
 * @self: a list
 *
 * Returns: the generation of the database of which number and order of rows are known; 0 before
 */
QUERY_AVAILABLE_IN_0_1
guint64 query_list_model_get_generation(QueryListModel *self);

/**
 * query_list_model_set_section_column:
 * @self: a list
 * @column: (nullable): name of the first column of query_list_model_set_order(); %NULL: no sections
 *
 * Makes sections of rows with one value in this column, for headings and for an index beside the list.
 */
QUERY_AVAILABLE_IN_0_1
void query_list_model_set_section_column(QueryListModel *self, const char *column);

/**
 * query_list_model_get_section:
 * @self: a list
 * @position: of a row
 * @start: (out): position of the section's first row
 * @end: (out): position after its last row
 *
 * Finds the section of a row, as gtk_section_model_get_section() does. Before sections are known, or without a section column, all
 * rows are one. A @position that is not in the list gives the number of rows and %G_MAXUINT.
 */
QUERY_AVAILABLE_IN_0_1
void query_list_model_get_section(QueryListModel *self, guint position, guint *start, guint *end);

/**
 * query_list_model_dup_section_title:
 * @self: a list
 * @position: of a row
 *
 * Returns: (nullable) (transfer full): the value of the section column, which is known before the row is loaded; %NULL without one
 */
QUERY_AVAILABLE_IN_0_1
char *query_list_model_dup_section_title(QueryListModel *self, guint position);

G_END_DECLS

#ifndef __GI_SCANNER__
#pragma GCC visibility pop
#endif
