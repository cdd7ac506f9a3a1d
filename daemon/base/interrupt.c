/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A pointer of the thread to the innermost watch.
 */
#include "daemon/base/interrupt.h"

static _Thread_local QdInterrupt *current;

void
qd_interrupt_begin(QdInterrupt *self)
{
    self->outer = current;
    self->ends = self->was_forced = FALSE;
    current = self;
}

void
qd_interrupt_end(QdInterrupt *self)
{
    g_assert(current == self);

    current = self->outer;
    if (current != NULL) /* what has run within the statement is a part of it */
        current->was_forced = current->was_forced || self->was_forced;
}

static gboolean
is_due(QdInterrupt *self)
{
    if (self->is_always_due)
        return TRUE;
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

bool
qd_interrupt_note_forced(void)
{
    if (current == NULL)
        return false;
    current->was_forced = TRUE;
    return true;
}
