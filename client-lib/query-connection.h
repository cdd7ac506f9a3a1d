/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Connections: queries and updates in one call, settings of the calls that follow, and the daemon's jobs and figures.
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
 * query_connection_query:
 * @self: a connection
 * @language: the language of @text
 * @text: one statement that reads
 * @parameters: (nullable): a{sv}, a floating one is consumed. Keys: a decimal index from 1, a full name with its sigil, or a
 *   bare name that matches exactly one. Values: b y n q i u x t d s ay; NULL is the signature value "". b is 1 or 0 in SQL,
 *   xsd:boolean in SPARQL. An RDF term is (sss): lexical form, datatype IRI ("@id": an IRI, "@bnode": a blank node), language tag
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Runs a query. Returns when the first rows, the end or an error have arrived.
 *
 * Errors: those of the statement.
 *
 * Returns: (transfer full): a cursor before the first row, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryCursor *query_connection_query(QueryConnection *self, QueryLanguage language, const char *text, GVariant *parameters,
                                    GCancellable *cancellable, GError **error);

/**
 * query_connection_query_async:
 * @self: a connection
 * @language: the language of @text
 * @text: one statement that reads
 * @parameters: (nullable): a{sv}, see query_connection_query()
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_query().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_query_async(QueryConnection *self, QueryLanguage language, const char *text, GVariant *parameters,
                                  GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_connection_query_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): a cursor before the first row, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryCursor *query_connection_query_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_connection_update:
 * @self: a connection
 * @language: the language of @text
 * @text: one statement that writes
 * @parameters: (nullable): a{sv}, see query_connection_query()
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Executes an update. It is durable when this returns. Rows of RETURNING are dropped; use query_statement_execute() for them.
 *
 * When @cancellable is cancelled the daemon is asked to end the update, and its answer is waited for, 5 s at most. The result says
 * then whether it was executed: the number of rows, or G_IO_ERROR_CANCELLED when it has changed nothing, and will not. A remote
 * endpoint cannot be asked.
 *
 * Errors: those of the statement. After DISCONNECTED it is not known whether it was executed.
 *
 * Returns: the number of changed rows, -1 on error
 */
QUERY_AVAILABLE_IN_0_1
gint64 query_connection_update(QueryConnection *self, QueryLanguage language, const char *text, GVariant *parameters,
                               GCancellable *cancellable, GError **error);

/**
 * query_connection_update_async:
 * @self: a connection
 * @language: the language of @text
 * @text: one statement that writes
 * @parameters: (nullable): a{sv}, see query_connection_query()
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_connection_update().
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_update_async(QueryConnection *self, QueryLanguage language, const char *text, GVariant *parameters,
                                   GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_connection_update_finish:
 * @self: a connection
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: the number of changed rows, -1 on error
 */
QUERY_AVAILABLE_IN_0_1
gint64 query_connection_update_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/**
 * query_connection_prepare:
 * @self: a connection
 * @language: the language of @text
 * @text: one statement that reads
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Prepares a query, with the limits that are set on the connection now.
 *
 * Errors: those of the statement.
 *
 * Returns: (transfer full): a statement, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryStatement *query_connection_prepare(QueryConnection *self, QueryLanguage language, const char *text, GCancellable *cancellable,
                                         GError **error);

/**
 * query_connection_prepare_update:
 * @self: a connection
 * @language: the language of @text
 * @text: one statement that writes
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Prepares an update: for query_statement_update(), or for query_statement_execute() when it returns rows.
 *
 * Errors: those of the statement.
 *
 * Returns: (transfer full): a statement, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryStatement *query_connection_prepare_update(QueryConnection *self, QueryLanguage language, const char *text,
                                                GCancellable *cancellable, GError **error);

/**
 * query_connection_create_batch:
 * @self: a connection
 * Returns: (transfer full): an empty batch
 */
QUERY_AVAILABLE_IN_0_1
QueryBatch *query_connection_create_batch(QueryConnection *self);

