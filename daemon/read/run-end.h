/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What may end a run before its last row, and the look at it.
 *
 * Place: room read, a part of the run (run.h). sqlite3_step() returns only at rows, so all checks sit in a look, which the
 * interrupter makes due every few milliseconds. What must end even if a single operation takes long, the interrupter ends itself.
 * Invariant: each reason that ends a step is found again by qd_run_end_find(), in the same words.
 */
#pragma once

#include "daemon/base/limits.h"
#include "daemon/sqlite/interrupter.h"
#include "daemon/sqlite/memory.h"

typedef struct QdClient QdClient;
typedef struct QdConnection QdConnection;
typedef struct QdRunOptions QdRunOptions;

typedef struct QdRunEnd {
    const QdRunOptions *options; /* (not owned) */
    const QdLimits *limits;
    const QdClient *client; /* (nullable) (not owned): NULL: it may do everything, for ever */
    guint n_revocations;    /* of its grants, when the run was made */
    uint64_t start_usec;
    uint64_t produced_usec; /* by earlier fills, and waiting for a slot: time that the reader keeps us waiting does not count */
    uint64_t spent_usec;    /* of that: before the run */
    QdMemoryUse memory;
    uint64_t peer_check_usec;
    uint64_t gone_check_usec; /* the interrupter's */
    gboolean row_waits;       /* the statement stands on a row that is in no page yet */
    GError *stop;             /* (nullable): why it was interrupted */
    gboolean deferred;        /* long_func said so */
    uint64_t trial_usec; /* of the processor without a row, after which another plan is tried; 0: it is the last, or has rows */
    gboolean trial_over; /* that was so, and there is time for another */
    gboolean is_told;    /* the interrupter's, while a fill runs: the caller knows of the end */

    /* of the fill that runs */
    uint64_t fill_start_usec;
    uint64_t slice_end_usec;
    uint64_t end_usec;       /* by its deadline or its age */
    uint64_t trial_end_usec; /* by the thread's clock */
    gboolean slice_over;
    gboolean noted_long;
    gboolean has_given_rows; /* in fills before: they have gone out */
    QdConnection *connection;
    QdWatch watch;
} QdRunEnd;

void qd_run_end_init(QdRunEnd *self, const QdRunOptions *options, const QdLimits *limits);
/* Before the first fill. @begun_usec: monotonic: since when the deadline passes; 0: now */
void qd_run_end_begin(QdRunEnd *self, uint64_t begun_usec);
/* (nullable): its memory is @client's, and it ends, too, when a grant is taken back. Before what was granted is looked at. */
void qd_run_end_set_client(QdRunEnd *self, QdClient *client);
void qd_run_end_clear(QdRunEnd *self);

/* FALSE: the run is over before this fill; TIMEOUT, CANCELLED, … @stepped: not before the first step */
gboolean qd_run_end_begin_fill(QdRunEnd *self, uint64_t slice_usec, gboolean stepped, gboolean has_given_rows, GError **error);
/* Around the steps of a fill. */
void qd_run_end_begin_watch(QdRunEnd *self, QdConnection *connection);
void qd_run_end_end_watch(QdRunEnd *self, QdConnection *connection);

/* The run begins again, within the same fill; @trial_usec: as above. */
void qd_run_end_begin_again(QdRunEnd *self, uint64_t trial_usec);

/* A step has failed: if that was since the run shall end, @self->stop says why. */
void qd_run_end_find(QdRunEnd *self);
