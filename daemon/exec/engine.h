/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The engine as the layers above see it: calls go in on the main thread, answers come back there.
 *
 * Place: layer 4; the only header of exec that daemon/bus needs. A call is a plain struct: the bus layer fills the upper
 * half and submits it; a worker or job thread fills the lower half; `done` runs on the main thread, once, always.
 * Invariant: nothing here waits. After qd_engine_submit() a call belongs to the engine until `done`.
 */
#pragma once

#include <glib.h>

#include "client-lib/wire/wire-value.h"
#include "daemon/base/limits.h"
#include "daemon/base/mailbox.h"
#include "daemon/exec/changes.h"
#include "daemon/exec/parameters.h"
#include "daemon/exec/read-set.h"
#include "daemon/exec/shape.h"
#include "daemon/exec/transport.h"

typedef struct QdEngine QdEngine;
typedef struct QdClient QdClient;
typedef struct QdCall QdCall;

/* Options of the methods; a class names the ones that its method takes by QD_TAKES(). */
typedef enum QdOptionId {
    QD_OPTION_TRANSPORT,
    QD_OPTION_PAGE_SIZE,
    QD_OPTION_ACCESS,
    QD_OPTION_TIMEOUT,
    QD_OPTION_MAX_ROWS,
    QD_OPTION_MAX_BYTES,
    QD_OPTION_DURABILITY,
    QD_OPTION_ERROR_DETAILS,
    QD_OPTION_MEDIA_TYPE,
    QD_OPTION_ANALYZE,
    QD_OPTION_TABLE,
    QD_OPTION_CREATE,
    QD_OPTION_HEADER,
    QD_OPTION_GRAPH,
    QD_OPTION_BASE,
    QD_OPTION_REPLACE,
    QD_OPTION_CHECK_ONLY,
    QD_OPTION_QUICK,
    QD_OPTION_WARM,
    QD_OPTION_FULL_TEXT, /* tokenizer, add, remove, all, rebuild, check */
} QdOptionId;

#define QD_TAKES(id) (1u << QD_OPTION_##id)

typedef enum QdCallPlace {
    QD_CALL_ON_WORKER,
    QD_CALL_ON_CREW, /* threads for payloads; a descriptor that may stall goes to a job thread */
    QD_CALL_ON_JOB,  /* a thread of its own */
} QdCallPlace;

/* A kind of call: all that the engine and the bus have to know of it. Constants, in the file that does the work. */
typedef struct QdCallClass {
    const char *name; /* the method of D-Bus */
    QdCallPlace place;
    guint options;               /* a mask of QD_TAKES() */
    gboolean reads;              /* changes nothing, unless an option asks for it; ends when its caller leaves the bus */
    gboolean is_by_value;        /* rows travel in the reply, and are bounded by its size */
    gboolean is_internal;        /* the daemon's own: ListQueries does not show it */
    gboolean is_uncharged;       /* a job that does not count against the limits of jobs */
    gboolean is_not_for_sandbox; /* refused to a sandboxed caller although it reads */
    gboolean runs_to_its_end;    /* is never put back into the queue for being long */
    gboolean works_when_broken;  /* also runs when the database cannot be opened, whose errors then say nothing new */
    /* On the thread of @place; sets @error, or leaves it to @write. NULL: there is only @write. */
    void (*run)(QdCall *call, GError **error);
    /* (nullable): after @run without an error; hands the call to the writer and finishes it, now or later. */
    void (*write)(QdCall *call);
} QdCallClass;

/* SetFullText: what is to be done, in this order. */
typedef struct QdFullTextOptions {
    char *tokenizer; /* (nullable) */
    char **add;      /* (nullable) IRIs of predicates */
    char **remove;   /* (nullable) */
    gboolean has_all, all;
    gboolean rebuild, check;
} QdFullTextOptions;

typedef struct QdCallOptions {
    QdTransport transport;
    uint32_t page_size; /* bytes; 0: default */
    gboolean access_write;
    gboolean has_timeout;
    uint32_t timeout_msec; /* 0: none, if has_timeout */
    uint64_t max_rows;     /* 0: not given */
    uint64_t max_bytes;    /* 0: not given */
    gboolean relaxed_durability;
    gboolean error_details; /* the caller reads more of an error than its message */
    gboolean analyze;
    gboolean header; /* default TRUE */
    gboolean create;
    gboolean quick;              /* Check; default TRUE */
    gboolean warm;               /* Optimize */
    gboolean check_only;         /* Import of RDF, Restore */
    gboolean replace;            /* Import of RDF */
    const char *table;           /* (owned by the call) Import */
    const char *graph;           /* (owned by the call) Import of RDF, Dump: IRI */
    const char *base;            /* (owned by the call) Import of RDF: IRI */
    char *media_type;            /* (owned by the call) (nullable) StorePayload, ReplacePayload */
    QdFullTextOptions full_text; /* its texts are owned by the call */
} QdCallOptions;

