/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A run: one execution of one statement on a leased connection, pulled page by page.
 *
 * Place: room read. Channels, calls and export jobs all pull from here; nothing else steps a query.
 * Invariant: a run ends with DONE or FAILED, once; the caller that sees it frees the run, which ends the snapshot.
 */
#pragma once

#include "daemon/read/long-verdict.h"
#include "daemon/read/shape.h"
#include "daemon/sqlite/settings.h"

typedef struct QdClient QdClient;
typedef struct QdLimits QdLimits;
typedef struct QdParameters QdParameters;
typedef struct QdPool QdPool;
typedef struct QdReader QdReader;
typedef struct QdScanShare QdScanShare;
typedef struct QdSession QdSession;
typedef struct QwPageReader QwPageReader;
typedef struct QwPageWriter QwPageWriter;

typedef enum QdRunStatus {
    QD_RUN_PAGE,     /* the page has all the rows it should get */
    QD_RUN_SLICE,    /* the time slice is over; the page may hold rows */
    QD_RUN_LARGE,    /* the next row does not fit into an empty page of this capacity: qd_run_get_row_size() */
    QD_RUN_DEFERRED, /* long_func said so: no page has come out yet, free the run and start it again later */
    QD_RUN_DONE,
    QD_RUN_FAILED,
} QdRunStatus;

/* Whether the peer is still there and wants the result; called from within a step, at most every 10 ms. */
typedef gboolean (*QdRunPeerFunc)(void *data);
/* Whether the peer has gone; called on the thread that ticks, while a fill runs. It may set QdRunOptions.cancelled. */
typedef gboolean (*QdRunGoneFunc)(void *data);

/* The run has worked longer than a short one should without coming back: called once for each fill, from within a step.
 * @can_defer: no page has come out yet, so that the run can be started again later. */
typedef QdLongVerdict (*QdRunLongFunc)(void *data, gboolean can_defer);

/* The run is to end by @error, and its step has not come back for a while. Called on the thread that ticks, at each tick.
 * Returns: whether the caller knows of the end now: then all that the run gives later is dropped, and it fails */
typedef gboolean (*QdRunTellFunc)(void *data, const GError *error);

/* For how long the run shall rest, so that others get their share: called at each look at a long run, from within a step.
 * Returns: µs; 0: it goes on */
typedef uint64_t (*QdRunRestFunc)(void *data);
/* Whether another thread can help with a scan: QdScanHelpFunc of ranges/scan-ranges.h. */
typedef gboolean (*QdRunHelpFunc)(void *data, QdScanShare *share);

/* What the atomic that QdRunOptions.cancelled points to may say. */
enum {
    QD_CANCEL_NONE = 0,
    QD_CANCEL_BY_CLIENT = 1,
    QD_CANCEL_EVICT = 2, /* the oldest result, when the write-ahead log grows too big */
};

typedef struct QdRunOptions {
    uint64_t timeout_msec;                /* 0: none */
    uint64_t begun_usec;                  /* monotonic: since when that passes; 0: now */
    uint64_t max_rows;                    /* 0: none */
    uint64_t max_bytes;                   /* 0: none */
    uint64_t generation;                  /* read before the run was made */
    QdSession *session;                   /* (nullable): for changes() and its like */
    const gint *cancelled;                /* (nullable): an atomic; non-zero ends the run */
    const uint64_t *transaction_end_usec; /* (nullable): atomic: when the transaction that it is in has to be over */
    QdRunPeerFunc peer_func;
    QdRunGoneFunc gone_func; /* (nullable) */
    QdRunLongFunc long_func; /* (nullable) */
    QdRunRestFunc rest_func; /* (nullable) */
    QdRunTellFunc tell_func; /* (nullable) */
    QdRunHelpFunc help_func; /* (nullable) */
    void *func_data;
    gboolean may_pack; /* the result may be packed (packing.h) */
} QdRunOptions;

typedef struct QdRun QdRun;

typedef struct QdRunText {
    QdLanguage language;
    const char *text;
    gsize n_bytes;
    const char *base;           /* (nullable) SPARQL: an absolute IRI */
    const char *dataset;        /* (nullable) SPARQL: FROM clauses instead of those of the text */
    gboolean is_generated;      /* SQL of ours, which may be deeper than a client's */
    QdSessionSettings settings; /* of the session, which pragmas tell; 0 in a transaction, which has them */
    uint64_t timeout_msec;      /* to compile it; 0: none but the limit */
    uint64_t begun_usec;        /* monotonic: since when that passes; 0: now */
    gboolean is_described;      /* its columns are asked for before it is stepped, and perhaps it never is */
    gboolean is_executed;       /* a query that is stepped at once: SPARQL begins its snapshot before it is planned */
} QdRunText;

