/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libquery-client: SQL and SPARQL against the queryd of this session.
 *
 * The public header: errors, names and types. It includes the functions of each type at its end. Everything hides the handshake: a
 * query is one call, rows come from a cursor.
 *
 * Threads: a QueryConnection may be shared by threads. A statement with its cursors, and a batch, belong to one thread at a
 * time. Sync calls need no main loop and run none; async calls complete in the caller's thread-default main context.
 * Processes: after fork() a child cannot use the library if its parent has: calls fail with CLOSED, and the parent's go on.
 * Errors: domain QUERY_ERROR, but for G_IO_ERROR_CANCELLED: the caller's own GCancellable; and G_IO_ERROR_PENDING: a cursor
 * has an async call under way. Every call that reaches the daemon may fail with UNAVAILABLE, DISCONNECTED or PROTOCOL.
 */
#pragma once

#include <gio/gio.h>

#include "query-version.h"

#ifndef __GI_SCANNER__
#pragma GCC visibility push(default)
#endif

G_BEGIN_DECLS

/**
 * QueryError:
 * @QUERY_ERROR_SYNTAX: the text is no statement of its language; query_error_get_place() tells where
 * @QUERY_ERROR_UNSUPPORTED: correct, but not supported by this daemon
 * @QUERY_ERROR_BAD_PARAMETER: a parameter is missing, surplus or of a wrong type; or an option is unknown
 * @QUERY_ERROR_CONSTRAINT: an update broke a constraint: query_error_get_constraint() tells which
 * @QUERY_ERROR_READ_ONLY: a write in a query, or the store cannot be written
 * @QUERY_ERROR_BUSY: the daemon has too much to do
 * @QUERY_ERROR_TOO_BIG: a text, value, row or batch exceeds its limit
 * @QUERY_ERROR_TOO_COMPLEX: a statement exceeds a limit
 * @QUERY_ERROR_TIMEOUT: the deadline expired
 * @QUERY_ERROR_CANCELLED: cancelled at the daemon; a GCancellable gives G_IO_ERROR_CANCELLED instead
 * @QUERY_ERROR_DISK_FULL: there is no space for the database or for temporary files
 * @QUERY_ERROR_NO_MEMORY: there is no memory, here or in the daemon
 * @QUERY_ERROR_CORRUPT: the database is damaged
 * @QUERY_ERROR_RECOVERING: the database is being repaired; try again later
 * @QUERY_ERROR_ACCESS_DENIED: no client is allowed to do what the statement does
 * @QUERY_ERROR_LIMIT_EXCEEDED: the caller holds too much at once
 * @QUERY_ERROR_CLOSED: the channel, cursor or transaction is closed, the daemon is shutting down, or the process was forked
 * @QUERY_ERROR_INTERNAL: internal error in the daemon, or an unknown error code
 * @QUERY_ERROR_DISCONNECTED: the daemon went away before the end of the result; an update may have been executed
 * @QUERY_ERROR_PROTOCOL: the daemon violated the wire format, or speaks an incompatible protocol version
 * @QUERY_ERROR_UNAVAILABLE: no daemon could be reached or started within five seconds; or no file opened directly
 *
 * Numbers up to 18 are those of the wire format; the last three arise in the library.
 */
typedef enum {
    QUERY_ERROR_SYNTAX = 1,
    QUERY_ERROR_UNSUPPORTED = 2,
    QUERY_ERROR_BAD_PARAMETER = 3,
    QUERY_ERROR_CONSTRAINT = 4,
    QUERY_ERROR_READ_ONLY = 5,
    QUERY_ERROR_BUSY = 6,
    QUERY_ERROR_TOO_BIG = 7,
    QUERY_ERROR_TOO_COMPLEX = 8,
    QUERY_ERROR_TIMEOUT = 9,
    QUERY_ERROR_CANCELLED = 10,
    QUERY_ERROR_DISK_FULL = 11,
    QUERY_ERROR_NO_MEMORY = 12,
    QUERY_ERROR_CORRUPT = 13,
    QUERY_ERROR_RECOVERING = 14,
    QUERY_ERROR_ACCESS_DENIED = 15,
    QUERY_ERROR_LIMIT_EXCEEDED = 16,
    QUERY_ERROR_CLOSED = 17,
    QUERY_ERROR_INTERNAL = 18,
    QUERY_ERROR_DISCONNECTED = 64,
    QUERY_ERROR_PROTOCOL = 65,
    QUERY_ERROR_UNAVAILABLE = 66,
} QueryError;

#define QUERY_ERROR (query_error_quark())

/**
 * query_error_quark:
 *
 * Returns: the domain of the errors of this library
 */
