/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which channels are one session: those that a client has opened with the same number.
 */
#include "daemon/channel/channel-private.h"
#include "daemon/read/session-counts.h"
#include "daemon/runtime/context.h"

/* A session with a number, while it has channels. */
typedef struct Shared {
    const QdClient *client; /* its channels hold it */
    uint64_t number;
    guint n_channels;
    QdSession *session; /* (owned) */
} Shared;

static guint
shared_hash(gconstpointer data)
{
    const Shared *self = data;

    return g_int64_hash(&self->number) ^ g_direct_hash(self->client);
}

static gboolean
shared_equal(gconstpointer a, gconstpointer b)
{
    const Shared *one = a;
    const Shared *other = b;

    return one->number == other->number && one->client == other->client;
}

static void
shared_free(gpointer data)
{
    Shared *self = data;

    qd_session_free(self->session);
    g_free(self);
}

GHashTable *
qd_channel_sessions_new(void)
{
    return g_hash_table_new_full(shared_hash, shared_equal, shared_free, NULL);
}

void
qd_channel_enter_session(QdChannel *self, uint64_t number)
{
    QdChannels *channels = self->context->channels;
    const Shared wanted = { .client = self->client, .number = number };
    Shared *shared;

    self->session_number = number;
    if (number == 0) {
        self->session = qd_session_new();
        return;
    }
    pthread_mutex_lock(&channels->mutex);
    shared = g_hash_table_lookup(channels->sessions, &wanted);
    if (shared == NULL) {
        shared = g_new(Shared, 1);
        *shared = wanted;
        shared->session = qd_session_new();
        g_hash_table_add(channels->sessions, shared);
    }
    shared->n_channels++;
    self->session = shared->session;
    pthread_mutex_unlock(&channels->mutex);
}

void
qd_channel_leave_session(QdChannel *self)
{
    QdChannels *channels = self->context->channels;
    const Shared mine = { .client = self->client, .number = self->session_number };
    QdSession *session = g_steal_pointer(&self->session);
    Shared *shared;

    if (session == NULL || mine.number == 0) {
        qd_session_free(session);
        return;
    }
    pthread_mutex_lock(&channels->mutex);
    shared = g_hash_table_lookup(channels->sessions, &mine);
    if (--shared->n_channels == 0)
        g_hash_table_remove(channels->sessions, shared);
    pthread_mutex_unlock(&channels->mutex);
}
