/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libquery-client: SQL and SPARQL against the queryd of this session.
 *
 * The public header; a class with a header of its own is included at the end. Everything hides the handshake: a query is one
 * call, rows come from a cursor.
 *
 * Threads: a QueryConnection may be shared by threads. A statement with its cursors, and a batch, belong to one thread at a
 * time. Sync calls need no main loop and run none; async calls complete in the caller's thread-default main context.
 * Errors: domain QUERY_ERROR, but for G_IO_ERROR_CANCELLED: the caller's own GCancellable; and G_IO_ERROR_PENDING: a cursor
 * has an async call under way. Every call that reaches the daemon may fail with UNAVAILABLE, DISCONNECTED or PROTOCOL.
 */
#pragma once

#include <gio/gio.h>

#ifndef __GI_SCANNER__
#pragma GCC visibility push(default)
#endif

G_BEGIN_DECLS

/* Numbers up to 18 are those of the wire format; the last three arise in the library. */
typedef enum {
    QUERY_ERROR_SYNTAX = 1,          /* the text is no statement of its language; query_error_get_place() tells where */
    QUERY_ERROR_UNSUPPORTED = 2,     /* correct, but not supported by this daemon */
    QUERY_ERROR_BAD_PARAMETER = 3,   /* a parameter is missing, surplus or of a wrong type; or an option is unknown */
    QUERY_ERROR_CONSTRAINT = 4,      /* an update broke a constraint: query_error_get_constraint() tells which */
    QUERY_ERROR_READ_ONLY = 5,       /* a write in a query, or the store cannot be written */
    QUERY_ERROR_BUSY = 6,            /* the daemon has too much to do */
    QUERY_ERROR_TOO_BIG = 7,         /* a text, value, row or batch exceeds its limit */
    QUERY_ERROR_TOO_COMPLEX = 8,     /* a statement exceeds a limit */
    QUERY_ERROR_TIMEOUT = 9,         /* the deadline expired */
    QUERY_ERROR_CANCELLED = 10,      /* cancelled at the daemon; a GCancellable gives G_IO_ERROR_CANCELLED instead */
    QUERY_ERROR_DISK_FULL = 11,      /* there is no space for the database or for temporary files */
    QUERY_ERROR_NO_MEMORY = 12,      /* there is no memory, here or in the daemon */
    QUERY_ERROR_CORRUPT = 13,        /* the database is damaged */
    QUERY_ERROR_RECOVERING = 14,     /* the database is being repaired; try again later */
    QUERY_ERROR_ACCESS_DENIED = 15,  /* no client is allowed to do what the statement does */
    QUERY_ERROR_LIMIT_EXCEEDED = 16, /* the caller holds too much at once */
    QUERY_ERROR_CLOSED = 17,         /* the channel, cursor or transaction is closed, or the daemon is shutting down */
    QUERY_ERROR_INTERNAL = 18,       /* internal error in the daemon, or an unknown error code */
    QUERY_ERROR_DISCONNECTED = 64,   /* the daemon went away before the end of the result; an update may have been executed */
    QUERY_ERROR_PROTOCOL = 65,       /* the daemon violated the wire format, or speaks an incompatible protocol version */
    QUERY_ERROR_UNAVAILABLE = 66,    /* no daemon could be reached or started within five seconds; or no file opened directly */
} QueryError;

#define QUERY_ERROR (query_error_quark())
GQuark query_error_quark(void);

/**
 * query_error_get_place:
 * @error: an error of this library
 * @line: (out) (optional): line in the statement's text, from 1
 * @column: (out) (optional): column in code points, from 1
 *
 * Where in the text a statement is wrong. Both are untouched when it is not known.
 *
 * Returns: %TRUE when the error names a place
 */
gboolean query_error_get_place(const GError *error, guint *line, guint *column);

/* Languages of statements. */
typedef enum {
    QUERY_LANGUAGE_SQL,    /* SQL as SQLite has it */
    QUERY_LANGUAGE_SPARQL, /* SPARQL 1.1 */
} QueryLanguage;

