/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Waiting for a slot: the time counts for the deadline of the request, which may end there.
 */
#include <sys/epoll.h>

#include "daemon/channel/channel-private.h"
#include "daemon/read/run.h"
#include "daemon/runtime/context.h"
#include "daemon/runtime/workers.h"

static const QdRequest *
get_request(const QdChannel *self)
{
    return self->work.request != NULL || self->input.requests.head == NULL ? self->work.request : self->input.requests.head->data;
}

/* Of the request that waits: it runs already, or it is the next one. In a transaction all time is the transaction's. */
static uint64_t
get_timeout_msec(const QdChannel *self)
{
    const QdRequest *request = get_request(self);
    QdLimit limit = qd_channel_next_is_write(self) ? QD_LIMIT_UPDATE_TIMEOUT_MSEC : QD_LIMIT_QUERY_TIMEOUT_MSEC;
    const QdExecutionOptions *options = &self->statement.execution;
    gboolean has_own = options->has_timeout && request != NULL && request->kind != QW_KIND_PREPARE;

    if (request == NULL || self->transaction != NULL)
        return 0;
    return qd_context_get_timeout_msec(self->context, limit, has_own, options->timeout_msec);
}

/*
 * Each moment counts since the request came, and since the one before it on the channel was over. What it takes to free a run that
 * was put off counts, too. What PREPARE takes counts for the FETCH that came with it, as does what the call of Prepare takes.
 */
uint64_t
qd_channel_get_begun_usec(const QdChannel *self)
{
    const QdRequest *request = get_request(self);

    return request != NULL ? MAX(request->begun_usec, self->work.free_usec) : 0;
}

uint64_t
qd_channel_get_spent_usec(const QdChannel *self)
{
    uint64_t begun_usec = qd_channel_get_begun_usec(self);

    return begun_usec > 0 ? (uint64_t) g_get_monotonic_time() - begun_usec : 0;
}

uint32_t
qd_channel_get_input_events(const QdChannel *self)
{
    return !qd_transport_is_pipe(self->transport) && self->input.peer == QD_PEER_TALKS && qd_channel_has_room(self) ? EPOLLIN : 0;
}

void
qd_channel_begin_wait(QdChannel *self)
{
    self->task.watch_fd = self->fd;
    self->task.watch_token = qd_channel_get_token(self);
    self->task.watch_events = qd_channel_get_input_events(self);
    qd_task_begin_wait(&self->task, get_timeout_msec(self),
                       self->work.run != NULL ? (uint64_t) g_get_monotonic_time() - qd_run_get_produced_usec(self->work.run)
                                              : qd_channel_get_begun_usec(self));
}

void
qd_channel_end_wait(QdChannel *self)
{
    uint64_t waited_usec = qd_task_end_wait(&self->task);

    if (self->work.run != NULL)
        qd_run_add_wait(self->work.run, waited_usec);
}
