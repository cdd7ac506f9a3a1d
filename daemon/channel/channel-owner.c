/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The owner of a channel: taking it, pushing it into the run queue, kicking it, and letting it go.
 *
 * Place: beside channel.c, whose loop runs between the taking and the letting go.
 */
#include <sys/epoll.h>
#include <sys/socket.h>

#include "daemon/channel/channel-private.h"
#include "daemon/runtime/context.h"
#include "daemon/runtime/registry.h"
#include "daemon/runtime/workers.h"

#define MAY_BE(state) (1u << QD_CHANNEL_##state)

/* What may follow each; the diagram is in channel-private.h. */
static const uint16_t following[QD_N_CHANNEL_STATES] = {
    [QD_CHANNEL_NONE] = MAY_BE(SERVED),
    [QD_CHANNEL_SERVED] = MAY_BE(NONE) | MAY_BE(IDLE) | MAY_BE(BLOCKED) | MAY_BE(QUEUED) | MAY_BE(LINGERING) | MAY_BE(WRITING),
    [QD_CHANNEL_IDLE] = MAY_BE(SERVED) | MAY_BE(KICKED),
    [QD_CHANNEL_BLOCKED] = MAY_BE(SERVED) | MAY_BE(KICKED),
    [QD_CHANNEL_QUEUED] = MAY_BE(SERVED) | MAY_BE(KICKED),
    [QD_CHANNEL_KICKED] = MAY_BE(SERVED) | MAY_BE(KICKED),
    [QD_CHANNEL_LINGERING] = MAY_BE(SERVED),
    [QD_CHANNEL_WRITING] = MAY_BE(SERVED) | MAY_BE(KICKED) | MAY_BE(ANSWERED),
    [QD_CHANNEL_ANSWERED] = MAY_BE(IDLE) | MAY_BE(QUEUED) | MAY_BE(KICKED) | MAY_BE(WRITING),
};

static const char *const names[QD_N_CHANNEL_STATES] = {
    "none", "served", "idle", "blocked", "queued", "kicked", "lingering", "writing", "answered",
};

/* What ListQueries says of a request of the channel. */
static const char *const words[QD_N_CHANNEL_STATES] = {
    "running", "running", "running", "blocked", "queued", "queued", "running", "writing", "writing",
};

gboolean
qd_channel_state_may_follow(QdChannelState state, QdChannelState before)
{
    return (following[before] & (1u << state)) != 0;
}

/* A transition that must not be is an error of ours: it is said, which ends a test, and the daemon goes on. */
void
qd_channel_check_state(const QdStates *states, guint state, guint before)
{
    if (G_UNLIKELY((states->following[before] & (1u << state)) == 0))
        g_critical("a %s that was '%s' became '%s'", states->what, states->names[before], states->names[state]);
}

void
qd_channel_set_state(QdChannel *self, QdChannelState state)
{
    static const QdStates states = { "channel", names, following };

    qd_channel_check_state(&states, state, self->state);
    __atomic_store_n(&self->state, state, __ATOMIC_RELAXED);
}

const char *
qd_channel_describe_entry(const QdEntry *entry)
{
    const QdChannel *self = entry->owner;

    return words[__atomic_load_n(&self->state, __ATOMIC_RELAXED)];
}

