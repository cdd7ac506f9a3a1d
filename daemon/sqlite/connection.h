/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A connection to the database: opened, hardened, limited, with its guard and its cache of compiled statements.
 *
 * Place: room sqlite. Used by one thread at a time (NOMUTEX).
 * Invariant: a cached statement is found again only under the policy it was compiled with.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

#include "daemon/base/limits.h"
#include "daemon/sqlite/guard/guard.h"
#include "daemon/sqlite/schema-watch.h"

typedef struct QdConnection QdConnection;
typedef struct QdCompileSeat QdCompileSeat;

/* The same for a range of rowids of the one table that it scans (read/ranges/range-statement.h). */
typedef struct QdRanged {
    sqlite3_stmt *stmt; /* (nullable) */
    guint32 root;       /* page of the table */
    guint32 schema_version;
    gboolean is_tried; /* whether it can be had has been looked at */
    gboolean pays;     /* some run of the statement was a long scan */
    guint64 usec;      /* of the last run by one thread */
    guint n_pauses;    /* runs until it is tried again: the last one in ranges took about as long */
} QdRanged;

/* A statement, each row packed (read/packing.h). */
typedef struct QdWrapped {
    sqlite3_stmt *stmt;  /* (nullable) */
    gpointer scan;       /* (nullable) (owned): of its program: read/table-scan.h */
    gboolean is_tried;   /* whether it can be had has been looked at */
    gboolean by_values;  /* SQLite compiles it again for other values of parameters: of use in ranges only */
    gboolean gives_much; /* some run of the statement gave a large result */
    gboolean gives_most; /* the last run, as far as it went, gave a good part of the rows of the table that it scans */
    QdRanged ranged;
} QdWrapped;

/* A compiled statement; belongs to its connection. */
typedef struct QdCompiled {
    sqlite3_stmt *stmt;
    QdWrapped wrapped;
    QdPolicy policy;
    guint64 grants_id;     /* of the client's grants that it was compiled under; 0: none */
    gboolean is_generated; /* from SPARQL: it may nest deeper, and the order of its joins is ours */
    char *text;            /* (owned) */
    gsize n_text_bytes;
    guint32 text_hash; /* of its ends: most others are passed over by it */
    gsize n_bytes;     /* that it took of SQLite's memory, its text among them */
    int n_columns;
    int n_parameters;
    gboolean writes;
    QdEffects effects;
    gboolean runs_alone; /* VACUUM, by its program: outside of any transaction */
    char **write_tables; /* (owned) NULL-terminated */
    QdControl control;   /* of the transaction: not to be stepped, but for savepoints */
    gboolean asks;       /* a pragma that asks for what is so anyway, or: */
    QdSetting setting;   /* a pragma that sets that, which is for the caller to do */
    gboolean setting_on;
    gboolean counts_rows;      /* it sets what changes() tells */
    uint64_t schema_signature; /* of names and declared types of the columns, and of effects.is_volatile */
    int n_reprepares;
    int n_write_reprepares; /* that write_tables knows of */
    guint64 schema_clock;   /* the connection's, when it was compiled */
} QdCompiled;

typedef enum QdConnectionRole {
    QD_CONNECTION_READER,
    QD_CONNECTION_WRITER,
} QdConnectionRole;

/* Registers the functions that a schema may call, on a connection that was opened just now: they are of layers above. */
typedef gboolean (*QdConnectionSetup)(QdConnection *connection, const QdLimits *limits, GError **error);

typedef struct QdConnectionInfo {
    const char *path;
    QdConnectionSetup setup;          /* (nullable): without it the schema must call none of our functions */
    gboolean immutable;               /* the directory cannot be written: no lock, no WAL */
    gboolean in_application;          /* a stranger's process: nothing is mapped, since a file cut short would be a SIGBUS there */
    gboolean has_content;             /* an empty file is damage, and no new database */
    gboolean foreign;                 /* damaged, or from elsewhere: no trigger fires, and the schema calls only what is harmless */
    const guint64 *schema_generation; /* (nullable) an atomic that grows with each change of the schema; outlives the connection */
} QdConnectionInfo;

QdConnection *qd_connection_open(const QdConnectionInfo *info, QdConnectionRole role, const QdLimits *limits, GError **error);