/* How results come from the daemon: query_connection_set_transport(). */
typedef enum {
    QUERY_TRANSPORT_AUTO,       /* the fastest one that is available */
    QUERY_TRANSPORT_SOCKETPAIR, /* by a socket */
    QUERY_TRANSPORT_RING,       /* by a socket, large ones through shared memory if there is enough of it */
} QueryTransport;

/* What an update has survived when it is answered: query_connection_set_durability(). */
typedef enum {
    QUERY_DURABILITY_FULL,    /* a power cut */
    QUERY_DURABILITY_RELAXED, /* the end of the daemon; a power cut may take back the last ones, and only whole ones */
} QueryDurability;

/* Types of values; the last four are RDF terms. */
typedef enum {
    QUERY_VALUE_TYPE_NULL = 0,          /* no value */
    QUERY_VALUE_TYPE_INTEGER = 1,       /* 64 bits, signed */
    QUERY_VALUE_TYPE_FLOAT = 2,         /* a double */
    QUERY_VALUE_TYPE_TEXT = 3,          /* a string; may hold NUL, and what is not UTF-8, if the database does */
    QUERY_VALUE_TYPE_BLOB = 4,          /* bytes; an empty one is not NULL */
    QUERY_VALUE_TYPE_IRI = 5,           /* an IRI */
    QUERY_VALUE_TYPE_BNODE = 6,         /* a blank node */
    QUERY_VALUE_TYPE_LITERAL_LANG = 7,  /* a string with a language tag */
    QUERY_VALUE_TYPE_LITERAL_TYPED = 8, /* a lexical form with a datatype IRI */
} QueryValueType;

/* For query_connection_set_timeout_msec(): no deadline, up to the daemon's own cap. */
#define QUERY_TIMEOUT_NONE 4294967295u

/**
 * QueryConnection:
 *
 * A connection to one store. It keeps some idle channels to the daemon, so that only the first query goes over D-Bus. When the
 * daemon was restarted or has exited because it was idle, the next call starts it again; open cursors fail.
 */
#define QUERY_TYPE_CONNECTION (query_connection_get_type())
G_DECLARE_FINAL_TYPE(QueryConnection, query_connection, QUERY, CONNECTION, GObject)

/**
 * QueryStatement:
 *
 * A statement that is prepared once and executed often. It has one cursor at a time: executing it again closes the last one.
 * A process may have any number of statements: one costs the daemon nothing while it does not run.
 */
#define QUERY_TYPE_STATEMENT (query_statement_get_type())
G_DECLARE_FINAL_TYPE(QueryStatement, query_statement, QUERY, STATEMENT, GObject)

/**
 * QueryCursor:
 *
 * The rows of a result, one after the other. It starts before the first row.
 *
 * A process may have any number of open cursors, and update meanwhile. When they hold all channels that the process may have,
 * the library reads the rest of the least recently read result. It keeps it in memory or in an unnamed temporary file (in
 * $TMPDIR). The cursor then continues from there. More than 2 GiB of these in a process end the cursor with
 * %QUERY_ERROR_LIMIT_EXCEEDED.
 */
#define QUERY_TYPE_CURSOR (query_cursor_get_type())
G_DECLARE_FINAL_TYPE(QueryCursor, query_cursor, QUERY, CURSOR, GObject)

/**
 * QueryBatch:
 *
 * Several statements that write, executed as one transaction: all or none.
 */
#define QUERY_TYPE_BATCH (query_batch_get_type())
G_DECLARE_FINAL_TYPE(QueryBatch, query_batch, QUERY, BATCH, GObject)

/* Connection ---------------------------------------------------------------------------------------------------------- */

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
QueryConnection *query_connection_new(GCancellable *cancellable, GError **error);

