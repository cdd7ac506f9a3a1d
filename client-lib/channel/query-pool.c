/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Idle channels and remembered schemas, both bounded.
 *
 * Place: internal to libquery-client.
 * Invariant: `idle` is ordered by the time of return, oldest first. The mutex of `pools` is taken before that of a pool.
 */
#include "client-lib/channel/query-pool.h"

#include <sys/random.h>

#include "client-lib/core/query-held.h"
#include "client-lib/core/query-mutex.h"
#include "client-lib/core/query-process.h"
#include "client-lib/wire/wire-recent.h"

struct QueryPool {
    pthread_mutex_t mutex;
    GPtrArray *idle;  /* of QueryChannel */
    QwRecent schemas; /* of Remembered */
    void *schema_items[QUERY_POOL_MAX_SCHEMAS];
    QueryTransport transport;
    guint64 session;
    guint n_forks; /* of the process that has made it */
    GList link;    /* in `pools` */
};

static pthread_mutex_t pools_mutex = PTHREAD_MUTEX_INITIALIZER;
static GQueue pools = G_QUEUE_INIT; /* of the process; by their links */

typedef struct Remembered {
    GBytes *key;
    QuerySchema *schema;
} Remembered;

static void
remembered_free(Remembered *self)
{
    if (self == NULL)
        return;

    g_bytes_unref(self->key);
    query_schema_unref(self->schema);
    g_free(self);
}

QueryPool *
query_pool_new(void)
{
    QueryPool *self = g_new0(QueryPool, 1);

    if (getrandom(&self->session, sizeof self->session, 0) != sizeof self->session)
        self->session = 0;
    self->n_forks = query_process_get_n_forks();
    (void) pthread_mutex_init(&self->mutex, NULL);
    self->idle = g_ptr_array_new_with_free_func((GDestroyNotify) query_channel_free);
    self->schemas = (QwRecent){ .items = self->schema_items, .max = QUERY_POOL_MAX_SCHEMAS };
    self->link.data = self;
    (void) pthread_mutex_lock(&pools_mutex);
    g_queue_push_tail_link(&pools, &self->link);
    (void) pthread_mutex_unlock(&pools_mutex);
    return self;
}

gboolean
query_pool_check_process(const QueryPool *self, GError **error)
{
    return query_process_check(self->n_forks, error);
}

guint64
query_pool_get_session(const QueryPool *self)
{
    return self->session;
}

void
query_pool_free(QueryPool *self)
{
    if (self == NULL)
        return;

    if (query_pool_check_process(self, NULL)) { /* a child of fork() may find the mutex held */
        g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&pools_mutex);

        g_queue_unlink(&pools, &self->link);
    }
    g_ptr_array_unref(self->idle);
    while (self->schemas.n > 0)
        remembered_free(qw_recent_pop(&self->schemas));
    (void) pthread_mutex_destroy(&self->mutex);
    g_free(self);
}

/* FALSE: none. */
static gboolean
find_prepared(const QueryPool *self, GBytes *key, guint *ret_index)
{
    for (guint i = self->idle->len; i > 0; i--) {
        if (query_channel_is_prepared(g_ptr_array_index(self->idle, i - 1), key)) {
            *ret_index = i - 1;
            return TRUE;
        }
    }
    return FALSE;
}

/* What to prepare another statement on. FALSE: better open one more. */
static gboolean
find_spare(const QueryPool *self, guint *ret_index)
{
    guint n_wanted = 0;

    for (guint i = 0; i < self->idle->len; i++) {
        if (!query_channel_is_wanted(g_ptr_array_index(self->idle, i))) {
            *ret_index = i;
            return TRUE;
        }
        n_wanted++;
    }
    *ret_index = 0;
    return n_wanted >= QUERY_POOL_MAX_WANTED;
}

QueryChannel *
query_pool_take(QueryPool *self, GBytes *key)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);
    guint i;

    while (find_prepared(self, key, &i) || find_spare(self, &i)) {
        g_autoptr(QueryChannel) channel = g_ptr_array_steal_index(self->idle, i);

        if (query_channel_is_quiet(channel))
            return g_steal_pointer(&channel);
    }
    return NULL;
}

