/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interrupter sends the error of a request whose thread does not come back. One call of SQLite may take seconds, and a thread
 * may wait for a core.
 *
 * Invariant: one thread sends at a time. The owner sends within a fill only between qd_channel_begin_early() and
 * qd_channel_end_early(). After the interrupter's error the owner drops what its fill has given.
 */
#include <sys/socket.h>

#include "client-lib/wire/wire-error.h"
#include "daemon/base/error.h"
#include "daemon/channel/channel-private.h"
#include "daemon/read/run.h"
#include "daemon/runtime/context.h"

/* So long after that the next request of the client may wait for the thread; then its channel ends. */
#define CUT_USEC 400000
#define PEEK_BYTES 4096

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

static gboolean
tell_of(QdChannel *self, const GError *error, uint32_t serial)
{
    QdTold *told = &self->work.told;

    if (g_atomic_int_get(&told->state) == QD_TOLD_ALL) {
        cut_off(self);
        return TRUE;
    }
    if (!qd_channel_begin_early(self))
        return FALSE;
    if (!qd_channel_send_error_now(self, error, serial)) {
        qd_channel_end_early(self);
        return FALSE;
    }
    told->since_usec = (uint64_t) g_get_monotonic_time();
    g_atomic_int_set(&told->state, QD_TOLD_ALL);
    g_atomic_int_inc(&self->context->n_told);
    if (qd_error_get_code(error) == QW_ERROR_TIMEOUT)
        __atomic_add_fetch(&self->context->counters.n_timeouts, 1, __ATOMIC_RELAXED);
    return TRUE;
}

gboolean
qd_channel_tell(void *data, const GError *error)
{
    QdChannel *self = data;

    return tell_of(self, error, self->work.request->serial);
}

gboolean
qd_channel_tell_write(const QdWriteItem *item, const GError *error)
{
    QdChannelWrite *write = item->data;
    QdChannel *self = write->channel;
    g_autoptr(GError) explained = item->is_part ? qd_channel_explain_end(error) : NULL; /* as its owner will */

    return self->writes.queue.head == &write->link && tell_of(self, explained != NULL ? explained : error, write->request->serial);
}

/* Of what the socket has, whole records up to one that is larger. */
static gboolean
finds_cancel(const QdChannel *self, uint32_t serial)
{
    uint8_t data[PEEK_BYTES];
    QwHeader header;
    ssize_t n;

    if (qd_transport_is_pipe(self->transport) || __atomic_load_n(&self->input.n_begun_bytes, __ATOMIC_RELAXED) > 0)
        return FALSE;
    n = recv(self->fd, data, sizeof data, MSG_PEEK | MSG_DONTWAIT);
    for (ssize_t i = 0; n - i >= QW_HEADER_SIZE; i += header.size) {
        if (qw_header_decode(data + i, self->page_size, QW_TO_DAEMON, &header) < 0)
            return FALSE;
        if (header.kind == QW_KIND_CANCEL && header.count == serial)
            return TRUE;
    }
    return FALSE;
}

void
qd_channel_look_for_cancel(QdChannel *self)
{
    if (finds_cancel(self, self->work.request->serial))
        g_atomic_int_set(&self->entry.cancelled, QD_CANCEL_BY_CLIENT);
}

gboolean
qd_channel_finds_cancel(const QdWriteItem *item)
{
    const QdChannelWrite *write = item->data;

    return finds_cancel(write->channel, write->request->serial);
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
    qd_channel_forget_told(self);
    qd_channel_end_request(self);
}

void
qd_channel_forget_told(QdChannel *self)
{
    if (qd_channel_was_told(self))
        g_atomic_int_add(&self->context->n_told, -1);
    self->work.told = (QdTold){ .state = QD_TOLD_NOTHING };
}