/**
 * query_connection_set_timeout_msec:
 * @self: a connection
 * @timeout_msec: milliseconds; 0 is the daemon's default, %QUERY_TIMEOUT_NONE is none
 *
 * Sets the deadline of the statements that follow on this connection: of queries, updates, batches and transactions, and of
 * query_connection_explain() and query_connection_analyze(). Jobs, payloads and query_connection_set_full_text() have none, and
 * query_connection_export() has an option of its own. Time in which the daemon waits for a slow reader does not count.
 * The way to the daemon by D-Bus does: the deadline passes since the application called.
 *
 * Of a daemon that is stopped, or hangs at its disk, no answer comes. A call with a deadline of its own fails with DISCONNECTED
 * when nothing has come for 10 s more than that.
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_set_timeout_msec(QueryConnection *self, guint timeout_msec);

/**
 * query_connection_get_timeout_msec:
 * @self: a connection
 *
 * Returns: what query_connection_set_timeout_msec() has set; 0 is the daemon's default
 */
QUERY_AVAILABLE_IN_0_1
guint query_connection_get_timeout_msec(QueryConnection *self);

/**
 * query_connection_set_max_rows:
 * @self: a connection
 * @max_rows: rows after which results end; 0 is the daemon's default, which is no limit
 *
 * Cuts the results of the queries that follow on this connection.
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_set_max_rows(QueryConnection *self, guint64 max_rows);

/**
 * query_connection_get_max_rows:
 * @self: a connection
 *
 * Returns: what query_connection_set_max_rows() has set; 0 is the daemon's default
 */
QUERY_AVAILABLE_IN_0_1
guint64 query_connection_get_max_rows(QueryConnection *self);

/**
 * query_connection_set_base:
 * @self: a connection
 * @base: (nullable): an absolute IRI; %NULL: relative IRIs are errors, which is the default
 *
 * Sets what relative IRIs of the SPARQL statements that follow on this connection are resolved against, up to a BASE of their text.
 * The statements fail with BAD_PARAMETER for a @base that is no absolute IRI.
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_set_base(QueryConnection *self, const char *base);

/**
 * query_connection_set_dataset:
 * @self: a connection
 * @default_graphs: (nullable) (array zero-terminated=1): IRIs of the graphs that the default graph is merged from
 * @named_graphs: (nullable) (array zero-terminated=1): IRIs of the named graphs
 * @error: (nullable): location for an error
 *
 * Sets the RDF dataset of the SPARQL queries and updates that follow on this connection, instead of what their text says. An
 * update uses it where it could have USING. Without any graph the text is followed again, which is the default.
 *
 * Errors: BAD_PARAMETER for a text that is no IRI. The statements fail with BAD_PARAMETER for a relative one, and an update for
 * USING or WITH in its text.
 *
 * Returns: %FALSE on error: the dataset is as before
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_set_dataset(QueryConnection *self, const char *const *default_graphs, const char *const *named_graphs,
                                      GError **error);

/**
 * query_connection_set_transport:
 * @self: a connection
 * @transport: how results come from the daemon
 *
 * For the channels that are opened from now on; idle ones are closed. The default is %QUERY_TRANSPORT_AUTO.
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_set_transport(QueryConnection *self, QueryTransport transport);

/**
 * query_connection_get_transport:
 * @self: a connection
 *
 * Returns: what query_connection_set_transport() has set
 */
QUERY_AVAILABLE_IN_0_1
QueryTransport query_connection_get_transport(QueryConnection *self);

/**
 * query_connection_set_fresh:
 * @self: a connection
 * @fresh: %TRUE: the queries that follow are executed; %FALSE: their results may be remembered ones, which is the default
 *
 * The daemon remembers results that took long and were asked for again while nothing changed that they have read. They are what an
 * execution would give. With %TRUE a query is neither answered from there nor remembered, as for a measurement. On direct and
 * remote connections this changes nothing.
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_set_fresh(QueryConnection *self, gboolean fresh);

/**
 * query_connection_get_fresh:
 * @self: a connection
 *
 * Returns: what query_connection_set_fresh() has set
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_get_fresh(QueryConnection *self);

/**
 * query_connection_set_durability:
 * @self: a connection
 * @durability: what an update has to survive
 *
 * For the updates that follow on this connection, statements that are prepared from now on, batches, and payloads whose options do
 * not say. A transaction of query_connection_begin() is always %QUERY_DURABILITY_FULL, which is the default.
 */
QUERY_AVAILABLE_IN_0_1
void query_connection_set_durability(QueryConnection *self, QueryDurability durability);

/**
 * query_connection_get_durability:
 * @self: a connection
 *
 * Returns: what query_connection_set_durability() has set
 */
QUERY_AVAILABLE_IN_0_1
QueryDurability query_connection_get_durability(QueryConnection *self);

