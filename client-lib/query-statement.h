/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Prepared statements: values are bound by index, an execution gives a cursor or the number of changed rows.
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
 * query_statement_get_language:
 * @self: a statement
 * Returns: the language of its text
 */
QUERY_AVAILABLE_IN_0_1
QueryLanguage query_statement_get_language(QueryStatement *self);

/**
 * query_statement_get_n_parameters:
 * @self: a statement
 * Returns: the number of parameters
 */
QUERY_AVAILABLE_IN_0_1
guint query_statement_get_n_parameters(QueryStatement *self);

/**
 * query_statement_get_parameter_name:
 * @self: a statement
 * @index: from 0
 * Returns: (nullable) (transfer none): the name with its sigil, %NULL for a plain "?"
 */
QUERY_AVAILABLE_IN_0_1
const char *query_statement_get_parameter_name(QueryStatement *self, guint index);

/**
 * query_statement_bind_null:
 * @self: a statement
 * @name: a decimal index from 1, a full name with its sigil, or a bare name that matches exactly one
 * @error: (nullable): location for an error
 *
 * Binds NULL. Bindings stay until they are replaced or cleared; all parameters need one. Like all of them, this sends nothing.
 *
 * Errors: BAD_PARAMETER.
 *
 * Returns: %FALSE when there is no such parameter
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_statement_bind_null(QueryStatement *self, const char *name, GError **error);

/**
 * query_statement_bind_int64:
 * @self: a statement
 * @name: see query_statement_bind_null()
 * @value: a number
 * @error: (nullable): location for an error
 *
 * Binds an INTEGER.
 *
 * Errors: BAD_PARAMETER when there is no such parameter.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_statement_bind_int64(QueryStatement *self, const char *name, gint64 value, GError **error);

/**
 * query_statement_bind_double:
 * @self: a statement
 * @name: see query_statement_bind_null()
 * @value: a number
 * @error: (nullable): location for an error
 *
 * Binds a FLOAT.
 *
 * Errors: BAD_PARAMETER when there is no such parameter.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_statement_bind_double(QueryStatement *self, const char *name, double value, GError **error);

/**
 * query_statement_bind_string:
 * @self: a statement
 * @name: see query_statement_bind_null()
 * @value: a string; copied
 * @n_bytes: its length, -1 when a NUL ends it
 * @error: (nullable): location for an error
 *
 * Binds a TEXT.
 *
 * Errors: BAD_PARAMETER when there is no such parameter, TOO_BIG.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_statement_bind_string(QueryStatement *self, const char *name, const char *value, gssize n_bytes, GError **error);

/**
 * query_statement_bind_bytes:
 * @self: a statement
 * @name: see query_statement_bind_null()
 * @value: bytes, to which the statement takes a reference
 * @error: (nullable): location for an error
 *
 * Binds a BLOB.
 *
 * Errors: BAD_PARAMETER when there is no such parameter, TOO_BIG.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_statement_bind_bytes(QueryStatement *self, const char *name, GBytes *value, GError **error);

/**
 * query_statement_bind_iri:
 * @self: a statement
 * @name: see query_statement_bind_null()
 * @iri: an absolute IRI
 * @error: (nullable): location for an error
 *
 * Binds an IRI.
 *
 * Errors: BAD_PARAMETER when there is no such parameter, TOO_BIG.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_statement_bind_iri(QueryStatement *self, const char *name, const char *iri, GError **error);

/**
 * query_statement_bind_literal:
 * @self: a statement
 * @name: see query_statement_bind_null()
 * @lexical: the lexical form
 * @datatype: (nullable): a datatype IRI
 * @language: (nullable): a language tag; only one of @datatype and @language may be given
 * @error: (nullable): location for an error
 *
 * Binds an RDF literal; with neither datatype nor language it is a plain string.
 *
 * Errors: BAD_PARAMETER, TOO_BIG.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_statement_bind_literal(QueryStatement *self, const char *name, const char *lexical, const char *datatype,
                                      const char *language, GError **error);

/**
 * query_statement_bind_boolean:
 * @self: a statement
 * @name: see query_statement_bind_null()
 * @value: a truth value
 * @error: (nullable): location for an error
 *
 * Binds 0 or 1 in SQL, a literal of xsd:boolean in SPARQL.
 *
 * Errors: BAD_PARAMETER when there is no such parameter.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_statement_bind_boolean(QueryStatement *self, const char *name, gboolean value, GError **error);

/**
 * query_statement_bind_date_time:
 * @self: a statement
 * @name: see query_statement_bind_null()
 * @value: a time
 * @error: (nullable): location for an error
 *
 * Binds the time in the form of ISO 8601, with its zone: a TEXT in SQL, a literal of xsd:dateTime in SPARQL.
 *
 * Errors: BAD_PARAMETER when there is no such parameter.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_statement_bind_date_time(QueryStatement *self, const char *name, GDateTime *value, GError **error);

/**
 * query_statement_bind_value:
 * @self: a statement
 * @name: see query_statement_bind_null()
 * @value: (nullable): a boolean, number, string, #GBytes, #GDateTime, or a #GVariant as query_connection_query() takes it. %NULL,
 * and one that holds %NULL, is NULL
 * @error: (nullable): location for an error
 *
 * Binds what a #GValue holds, as the function for its type does.
 *
 * Errors: BAD_PARAMETER for another type, and when there is no such parameter; TOO_BIG, also for a number above 2⁶³ − 1.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_statement_bind_value(QueryStatement *self, const char *name, const GValue *value, GError **error);

/**
 * query_statement_bind_parameters:
 * @self: a statement
 * @parameters: a{sv}, see query_connection_query(); a floating one is consumed
 * @error: (nullable): location for an error
 *
 * Binds several values by their names. Values of other parameters stay.
 *
 * Errors: BAD_PARAMETER when there is no such parameter, or for another type of value. What came before it is bound then.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_statement_bind_parameters(QueryStatement *self, GVariant *parameters, GError **error);

/**
 * query_statement_add_row:
 * @self: a statement of query_connection_prepare_update() with parameters
 * @error: (nullable): location for an error
 *
 * Keeps the values bound now as a row. The next update runs the statement once for each row that was kept, in one transaction:
 * all or none. Values that are bound then, and not kept, do not count.
 *
 * Errors: BAD_PARAMETER for a parameter without a value, and for a statement without parameters; TOO_BIG above 64 MiB of rows.
 *
 * Returns: %FALSE on error; nothing was kept
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_statement_add_row(QueryStatement *self, GError **error);

/**
 * query_statement_clear_bindings:
 * @self: a statement
 *
 * Removes all bound values.
 */