typedef struct QdCallStatement {
    QdLanguage language;
    char *text;
    QdParameters *parameters; /* (nullable) */
    uint64_t changes;         /* result, for BATCH */
} QdCallStatement;

typedef struct QdCallColumn {
    char *name;
    char *decl_type; /* "" when none */
} QdCallColumn;

typedef struct QdCallParameter {
    uint32_t index; /* from 1 */
    char *name;     /* with its sigil; "" for a plain ? */
} QdCallParameter;

/* Live figures of a job; written by its thread with atomics, read by the main thread. */
typedef struct QdJobProgress {
    uint64_t rows_done;
    uint64_t bytes_done;
    uint64_t bytes_total; /* 0: not known */
} QdJobProgress;

struct QdCall {
    /* request */
    const QdCallClass *class;
    QdClient *client; /* (owned reference) who pays */
    QdCallOptions options;
    GArray *statements; /* of QdCallStatement; one, but for BATCH any number */
    char *format;       /* QUERY_TEXT, EXPORT, IMPORT */
    int fd; /* EXPORT, IMPORT, BACKUP, RESTORE, STORE_ and REPLACE_PAYLOAD: the caller's descriptor, owned, -1 otherwise */
    int64_t payload_id;  /* REPLACE_, DELETE_PAYLOAD; result of STORE_PAYLOAD */
    GArray *payload_ids; /* (owned) (nullable) OPEN_PAYLOADS: of int64_t */
    void (*done)(QdCall *call, void *user_data);
    void *user_data;

    /* result; valid in `done`. @error is set exactly when the call failed. */
    GError *error;
    GArray *payload_fds; /* (owned) (nullable) OPEN_PAYLOADS: of int, in the order of the ids */
    int channel_fd;      /* PREPARE: owned; steal it with g_steal_fd-like assignment of -1 */
    GArray *columns;     /* of QdCallColumn: PREPARE, QUERY */
    GArray *parameters;  /* of QdCallParameter: PREPARE */
    gboolean writes;     /* PREPARE */
    uint32_t page_size;  /* PREPARE */
    GPtrArray *pages;    /* QUERY: of GBytes, each a body of a ROWS record with its row count in page_rows */
    GArray *page_rows;   /* QUERY: of uint32_t */
    gboolean truncated;
    const char *content_type; /* QUERY_TEXT: static */
    GString *text;            /* QUERY_TEXT: valid UTF-8 without NUL; EXPLAIN: the plan */
    char *sql;                /* EXPLAIN */
    uint64_t changes;
    int64_t last_insert_rowid;
    uint64_t generation;
    gboolean ok;         /* CHECK */
    GPtrArray *messages; /* CHECK, RESTORE: of char*; PREFIXES: prefix, IRI, … */
    QdReadSet *reads;    /* SUBSCRIBE: (owned) */
    uint64_t n_rows;
    uint64_t n_bytes;
    QdJobProgress progress;

    /* the engine's own */
    gint cancelled; /* atomic */
    struct QdCallPrivate *private;
};

/* @client: (nullable): may be set later, before qd_engine_submit(). */
QdCall *qd_call_new(const QdCallClass *class, QdClient *client);
/* FALSE: it may change the store. */
gboolean qd_call_is_reading(const QdCall *call);
QdCall *qd_call_free(QdCall *call);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdCall, qd_call_free)

/* Appends a statement; copies strings, takes @parameters (nullable) over. */
void qd_call_add_statement(QdCall *call, QdLanguage language, const char *text, QdParameters *parameters);