/* As QdConnectionInfo.has_content, from here on. */
void qd_connection_note_content(QdConnection *self);
/* The log's files stay when this connection is the last one that closes. On a full disk they could not be made again, and then
 * reading would fail. The log is cut if it is in the database. */
void qd_connection_keep_log(QdConnection *self);

/* If a file cannot be opened for writing, SQLite opens it for reading, and the first write says READ_ONLY, for any reason. A
 * READ_ONLY of @error (nullable) becomes an error that names the file and the cause. Returns: whether it has, so that the
 * connection has to be opened again */
gboolean qd_connection_correct_read_only(const char *path, GError **error);
QdConnection *qd_connection_free(QdConnection *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdConnection, qd_connection_free)

sqlite3 *qd_connection_get_db(QdConnection *self);
/* A statement was forced to its end on it (builtin/forced-return.h): its transaction ends, and then it is closed. @loses: what that
 * does not free is lost (qd_memory_get_lost()). @balance: of the thread, when the statement began. Thread: its own. */
void qd_connection_spoil(QdConnection *self, gboolean loses, int64_t balance);
gboolean qd_connection_is_spoilt(const QdConnection *self);
QdGuard *qd_connection_get_guard(QdConnection *self);
QdSettings *qd_connection_get_settings(QdConnection *self);
/* What the guard allows from now on. Returns: what it allowed before, to be set again. */
QdPolicy qd_connection_set_policy(QdConnection *self, QdPolicy policy);

/* What the client whose SQL is compiled and run from now on was granted; NULL: everything. It lives at least until the next call.
 */
void qd_connection_set_access(QdConnection *self, const QdAccess *access);

/* Objects of other files that work on this connection, made at first use: they live and end with it. */
typedef enum QdAttachment {
    QD_ATTACHMENT_DICTIONARY,
    QD_ATTACHMENT_QUADS,
    QD_ATTACHMENT_FTS,
    QD_ATTACHMENT_CATALOG,
    QD_ATTACHMENT_EVALUATION,
    QD_ATTACHMENT_PLANS,
    QD_ATTACHMENT_ENCODER,
    QD_ATTACHMENT_PAYLOADS,
    QD_ATTACHMENT_COUNTING,
    QD_ATTACHMENT_ROW_WATCH,
    QD_ATTACHMENT_INTERRUPTER, /* not owned */
    QD_ATTACHMENT_TALLY_TERMS, /* not owned */
    QD_ATTACHMENT_SERVICE,
    QD_N_ATTACHMENTS,
} QdAttachment;
gpointer qd_connection_get_attachment(QdConnection *self, QdAttachment which);
/* @object: (nullable): NULL: the caller has freed what there was. */
void qd_connection_set_attachment(QdConnection *self, QdAttachment which, gpointer object, GDestroyNotify destroy);

/* Where the lock of another connection is awaited, @ends (nullable) is asked every few milliseconds: TRUE: it is not any more. */
void qd_connection_set_lock_wait(QdConnection *self, gboolean (*ends)(void *data), void *data);
/* After another busy handler of SQLite. */
void qd_connection_restore_lock_wait(QdConnection *self);

/* When the caller of what is compiled from here on has waited long enough: @end_usec (monotonic), 0: never. It had @timeout_msec.
 */
void qd_connection_set_compile_end(QdConnection *self, uint64_t end_usec, uint64_t timeout_msec);
/* For whom @self compiles from here on, in turn with others. @owner: (nullable): NULL: without a turn, as the writer */
void qd_connection_set_compile_owner(QdConnection *self, const void *owner);
/* Until qd_compile_seat_give() (guard/compile-seat.h), for what is part of compiling. */
void qd_connection_take_compile_seat(const QdConnection *self, QdCompileSeat *ret_seat);
/* Where something else than white space, comments and semicolons begins, or @end. */
const char *qd_connection_skip_empty(const char *text, const char *end);

/**
 * qd_connection_compile:
 * @text: one statement; need not be NUL-terminated at @n_bytes, must not contain a NUL
 * @policy: what it may do
 *
 * Finds the statement in the cache or compiles it, by the schema as the file has it now. SQLite 3.40 by itself compares the two
 * only for some of its errors, and before a step not at all. The result belongs to the connection and stays valid until the
 * next call of qd_connection_compile() or qd_connection_trim().
 *
 * Returns: (transfer none): the statement, reset and without bindings; NULL with SYNTAX, ACCESS_DENIED, READ_ONLY, TOO_BIG,
 * TOO_COMPLEX, …
 */
