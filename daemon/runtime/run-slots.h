/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Run slots: which task may run now, for which client, and for how long.
 *
 * Each thread has at most one slot. As many tasks as the limit `running` may be long. For all and for each client there are two
 * more slots, which only short tasks keep. What holds one of these and cannot leave it runs beside the others, in a thread in
 * addition. Then it has none of its client's slots either: the short tasks of its client go on.
 *
 * Place: room runtime, private to workers.c, whose mutex is held in each call but qd_run_slot_set_batch().
 */
#pragma once

#include "daemon/read/client.h"
#include "daemon/read/long-verdict.h"

#define QD_RUN_SLOTS_SPARE 2 /* more than may be long */
#define QD_RUN_SLOTS_FIRST 2 /* and more, for clients that have no short one */

/* A task of a thread. */
typedef struct QdSlotUse {
    const void *slot;
    uint64_t usec; /* monotonic, to some milliseconds */
} QdSlotUse;

typedef struct QdRunSlots {
    const QdLimits *limits;
    guint n_cores;
    guint n_running;
    guint n_long;   /* of those; the others leave their threads soon, or are made beside */
    guint n_beside; /* that hold a thread of their own in addition: they can neither be put off nor have a long slot */
    guint n_over;   /* statements that are to end, for which the others rest */
    GPtrArray *threads;
    QdSlotUse recent[2]; /* of two threads, the last first */
} QdRunSlots;

void qd_run_slots_init(QdRunSlots *self, const QdLimits *limits);
void qd_run_slots_clear(QdRunSlots *self);
/* The calling thread is one of the workers, until it leaves. */
void qd_run_slots_enter(QdRunSlots *self);
void qd_run_slots_leave(QdRunSlots *self);

/* For the calling thread. @client: (nullable): it needs none */
gboolean qd_run_slots_take(QdRunSlots *self, QdClient *client, gboolean sliced);
void qd_run_slots_give(QdRunSlots *self, QdClient *client);
/* The calling thread has taken a slot for a client's request. */
void qd_run_slots_note_use(QdRunSlots *self);
/* When another thread than the calling one has done so last. 0: none has, or long ago */
uint64_t qd_run_slots_get_others_usec(const QdRunSlots *self);
/* See qd_workers_become_long() and qd_workers_get_rest_usec(). */
QdLongVerdict qd_run_slots_become_long(QdRunSlots *self, QdClient *client);
uint64_t qd_run_slots_get_rest_usec(const QdRunSlots *self, uint64_t now_usec);
/* Whether the kernel shall treat the calling thread, if it is a worker, as a batch job. */
void qd_run_slot_set_batch(gboolean batch);

/* A tick of the interrupter. */
void qd_run_slots_count_tick(QdRunSlots *self, guint n_over);
/* Those that hold a slot for what is short, of all or of their client, run beside the others. A client gets such a place while more
 * are left than it has. Returns: whether a slot came free */
gboolean qd_run_slots_make_room(QdRunSlots *self);
