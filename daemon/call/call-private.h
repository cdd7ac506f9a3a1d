/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A call as the rooms call, job and engine see it.
 *
 * Place: private to these three.
 */
#pragma once

#include "daemon/call/call.h"
#include "daemon/runtime/registry.h"
#include "daemon/runtime/workers.h"
#include "daemon/write/writer.h"

typedef struct QdContext QdContext;
typedef struct QdPayloadDraft QdPayloadDraft;
typedef struct QdRun QdRun;
typedef struct QdShape QdShape;

/* As of qd_context_charge_request(). */
typedef struct QdCallCharge {
    QdContext *context;
    QdClient *client; /* (owned) (nullable) */
    gsize n_bytes;    /* 0: it is not charged */
} QdCallCharge;

/* What a call carries besides its public half. */
struct QdCallPrivate {
    QdContext *context;
    QdCallCharge charge;
    gsize n_result_bytes; /* by value, charged but for the first ones */
    QdTask task;
    QdEntry entry;
    QdWriteItem item;
    GArray *write_statements; /* of QdWriteStatement */
    gboolean deferred;        /* by may_be_long(): it goes back into the queue */
    uint64_t received_usec;   /* monotonic */
    uint64_t begun_usec;      /* monotonic: since when its deadline passes; 0: it has not waited for a slot */
    gboolean is_told;         /* the interrupter's */
    gboolean is_waiting;      /* it has given its place back, see on_wait */
    uint64_t waited_usec;     /* for the other side of its descriptor, which counts for no deadline */
    /* (nullable): a job that has waited for its descriptor for long (@waits), or goes on */
    void (*on_wait)(QdCall *call, gboolean waits);
    QdPayloadDraft *draft; /* (nullable) of a payload that is stored */
};

/* From any thread: the call is over; `done` will run on the main thread. */
void qd_call_finish(QdCall *call);

/* A QdRunTellFunc: its caller shall hear of @error, whenever its thread comes back. @data: the call */
gboolean qd_call_tell(void *data, const GError *error);

/* Any thread: what follows the class's `run`: its `write`, or the end. */
void qd_call_end(QdCall *call);
/* Makes the task of a call for the workers' queue. */
void qd_call_init_task(QdCall *call);
/* Before it goes into the queue: from here on, and not while the store is opened, waiting counts for its deadline. So does the time
 * that it was under way, if its caller tells when it was requested. */
void qd_call_begin_wait(QdCall *call);
/* How long ago that was first. */
uint64_t qd_call_get_spent_usec(const QdCall *call);
/* What its caller or the limit gives it; 0: none. */
uint64_t qd_call_get_timeout_msec(const QdCall *call);

/* Main thread: charges the bytes of the statements, in place of an earlier charge, until the call is freed or discharged. */
gboolean qd_call_charge(QdCall *call, QdContext *context, QdClient *client, GError **error);
void qd_call_discharge(QdCall *call);
/* A worker: so much more of a result by value is kept, until the call is freed. */
gboolean qd_call_charge_result(QdCall *call, gsize n_bytes, GError **error);

/* Makes the call's item one that writes for the call's client. ACCESS_DENIED when that may only read. */
gboolean qd_call_init_write(QdCall *call, void (*done)(QdWriteItem *item, QdWriterLinger *linger), GError **error);

/* An update of all statements of the call: for the class's `run` and `write`. */
void qd_call_run_update(QdCall *call, GError **error);
void qd_call_write_update(QdCall *call);

/* The columns of @shape into the result. */
void qd_call_describe_columns(QdCall *call, const QdShape *shape);

/* The call's statement, leased, compiled and bound. */
QdRun *qd_call_start_bound_run(QdCall *call, GError **error);

/* Gets each page's body; it may end the run by returning FALSE. */
typedef gboolean (*QdPageFunc)(QdCall *call, const uint8_t *body, gsize n_bytes, uint32_t n_rows, uint32_t n_columns, void *data,
                               GError **error);
/* Pulls the whole result of @run, with counts in the call. */
gboolean qd_call_pull_pages(QdCall *call, QdRun *run, QdPageFunc func, void *data, GError **error);

/* What to do with text that has come in; it may leave it for later. */
typedef gboolean (*QdTextFlushFunc)(QdCall *call, GString *out, GError **error);

/* Pulls the whole result of @run and appends it to @out in the format that the call names. @flush: (nullable): after each page */
gboolean qd_call_pull_text(QdCall *call, QdRun *run, QdTextFlushFunc flush, GString *out, GError **error);
/* BAD_PARAMETER when no format has the name that the call has. */
gboolean qd_call_check_format(const QdCall *call, GError **error);
