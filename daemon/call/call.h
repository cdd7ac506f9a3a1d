/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A call: one method of D-Bus on its way through the context, and the classes of calls.
 *
 * Place: between the bus layer, which fills the request, and the rooms call and job, which fill the result.
 * Invariant: a call has one owner at a time: the caller, from qd_engine_submit() on the context, in `done` the caller again.
 */
#pragma once

#include "client-lib/wire/wire-value.h"
#include "daemon/base/language.h"
#include "daemon/read/client.h"
#include "daemon/read/parameters.h"
#include "daemon/runtime/options.h"

typedef struct QdReadSet QdReadSet;
typedef struct QdKeySource QdKeySource;
typedef struct QdCall QdCall;

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
    gboolean obeys_access;       /* it looks itself at what was granted to its client; else the whole store has to be */
    gboolean is_not_for_sandbox; /* refused to each sandboxed caller, also in the store of its own */
    gboolean runs_to_its_end;    /* is never put back into the queue for being long */
    gboolean works_when_broken;  /* also runs when the database cannot be opened, whose errors then say nothing new */
    /* On the thread of @place; sets @error, or leaves it to @write. NULL: there is only @write. */
    void (*run)(QdCall *call, GError **error);
    /* (nullable): after @run without an error; hands the call to the writer and finishes it, now or later. */
    void (*write)(QdCall *call);
} QdCallClass;

typedef struct QdCallStatement {
    QdLanguage language;
    char *text;
    QdParameters *parameters; /* (nullable) */
    char *run_text;           /* (nullable) what is executed instead: @text in SPARQL 1.1 */
    char *run_dataset;        /* (nullable) beside it: instead of the option `dataset` */
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

/* Valid in `done`. @error is set exactly when the call failed. */
typedef struct QdCallResult {
    GError *error;
    GArray *payload_fds; /* (owned) (nullable) OPEN_PAYLOADS: of int, in the order of the ids */
    int channel_fd;      /* PREPARE: owned; steal it with g_steal_fd-like assignment of -1 */
    GArray *columns;     /* of QdCallColumn: PREPARE, QUERY */
    GArray *parameters;  /* of QdCallParameter: PREPARE */
    gboolean writes;     /* PREPARE */
    gboolean is_stable;  /* PREPARE: its result depends on the data and the parameters alone */
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
    GPtrArray *messages; /* CHECK, RESTORE: of char*; PREFIXES: prefix, IRI, …; UpdateBlank: label, IRI, … */
    QdReadSet *reads;    /* SUBSCRIBE: (owned) */
    QdKeySource *source; /* SUBSCRIBE with `keys`: (owned) (nullable) */
    uint64_t n_rows;
    uint64_t n_bytes;
} QdCallResult;

struct QdCall {
    /* request */
    const QdCallClass *class;
    QdClient *client; /* (owned reference) is charged */
    QdCallOptions options;
    GArray *statements; /* of QdCallStatement; one, but for BATCH any number */
    char *format;       /* QUERY_TEXT, EXPORT, IMPORT */
    int fd; /* EXPORT, IMPORT, BACKUP, RESTORE, STORE_ and REPLACE_PAYLOAD: the caller's descriptor, owned, -1 otherwise */
    int64_t payload_id;  /* REPLACE_, DELETE_PAYLOAD; result of STORE_PAYLOAD */
    GArray *payload_ids; /* (owned) (nullable) OPEN_PAYLOADS: of int64_t */
    GBytes *input;       /* (owned) (nullable) updates of TinySPARQL's clients, as they came */
    void (*done)(QdCall *call, void *user_data);
    /* (nullable), on the main thread, before `done`: it is over by @error, but its thread has not come back yet. Only its caller's
     * things may be touched. */
    void (*told)(void *user_data, const GError *error);
    void *user_data;

    QdCallResult result;
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

/* By value, so that it is charged. */
gboolean qd_call_has_large_result(const QdCall *call);
/* Appends a statement; copies strings, takes @parameters (nullable) over. */
void qd_call_add_statement(QdCall *call, QdLanguage language, const char *text, QdParameters *parameters);
