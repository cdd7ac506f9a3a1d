/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libquery-client: SQL and SPARQL against the queryd of this session.
 *
 * The only public header. Everything hides the handshake: a query is one call, rows come from a cursor.
 * Threads: an object belongs to one thread at a time; a QueryConnection may be shared by several.
 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/**
 * QueryError:
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
    QUERY_ERROR_DISCONNECTED = 64, /* the daemon went away before the result was whole */
    QUERY_ERROR_PROTOCOL = 65,     /* the daemon sent something that is not the wire format */
    QUERY_ERROR_UNAVAILABLE = 66,  /* no daemon could be reached or activated */
} QueryError;

#define QUERY_ERROR (query_error_quark())
GQuark query_error_quark(void);

typedef enum {
    QUERY_LANGUAGE_SQL,
    QUERY_LANGUAGE_SPARQL,
} QueryLanguage;

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

#define QUERY_TYPE_CONNECTION (query_connection_get_type())
G_DECLARE_FINAL_TYPE(QueryConnection, query_connection, QUERY, CONNECTION, GObject)
#define QUERY_TYPE_STATEMENT (query_statement_get_type())
G_DECLARE_FINAL_TYPE(QueryStatement, query_statement, QUERY, STATEMENT, GObject)
#define QUERY_TYPE_CURSOR (query_cursor_get_type())
G_DECLARE_FINAL_TYPE(QueryCursor, query_cursor, QUERY, CURSOR, GObject)
#define QUERY_TYPE_BATCH (query_batch_get_type())
G_DECLARE_FINAL_TYPE(QueryBatch, query_batch, QUERY, BATCH, GObject)

/* Connection ---------------------------------------------------------------------------------------------------------- */