QdCompiled *qd_connection_compile(QdConnection *self, const char *text, gsize n_bytes, QdPolicy policy, const QdLimits *limits,
                                  GError **error);

/* Whether a client's statement is in the cache: to compile it takes no time, but after a change of the schema. */
gboolean qd_connection_has_compiled(const QdConnection *self, const char *text, gsize n_bytes, QdPolicy policy);

/* The same for a query that we wrote, which may nest as deep as SQLite takes. */
QdCompiled *qd_connection_compile_generated(QdConnection *self, const char *text, const QdLimits *limits, GError **error);

/* After the first step: true when SQLite has recompiled @compiled, because the schema changed; it is then up to date. */
gboolean qd_compiled_refresh(QdCompiled *compiled);

/* After @compiled has run, with qd_guard_forget_writes() before: a new trigger may have made it write other tables. */
void qd_connection_refresh_writes(QdConnection *self, QdCompiled *compiled);

/*
 * qd_connection_spread_statistics: Makes all connections read the statistics that ANALYZE or "PRAGMA optimize" has written by
 * this one. SQLite reads them with the schema. So the version of the schema is counted up, in the transaction that is open or
 * in one of its own.
 *
 * Returns: false with the error of SQLite
 */
gboolean qd_connection_spread_statistics(QdConnection *self, GError **error);

/* Forget it when the schema may have been changed, or rolled back, on this connection. Follow it for columns that are reported
 * before a step: for a statement from its cache qd_connection_compile() does not look at the file. */
QdSchemaWatch *qd_connection_get_schema(QdConnection *self);

void qd_compiled_drop_wrapped(QdCompiled *compiled);

/* A statement of ours, within the limits of @policy; a client's SQL may be a part of it: then it is not @is_generated.
 * (transfer full): NULL when it does not compile. */
sqlite3_stmt *qd_connection_prepare(QdConnection *self, const char *text, QdPolicy policy, gboolean is_generated,
                                    const QdLimits *limits);

/**
 * qd_connection_list_reads:
 * @text: a client's statement that reads; it is compiled and not kept
 *
 * Returns: (transfer full) (nullable): of char*: names of tables and views, also of those that a view reads
 */
GPtrArray *qd_connection_list_reads(QdConnection *self, const char *text, gsize n_bytes, const QdLimits *limits, GError **error);

/* Transactions, for each execution: their statements stay compiled. One that only reads, and its end: */
gboolean qd_connection_begin(QdConnection *self, GError **error);
gboolean qd_connection_end(QdConnection *self, GError **error);
/* One that writes, with the same end, and a savepoint inside it. */
gboolean qd_connection_begin_write(QdConnection *self, GError **error);
gboolean qd_connection_begin_savepoint(QdConnection *self, GError **error);
gboolean qd_connection_end_savepoint(QdConnection *self, GError **error);

/* Whether the file holds the database that it held when this was asked first. After a Restore it does not: then what was cached of
 * it by ids is not true any more. Within a transaction the answer is of its snapshot. */
gboolean qd_connection_is_current(QdConnection *self);

/* The header's count of changes of the schema, as a transaction sees it: 0.2 µs within one. -1: it cannot be read */
gint64 qd_connection_get_schema_version(QdConnection *self);

/* Our own statements, internal policy, no result. */
gboolean qd_connection_execute(QdConnection *self, const char *sql, GError **error);
/* The first column of the first row; @ret_value is 0 when there is none. */
gboolean qd_connection_get_int64(QdConnection *self, const char *sql, gint64 *ret_value, GError **error);

/* Memory for pages, in KiB; 0: as it was opened. */
void qd_connection_set_cache_size(QdConnection *self, uint64_t cache_bytes);
/* Of the statements that are kept those used longest ago are freed, and large ones before them, down to a bound. For the end of a
 * lease or an update: none is in use. */
void qd_connection_bound_statements(QdConnection *self);
/* Gives memory back: statements and page cache. */
void qd_connection_trim(QdConnection *self);
