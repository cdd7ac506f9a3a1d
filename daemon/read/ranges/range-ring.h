/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ranges of a table that threads share: the runner of a statement, which gives all rows in order, and its helpers.
 *
 * Place: room read, private to scan-ranges.c and scan-helper.c. It knows no SQLite but its memory, which the runner's thread has.
 * Invariant: a range has one owner at a time. The runner alone adds ranges, and takes the first one out. When the run has ended
 * no helper uses anything of it.
 */
#pragma once

#include <glib.h>

#define QD_RANGE_RING_N 8
/* Rows of one range that wait for those before. More of them are left to the runner. */
#define QD_RANGE_BYTES (256u * 1024)
#define QD_RANGE_MAX_HELPERS 3

typedef enum QdRangeState {
    QD_RANGE_NONE,
    QD_RANGE_FREE,
    QD_RANGE_TAKEN,
    QD_RANGE_DONE,
} QdRangeState;

typedef struct QdRange {
    gint64 first; /* rowids */
    gint64 last;
    QdRangeState state;
    gboolean is_for_runner; /* it has failed, or has too many rows */
    gboolean is_dropped;    /* the runner does not wait for the thread that has it: its rows are not used */
    guint8 *rows;           /* (owned): a page of QD_RANGE_BYTES */
    gsize n_bytes;          /* of that, when it is done */
} QdRange;

typedef struct QdRangeRing QdRangeRing;

/* NULL: there is no memory. */
QdRangeRing *qd_range_ring_new(void);
QdRangeRing *qd_range_ring_free(QdRangeRing *self);

/* The runner. FALSE: there are as many as may be. */
gboolean qd_range_ring_has_room(QdRangeRing *self);
void qd_range_ring_add(QdRangeRing *self, gint64 first, gint64 last);
/* (nullable) (transfer none): the first range, that is done, or is taken from now on. NULL: none, or *ret_is_busy: another has it.
 */
QdRange *qd_range_ring_get_first(QdRangeRing *self, gboolean *ret_is_busy);
/* The first range, which another thread has: that one goes on for nothing. The kernel may keep it from a core for long. */
QdRange *qd_range_ring_drop_first(QdRangeRing *self);
/* The first range is over. */
void qd_range_ring_pop(QdRangeRing *self);
/* Waits for up to @usec until something changes. FALSE: nothing has. */
gboolean qd_range_ring_wait(QdRangeRing *self, guint64 usec);
/* Another helper is to be asked for; it counts as one until it ends. FALSE: there are enough, or none can be had. */
gboolean qd_range_ring_ask(QdRangeRing *self);
/* No helper is asked for any more: it would have another snapshot. */
void qd_range_ring_stop_asking(QdRangeRing *self);
/* Makes the helpers end, and waits until they have. */
void qd_range_ring_end(QdRangeRing *self);

/* Any: (nullable) (transfer none): the next range that is free. */
QdRange *qd_range_ring_take(QdRangeRing *self);
/* It is done, or goes back. */
void qd_range_ring_give(QdRangeRing *self, QdRange *range, QdRangeState state, gboolean is_for_runner);

/* A helper. FALSE: the run is over. Else its end waits for qd_range_ring_leave(). */
gboolean qd_range_ring_join(QdRangeRing *self);
void qd_range_ring_leave(QdRangeRing *self);
/* It was asked for and is not there any more, or does not come. */
void qd_range_ring_forget(QdRangeRing *self);
gboolean qd_range_ring_has_ended(const QdRangeRing *self);
