/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The updates that wait for the writer: a lane for each client, served in turns.
 *
 * Place: room write, private to writer.c, which guards it by its mutex.
 * Invariant: of one client the items come out in the order in which they went in; of n clients that wait each is every n-th.
 */
#pragma once

#include "daemon/read/client.h"

typedef struct QdWriteItem QdWriteItem;

typedef struct QdWriteQueue {
    QdWriteLane *first; /* the one whose turn it is; lanes in here are not empty */
    QdWriteLane **end;
    QdWriteLane nobody; /* of the items without a client */
    guint n;
    guint n_durable;           /* of those, the ones that are not relaxed */
    const QdWriteLane *holder; /* (nullable) (not owned) only compared: whose item was taken out last */
    uint64_t holder_usec;      /* since when */
    uint64_t cancel_check_usec;
} QdWriteQueue;

void qd_write_queue_init(QdWriteQueue *self);
void qd_write_queue_push(QdWriteQueue *self, QdWriteItem *item);
/* One that was popped comes again: it is the next one of its client, whose turn comes as before. */
void qd_write_queue_push_back(QdWriteQueue *self, QdWriteItem *item);

/* The next one, which stays. NULL: there is none. */
QdWriteItem *qd_write_queue_peek(const QdWriteQueue *self);
QdWriteItem *qd_write_queue_pop(QdWriteQueue *self);

/* Whether an item of another client than the holder's was submitted before @before_usec. */
gboolean qd_write_queue_has_waited(const QdWriteQueue *self, uint64_t before_usec);
/* Looks whether the callers of the next items have cancelled them, if it has not done so just now. */
void qd_write_queue_look_for_cancels(QdWriteQueue *self, uint64_t now_usec);
/* Takes an item out that was cancelled or has waited for longer than it may; its error is set. NULL: there is none. */
QdWriteItem *qd_write_queue_pop_late(QdWriteQueue *self, uint64_t now_usec);