QUERY_AVAILABLE_IN_0_1
void query_statement_clear_bindings(QueryStatement *self);

/**
 * query_statement_execute:
 * @self: a statement
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Runs the statement with the values bound now. A cursor of an earlier execution that is still open is closed.
 *
 * An update that is cancelled: as query_connection_update(). With a cursor it has been executed. All its rows come then: cancelling
 * does not end query_cursor_next().
 *
 * Errors: BAD_PARAMETER for a parameter without a value, those of the statement.
 *
 * Returns: (transfer full): a cursor before the first row, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryCursor *query_statement_execute(QueryStatement *self, GCancellable *cancellable, GError **error);

/**
 * query_statement_execute_async:
 * @self: a statement
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_statement_execute(). Values bound after the call count for the next one.
 */
QUERY_AVAILABLE_IN_0_1
void query_statement_execute_async(QueryStatement *self, GCancellable *cancellable, GAsyncReadyCallback callback,
                                   gpointer user_data);

/**
 * query_statement_execute_finish:
 * @self: a statement
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): a cursor before the first row, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryCursor *query_statement_execute_finish(QueryStatement *self, GAsyncResult *result, GError **error);

/**
 * query_statement_update:
 * @self: a statement of query_connection_prepare_update()
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Executes the update with the values bound now. It is durable when this returns.
 *
 * Errors: as query_connection_update().
 *
 * Returns: the number of changed rows, -1 on error
 */
QUERY_AVAILABLE_IN_0_1
gint64 query_statement_update(QueryStatement *self, GCancellable *cancellable, GError **error);

/**
 * query_statement_update_async:
 * @self: a statement of query_connection_prepare_update()
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_statement_update(). Several may be under way. They go out together on one channel, and are executed in
 * the order of the calls, each as an update of its own. One with a @cancellable goes its own way.
 */
QUERY_AVAILABLE_IN_0_1
void query_statement_update_async(QueryStatement *self, GCancellable *cancellable, GAsyncReadyCallback callback,
                                  gpointer user_data);

/**
 * query_statement_update_finish:
 * @self: a statement
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: the number of changed rows, -1 on error
 */
QUERY_AVAILABLE_IN_0_1
gint64 query_statement_update_finish(QueryStatement *self, GAsyncResult *result, GError **error);

/**
 * query_statement_get_last_insert_rowid:
 * @self: a statement
 * Returns: the rowid that the last query_statement_update() inserted last
 */
QUERY_AVAILABLE_IN_0_1
gint64 query_statement_get_last_insert_rowid(QueryStatement *self);

/**
 * query_statement_get_generation:
 * @self: a statement
 * Returns: the generation of the database that the last query_statement_update() made
 */
QUERY_AVAILABLE_IN_0_1
guint64 query_statement_get_generation(QueryStatement *self);

G_END_DECLS

#ifndef __GI_SCANNER__
#pragma GCC visibility pop
#endif
