/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A thread that looks at the statements that run, and ends those that shall end, regardless of the cost of one step.
 *
 * Place: room sqlite. SQLite's progress handler is called after so many operations, and one operation may take a second. The
 * thread ticks only while statements run. At each tick it makes those that are older than one look by themselves
 * (base/interrupt.h), and asks whether they are over. Such a one is ended by sqlite3_interrupt(). Where the thread waits for a
 * core, a tick is done by one that runs a statement or has had an event.
 * Invariant: sqlite3_interrupt() is called for a watch that is registered, and whose end waits: it never meets a later statement.
 */
#pragma once

#include <sqlite3.h>
#include <stdint.h>

#include "daemon/base/interrupt.h"

#define QD_INTERRUPTER_TICK_USEC 4000u
#define QD_INTERRUPTER_STUCK_USEC (5 * UINT64_C(1000000))
/* So long after its end a statement may come back by itself. */
#define QD_INTERRUPTER_TELL_USEC UINT64_C(50000)
/* And so long before a call of it is made to return. */
#define QD_INTERRUPTER_FORCE_USEC UINT64_C(100000)

typedef struct QdInterrupter QdInterrupter;
typedef struct QdMemoryUse QdMemoryUse;
typedef struct QdThread QdThread;
typedef struct QdWatch QdWatch;

/* Embedded in what runs statements of one connection on one thread. */
struct QdWatch {
    QdInterrupt interrupt; /* look() and its data are the caller's */
    sqlite3 *db;
    /* (nullable) with interrupt.data: asked in place of qd_interrupt_poll() while SQLite works, which it calls in its turn. */
    int (*progress)(void *data);
    gboolean may_help; /* its thread does ticks that are late, when it asks: it holds no lock then */
    /* (nullable) with interrupt.data, on the thread that ticks, while the watch is kept registered: whether the statement is to be
     * ended. Only what is atomic, or does not change while the watch is registered, may be read. */
    gboolean (*is_over)(void *data, uint64_t now_usec);
    /* (nullable) in the same way, at each tick from QD_INTERRUPTER_TELL_USEC after is_over() was true first. The statement has not
     * come back, and its caller may hear of its end. */
    void (*tell)(void *data, uint64_t now_usec);
    QdMemoryUse *memory; /* (nullable): in which they are counted */
    QdThread *thread;    /* that runs them */
    gboolean is_busy;    /* the interrupter's: one thread at a time looks at it, and its end waits for that */
    guint n_ticks;
    guint n_ticks_over;
    int64_t balance;        /* of memory: the thread's, when it began */
    uint64_t over_usec;     /* when it was over first */
    uint64_t over_cpu_usec; /* what @thread had used of the processor when the statement was over first */
    uint64_t tick_cpu_usec; /* atomic: what @thread had used of the processor at the first tick; 0: there was none yet */
    QdWatch *previous;
    QdWatch *next;
};

/* After each tick, on the thread that ticks and without the interrupter's lock. @n_over: the statements that are over and have not
 * come to their end yet, but for those that have not for long. @is_stuck: one of them has used the processor for
 * QD_INTERRUPTER_STUCK_USEC since then: nothing asks there whether it shall end. */
typedef void (*QdInterrupterTickFunc)(void *data, guint n_over, gboolean is_stuck);

/* @tick: (nullable). NULL: no thread could be made. */
QdInterrupter *qd_interrupter_new(QdInterrupterTickFunc tick, void *data, GError **error);
/* Before the first watch. @force: gets the thread of a statement that has not come back for QD_INTERRUPTER_FORCE_USEC since it was
 * over. It is called at each tick, on the thread that ticks, while the watch is kept registered. */
void qd_interrupter_set_force(QdInterrupter *self, void (*force)(const QdThread *thread));
/* Does a tick that is late. Costs a look at the clock. Thread: any that holds no lock and has just got a core. */
void qd_interrupter_help(QdInterrupter *self);
/* No watch may be left. */
QdInterrupter *qd_interrupter_free(QdInterrupter *self);

/**
 * qd_interrupter_begin:
 * @self: (nullable): NULL: there is no thread, and the watch looks each time it is asked
 * @watch: stays where it is until qd_interrupter_end()
 *
 * From here on @watch is the one that qd_interrupt_poll() asks. No system call, but when the thread has to be woken after a rest.
 *
 * Thread: the one that runs the statements.
 */
void qd_interrupter_begin(QdInterrupter *self, QdWatch *watch);
void qd_interrupter_end(QdInterrupter *self, QdWatch *watch);
