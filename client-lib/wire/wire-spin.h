/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When waiting awake for the peer pays: the policy that client and daemon share. No I/O, no clock.
 *
 * Waking a sleeping core costs more than a small query (10-100 µs on virtual machines). A thread that waits awake, for as long
 * as its waits asleep take, spares that when the peer answers in time from another core. On a shared core it only keeps the
 * peer from running. So waiting awake starts after some answers that came quickly and ends with those that did not. Each try that
 * fails doubles the number of quick answers that the next try needs. One during which others had the core ends it at once. A pause
 * of the peer says nothing, and the answers before it still count. Else a client of short bursts would sleep for ever once tries
 * have failed beside other load.
 *
 * Invariant: credit <= QW_SPIN_CREDIT_MAX; one quick answer more than `needed` starts a try.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How long to wait awake: at least and at most. The peer may sleep at the first try, and has to be woken. */
#define QW_SPIN_USEC_MIN 50u
#define QW_SPIN_USEC_MAX 200u
/* An answer within this time, the waking of two cores included, is one that waiting awake may catch. */
#define QW_SPIN_QUICK_USEC 300u
/* A slower one takes back so many quick ones. All of them would be too many: after tries that failed, 512 in a row never come. */
#define QW_SPIN_SLOW_COST 8u
/* From this time on it was a pause, or other programs had the cores. */
#define QW_SPIN_PAUSE_USEC 1000u
/* Two tries are some 1 µs apart, and up to 20 where a device interrupts. After such a time others have run on this core. */
#define QW_SPIN_LOST_USEC 30u
#define QW_SPIN_CREDIT_MAX 4u
#define QW_SPIN_NEEDED_MIN 4u
#define QW_SPIN_NEEDED_MAX 512u

/* All zero: asleep, nothing known. */
typedef struct QwSpin {
    uint16_t credit; /* misses in a row that are forgiven; 0: sleep at once */
    uint16_t quick;  /* quick answers while asleep, less the slow ones' cost; pauses do not count */
    uint16_t needed; /* so many make a try; 0 stands for QW_SPIN_NEEDED_MIN */
    uint16_t usec;   /* quick answers take so long, asleep; the longest one fades */
} QwSpin;

static inline bool
qw_spin_pays(const QwSpin *self)
{
    return self->credit > 0;
}

/* Returns: for how long to wait awake, in µs */
static inline uint64_t
qw_spin_get_usec(const QwSpin *self)
{
    if (self->usec < QW_SPIN_USEC_MIN)
        return QW_SPIN_USEC_MIN;
    return self->usec < QW_SPIN_USEC_MAX ? self->usec : QW_SPIN_USEC_MAX;
}

/* Whether what came while waiting awake counts as caught. sched_yield() may give the core to another program for milliseconds; a
 * sleeping thread would have been woken before. @end_usec: of the wait */
static inline bool
qw_spin_is_caught(uint64_t end_usec, uint64_t now_usec)
{
    return now_usec < end_usec + QW_SPIN_USEC_MIN;
}

/* Whether others had the core between two tries. What waits awake beside them takes the core from them, and its own need not be
 * woken. */
static inline bool
qw_spin_has_lost_core(uint64_t tried_usec, uint64_t now_usec)
{
    return now_usec > tried_usec + QW_SPIN_LOST_USEC;
}

/* The outcome of waiting awake. */
static inline void
qw_spin_note_awake(QwSpin *self, bool caught)
{
    uint16_t needed = self->needed != 0 ? self->needed : QW_SPIN_NEEDED_MIN;

    if (caught) {
        self->credit += self->credit < QW_SPIN_CREDIT_MAX ? 1 : 0;
        if (self->credit == QW_SPIN_CREDIT_MAX)
            self->needed = QW_SPIN_NEEDED_MIN;
        return;
    }
    self->credit /= 2;
    self->quick = 0;
    if (self->credit == 0)
        self->needed = needed < QW_SPIN_NEEDED_MAX ? (uint16_t) (2 * needed) : QW_SPIN_NEEDED_MAX;
}

/* Others had the core while we waited awake: none of it is forgiven. */
static inline void
qw_spin_note_lost(QwSpin *self)
{
    self->credit = 0;
    self->needed *= 2;
    qw_spin_note_awake(self, false);
}

/* @waited_usec: until the peer's answer woke us */
static inline void
qw_spin_note_asleep(QwSpin *self, uint64_t waited_usec)
{
    uint16_t needed = self->needed != 0 ? self->needed : QW_SPIN_NEEDED_MIN;

    if (waited_usec >= QW_SPIN_PAUSE_USEC)
        return;
    if (waited_usec > QW_SPIN_QUICK_USEC) {
        self->quick -= self->quick < QW_SPIN_SLOW_COST ? self->quick : QW_SPIN_SLOW_COST;
        return;
    }
    self->usec -= self->usec / 8;
    if (self->usec < waited_usec)
        self->usec = (uint16_t) waited_usec;
    if (++self->quick < needed)
        return;

    self->quick = 0;
    self->credit = 1;
}
