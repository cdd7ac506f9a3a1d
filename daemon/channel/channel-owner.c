/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who has a channel: taking it, pushing it into the run queue, kicking it, and letting it go.
 *
 * Place: beside channel.c, whose loop runs between the taking and the letting go.
 */
#include <sys/epoll.h>
#include <sys/socket.h>

#include "daemon/channel/channel-private.h"

uint64_t
qd_channel_get_token(const QdChannel *self)
{
    return (__atomic_load_n(&self->state, __ATOMIC_RELAXED) & UINT64_C(0xffffffff00000000)) | self->index;
}

/* TRUE: the caller owns the channel. FALSE: gone, or its owner will look again. */
static gboolean
channel_acquire(QdChannel *self, uint64_t generation)
{
    uint64_t state = __atomic_load_n(&self->state, __ATOMIC_ACQUIRE);

    for (;;) {
        uint64_t wanted = state | ((state & QD_CHANNEL_OWNED) ? QD_CHANNEL_PENDING : QD_CHANNEL_OWNED);

        if (state >> 32 != generation || (state & QD_CHANNEL_FREE))
            return FALSE;
        if (__atomic_compare_exchange_n(&self->state, &state, wanted, FALSE, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return !(state & QD_CHANNEL_OWNED);
    }
}

/* The same, and takes it out of the queue if that is its owner. The slot may belong to a later channel by then, which is as
 * good: it looks, finds nothing, and goes back. */
gboolean
qd_channel_seize(QdChannel *self, uint64_t generation)
{
    if (channel_acquire(self, generation))
        return TRUE;
    if (!qd_workers_take_back(self->context->workers, &self->task))
        return FALSE;

    self->task.client = self->client;
    self->task.run = qd_channel_run_task;
    return TRUE;
}

/* TRUE: released. FALSE: something happened meanwhile, the caller still owns it. */
static gboolean
channel_release(QdChannel *self)
{
    uint64_t owned = (__atomic_load_n(&self->state, __ATOMIC_RELAXED) & ~(uint64_t) QD_CHANNEL_PENDING);
    uint64_t expected = owned;

    if (__atomic_compare_exchange_n(&self->state, &expected, owned & ~(uint64_t) QD_CHANNEL_OWNED, FALSE, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED))
        return TRUE;

    __atomic_and_fetch(&self->state, ~(uint64_t) QD_CHANNEL_PENDING, __ATOMIC_ACQ_REL);
    self->readable = TRUE;
    return FALSE;
}

void
qd_channel_push(QdChannel *self, gboolean wake)
{
    qd_channel_begin_wait(self);
    qd_workers_push_always(self->context->workers, &self->task, wake);
}

/* From any thread: makes a worker look at the channel, unless its owner does. Also when its client has no slot left: what is over
 * ends all the same. */
void
qd_channel_kick(QdChannel *self, uint64_t generation)
{
    if (!qd_channel_seize(self, generation))
        return;

    self->readable = TRUE;
    self->task.client = NULL;
    self->task.run = qd_channel_look_task;
    qd_channel_push(self, TRUE);
}

void
qd_channel_kick_entry(QdEntry *entry)
{
    QdChannel *self = entry->owner;

    qd_channel_kick(self, __atomic_load_n(&self->state, __ATOMIC_ACQUIRE) >> 32);
}

/* Arms the descriptor and lets go. Returns: false when there is something to do already. */
gboolean
qd_channel_let_go(QdChannel *self, gboolean blocked)
{
    uint32_t events = qd_channel_get_input_events(self) | (blocked ? EPOLLOUT : 0);

    if (!self->ended && qd_channel_has_room(self) && qd_channels_is_draining(self->context->channels)) {
        /* what was sent before is still there to be read, then the end */
        (void) shutdown(self->fd, SHUT_RD);
        self->readable = TRUE;
        qd_channel_read(self);
        return FALSE;
    }
    if (blocked && __atomic_load_n(&self->blocked_usec, __ATOMIC_RELAXED) == 0) {
        __atomic_store_n(&self->blocked_usec, (uint64_t) g_get_monotonic_time(), __ATOMIC_RELAXED);
        qd_registry_set_state(self->context->registry, &self->entry, "blocked", self->run != NULL);
    }
    if (blocked)
        qd_workers_request_sweep(self->context->workers);
    else
        qd_channel_clear_output(self);

    qd_workers_arm(self->context->workers, self->fd, qd_channel_get_token(self), events);
    return channel_release(self);
}

void
qd_channel_park(QdChannel *self)
{
    if (qd_channel_can_resume(self) || !qd_channel_let_go(self, FALSE))
        qd_channel_push(self, TRUE);
}
