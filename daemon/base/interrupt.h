/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether the statement that runs on this thread shall end: long work of our own asks between its pieces.
 *
 * Place: room base. The thread that runs a statement begins a watch and ends it. Another thread sets is_due when it is time to
 * look at deadline, cancelling and the like. So asking costs one load as long as nothing is due.
 * Invariant: watches of a thread are nested: the innermost is asked.
 */
#pragma once

#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Comes to a thread whose statement does not end. It is ignored where no handler is. */
#define QD_INTERRUPT_SIGNAL SIGURG

/* What sets is_due, each few milliseconds. Its thread may wait long for a core: any other does its work then. */
typedef struct QdInterruptTimer QdInterruptTimer;
struct QdInterruptTimer {
    uint64_t late_usec;                   /* atomic, monotonic: from then on it is late */
    void (*help)(QdInterruptTimer *self); /* on the thread that asks */
};

/* Embedded in what runs a statement. */
typedef struct QdInterrupt QdInterrupt;
struct QdInterrupt {
    gint is_due;                  /* atomic: from any thread */
    QdInterruptTimer *timer;      /* (nullable): is helped by this thread, which holds no lock when it asks */
    guint n_asked;                /* for @timer */
    gboolean is_always_due;       /* no other thread sets is_due: each question looks */
    gboolean ends;                /* what look() has said */
    gboolean was_forced;          /* its program was ended, or a call made to return: it has failed, also if it says otherwise */
    gboolean has_lost;            /* what that call had allocated: nothing frees it */
    gboolean (*look)(void *data); /* on the thread that runs: TRUE: the statement shall end */
    void *data;
    void *connection; /* (nullable): sqlite3: that runs it */
    QdInterrupt *outer;
};

/* From here on @self is asked on this thread; it stays where it is until qd_interrupt_end(). Thread: the one that runs. */
void qd_interrupt_begin(QdInterrupt *self);
void qd_interrupt_end(QdInterrupt *self);

/**
 * qd_interrupt_poll:
 *
 * Cheap enough to be called every few microseconds. Once true it stays true until the statement has ended: the caller stops and
 * fails. The function that runs the statement reports the reason.
 *
 * Thread: any; where no statement runs nothing shall end.
 *
 * Returns: true when the statement that runs on this thread shall end
 */
bool qd_interrupt_poll(void);

/* If @self is late, it is helped. Costs a look at the clock. Thread: any that holds no lock. */
void qd_interrupt_timer_help(QdInterruptTimer *self);

/* How many watches this thread has begun so far. Async-signal-safe. */
guint qd_interrupt_count(void);
/* (nullable): that of the innermost statement. Async-signal-safe. */
void *qd_interrupt_get_connection(void);
/* The innermost statement is forced to its end. @loses: memory. Returns: false: no statement runs here. Async-signal-safe. */
bool qd_interrupt_note_forced(bool loses);
