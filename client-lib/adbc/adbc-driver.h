/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The driver for ADBC: what its files share.
 *
 * Place: libadbc_driver_queryd.so, on top of the public library.
 * Threads: ADBC gives a connection to one thread at a time. Streams may be read and released while another uses the connection:
 * languages with a garbage collector do that. So each call locks the connection's mutex, but cancelling.
 * Invariant: a function with a GError reports by it; qad_report() alone makes an AdbcError of it.
 */
#pragma once

#include <pthread.h>

#include "client-lib/adbc/adbc-abi.h"

/* Beyond QUERY_ERROR: what ADBC has a status for, as its number. */
#define QAD_ERROR (qad_error_quark())
GQuark qad_error_quark(void);

/* What may be set for a database, a connection and a statement, which begin with those of the one before. */
typedef struct QadOptions {
    QueryLanguage language;
    QueryArrowForm form;
    guint timeout_msec; /* 0: the daemon's default; not of a statement */
} QadOptions;

typedef struct QadDatabase {
    char *uri;
    char *store; /* (nullable) */
    char *path;  /* (nullable): of a direct connection; "": that of the default store */
    QadOptions options;
} QadDatabase;

/* Cancels the calls that run. Thread: any. */
typedef struct QadCancel {
    pthread_mutex_t mutex;
    GCancellable *current;
} QadCancel;

typedef struct QadConnection {
    gint ref_count; /* atomic: of the handle, statements and streams */
    GRecMutex mutex;
    QueryConnection *connection;   /* (nullable): not opened yet */
    QueryTransaction *transaction; /* (nullable) */
    gboolean autocommit;
    QadOptions options;
    QadCancel cancel;
    pthread_mutex_t statements_mutex;
    GPtrArray *statements; /* of QadStatement, not owned */
} QadConnection;

typedef enum QadIngestMode {
    QAD_INGEST_CREATE,
    QAD_INGEST_APPEND,
    QAD_INGEST_REPLACE,
    QAD_INGEST_CREATE_APPEND,
} QadIngestMode;

typedef struct QadStatement {
    QadConnection *connection;
    char *text;               /* (nullable) */
    QueryStatement *prepared; /* (nullable) */
    gboolean writes;          /* of `prepared` */
    gboolean by_name;         /* columns are bound to the parameters with their names */
    char *target;             /* (nullable): the table of an ingest */
    QadIngestMode ingest_mode;
    struct ArrowArrayStream bound; /* no release: nothing is bound */
    QadOptions options;
    QadCancel cancel;
} QadStatement;

/* adbc-error.c */