/* Clients: who is charged. One object for each process (or sandbox) that calls; kept by the bus layer while the peer lives. */
QdClient *qd_client_new(QdEngine *engine, const char *label);
QdClient *qd_client_ref(QdClient *client);
void qd_client_unref(QdClient *client);
const char *qd_client_get_label(const QdClient *client);
/* A sandboxed client: the engine refuses it every statement that writes, also on its channels, with AccessDenied. */
void qd_client_set_read_only(QdClient *client);
gboolean qd_client_is_read_only(const QdClient *client);
/* ACCESS_DENIED for one that may only read. */
gboolean qd_client_check_write(const QdClient *client, GError **error);
/* Charges a subscription with a text of so many bytes; LIMIT_EXCEEDED. */
gboolean qd_client_take_subscription(QdClient *client, gsize n_text_bytes, const QdLimits *limits, GError **error);
void qd_client_give_subscription(QdClient *client, gsize n_text_bytes);
/* Whether anybody but the caller holds a reference: a channel, a job, a waiting call. */
gboolean qd_client_is_charged(const QdClient *client);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdClient, qd_client_unref)

typedef struct QdEngineConfig {
    const char *directory; /* the store's, made if missing */
    QdLimits limits;
    /* main thread, after some commits: the last one's generation, and what all of them have changed */
    void (*changed)(uint64_t generation, const QdChanges *changes, void *user_data);
    void (*activity)(void *user_data); /* main thread: the engine may have become idle */
    /* (nullable) main thread: the database is damaged; it will be salvaged when it is opened again: end soon */
    void (*damaged)(void *user_data);
    void *user_data;
} QdEngineConfig;

/* Starts workers; the database is opened by one of them, so that this returns at once. Calls made meanwhile wait.
 * A database that cannot be opened makes every call fail with the reason; it never makes this fail. */
QdEngine *qd_engine_new(const QdEngineConfig *config, QdMailbox *mailbox, GError **error);

/* Main thread. TRUE: from now on a commit wakes nobody; it is told by qd_engine_tell_changes(). */
void qd_engine_hold_changes(QdEngine *self, gboolean hold);
/* Main thread: tells of the commits that were not told yet, if there are any. */
void qd_engine_tell_changes(QdEngine *self);

/* Ends everything: waits for workers and jobs. All calls have been answered before it returns, `done` included. */
QdEngine *qd_engine_free(QdEngine *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdEngine, qd_engine_free)

/* Main thread. Consumes @call; `done` is called later, never from within. */
void qd_engine_submit(QdEngine *self, QdCall *call);

/* Main thread. Asks a submitted call to end soon with CANCELLED; harmless when it has just ended. */
void qd_engine_cancel(QdEngine *self, QdCall *call);

/* Main thread: no call, no request, no job. Idle channels do not count. */
gboolean qd_engine_is_idle(QdEngine *self);

/* Main thread, of an idle engine: checks the database if that is due. Returns: whether a check is running, which `activity` ends */
gboolean qd_engine_check_if_due(QdEngine *self);
/* "ok", "damaged" or "unchecked" */
const char *qd_engine_get_health(QdEngine *self);

/* Main thread: shutdown(SHUT_RD) on all channels; what is queued is served, then channels close. `activity` tells the end. */
void qd_engine_drain(QdEngine *self);
gboolean qd_engine_is_drained(QdEngine *self);

/* For the watchdog: false when a worker that should react has not for @max_usec. */
gboolean qd_engine_is_alive(QdEngine *self, uint64_t max_usec);

void qd_engine_set_limits(QdEngine *self, const QdLimits *limits);
const QdLimits *qd_engine_get_limits(QdEngine *self);
uint64_t qd_engine_get_generation(QdEngine *self);
gboolean qd_engine_is_read_only(QdEngine *self);

/* Statistics: calls @func for each figure; @name is in lower_snake_case with its unit. */
typedef void (*QdStatFunc)(const char *name, uint64_t value, void *user_data);
void qd_engine_foreach_stat(QdEngine *self, QdStatFunc func, void *user_data);
/* Facts that are texts: sqlite_version, database_path, state. */
typedef void (*QdFactFunc)(const char *name, const char *value, void *user_data);
void qd_engine_foreach_fact(QdEngine *self, QdFactFunc func, void *user_data);

typedef struct QdQueryInfo {
    uint64_t id;
    const char *language;
    const char *text;
    const char *state; /* queued, running, long, blocked, writing, job */
    const char *client;
    uint64_t elapsed_usec;
    uint64_t n_rows;
    uint64_t n_bytes;
} QdQueryInfo;
typedef void (*QdQueryFunc)(const QdQueryInfo *info, void *user_data);
void qd_engine_foreach_query(QdEngine *self, QdQueryFunc func, void *user_data);
/* false when there is no such query. */
gboolean qd_engine_cancel_query(QdEngine *self, uint64_t id);