QueryChannel *
query_pool_take_prepared(QueryPool *self, GBytes *key)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);
    guint i;

    return find_prepared(self, key, &i) ? g_ptr_array_steal_index(self->idle, i) : NULL;
}

/* How many idle channels there are of one kind. */
static guint
count_idle(const QueryPool *self, gboolean is_wanted)
{
    guint n = 0;

    for (guint i = 0; i < self->idle->len; i++)
        n += query_channel_is_wanted(g_ptr_array_index(self->idle, i)) == is_wanted;
    return n;
}

static void
give(QueryPool *self, QueryChannel *channel, gboolean is_wanted)
{
    g_autoptr(QueryChannel) owned = channel;
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);

    is_wanted = is_wanted && count_idle(self, TRUE) < QUERY_POOL_MAX_WANTED;
    query_channel_set_wanted(channel, is_wanted);
    if ((is_wanted || count_idle(self, FALSE) < QUERY_POOL_MAX_CHANNELS) &&
        query_channel_get_transport(channel) == self->transport && !query_channel_was_ended(channel))
        g_ptr_array_add(self->idle, g_steal_pointer(&owned));
    query_held_notify(); /* also of one that is closed */
}

void
query_pool_give(QueryPool *self, QueryChannel *channel)
{
    if (channel != NULL)
        give(self, channel, query_channel_is_wanted(channel));
}

void
query_pool_give_wanted(QueryPool *self, QueryChannel *channel)
{
    give(self, channel, TRUE);
}

void
query_pool_unwant(QueryPool *self, GBytes *key)
{
    g_autoptr(QueryChannel) channel = query_pool_take_prepared(self, key);

    if (channel == NULL)
        return;
    query_channel_set_wanted(channel, FALSE);
    query_pool_give(self, g_steal_pointer(&channel));
}

/* Returns: how many were closed, at most @n. */
static guint
close_of_kind(QueryPool *self, gboolean is_wanted, guint n)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);
    guint n_closed = 0;

    for (guint i = 0; i < self->idle->len && n_closed < n;) {
        if (query_channel_is_wanted(g_ptr_array_index(self->idle, i)) != is_wanted) {
            i++;
            continue;
        }
        (void) g_ptr_array_remove_index(self->idle, i);
        n_closed++;
    }
    return n_closed;
}

gboolean
query_pool_close_idle(guint n)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&pools_mutex);
    guint n_closed = 0;

    for (guint is_wanted = 0; is_wanted <= 1; is_wanted++)
        for (GList *link = pools.head; link != NULL && n_closed < n; link = link->next)
            n_closed += close_of_kind(link->data, is_wanted != 0, n - n_closed);
    return n_closed > 0;
}

void
query_pool_set_transport(QueryPool *self, QueryTransport transport)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);

    self->transport = transport;
    g_ptr_array_set_size(self->idle, 0);
}

QueryTransport
query_pool_get_transport(QueryPool *self)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);

    return self->transport;
}

/* (nullable) (transfer none): under the mutex; it is the one used last then. */
static Remembered *
find_schema(QueryPool *self, GBytes *key)
{
    for (guint i = self->schemas.n; i-- > 0;) {
        Remembered *remembered = self->schema_items[i];

        if (g_bytes_equal(remembered->key, key)) {
            qw_recent_use(&self->schemas, i);
            return remembered;
        }
    }
    return NULL;
}

void
query_pool_remember(QueryPool *self, GBytes *key, QuerySchema *schema)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);
    Remembered *remembered;

    if (schema->n_parameters == 0 || g_bytes_get_size(key) > QUERY_POOL_MAX_KEY_BYTES)
        return;

    remembered = find_schema(self, key);
    if (remembered == NULL) {
        remembered = g_new0(Remembered, 1);
        remembered->key = g_bytes_ref(key);
        remembered_free(qw_recent_add(&self->schemas, remembered));
    }
    (void) query_schema_ref(schema);
    g_clear_pointer(&remembered->schema, query_schema_unref);
    remembered->schema = schema;
}

QuerySchema *
query_pool_recall(QueryPool *self, GBytes *key)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);
    const Remembered *remembered = find_schema(self, key);

    return remembered != NULL ? query_schema_ref(remembered->schema) : NULL;
}