/* TRUE: the caller owns the channel. FALSE: gone, or its owner will look again. */
static gboolean
channel_acquire(QdChannel *self, uint64_t generation)
{
    uint64_t state = __atomic_load_n(&self->ownership, __ATOMIC_ACQUIRE);

    for (;;) {
        uint64_t wanted = state | ((state & QD_CHANNEL_OWNED) ? QD_CHANNEL_PENDING : QD_CHANNEL_OWNED);

        if (state >> 32 != generation || (state & QD_CHANNEL_FREE))
            return FALSE;
        if (__atomic_compare_exchange_n(&self->ownership, &state, wanted, FALSE, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return !(state & QD_CHANNEL_OWNED);
    }
}

/* The owner may be the queue. The slot may belong to a later channel by then, which is as good: it looks, finds nothing, and goes
 * back. */
gboolean
qd_channel_seize(QdChannel *self, uint64_t generation)
{
    return channel_acquire(self, generation) || qd_workers_take_back(self->context->workers, &self->task);
}

/* TRUE: released. FALSE: something happened meanwhile, the caller still owns it. */
static gboolean
channel_release(QdChannel *self)
{
    uint64_t owned = (__atomic_load_n(&self->ownership, __ATOMIC_RELAXED) & ~(uint64_t) QD_CHANNEL_PENDING);
    uint64_t expected = owned;

    if (__atomic_compare_exchange_n(&self->ownership, &expected, owned & ~(uint64_t) QD_CHANNEL_OWNED, FALSE, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED))
        return TRUE;

    __atomic_and_fetch(&self->ownership, ~(uint64_t) QD_CHANNEL_PENDING, __ATOMIC_ACQ_REL);
    self->input.readable = TRUE;
    return FALSE;
}

/* QUEUED or KICKED */
static void
prepare_push(QdChannel *self, QdChannelState state)
{
    qd_channel_set_state(self, state);
    self->task.client = state == QD_CHANNEL_QUEUED ? self->client : NULL;
    qd_channel_begin_wait(self);
}

void
qd_channel_push(QdChannel *self, gboolean wake)
{
    prepare_push(self, QD_CHANNEL_QUEUED);
    qd_workers_push_always(self->context->workers, &self->task, wake);
}

gboolean
qd_channel_try_push(QdChannel *self)
{
    prepare_push(self, QD_CHANNEL_QUEUED);
    if (qd_workers_push(self->context->workers, &self->task, FALSE))
        return TRUE;

    qd_channel_end_wait(self);
    qd_channel_set_state(self, QD_CHANNEL_SERVED);
    return FALSE;
}

void
qd_channel_push_answer(QdChannel *self)
{
    prepare_push(self, QD_CHANNEL_KICKED);
    qd_workers_push_always(self->context->workers, &self->task, TRUE);
}

void
qd_channel_kick(QdChannel *self, uint64_t generation)
{
    if (!qd_channel_seize(self, generation))
        return;

    self->input.readable = TRUE;
    qd_channel_push_answer(self);
}

void
qd_channel_kick_entry(QdEntry *entry)
{
    QdChannel *self = entry->owner;

    qd_channel_kick(self, __atomic_load_n(&self->ownership, __ATOMIC_ACQUIRE) >> 32);
}

gboolean
qd_channel_let_go(QdChannel *self, gboolean blocked)
{
    uint32_t events = qd_channel_get_input_events(self) | (blocked ? EPOLLOUT : 0);

    if (self->input.peer == QD_PEER_TALKS && !qd_transport_is_pipe(self->transport) && qd_channel_has_room(self) &&
        qd_channels_is_draining(self->context->channels)) {
        /* what was sent before is still there to be read, then the end */
        (void) shutdown(self->fd, SHUT_RD);
        self->input.readable = TRUE;
        qd_channel_read(self);
        return FALSE;
    }
    if (blocked && __atomic_load_n(&self->output.blocked_usec, __ATOMIC_RELAXED) == 0)
        __atomic_store_n(&self->output.blocked_usec, (uint64_t) g_get_monotonic_time(), __ATOMIC_RELAXED);
    if (blocked)
        qd_workers_request_sweep(self->context->workers);
    else
        qd_channel_clear_output(self);

    qd_workers_arm(self->context->workers, self->fd, qd_channel_get_token(self), events);
    qd_channel_set_state(self, blocked ? QD_CHANNEL_BLOCKED : QD_CHANNEL_IDLE);
    if (channel_release(self))
        return TRUE;

    qd_channel_set_state(self, QD_CHANNEL_SERVED);
    return FALSE;
}

void
qd_channel_park(QdChannel *self)
{
    if (qd_channel_can_resume(self) || !qd_channel_let_go(self, FALSE))
        qd_channel_push(self, TRUE);
}