QUERY_AVAILABLE_IN_0_1
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
QUERY_AVAILABLE_IN_0_1
gboolean query_error_get_place(const GError *error, guint *line, guint *column);

/**
 * QueryLanguage:
 * @QUERY_LANGUAGE_SQL: SQL as SQLite has it
 * @QUERY_LANGUAGE_SPARQL: SPARQL 1.1
 *
 * Languages of statements.
 */
typedef enum {
    QUERY_LANGUAGE_SQL,
    QUERY_LANGUAGE_SPARQL,
} QueryLanguage;

#define QUERY_TYPE_LANGUAGE (query_language_get_type())
QUERY_AVAILABLE_IN_0_1
GType query_language_get_type(void);

/**
 * QueryTransport:
 * @QUERY_TRANSPORT_AUTO: the fastest one that is available
 * @QUERY_TRANSPORT_SOCKETPAIR: by a socket
 * @QUERY_TRANSPORT_RING: by a socket, large ones through shared memory if there is enough of it
 *
 * How results come from the daemon: query_connection_set_transport().
 */
typedef enum {
    QUERY_TRANSPORT_AUTO,
    QUERY_TRANSPORT_SOCKETPAIR,
    QUERY_TRANSPORT_RING,
} QueryTransport;

#define QUERY_TYPE_TRANSPORT (query_transport_get_type())
QUERY_AVAILABLE_IN_0_1
GType query_transport_get_type(void);

/**
 * QueryDurability:
 * @QUERY_DURABILITY_FULL: a power cut
 * @QUERY_DURABILITY_RELAXED: the end of the daemon; a power cut may take back the last ones, and only whole ones
 *
 * What an update has survived when it is answered: query_connection_set_durability().
 */
typedef enum {
    QUERY_DURABILITY_FULL,
    QUERY_DURABILITY_RELAXED,
} QueryDurability;

#define QUERY_TYPE_DURABILITY (query_durability_get_type())
QUERY_AVAILABLE_IN_0_1
GType query_durability_get_type(void);

/**
 * QueryValueType:
 * @QUERY_VALUE_TYPE_NULL: no value
 * @QUERY_VALUE_TYPE_INTEGER: 64 bits, signed
 * @QUERY_VALUE_TYPE_FLOAT: a double
 * @QUERY_VALUE_TYPE_TEXT: a string; may hold NUL, and what is not UTF-8, if the database does
 * @QUERY_VALUE_TYPE_BLOB: bytes; an empty one is not NULL
 * @QUERY_VALUE_TYPE_IRI: an IRI
 * @QUERY_VALUE_TYPE_BNODE: a blank node
 * @QUERY_VALUE_TYPE_LITERAL_LANG: a string with a language tag
 * @QUERY_VALUE_TYPE_LITERAL_TYPED: a lexical form with a datatype IRI
 *
 * Types of values; the last four are RDF terms.
 */
typedef enum {
    QUERY_VALUE_TYPE_NULL = 0,
    QUERY_VALUE_TYPE_INTEGER = 1,
    QUERY_VALUE_TYPE_FLOAT = 2,
    QUERY_VALUE_TYPE_TEXT = 3,
    QUERY_VALUE_TYPE_BLOB = 4,
    QUERY_VALUE_TYPE_IRI = 5,
    QUERY_VALUE_TYPE_BNODE = 6,
    QUERY_VALUE_TYPE_LITERAL_LANG = 7,
    QUERY_VALUE_TYPE_LITERAL_TYPED = 8,
} QueryValueType;

#define QUERY_TYPE_VALUE_TYPE (query_value_type_get_type())
QUERY_AVAILABLE_IN_0_1
GType query_value_type_get_type(void);

/**
 * QUERY_TIMEOUT_NONE:
 *
 * For query_connection_set_timeout_msec(): no deadline, up to the daemon's own cap.
 */
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

/**
 * QueryNamespaces:
 *
 * Prefixes and the beginnings of IRIs that they stand for. It has rdf, rdfs and xsd from the start. One thread at a time.
 */
#define QUERY_TYPE_NAMESPACES (query_namespaces_get_type())
G_DECLARE_FINAL_TYPE(QueryNamespaces, query_namespaces, QUERY, NAMESPACES, GObject)

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

G_END_DECLS

#ifndef __GI_SCANNER__
#pragma GCC visibility pop
#endif

#include "query-arrow.h"
#include "query-batch.h"
#include "query-connection-async.h"
#include "query-connection-new.h"
#include "query-connection.h"
#include "query-constraint.h"
#include "query-cursor.h"
#include "query-list-model.h"
#include "query-namespaces.h"
#include "query-notifier.h"
#include "query-payload.h"
#include "query-resource.h"
#include "query-statement.h"
#include "query-store.h"
#include "query-subscription.h"
#include "query-transaction.h"