QueryConnection *query_connection_new(GCancellable *cancellable, GError **error);
void query_connection_new_async(GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
QueryConnection *query_connection_new_finish(GAsyncResult *result, GError **error);
/* The queryd of a named store ("queryd@NAME"); NULL is the default one. */
QueryConnection *query_connection_new_for_store(const char *store, GCancellable *cancellable, GError **error);

/* @parameters: (nullable): a{sv}, floating is consumed. Keys and values as in the D-Bus interface. */
QueryCursor *query_connection_query(QueryConnection *self, QueryLanguage language, const char *text, GVariant *parameters,
                                    GCancellable *cancellable, GError **error);
void query_connection_query_async(QueryConnection *self, QueryLanguage language, const char *text, GVariant *parameters,
                                  GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
QueryCursor *query_connection_query_finish(QueryConnection *self, GAsyncResult *result, GError **error);

/* Returns: the number of changed rows, -1 on error. Durable when it returns. */
gint64 query_connection_update(QueryConnection *self, QueryLanguage language, const char *text, GVariant *parameters,
                               GCancellable *cancellable, GError **error);
void query_connection_update_async(QueryConnection *self, QueryLanguage language, const char *text, GVariant *parameters,
                                   GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
gint64 query_connection_update_finish(QueryConnection *self, GAsyncResult *result, GError **error);

QueryStatement *query_connection_prepare(QueryConnection *self, QueryLanguage language, const char *text, GCancellable *cancellable,
                                         GError **error);
QueryStatement *query_connection_prepare_update(QueryConnection *self, QueryLanguage language, const char *text,
                                                GCancellable *cancellable, GError **error);
QueryBatch *query_connection_create_batch(QueryConnection *self);

/* Limits of what follows on this connection; 0 is the daemon's default (timeout: see set_no_timeout of the docs). */
void query_connection_set_timeout_msec(QueryConnection *self, guint timeout_msec);
void query_connection_set_max_rows(QueryConnection *self, guint64 max_rows);

gboolean query_connection_explain(QueryConnection *self, QueryLanguage language, const char *text, char **sql, char **plan,
                                  GCancellable *cancellable, GError **error);

/* Calls that queryctl and management tools need; they wait for the job's end. @progress may be NULL. */
typedef void (*QueryProgressFunc)(guint64 rows_done, guint64 bytes_done, guint64 bytes_total, gpointer user_data);
/* @options: (nullable): a{sv} of the D-Bus method, floating is consumed. @fd is borrowed. */
gboolean query_connection_import(QueryConnection *self, int fd, const char *format, GVariant *options, QueryProgressFunc progress,
                                 gpointer user_data, guint64 *n_rows, GCancellable *cancellable, GError **error);
gboolean query_connection_export(QueryConnection *self, QueryLanguage language, const char *text, const char *format, int fd,
                                 GVariant *options, guint64 *n_rows, guint64 *n_bytes, GCancellable *cancellable, GError **error);
gboolean query_connection_backup(QueryConnection *self, int fd, QueryProgressFunc progress, gpointer user_data,
                                 GCancellable *cancellable, GError **error);
gboolean query_connection_check(QueryConnection *self, gboolean quick, char ***messages, GCancellable *cancellable, GError **error);
gboolean query_connection_optimize(QueryConnection *self, GCancellable *cancellable, GError **error);
gboolean query_connection_reload(QueryConnection *self, GCancellable *cancellable, GError **error);
/* a{sv}; a(sttsss); aa{sv} of the Manager interface. (transfer full) */
GVariant *query_connection_get_stats(QueryConnection *self, GCancellable *cancellable, GError **error);
GVariant *query_connection_get_limits(QueryConnection *self, GCancellable *cancellable, GError **error);
GVariant *query_connection_list_queries(QueryConnection *self, GCancellable *cancellable, GError **error);
gboolean query_connection_cancel_query(QueryConnection *self, guint64 id, GCancellable *cancellable, GError **error);
/* A property of org.queryd.Query1. (transfer full) */
GVariant *query_connection_get_property(QueryConnection *self, const char *name, GCancellable *cancellable, GError **error);

/* Statement ----------------------------------------------------------------------------------------------------------- */

guint query_statement_get_n_parameters(QueryStatement *self);
/* (nullable): NULL for a plain "?" */
const char *query_statement_get_parameter_name(QueryStatement *self, guint index);
/* @name: a decimal index from 1, a full name with sigil, or a bare name that matches exactly one. */
gboolean query_statement_bind_null(QueryStatement *self, const char *name, GError **error);
gboolean query_statement_bind_int64(QueryStatement *self, const char *name, gint64 value, GError **error);
gboolean query_statement_bind_double(QueryStatement *self, const char *name, double value, GError **error);
/* @n_bytes: -1 for a NUL-terminated @value */
gboolean query_statement_bind_string(QueryStatement *self, const char *name, const char *value, gssize n_bytes, GError **error);
gboolean query_statement_bind_bytes(QueryStatement *self, const char *name, GBytes *value, GError **error);
gboolean query_statement_bind_iri(QueryStatement *self, const char *name, const char *iri, GError **error);
/* Exactly one of @datatype and @language may be given. */
gboolean query_statement_bind_literal(QueryStatement *self, const char *name, const char *lexical, const char *datatype,
                                      const char *language, GError **error);
void query_statement_clear_bindings(QueryStatement *self);

QueryCursor *query_statement_execute(QueryStatement *self, GCancellable *cancellable, GError **error);
void query_statement_execute_async(QueryStatement *self, GCancellable *cancellable, GAsyncReadyCallback callback,
                                   gpointer user_data);
QueryCursor *query_statement_execute_finish(QueryStatement *self, GAsyncResult *result, GError **error);
gint64 query_statement_update(QueryStatement *self, GCancellable *cancellable, GError **error);
void query_statement_update_async(QueryStatement *self, GCancellable *cancellable, GAsyncReadyCallback callback,
                                  gpointer user_data);
gint64 query_statement_update_finish(QueryStatement *self, GAsyncResult *result, GError **error);

/* Cursor -------------------------------------------------------------------------------------------------------------- */

guint query_cursor_get_n_columns(QueryCursor *self);
const char *query_cursor_get_column_name(QueryCursor *self, guint column);
const char *query_cursor_get_column_type(QueryCursor *self, guint column); /* declared type, "" when none */

/* Returns: TRUE with a row; FALSE at the end (no error set) or on failure (error set). */
gboolean query_cursor_next(QueryCursor *self, GCancellable *cancellable, GError **error);
void query_cursor_next_async(QueryCursor *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
gboolean query_cursor_next_finish(QueryCursor *self, GAsyncResult *result, GError **error);

QueryValueType query_cursor_get_value_type(QueryCursor *self, guint column);
gboolean query_cursor_is_null(QueryCursor *self, guint column);
gint64 query_cursor_get_int64(QueryCursor *self, guint column);
double query_cursor_get_double(QueryCursor *self, guint column);
gboolean query_cursor_get_boolean(QueryCursor *self, guint column);
/* (nullable) (transfer none): NULL for NULL; TEXT and terms as they are; numbers as text; valid until next(). */
const char *query_cursor_get_string(QueryCursor *self, guint column, gsize *n_bytes);
/* (transfer full) (nullable) */
GBytes *query_cursor_get_bytes(QueryCursor *self, guint column);
/* (transfer full) (nullable) */
GDateTime *query_cursor_get_date_time(QueryCursor *self, guint column);
const char *query_cursor_get_datatype(QueryCursor *self, guint column);
const char *query_cursor_get_language(QueryCursor *self, guint column);

/* Up to @max_rows rows (0: all that is left) as a JSON array of objects; NULL with no error at the end. */
GBytes *query_cursor_read_json(QueryCursor *self, guint64 max_rows, GCancellable *cancellable, GError **error);
void query_cursor_read_json_async(QueryCursor *self, guint64 max_rows, GCancellable *cancellable, GAsyncReadyCallback callback,
                                  gpointer user_data);
GBytes *query_cursor_read_json_finish(QueryCursor *self, GAsyncResult *result, GError **error);

/* After the end: what END said. */
guint64 query_cursor_get_n_rows(QueryCursor *self);
guint64 query_cursor_get_generation(QueryCursor *self);
guint64 query_cursor_get_elapsed_usec(QueryCursor *self);
gint64 query_cursor_get_changes(QueryCursor *self);
gint64 query_cursor_get_last_insert_rowid(QueryCursor *self);

void query_cursor_close(QueryCursor *self);
/* The channel's descriptor, at a record boundary; the cursor is closed then. -1 when there is none. */
int query_cursor_steal_fd(QueryCursor *self);

/* Batch --------------------------------------------------------------------------------------------------------------- */

void query_batch_add(QueryBatch *self, QueryLanguage language, const char *text, GVariant *parameters);
guint query_batch_get_n_statements(QueryBatch *self);
gboolean query_batch_execute(QueryBatch *self, GCancellable *cancellable, GError **error);
void query_batch_execute_async(QueryBatch *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
gboolean query_batch_execute_finish(QueryBatch *self, GAsyncResult *result, GError **error);
/* After execute: rows changed by statement @index. */
guint64 query_batch_get_changes(QueryBatch *self, guint index);

G_END_DECLS
