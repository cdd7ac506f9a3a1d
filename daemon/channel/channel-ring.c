/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A large result of a channel that was opened for a ring: when it gets one, and how the descriptors travel.
 *
 * What cannot have a ring goes by the socket as before. So does each page for which no slot is free: nothing waits for the
 * ring.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/channel/channel-private.h"
#include "daemon/channel/ring.h"
#include "daemon/read/run.h"
#include "daemon/runtime/context.h"

/* Enough for a client that is awake: what it is too slow for goes by the socket. */
#define RING_BYTES (256 * 1024)
#define RING_SLOTS_MIN 2
/* A result that got none tries again after so many bytes. */
#define RETRY_BYTES (1024 * 1024)

static QwRing
choose_shape(const QdChannel *self)
{
    uint32_t n_slots = (uint32_t) (RING_BYTES / self->page_size);

    return (QwRing){ .n_slots = CLAMP(n_slots, RING_SLOTS_MIN, QW_RING_SLOTS_MAX), .slot_size = (uint32_t) self->page_size };
}

/* More than the socket holds has gone out: so it is being read, and no other reader has taken the descriptor. */
static gboolean
result_is_large(const QdChannel *self)
{
    int n_buffer_bytes = 0;
    socklen_t length = sizeof n_buffer_bytes;

    if (qd_run_get_n_bytes(self->work.run) < MAX(self->output.ring_after_bytes, RING_BYTES))
        return FALSE;
    return getsockopt(self->fd, SOL_SOCKET, SO_SNDBUF, &n_buffer_bytes, &length) == 0 &&
           qd_run_get_n_bytes(self->work.run) > (uint64_t) n_buffer_bytes;
}

/* A RING record with both descriptors on its bytes. FALSE: nothing was sent. */
static gboolean
send_ring(const QdChannel *self, const QwRing *shape, const int fds[2])
{
    uint8_t body[QW_RING_BODY_SIZE];
    uint8_t record[QW_HEADER_SIZE + QW_RING_BODY_SIZE];
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control = { 0 };
    struct iovec iov = { .iov_base = record, .iov_len = sizeof record };
    struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control };
    struct cmsghdr *cmsg = CMSG_FIRSTHDR(&message);

    qw_ring_encode(shape, body);
    (void) qw_record_encode(record, QW_KIND_RING, shape->n_slots, self->work.request->serial, body, sizeof body);
    *cmsg = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(2 * sizeof(int)) };
    memcpy(CMSG_DATA(cmsg), fds, 2 * sizeof(int));
    return sendmsg(self->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t) sizeof record;
}

static void
drop_ring(QdChannel *self)
{
    if (self->output.ring == NULL)
        return;

    qd_channels_discharge_ring(self->context->channels, self->client,
                               (guint) qw_ring_get_size(qd_ring_get_shape(self->output.ring)));
    g_clear_pointer(&self->output.ring, qd_ring_free);
}

void
qd_channel_try_ring(QdChannel *self)
{
    QwRing shape;
    guint n_bytes;
    int fds[2];

    if (self->transport != QD_TRANSPORT_RING || self->output.ring != NULL || !result_is_large(self))
        return;

    self->output.ring_after_bytes = qd_run_get_n_bytes(self->work.run) + RETRY_BYTES;
    shape = choose_shape(self);
    n_bytes = (guint) qw_ring_get_size(&shape);
    if (!qd_channels_charge_ring(self->context->channels, self->client, n_bytes))
        return;
    self->output.ring = qd_ring_new(&shape, fds);
    if (self->output.ring == NULL) {
        qd_channels_discharge_ring(self->context->channels, self->client, n_bytes);
        return;
    }

    if (send_ring(self, &shape, fds))
        qd_channel_clear_output(self);
    else
        drop_ring(self);
    (void) close(fds[0]);
    (void) close(fds[1]);
}

void
qd_channel_drop_ring(QdChannel *self)
{
    self->output.ring_after_bytes = 0;
    drop_ring(self);
}
