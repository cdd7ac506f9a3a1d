/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Waiting for a slot: the time counts for the deadline of the request, which may end there.
 */
#include <sys/epoll.h>

#include "daemon/channel/channel-private.h"

/* Of the request that waits: it runs already, or it is the next one. In a transaction all time is the transaction's. */
static uint64_t
get_timeout_msec(const QdChannel *self)
{
    const QdRequest *request = self->current != NULL || self->requests.head == NULL ? self->current : self->requests.head->data;
    QdLimit limit = qd_channel_next_is_write(self) ? QD_LIMIT_UPDATE_TIMEOUT_MSEC : QD_LIMIT_QUERY_TIMEOUT_MSEC;
    const QdCallOptions *options = &self->statement.options;
    gboolean has_own = options->has_timeout && request != NULL && request->kind != QW_KIND_PREPARE;

    if (request == NULL || self->transaction != NULL)
        return 0;
    return qd_context_get_timeout_msec(self->context, limit, has_own, options->timeout_msec);
}

static uint64_t
get_spent_usec(const QdChannel *self)
{
    return self->run != NULL ? qd_run_get_produced_usec(self->run) : self->spent_usec;
}

uint32_t
qd_channel_get_input_events(const QdChannel *self)
{
    return !qd_transport_is_pipe(self->transport) && !self->ended && qd_channel_has_room(self) ? EPOLLIN : 0;
}

void
qd_channel_begin_wait(QdChannel *self)
{
    uint64_t now = (uint64_t) g_get_monotonic_time();
    uint64_t timeout_msec = get_timeout_msec(self);

    self->task.watch_fd = self->fd;
    self->task.watch_token = qd_channel_get_token(self);
    self->task.watch_events = qd_channel_get_input_events(self);
    self->task.due_usec = timeout_msec > 0 ? now + 1000 * timeout_msec - MIN(get_spent_usec(self), 1000 * timeout_msec) : 0;
    self->waiting_usec = now;
}

void
qd_channel_end_wait(QdChannel *self)
{
    uint64_t waited_usec;

    if (self->waiting_usec == 0)
        return;

    waited_usec = (uint64_t) g_get_monotonic_time() - self->waiting_usec;
    self->waiting_usec = 0;
    if (self->run != NULL)
        qd_run_add_wait(self->run, waited_usec);
    else
        self->spent_usec += waited_usec;
}

void
qd_channel_set_late_error(const QdChannel *self, GError **error)
{
    qd_error_set(error, QW_ERROR_TIMEOUT,
                 "request waited for a free thread until its %" G_GUINT64_FORMAT
                 " ms were over ('query_timeout_ms', 'update_timeout_ms' or the caller's 'timeout_ms'): "
                 "too many others run (limits 'running' and 'running_per_client')",
                 get_timeout_msec(self));
}
