/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of channels, what all of them are charged for, and the sweep over them.
 *
 * Place: beside channel.c. A slot is never freed before the end. So a number of one leads to a channel, if perhaps to a later
 * one; its generation tells.
 */
#include <fcntl.h>
#include <pthread.h>

#include "daemon/base/fd.h"
#include "daemon/channel/channel-private.h"
#include "daemon/read/client.h"
#include "daemon/runtime/context.h"
#include "daemon/runtime/workers.h"
#include "daemon/write/writer.h"

/* Large pipes are a scarce right of the user: beyond these every new one would get 8 KiB. */
#define PIPE_MAX_LARGE 32

/* Of a buffer that is kept: more is for pages that few ask for. */
#define SPARE_MAX_BYTES (512 * (gsize) 1024)
/* Of a body that is kept until the daemon rests. malloc() maps such a block, and each of its pages costs a fault. */
#define SPARE_BODY_MAX_BYTES (4 * (gsize) 1024 * 1024)

QdChannel *
qd_channels_get(QdChannels *self, guint index)
{
    QdChannel *channel = NULL;

    pthread_mutex_lock(&self->mutex);
    if (index < self->slots->len)
        channel = self->slots->pdata[index];
    pthread_mutex_unlock(&self->mutex);
    return channel;
}

/* Returns: (nullable): the one that is kept, if it has so many bytes; one that has not gives its place up */
static gsize *
take(gsize **spare, gsize least, gsize most)
{
    gsize *buffer = __atomic_exchange_n(spare, NULL, __ATOMIC_ACQUIRE);

    if (buffer != NULL && *buffer >= least && *buffer <= most)
        return buffer;
    g_free(buffer);
    return NULL;
}

static void
give(gsize **spare, gsize *buffer, gsize n_bytes)
{
    *buffer = n_bytes;
    g_free(__atomic_exchange_n(spare, buffer, __ATOMIC_ACQ_REL));
}

gpointer
qd_channels_take_buffer(QdChannels *self, gsize n_bytes)
{
    gsize *buffer = take(&self->spare_buffer, n_bytes, n_bytes);

    return buffer != NULL ? buffer : g_malloc(n_bytes);
}

void
qd_channels_give_buffer(QdChannels *self, gpointer buffer, gsize n_bytes)
{
    if (n_bytes <= SPARE_MAX_BYTES)
        give(&self->spare_buffer, buffer, n_bytes);
    else
        g_free(buffer);
}

gpointer
qd_channels_take_body(QdChannels *self, gsize n_bytes, gsize *ret_n_bytes)
{
    gsize *body = n_bytes > QD_CHUNKS_FIRST_BYTES ? take(&self->spare_body, n_bytes, 2 * n_bytes) : NULL;

    if (body != NULL)
        *ret_n_bytes = *body;
    return body;
}

void
qd_channels_give_body(QdChannels *self, gpointer body, gsize n_bytes)
{
    if (n_bytes > QD_CHUNKS_FIRST_BYTES && n_bytes <= SPARE_BODY_MAX_BYTES)
        give(&self->spare_body, body, n_bytes);
    else
        g_free(body);
}

void
qd_channels_give_memory_back(QdChannels *self)
{
    g_free(take(&self->spare_buffer, 0, G_MAXSIZE));
    g_free(take(&self->spare_body, 0, G_MAXSIZE));
}

QdWriterLinger *
qd_channels_get_linger(QdChannels *self)
{
    return self->linger;
}

/* What channels are charged for ---------------------------------------------------------------------------------------- */

/* Some are kept for clients that have few: many processes of one application do not take them all. */
gboolean
qd_channels_charge(QdChannels *self, QdClient *client, GError **error)
{
    const QdLimits *limits = &self->context->limits;
    uint64_t most = qd_limits_get(limits, QD_LIMIT_CHANNELS);
    uint64_t kept = most / 4;
    gboolean full;

    if (!qd_client_charge(client, QD_CHARGE_CHANNEL, qd_limits_get(limits, QD_LIMIT_CHANNELS_PER_CLIENT))) {
        qd_limit_set_error(error, limits, QD_LIMIT_CHANNELS_PER_CLIENT, "too many open channels of client '%s'", client->label);
        return FALSE;
    }
    pthread_mutex_lock(&self->mutex);
    if (qd_client_count_channels(client) <= qd_limits_get(limits, QD_LIMIT_CHANNELS_FEW))
        kept = 0;
    full = self->n_open >= most - kept;
    self->n_open += full ? 0 : 1;
    pthread_mutex_unlock(&self->mutex);
    if (full) {
        qd_client_discharge(client, QD_CHARGE_CHANNEL);
        qd_limit_set_error(error, limits, QD_LIMIT_CHANNELS,
                           kept > 0 ? "too many open channels beside a quarter, which is kept for clients with few"
                                    : "too many open channels");
    }
    return !full;
}

void
qd_channels_discharge(QdChannels *self, QdClient *client)
{
    pthread_mutex_lock(&self->mutex);
    self->n_open--;
    pthread_mutex_unlock(&self->mutex);
    qd_client_discharge(client, QD_CHARGE_CHANNEL);
}

static guint
get_large_bytes(gsize page_size)
{
    return page_size > QW_PAGE_SIZE_DEFAULT ? (guint) (page_size - QW_PAGE_SIZE_DEFAULT) : 0;
}

