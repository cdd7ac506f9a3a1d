/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All channels: made and freed, looked after, and ended with the daemon.
 */
#include "daemon/channel/channel-private.h"
#include "daemon/read/client.h"
#include "daemon/runtime/context.h"
#include "daemon/runtime/workers.h"
#include "daemon/write/writer.h"

QdChannels *
qd_channels_new(QdContext *context)
{
    QdChannels *self = g_new0(QdChannels, 1);

    self->context = context;
    self->slots = g_ptr_array_new_with_free_func(g_free);
    self->free_slots = g_array_new(FALSE, FALSE, sizeof(guint));
    self->sessions = qd_channel_sessions_new();
    self->linger = qd_channel_linger_new();
    pthread_mutex_init(&self->mutex, NULL);
    return self;
}

QdChannels *
qd_channels_free(QdChannels *self)
{
    if (self == NULL)
        return NULL;

    for (guint i = 0; i < self->slots->len; i++) {
        QdChannel *channel = self->slots->pdata[i];

        if (channel->client != NULL) {
            qd_channel_clear(channel);
            qd_client_discharge(channel->client, QD_CHARGE_CHANNEL);
            qd_client_unref(channel->client);
        }
    }
    g_ptr_array_unref(self->slots);
    g_array_unref(self->free_slots);
    g_hash_table_unref(self->sessions);
    qd_channel_linger_free(self->linger);
    qd_channels_give_memory_back(self);
    pthread_mutex_destroy(&self->mutex);
    g_free(self);
    return NULL;
}

void
qd_channels_sweep(QdChannels *self)
{
    uint64_t now = (uint64_t) g_get_monotonic_time();
    guint n;
    gboolean again = FALSE;

    pthread_mutex_lock(&self->mutex);
    n = self->slots->len;
    pthread_mutex_unlock(&self->mutex);
    for (guint i = 0; i < n; i++) {
        QdChannel *channel = qd_channels_get(self, i);
        uint64_t generation = __atomic_load_n(&channel->ownership, __ATOMIC_ACQUIRE) >> 32;
        uint64_t since = __atomic_load_n(&channel->output.blocked_usec, __ATOMIC_RELAXED);
        uint64_t due = __atomic_load_n(&channel->transaction_due_usec, __ATOMIC_RELAXED);
        uint64_t awaited = __atomic_load_n(&channel->input.awaited_usec, __ATOMIC_RELAXED);

        if (awaited != 0) {
            again = TRUE;
            if (now > awaited + 1000 * qd_limits_get(&self->context->limits, QD_LIMIT_REQUEST_IDLE_MSEC))
                qd_channel_kick(channel, generation);
        }
        if (due != 0) {
            again = TRUE;
            if (now >= due || qd_writer_is_awaited(self->context->writer))
                qd_channel_kick(channel, generation);
        }
        if (since == 0)
            continue;
        again = TRUE;
        if (now > since + 1000 * MIN(qd_limits_get(&self->context->limits, QD_LIMIT_READER_IDLE_MSEC),
                                     qd_limits_get(&self->context->limits, QD_LIMIT_SNAPSHOT_AGE_MSEC)))
            qd_channel_kick(channel, generation);
    }
    if (again)
        qd_workers_request_sweep(self->context->workers);
}

void
qd_channels_drain(QdChannels *self)
{
    g_atomic_int_set(&self->draining, TRUE);
    for (guint i = 0;; i++) {
        QdChannel *channel = qd_channels_get(self, i);
        uint64_t generation;

        if (channel == NULL)
            return;
        generation = __atomic_load_n(&channel->ownership, __ATOMIC_ACQUIRE) >> 32;
        qd_channel_kick(channel, generation);
    }
}
