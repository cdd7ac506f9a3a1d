/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interrupter sends the error of a query whose thread does not come back. One call of SQLite may take seconds, and a thread may
 * wait for a core.
 *
 * Invariant: one thread sends at a time. The owner sends within a fill only between qd_channel_begin_early() and
 * qd_channel_end_early(). After the interrupter's error the owner drops what its fill has given.
 */
#include <sys/socket.h>

#include "client-lib/wire/wire-error.h"
#include "daemon/base/error.h"
#include "daemon/channel/channel-private.h"
#include "daemon/runtime/context.h"

/* So long after that the next request of the client may wait for the thread; then its channel ends. */
#define CUT_USEC 400000

gboolean
qd_channel_begin_early(QdChannel *self)
{
    return g_atomic_int_compare_and_exchange(&self->work.told.state, QD_TOLD_NOTHING, QD_TOLD_SENDING);
}

void
qd_channel_end_early(QdChannel *self)
{
    g_atomic_int_set(&self->work.told.state, QD_TOLD_NOTHING);
}

/* The thread has not come back: later requests would wait as long, regardless of their deadlines. */
static void
cut_off(QdChannel *self)
{
    QdTold *told = &self->work.told;

    if (told->is_cut || (uint64_t) g_get_monotonic_time() < told->since_usec + CUT_USEC)
        return;
    told->is_cut = TRUE;
    (void) shutdown(self->fd, SHUT_RDWR);
}

gboolean
qd_channel_tell(void *data, const GError *error)
{
    QdChannel *self = data;
    QdTold *told = &self->work.told;

    if (g_atomic_int_get(&told->state) == QD_TOLD_ALL) {
        cut_off(self);
        return TRUE;
    }
    if (!qd_channel_begin_early(self))
        return FALSE;
    if (!qd_channel_send_error_now(self, error, self->work.request->serial)) {
        qd_channel_end_early(self);
        return FALSE;
    }
    told->since_usec = (uint64_t) g_get_monotonic_time();
    g_atomic_int_set(&told->state, QD_TOLD_ALL);
    if (qd_error_get_code(error) == QW_ERROR_TIMEOUT)
        __atomic_add_fetch(&self->context->counters.n_timeouts, 1, __ATOMIC_RELAXED);
    return TRUE;
}

gboolean
qd_channel_was_told(const QdChannel *self)
{
    return g_atomic_int_get(&self->work.told.state) == QD_TOLD_ALL;
}

void
qd_channel_end_told(QdChannel *self)
{
    self->output.used = self->output.sent = 0;
    self->work.told = (QdTold){ .state = QD_TOLD_NOTHING };
    qd_channel_end_request(self);
}