gboolean
qd_channels_charge_pages(QdChannels *self, QdClient *client, gsize page_size, GError **error)
{
    const QdLimits *limits = &self->context->limits;
    guint n_bytes = get_large_bytes(page_size);
    uint64_t most = qd_limits_get(limits, QD_LIMIT_LARGE_PAGE_BYTES);

    if (n_bytes == 0)
        return TRUE;
    if (!qd_client_charge_many(client, QD_CHARGE_LARGE_PAGES, n_bytes,
                               qd_limits_get(limits, QD_LIMIT_LARGE_PAGE_BYTES_PER_CLIENT))) {
        qd_limit_set_error(error, limits, QD_LIMIT_LARGE_PAGE_BYTES_PER_CLIENT,
                           "client '%s' has too many channels with a large 'page_size'", client->label);
        return FALSE;
    }
    if ((uint64_t) g_atomic_int_add(&self->n_large_page_bytes, (gint) n_bytes) + n_bytes <= most)
        return TRUE;

    qd_channels_discharge_pages(self, client, page_size);
    qd_limit_set_error(error, limits, QD_LIMIT_LARGE_PAGE_BYTES, "too many channels with a large 'page_size'");
    return FALSE;
}

void
qd_channels_discharge_pages(QdChannels *self, QdClient *client, gsize page_size)
{
    guint n_bytes = get_large_bytes(page_size);

    if (n_bytes == 0)
        return;
    g_atomic_int_add(&self->n_large_page_bytes, -(gint) n_bytes);
    qd_client_discharge_many(client, QD_CHARGE_LARGE_PAGES, n_bytes);
}

static gboolean
open_ends(const QdChannelSetup *setup, gboolean large_pipe, int ret_fds[2], GError **error)
{
    if (setup->channel.transport != QD_TRANSPORT_CURSOR)
        return qd_transport_open(setup->channel.transport, large_pipe, ret_fds, error);

    ret_fds[0] = qd_transport_open_pipe_of(setup->cursor->fd, O_WRONLY, large_pipe, error);
    ret_fds[1] = -1;
    return ret_fds[0] >= 0;
}

gboolean
qd_channels_open_transport(QdChannels *self, const QdChannelSetup *setup, int ret_fds[2], GError **error)
{
    QdTransport transport = setup->channel.transport;
    gboolean is_pipe = qd_transport_is_pipe(transport);
    gboolean large_pipe = is_pipe && g_atomic_int_add(&self->n_pipes, 1) < PIPE_MAX_LARGE;

    if (open_ends(setup, large_pipe, ret_fds, error)) {
        if ((uint64_t) ret_fds[0] <= qd_limits_get(&self->context->limits, QD_LIMIT_DESCRIPTORS) / 10 * 8)
            return TRUE;
        qd_limit_set_error(error, &self->context->limits, QD_LIMIT_DESCRIPTORS, "too many open descriptors");
        (void) qd_fd_close(ret_fds[0]);
        (void) qd_fd_close(ret_fds[1]);
    }
    qd_channels_discharge_transport(self, transport);
    return FALSE;
}

void
qd_channels_discharge_transport(QdChannels *self, QdTransport transport)
{
    if (qd_transport_is_pipe(transport))
        g_atomic_int_add(&self->n_pipes, -1);
}

/* Rings --------------------------------------------------------------------------------------------------------------- */

gboolean
qd_channels_charge_ring(QdChannels *self, QdClient *client, guint n_bytes)
{
    const QdLimits *limits = &self->context->limits;
    gint before;

    if (!qd_client_charge_many(client, QD_CHARGE_RING, n_bytes, qd_limits_get(limits, QD_LIMIT_RING_PER_CLIENT_BYTES)))
        return FALSE;
    before = g_atomic_int_add(&self->n_ring_bytes, (gint) n_bytes);
    if ((uint64_t) before + n_bytes <= qd_limits_get(limits, QD_LIMIT_RING_BYTES))
        return TRUE;

    qd_channels_discharge_ring(self, client, n_bytes);
    return FALSE;
}

void
qd_channels_discharge_ring(QdChannels *self, QdClient *client, guint n_bytes)
{
    g_atomic_int_add(&self->n_ring_bytes, -(gint) n_bytes);
    qd_client_discharge_many(client, QD_CHARGE_RING, n_bytes);
}

gboolean
qd_channels_is_draining(QdChannels *self)
{
    return g_atomic_int_get(&self->draining) != 0;
}

QdChannel *
qd_channels_take_slot(QdChannels *self)
{
    QdChannel *channel;

    pthread_mutex_lock(&self->mutex);
    if (self->free_slots->len > 0) {
        guint index = g_array_index(self->free_slots, guint, self->free_slots->len - 1);

        g_array_set_size(self->free_slots, self->free_slots->len - 1);
        channel = self->slots->pdata[index];
    } else {
        channel = g_new0(QdChannel, 1);
        channel->index = self->slots->len;
        channel->ownership = UINT64_C(1) << 32 | QD_CHANNEL_FREE;
        channel->context = self->context;
        g_ptr_array_add(self->slots, channel);
    }
    pthread_mutex_unlock(&self->mutex);
    return channel;
}

void
qd_channels_give_slot(QdChannels *self, QdChannel *channel)
{
    pthread_mutex_lock(&self->mutex);
    g_array_append_val(self->free_slots, channel->index);
    self->n_open--;
    pthread_mutex_unlock(&self->mutex);
}

guint
qd_channels_get_n(QdChannels *self)
{
    guint n;

    pthread_mutex_lock(&self->mutex);
    n = self->n_open;
    pthread_mutex_unlock(&self->mutex);
    return n;
}