/**
 * qd_run_new:
 * @pool: gives the connection
 * @what: in SPARQL a query, or with QD_POLICY_WRITE an update, to look at
 * @compile_policy: QD_POLICY_READ, or QD_POLICY_WRITE to look at a statement that is not stepped here
 *
 * Leases a connection and compiles @text on it.
 *
 * Returns: (transfer full): the run before its first step, or NULL
 */
QdRun *qd_run_new(QdPool *pool, QdClient *client, const QdReader *preferred, const QdRunText *what, QdPolicy compile_policy,
                  const QdLimits *limits, GError **error);
/* The same on a connection that the caller has, with its open transaction, if any, and keeps until the run is freed. */
QdRun *qd_run_new_on(QdReader *reader, const QdRunText *what, QdPolicy compile_policy, const QdLimits *limits, GError **error);
/* Before the client can see that the result is over: it may have another one from then on. The run is only freed afterwards. */
void qd_run_discharge(QdRun *self);
QdRun *qd_run_free(QdRun *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdRun, qd_run_free)

void qd_run_set_options(QdRun *self, const QdRunOptions *options);

/* Valid until the run's first step or its end. */
QdShape qd_run_get_shape(QdRun *self);
/* As it was compiled; NULL for an update in SPARQL. */
QdCompiled *qd_run_get_compiled(QdRun *self);

/* How long the compilation took: parsing and planning of SPARQL, and SQLite's part; little when they were found in a cache. */
void qd_run_get_compile_times(const QdRun *self, uint64_t *ret_plan_usec, uint64_t *ret_prepare_usec);

/* Values for one execution, before the first fill: @row (nullable) has the shape's n_parameters; in SPARQL NULL is no value, and
 * the snapshot begins here. What they refer to stays until the run is freed. BAD_PARAMETER. */
gboolean qd_run_bind_row(QdRun *self, const QwPageReader *row, GError **error);
gboolean qd_run_bind_parameters(QdRun *self, const QdParameters *parameters, GError **error);
const QdReader *qd_run_get_reader(const QdRun *self);

/**
 * qd_run_fill:
 * @writer: where rows go; its n_columns is set here
 * @target_bytes: the page is done when it holds so many, also if there is room; SIZE_MAX for "full"
 * @slice_usec: come back after this time, with QD_RUN_SLICE
 *
 * Steps until there is something to tell.
 */
QdRunStatus qd_run_fill(QdRun *self, QwPageWriter *writer, size_t target_bytes, uint64_t slice_usec, GError **error);

/**
 * qd_run_can_send_early:
 * @page: the page that qd_run_fill() fills
 *
 * Asked in long_func. Returns: TRUE if @page holds rows, all of which belong to the result. (A packed row is in the page before
 * the limits on rows and bytes have been asked.)
 */
gboolean qd_run_can_send_early(const QdRun *self, const QwPageWriter *page);
/* In long_func, after the rows of @page were sent and it was emptied. */
void qd_run_note_emptied(QdRun *self, const QwPageWriter *page);
/* After QD_RUN_LARGE: what a page for the next row alone takes. false with TOO_BIG when that is above the limit. */
gboolean qd_run_get_row_size(QdRun *self, size_t page_size, size_t *ret_size, GError **error);
/* After the first fill: true when the result's columns are not those the statement had when it was compiled. */
gboolean qd_run_has_new_schema(const QdRun *self);
gboolean qd_run_is_truncated(const QdRun *self);
uint64_t qd_run_get_n_rows(const QdRun *self);
/* What its pages have taken so far. */
uint64_t qd_run_get_n_bytes(const QdRun *self);
uint64_t qd_run_get_generation(const QdRun *self);
uint64_t qd_run_get_start_usec(const QdRun *self);
/* The run has waited for a slot, or its rows were made into text: that counts for its deadline. */
void qd_run_add_wait(QdRun *self, uint64_t usec);
/* Time within fills, waiting for a slot, and from QdRunOptions.begun_usec to the run. */
uint64_t qd_run_get_produced_usec(const QdRun *self);
/* Of that: by this run. */
uint64_t qd_run_get_own_usec(const QdRun *self);