/* Sets an error with a status of ADBC, and returns FALSE. */
gboolean qad_set_error(GError **error, AdbcStatusCode status, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* @failure: (transfer full) (nullable): NULL is no error. @error: (nullable) */
AdbcStatusCode qad_report(struct AdbcError *error, GError *failure);
/* Whether @failure says that a statement writes, where it was to be prepared as a query. */
gboolean qad_error_is_write(const GError *failure);
int qad_error_get_detail_count(const struct AdbcError *error);
struct AdbcErrorDetail qad_error_get_detail(const struct AdbcError *error, int index);

/* adbc-option.c */

/* Returns: FALSE with an error for a bad value; @ret_known is FALSE for another option, without an error */
gboolean qad_options_set(QadOptions *self, const char *key, const char *value, gboolean *ret_known, GError **error);
/* Returns: (transfer full) (nullable): NULL for another option */
char *qad_options_get(const QadOptions *self, const char *key);
/* As ADBC's GetOption. @value: (transfer full) (nullable): NULL is NOT_FOUND */
AdbcStatusCode qad_give_option(const char *key, char *value, char *buffer, size_t *n_bytes, struct AdbcError *error);
gboolean qad_parse_boolean(const char *key, const char *value, gboolean *ret, GError **error);

void qad_cancel_init(QadCancel *self);
void qad_cancel_clear(QadCancel *self);
void qad_cancel_now(QadCancel *self);
/* (transfer full): for a call that begins now */
GCancellable *qad_cancel_get(QadCancel *self);

/* adbc-session.c */

QadConnection *qad_connection_ref(QadConnection *self);
void qad_connection_unref(QadConnection *self);
/* Returns: FALSE with an error when it is not initialised */
gboolean qad_connection_check(QadConnection *self, GError **error);
gboolean qad_connection_begin(QadConnection *self, GCancellable *cancellable, GError **error);
/* Also when that fails there is no transaction any more. */
gboolean qad_connection_end(QadConnection *self, gboolean commit, GError **error);
/* @writes: (out): whether it was prepared as an update */
QueryStatement *qad_connection_prepare(QadConnection *self, QueryLanguage language, const char *text, gboolean *ret_writes,
                                       GCancellable *cancellable, GError **error);
/* In the transaction, if there is one. */
QueryCursor *qad_connection_execute(QadConnection *self, QueryStatement *statement, GCancellable *cancellable, GError **error);
/* Runs @text, of SQL, whose rows do not matter. */
gboolean qad_connection_run(QadConnection *self, const char *text, GCancellable *cancellable, GError **error);
/* @value: (nullable): of its parameter. Returns: (transfer full): a cursor on SQL's rows */
QueryCursor *qad_connection_query(QadConnection *self, const char *text, const char *value, GError **error);
/* "table", "view", or NULL without an error. */
char *qad_connection_find_table(QadConnection *self, const char *table, GError **error);
/* A name for SQL, in quotes. */
char *qad_quote(const char *name);

/* adbc-stream.c */

/**
 * qad_stream_init:
 * @stream: (out caller-allocates): untouched or released on failure
 * @cursor: (transfer full): consumed on failure, too
 * @ret_schema: (out caller-allocates) (nullable): its schema
 *
 * The rows of @cursor, read under the connection's mutex. What decides its schema is read here: consumers find errors of a call
 * easier than those of a stream.
 */
gboolean qad_stream_init(struct ArrowArrayStream *stream, QadConnection *connection, QueryCursor *cursor, QueryArrowForm form,
                         GCancellable *cancellable, struct ArrowSchema *ret_schema, GError **error);
const struct AdbcError *qad_stream_get_error(struct ArrowArrayStream *stream, AdbcStatusCode *status);
/* A stream of @schema and, if it has a release callback, @batch; both move to it. */
void qad_stream_init_once(struct ArrowArrayStream *stream, struct ArrowSchema *schema, struct ArrowArray *batch);

/* adbc-bind.c */

typedef struct QadInput QadInput;

/* Of the columns of @schema, which lives as long. Errors: a type that no value can have. */
QadInput *qad_input_new(const struct ArrowSchema *schema, GError **error);
void qad_input_free(QadInput *self);
/* The batch that is read now; it lives as long as it is. Errors: one that does not fit the schema. */
gboolean qad_input_set_batch(QadInput *self, const struct ArrowArray *batch, GError **error);
guint qad_input_get_n_columns(const QadInput *self);
const char *qad_input_get_name(const QadInput *self, guint column);
/* The type that a new table's column gets; "": none. */
const char *qad_input_get_declaration(const QadInput *self, guint column);
/* Binds the values of a row of the batch. @names: of the parameters, one for each column. */
gboolean qad_input_bind(const QadInput *self, gint64 row, QueryStatement *statement, char **names, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QadInput, qad_input_free)

/* adbc-rows.c */

/**
 * qad_rows_update:
 * @stream: read to its end
 * @by_name: whether columns are for the parameters of their names; else for those of their places
 * @ret_cursor: (out) (nullable) (transfer full): the rows of RETURNING, NULL without any; only of rows that fit one message
 * @ret_changes: (out): rows changed
 *
 * Runs an update once for each row of @stream, all or none. In a transaction of its own when there is none and one message does not
 * hold the rows.
 */
gboolean qad_rows_update(QadConnection *self, QueryStatement *statement, struct ArrowArrayStream *stream, gboolean by_name,
                         GCancellable *cancellable, QueryCursor **ret_cursor, gint64 *ret_changes, GError **error);
/* Binds the only row of @stream. */
gboolean qad_rows_bind_one(QueryStatement *statement, struct ArrowArrayStream *stream, gboolean by_name, GError **error);
/* All rows that are bound into the statement's table, in one transaction. */
gboolean qad_rows_ingest(QadStatement *self, GCancellable *cancellable, gint64 *ret_rows, GError **error);
/* Reads to the end, which is when an update is done. */
gboolean qad_rows_drain(QueryCursor *cursor, GCancellable *cancellable, GError **error);

/* adbc-statement.c, adbc-metadata.c and adbc-objects.c: functions of the driver's table */

void qad_statement_cancel(QadStatement *self);
void qad_database_fill(struct AdbcDriver *driver, gboolean is_newer);
void qad_connection_fill(struct AdbcDriver *driver, gboolean is_newer);
void qad_statement_fill(struct AdbcDriver *driver, gboolean is_newer);
AdbcStatusCode qad_get_info(struct AdbcConnection *connection, const uint32_t *codes, size_t n_codes,
                            struct ArrowArrayStream *stream, struct AdbcError *error);
AdbcStatusCode qad_get_objects(struct AdbcConnection *connection, int depth, const char *catalog, const char *schema,
                               const char *table, const char **types, const char *column, struct ArrowArrayStream *stream,
                               struct AdbcError *error);
AdbcStatusCode qad_get_table_schema(struct AdbcConnection *connection, const char *catalog, const char *schema, const char *table,
                                    struct ArrowSchema *ret_schema, struct AdbcError *error);
AdbcStatusCode qad_get_table_types(struct AdbcConnection *connection, struct ArrowArrayStream *stream, struct AdbcError *error);
