/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A pointer of the thread to the innermost watch, and how many it has begun.
 */
#include "daemon/base/interrupt.h"

#include "daemon/base/thread.h"

/* So often it is asked between two looks at the clock: some ten microseconds. */
#define ASKED 16

static _Thread_local QdInterrupt *current;
static _Thread_local guint n_begun;

void
qd_interrupt_begin(QdInterrupt *self)
{
    self->outer = current;
    self->ends = self->was_forced = self->has_lost = FALSE;
    current = self;
    n_begun++;
}

void
qd_interrupt_end(QdInterrupt *self)
{
    g_assert(current == self);

    current = self->outer;
    if (current == NULL)
        return;
    /* what has run within the statement is a part of it */
    current->was_forced = current->was_forced || self->was_forced;
    current->has_lost = current->has_lost || self->has_lost;
}

void
qd_interrupt_timer_help(QdInterruptTimer *self)
{
    if (qd_thread_get_coarse_usec() > __atomic_load_n(&self->late_usec, __ATOMIC_RELAXED))
        self->help(self);
}

static gboolean
is_due(QdInterrupt *self)
{
    if (self->is_always_due)
        return TRUE;
    if (self->timer != NULL && ++self->n_asked % ASKED == 0)
        qd_interrupt_timer_help(self->timer);
    return __atomic_load_n(&self->is_due, __ATOMIC_RELAXED) && __atomic_exchange_n(&self->is_due, FALSE, __ATOMIC_ACQUIRE);
}

bool
qd_interrupt_poll(void)
{
    QdInterrupt *self = current;

    if (self == NULL)
        return false;
    if (!self->ends && is_due(self))
        self->ends = self->look(self->data);
    return self->ends;
}

guint
qd_interrupt_count(void)
{
    return n_begun;
}

void *
qd_interrupt_get_connection(void)
{
    return current != NULL ? current->connection : NULL;
}

bool
qd_interrupt_note_forced(bool loses)
{
    if (current == NULL)
        return false;
    current->was_forced = TRUE;
    current->has_lost = current->has_lost || loses;
    return true;
}
