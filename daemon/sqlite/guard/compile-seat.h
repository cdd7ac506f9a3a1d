/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The right to compile: as many threads at once as there are cores.
 *
 * Place: room sqlite, above base only. Any thread.
 * Invariant: a thread that waits for a seat holds no lock, and no seat.
 *
 * A text of 280 kB takes 30 MB and 30 ms; a join of 60 tables takes 3 ms. Where twelve threads compiled at once, each lost its core
 * amid an allocation, with the lock of its arena. A look-up beside them waited for 30 to 70 ms.
 */
#pragma once

#include <glib.h>
#include <pthread.h>
#include <stdint.h>

/* On the stack of the thread that compiles. */
typedef struct QdCompileSeat {
    const void *owner; /* (nullable): the client, for whom the turns are fair */
    uint64_t end_usec;
    gboolean is_taken;
    pthread_cond_t granted;
    GList link;
} QdCompileSeat;

/**
 * qd_compile_seat_take:
 * @self: stays where it is until qd_compile_seat_give()
 * @owner: (nullable): who compiles; NULL: without a seat, as the writer
 * @end_usec: monotonic time at which it waits no longer; UINT64_MAX: never
 *
 * Waits for a seat. Where none comes in time the thread goes on without: the time of its statement is over.
 *
 * Thread: the one that compiles; it holds no lock and no seat
 */
void qd_compile_seat_take(QdCompileSeat *self, const void *owner, uint64_t end_usec);
void qd_compile_seat_give(QdCompileSeat *self);