/**
 * query_connection_explain:
 * @self: a connection
 * @language: the language of @text
 * @text: one statement
 * @sql: (out) (optional) (transfer full): the SQL that it becomes
 * @plan: (out) (optional) (transfer full): how SQLite would run it
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Says how a statement would run, without running it.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_explain(QueryConnection *self, QueryLanguage language, const char *text, char **sql, char **plan,
                                  GCancellable *cancellable, GError **error);

/**
 * query_connection_analyze:
 * @self: a connection
 * @language: the language of @text
 * @text: one statement that reads
 * @sql: (out) (optional) (transfer full): the SQL that it becomes
 * @plan: (out) (optional) (transfer full): how SQLite runs it, with the times of its steps and the number of rows
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * As query_connection_explain(), and runs the statement, whose rows are only counted.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_analyze(QueryConnection *self, QueryLanguage language, const char *text, char **sql, char **plan,
                                  GCancellable *cancellable, GError **error);

/**
 * query_connection_import:
 * @self: a connection
 * @fd: what to read: a file, pipe or socket; borrowed, the daemon has its own copy
 * @format: "csv", "tsv", "json" or "jsonl" into a table; "turtle", "trig", "ntriples", "nquads", "rdfxml" or "jsonld" into graphs
 * @options: (nullable): a{sv}, a floating one is consumed: table s, create b, types as, detect_types b, header b, delimiter s,
 * durability s. For RDF: graph s, base s, check_only b, one_graph b, durability s
 * @progress: (scope call) (nullable): called with the progress
 * @user_data: for @progress
 * @n_rows: (out) (optional): rows, or quads of the document
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Fills a table or graphs from a descriptor, in one transaction, and waits for the end.
 *
 * Returns: %FALSE on error: nothing was imported, unless it is DISCONNECTED: then it is not known
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_import(QueryConnection *self, int fd, const char *format, GVariant *options, QueryProgressFunc progress,
                                 gpointer user_data, guint64 *n_rows, GCancellable *cancellable, GError **error);

/**
 * query_connection_dump:
 * @self: a connection
 * @fd: where to write: a file, pipe or socket; borrowed, the daemon has its own copy
 * @format: "turtle", "trig", "ntriples", "nquads", "rdfxml" or "jsonld"
 * @options: (nullable): a{sv}, a floating one is consumed: graph s
 * @progress: (scope call) (nullable): called with the progress
 * @user_data: for @progress
 * @n_quads: (out) (optional): quads written
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Writes the RDF data of one moment: all graphs in a format that has them, else the default graph or that of the option.
 *
 * Returns: %FALSE on error: what was written is not complete
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_dump(QueryConnection *self, int fd, const char *format, GVariant *options, QueryProgressFunc progress,
                               gpointer user_data, guint64 *n_quads, GCancellable *cancellable, GError **error);

/**
 * query_connection_export:
 * @self: a connection
 * @language: the language of @text
 * @text: one statement that reads
 * @format: one of the property Formats: "csv", "tsv", "json", "jsonl", …
 * @fd: where to write: a file, pipe or socket; borrowed, the daemon has its own copy
 * @options: (nullable): a{sv}, a floating one is consumed: header b, timeout_ms u, max_rows u, max_bytes u
 * @n_rows: (out) (optional): rows written
 * @n_bytes: (out) (optional): bytes written
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Makes the daemon write a whole result to a descriptor, and waits for the end. After an error, cancellation included, the daemon
 * writes nothing more, unless it does not answer at all.
 *
 * Returns: %FALSE on error: what was written is not complete
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_export(QueryConnection *self, QueryLanguage language, const char *text, const char *format, int fd,
                                 GVariant *options, guint64 *n_rows, guint64 *n_bytes, GCancellable *cancellable, GError **error);

/**
 * query_connection_backup:
 * @self: a connection
 * @fd: a file, which is emptied first, a pipe or a socket; borrowed
 * @progress: (scope call) (nullable): called with the progress
 * @user_data: for @progress
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Copies the database, as it is at one moment, and waits for the end.
 *
 * Returns: %FALSE on error: the file's content is not a database
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_backup(QueryConnection *self, int fd, QueryProgressFunc progress, gpointer user_data,
                                 GCancellable *cancellable, GError **error);

/**
 * query_connection_restore:
 * @self: a connection
 * @fd: what query_connection_backup() wrote, or another SQLite file that is whole and closed; borrowed
 * @check_only: only look whether it could be restored
 * @progress: (scope call) (nullable): called with the progress
 * @user_data: for @progress
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Puts another database in the place of the daemon's, in one transaction, and waits for the end. Results that are being read go on.
 * Also for a database that is damaged so that nothing else works.
 *
 * Returns: %FALSE on error: nothing has changed
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_restore(QueryConnection *self, int fd, gboolean check_only, QueryProgressFunc progress,
                                  gpointer user_data, GCancellable *cancellable, GError **error);

/**
 * query_connection_restore_full:
 * @self: a connection
 * @fd: see query_connection_restore()
 * @check_only: only look whether it could be restored, and what it would lack
 * @progress: (scope call) (nullable): called with the progress
 * @user_data: for @progress
 * @messages: (out) (optional) (array zero-terminated=1) (transfer full): the payloads whose files the restored database lacks:
 *   the first 100, and the number of further ones. Empty when it has all
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * As query_connection_restore(), and says what came with it only in part: a backup has no payload files.
 *
 * Returns: %FALSE on error: nothing has changed, and @messages is untouched
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_restore_full(QueryConnection *self, int fd, gboolean check_only, QueryProgressFunc progress,
                                       gpointer user_data, char ***messages, GCancellable *cancellable, GError **error);

/**
 * query_connection_check:
 * @self: a connection
 * @quick: leave out what takes long: comparing tables with their indexes
 * @messages: (out) (optional) (array zero-terminated=1) (transfer full): what was found, empty when all is well; also set when
 *   this returns %FALSE with CORRUPT
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Checks the database for damage.
 *
 * Errors: CORRUPT with the first message.
 *
 * Returns: %TRUE when the database is sound
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_check(QueryConnection *self, gboolean quick, char ***messages, GCancellable *cancellable, GError **error);

/**
 * query_connection_optimize:
 * @self: a connection
 * @warm: instead read the database file into the system's memory, so that the first queries need not wait for the disk
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Refreshes the planner's statistics and shortens the write-ahead log.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_optimize(QueryConnection *self, gboolean warm, GCancellable *cancellable, GError **error);

/**
 * query_connection_reload:
 * @self: a connection
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Makes the daemon read its configuration again.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_reload(QueryConnection *self, GCancellable *cancellable, GError **error);

/**
 * query_connection_set_full_text:
 * @self: a connection
 * @options: a{sv}: tokenizer s, add as, remove as, all b, rebuild b, check b; consumed if floating
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Chooses the predicates whose string literals are in the full-text index, and brings the index up to date. The time-out of the
 * connection does not hold for it, since that may take long: @cancellable ends it.
 *
 * Errors: BAD_PARAMETER; CORRUPT: "check" found a difference.
 *
 * Returns: %FALSE on error: nothing has changed
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_set_full_text(QueryConnection *self, GVariant *options, GCancellable *cancellable, GError **error);

/**
 * query_connection_get_stats:
 * @self: a connection
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 * Returns: (transfer full): a{sv}: numbers (t) and texts (s) by name, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
GVariant *query_connection_get_stats(QueryConnection *self, GCancellable *cancellable, GError **error);

/**
 * query_connection_get_limits:
 * @self: a connection
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 * Returns: (transfer full): a(sttsss): name, value, default, unit, error name, description; %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
GVariant *query_connection_get_limits(QueryConnection *self, GCancellable *cancellable, GError **error);

/**
 * query_connection_list_queries:
 * @self: a connection
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 * Returns: (transfer full): aa{sv}: id t, language s, text s, state s, client s, elapsed_usec t, rows t, bytes t;
 *   %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
GVariant *query_connection_list_queries(QueryConnection *self, GCancellable *cancellable, GError **error);

/**
 * query_connection_cancel_query:
 * @self: a connection
 * @id: of query_connection_list_queries()
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Ends a query of any client; its owner gets CANCELLED.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_connection_cancel_query(QueryConnection *self, guint64 id, GCancellable *cancellable, GError **error);

/**
 * query_connection_get_daemon_property:
 * @self: a connection
 * @name: a property of org.queryd.Query1: "Version", "Formats", "Generation", …
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 * Returns: (transfer full): its value, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
GVariant *query_connection_get_daemon_property(QueryConnection *self, const char *name, GCancellable *cancellable, GError **error);

G_END_DECLS

#ifndef __GI_SCANNER__
#pragma GCC visibility pop
#endif