/* Asynchronous form of query_connection_new(): documented in query-connection.c. */
void query_connection_new_async(GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
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
QueryConnection *query_connection_new_for_store(const char *store, GCancellable *cancellable, GError **error);

/* Asynchronous form of query_connection_new_for_store(): documented in query-connection.c. */
void query_connection_new_for_store_async(const char *store, GCancellable *cancellable, GAsyncReadyCallback callback,
                                          gpointer user_data);
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
QueryConnection *query_connection_new_direct(const char *path, GCancellable *cancellable, GError **error);

/* Asynchronous form of query_connection_new_direct(): documented in query-connection.c. */
void query_connection_new_direct_async(const char *path, GCancellable *cancellable, GAsyncReadyCallback callback,
                                       gpointer user_data);
QueryConnection *query_connection_new_direct_finish(GAsyncResult *result, GError **error);

/**
 * query_connection_query:
 * @self: a connection
 * @language: the language of @text
 * @text: one statement that reads
 * @parameters: (nullable): a{sv}, a floating one is consumed. Keys: a decimal index from 1, a full name with its sigil, or a
 *   bare name that matches exactly one. Values: b y n q i u x t d s ay; NULL is the signature value "". An RDF term is (sss):
 *   lexical form, datatype IRI ("@id": an IRI, "@bnode": a blank node), language tag
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Runs a query. Returns when the first rows, the end or an error have arrived.
 *
 * Errors: those of the statement.
 *
 * Returns: (transfer full): a cursor before the first row, %NULL on error
 */
QueryCursor *query_connection_query(QueryConnection *self, QueryLanguage language, const char *text, GVariant *parameters,
                                    GCancellable *cancellable, GError **error);

/* Asynchronous form of query_connection_query(): documented in query-connection-query.c. */
void query_connection_query_async(QueryConnection *self, QueryLanguage language, const char *text, GVariant *parameters,
                                  GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
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
 * Errors: those of the statement. After DISCONNECTED or cancellation it is not known whether it was executed.
 *
 * Returns: the number of changed rows, -1 on error
 */
gint64 query_connection_update(QueryConnection *self, QueryLanguage language, const char *text, GVariant *parameters,
                               GCancellable *cancellable, GError **error);

/* Asynchronous form of query_connection_update(): documented in query-connection-query.c. */
void query_connection_update_async(QueryConnection *self, QueryLanguage language, const char *text, GVariant *parameters,
                                   GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
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
QueryStatement *query_connection_prepare_update(QueryConnection *self, QueryLanguage language, const char *text,
                                                GCancellable *cancellable, GError **error);

/**
 * query_connection_create_batch:
 * @self: a connection
 * Returns: (transfer full): an empty batch
 */
QueryBatch *query_connection_create_batch(QueryConnection *self);

/**
 * query_connection_set_timeout_msec:
 * @self: a connection
 * @timeout_msec: milliseconds; 0 is the daemon's default, %QUERY_TIMEOUT_NONE is none
 *
 * Sets the deadline of the calls that follow on this connection. Time in which the daemon waits for a slow reader does not count.
 */
void query_connection_set_timeout_msec(QueryConnection *self, guint timeout_msec);

/**
 * query_connection_set_max_rows:
 * @self: a connection
 * @max_rows: rows after which results end; 0 is the daemon's default, which is no limit
 *
 * Cuts the results of the queries that follow on this connection.
 */
void query_connection_set_max_rows(QueryConnection *self, guint64 max_rows);

/* Transport and durability of the calls that follow: documented in query-connection.c. */
void query_connection_set_transport(QueryConnection *self, QueryTransport transport);
QueryTransport query_connection_get_transport(QueryConnection *self);
void query_connection_set_durability(QueryConnection *self, QueryDurability durability);
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
gboolean query_connection_explain(QueryConnection *self, QueryLanguage language, const char *text, char **sql, char **plan,
                                  GCancellable *cancellable, GError **error);

/**
 * QueryProgressFunc:
 * @rows_done: rows so far
 * @bytes_done: bytes so far
 * @bytes_total: bytes in all; 0: not known
 * @user_data: what was given with the function
 *
 * Reports the progress of a job, about ten times a second, in the thread of the waiting call. The last report, at the end of the
 * job, has the final figures. A backup and a restore count each byte twice: they make a copy in the store's directory first.
 */
typedef void (*QueryProgressFunc)(guint64 rows_done, guint64 bytes_done, guint64 bytes_total, gpointer user_data);

/* Import fills a table or graphs from a descriptor, dump writes graphs to one: documented in query-job.c. */
gboolean query_connection_import(QueryConnection *self, int fd, const char *format, GVariant *options, QueryProgressFunc progress,
                                 gpointer user_data, guint64 *n_rows, GCancellable *cancellable, GError **error);
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
 * Makes the daemon write a whole result to a descriptor, and waits for the end.
 *
 * Returns: %FALSE on error: what was written is not complete
 */
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
gboolean query_connection_backup(QueryConnection *self, int fd, QueryProgressFunc progress, gpointer user_data,
                                 GCancellable *cancellable, GError **error);

/* Replaces the database by a backup; the second form also reports what the backup lacks: documented in query-job.c. */
gboolean query_connection_restore(QueryConnection *self, int fd, gboolean check_only, QueryProgressFunc progress,
                                  gpointer user_data, GCancellable *cancellable, GError **error);
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
gboolean query_connection_optimize(QueryConnection *self, gboolean warm, GCancellable *cancellable, GError **error);
/* Makes the daemon read its configuration again: documented in query-manager.c. */
gboolean query_connection_reload(QueryConnection *self, GCancellable *cancellable, GError **error);

/* Settings, figures and queries of the daemon, NULL or FALSE on error: documented in query-manager.c and query-connection.c. */
gboolean query_connection_set_full_text(QueryConnection *self, GVariant *options, GCancellable *cancellable, GError **error);
GVariant *query_connection_get_stats(QueryConnection *self, GCancellable *cancellable, GError **error);
GVariant *query_connection_get_limits(QueryConnection *self, GCancellable *cancellable, GError **error);
GVariant *query_connection_list_queries(QueryConnection *self, GCancellable *cancellable, GError **error);
gboolean query_connection_cancel_query(QueryConnection *self, guint64 id, GCancellable *cancellable, GError **error);
GVariant *query_connection_get_daemon_property(QueryConnection *self, const char *name, GCancellable *cancellable, GError **error);

/* Statement ----------------------------------------------------------------------------------------------------------- */

/**
 * query_statement_get_n_parameters:
 * @self: a statement
 * Returns: the number of parameters
 */
guint query_statement_get_n_parameters(QueryStatement *self);

/**
 * query_statement_get_parameter_name:
 * @self: a statement
 * @index: from 0
 * Returns: (nullable) (transfer none): the name with its sigil, %NULL for a plain "?"
 */
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
gboolean query_statement_bind_null(QueryStatement *self, const char *name, GError **error);

/* Other types: documented in query-statement.c. */
gboolean query_statement_bind_int64(QueryStatement *self, const char *name, gint64 value, GError **error);
gboolean query_statement_bind_double(QueryStatement *self, const char *name, double value, GError **error);
gboolean query_statement_bind_string(QueryStatement *self, const char *name, const char *value, gssize n_bytes, GError **error);
gboolean query_statement_bind_bytes(QueryStatement *self, const char *name, GBytes *value, GError **error);
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
gboolean query_statement_bind_literal(QueryStatement *self, const char *name, const char *lexical, const char *datatype,
                                      const char *language, GError **error);

/* Keeps the bound values as a row of the next update, which runs once for each row: documented in query-statement.c. */
gboolean query_statement_add_row(QueryStatement *self, GError **error);

/**
 * query_statement_clear_bindings:
 * @self: a statement
 *
 * Removes all bound values.
 */
void query_statement_clear_bindings(QueryStatement *self);

/**
 * query_statement_execute:
 * @self: a statement
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Runs the statement with the values bound now. A cursor of an earlier execution that is still open is closed.
 *
 * Errors: BAD_PARAMETER for a parameter without a value, those of the statement.
 *
 * Returns: (transfer full): a cursor before the first row, %NULL on error
 */
QueryCursor *query_statement_execute(QueryStatement *self, GCancellable *cancellable, GError **error);

/* Asynchronous form of query_statement_execute(): documented in query-statement.c. */
void query_statement_execute_async(QueryStatement *self, GCancellable *cancellable, GAsyncReadyCallback callback,
                                   gpointer user_data);
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
gint64 query_statement_update(QueryStatement *self, GCancellable *cancellable, GError **error);

/* Asynchronous form of query_statement_update(): documented in query-statement.c. */
void query_statement_update_async(QueryStatement *self, GCancellable *cancellable, GAsyncReadyCallback callback,
                                  gpointer user_data);
gint64 query_statement_update_finish(QueryStatement *self, GAsyncResult *result, GError **error);

/**
 * query_statement_get_last_insert_rowid:
 * @self: a statement
 * Returns: the rowid that the last query_statement_update() inserted last
 */
gint64 query_statement_get_last_insert_rowid(QueryStatement *self);

/**
 * query_statement_get_generation:
 * @self: a statement
 * Returns: the generation of the database that the last query_statement_update() made
 */
guint64 query_statement_get_generation(QueryStatement *self);

/* Cursor -------------------------------------------------------------------------------------------------------------- */

/**
 * query_cursor_get_n_columns:
 * @self: a cursor
 * Returns: the number of columns
 */
guint query_cursor_get_n_columns(QueryCursor *self);

/**
 * query_cursor_get_column_name:
 * @self: a cursor
 * @column: from 0
 * Returns: (transfer none): the column's name; lives as long as @self
 */
const char *query_cursor_get_column_name(QueryCursor *self, guint column);

/**
 * query_cursor_get_column_type:
 * @self: a cursor
 * @column: from 0
 * Returns: (transfer none): the declared type, "" when there is none; lives as long as @self
 */
const char *query_cursor_get_column_type(QueryCursor *self, guint column);

/**
 * query_cursor_next:
 * @self: a cursor
 * @cancellable: (nullable): a #GCancellable; cancelling ends the cursor and the query in the daemon
 * @error: (nullable): location for an error
 *
 * Moves to the next row. What getters returned for the last one is no longer valid.
 *
 * Errors: those of the query; the same one again when called again. Rows before an error are good, but not all.
 *
 * Returns: %TRUE with a row; %FALSE at the end (no error set) or on failure (error set)
 */
gboolean query_cursor_next(QueryCursor *self, GCancellable *cancellable, GError **error);

/* Asynchronous form of query_cursor_next(): documented in query-cursor.c. */
void query_cursor_next_async(QueryCursor *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
gboolean query_cursor_next_finish(QueryCursor *self, GAsyncResult *result, GError **error);

/**
 * query_cursor_get_value_type:
 * @self: a cursor on a row
 * @column: from 0
 * Returns: the type of the value
 */
QueryValueType query_cursor_get_value_type(QueryCursor *self, guint column);

/**
 * query_cursor_is_null:
 * @self: a cursor on a row
 * @column: from 0
 * Returns: whether the value is NULL
 */
gboolean query_cursor_is_null(QueryCursor *self, guint column);

/**
 * query_cursor_get_int64:
 * @self: a cursor on a row
 * @column: from 0
 * Returns: the value; a FLOAT cut to an integer, of a string the number it begins with; 0 for the rest
 */
gint64 query_cursor_get_int64(QueryCursor *self, guint column);

/**
 * query_cursor_get_double:
 * @self: a cursor on a row
 * @column: from 0
 * Returns: the value; of a string the number it begins with; 0 for the rest
 */
double query_cursor_get_double(QueryCursor *self, guint column);

/**
 * query_cursor_get_boolean:
 * @self: a cursor on a row
 * @column: from 0
 * Returns: %TRUE for a number that is not 0, and for the strings "true" and "1"
 */
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
const char *query_cursor_get_string(QueryCursor *self, guint column, gsize *n_bytes);

/**
 * query_cursor_get_bytes:
 * @self: a cursor on a row
 * @column: from 0
 * Returns: (nullable) (transfer full): a copy of the bytes, of a BLOB or of the string; %NULL for NULL
 */
GBytes *query_cursor_get_bytes(QueryCursor *self, guint column);
/* The same without a copy: documented in query-cursor-value.c. */
const guint8 *query_cursor_get_data(QueryCursor *self, guint column, gsize *n_bytes);

/**
 * query_cursor_get_date_time:
 * @self: a cursor on a row
 * @column: from 0
 * Returns: (nullable) (transfer full): the time of an ISO 8601 text or xsd:dateTime (UTC if it names no zone). Of an INTEGER it
 *   is seconds since 1970; %NULL for the rest
 */
GDateTime *query_cursor_get_date_time(QueryCursor *self, guint column);

/**
 * query_cursor_get_datatype:
 * @self: a cursor on a row
 * @column: from 0
 * Returns: (nullable) (transfer none): the datatype IRI of a typed literal, valid until the next query_cursor_next()
 */
const char *query_cursor_get_datatype(QueryCursor *self, guint column);

/**
 * query_cursor_get_language:
 * @self: a cursor on a row
 * @column: from 0
 * Returns: (nullable) (transfer none): the tag of a literal with a language, valid until the next query_cursor_next()
 */
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
 *
 * Errors: as query_cursor_next(); the rows of this call are lost then.
 *
 * Returns: (transfer full) (nullable): the text, in UTF-8; %NULL at the end (no error set) or on failure (error set)
 */
GBytes *query_cursor_read_json(QueryCursor *self, guint64 max_rows, GCancellable *cancellable, GError **error);

/* Asynchronous form of query_cursor_read_json(): documented in query-json.c. */
void query_cursor_read_json_async(QueryCursor *self, guint64 max_rows, GCancellable *cancellable, GAsyncReadyCallback callback,
                                  gpointer user_data);
GBytes *query_cursor_read_json_finish(QueryCursor *self, GAsyncResult *result, GError **error);

/* What the END record of the result says; 0 before the end: documented in query-cursor.c. */
guint64 query_cursor_get_n_rows(QueryCursor *self);
guint64 query_cursor_get_generation(QueryCursor *self);
guint64 query_cursor_get_elapsed_usec(QueryCursor *self);
gint64 query_cursor_get_changes(QueryCursor *self);
gint64 query_cursor_get_last_insert_rowid(QueryCursor *self);

/**
 * query_cursor_close:
 * @self: a cursor
 *
 * Ends the cursor, and the query in the daemon if it still runs. Dropping the last reference does the same.
 */
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
int query_cursor_steal_fd(QueryCursor *self);

/* Batch --------------------------------------------------------------------------------------------------------------- */

/**
 * query_batch_add:
 * @self: a batch
 * @language: the language of @text
 * @text: one statement that writes; copied
 * @parameters: (nullable): a{sv}, see query_connection_query(); a floating one is consumed
 *
 * Adds a statement.
 */
void query_batch_add(QueryBatch *self, QueryLanguage language, const char *text, GVariant *parameters);

/**
 * query_batch_get_n_statements:
 * @self: a batch
 * Returns: the number of statements
 */
guint query_batch_get_n_statements(QueryBatch *self);

/**
 * query_batch_execute:
 * @self: a batch
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Executes all statements in one transaction. It is durable when this returns. The batch may be executed again.
 *
 * Errors: those of a statement: nothing was changed. After DISCONNECTED or cancellation that is not known.
 *
 * Returns: %FALSE on error
 */
gboolean query_batch_execute(QueryBatch *self, GCancellable *cancellable, GError **error);

/* Asynchronous form of query_batch_execute(): documented in query-batch.c. */
void query_batch_execute_async(QueryBatch *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
gboolean query_batch_execute_finish(QueryBatch *self, GAsyncResult *result, GError **error);

/**
 * query_batch_get_changes:
 * @self: an executed batch
 * @index: of the statement, from 0
 * Returns: rows changed by that statement
 */
guint64 query_batch_get_changes(QueryBatch *self, guint index);

/**
 * query_batch_get_generation:
 * @self: an executed batch
 * Returns: the generation of the database that it made
 */
guint64 query_batch_get_generation(QueryBatch *self);

G_END_DECLS

#ifndef __GI_SCANNER__
#pragma GCC visibility pop
#endif

#include "query-constraint.h"
#include "query-notifier.h"
#include "query-payload.h"
#include "query-subscription.h"
#include "query-transaction.h"
