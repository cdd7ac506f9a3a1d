/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A list, the column used last in front: there are a few dozen.
 */
#include "daemon/tally/tally-cache.h"

#include <pthread.h>

#include "daemon/tally/tally-texts.h"

static struct {
    pthread_mutex_t mutex;
    GQueue columns; /* of QdTallyColumn */
    guint64 n_bytes;
    guint n_users;
} cache = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static guint64 live_bytes; /* atomic: of all columns, cached or in use */

static pthread_mutex_t *
lock(void)
{
    pthread_mutex_lock(&cache.mutex);
    return &cache.mutex;
}

static void
unlock(pthread_mutex_t **mutex)
{
    pthread_mutex_unlock(*mutex);
}
#define g_auto_lock __attribute__((cleanup(unlock), unused)) pthread_mutex_t *

static guint64
get_n_bytes(const QdTallyColumn *column)
{
    return column->n_bytes + (column->texts != NULL ? qd_tally_texts_get_n_bytes(column->texts) : 0);
}

static void
drop_last(void)
{
    QdTallyColumn *column = g_queue_pop_tail(&cache.columns);

    cache.n_bytes -= get_n_bytes(column);
    (void) qd_tally_column_unref(column);
}

/* FALSE: there was none. */
static gboolean
drop_one(void)
{
    g_auto_lock locked = lock();

    if (g_queue_is_empty(&cache.columns))
        return FALSE;
    drop_last();
    return TRUE;
}

gboolean
qd_tally_cache_charge(guint64 n_bytes, guint64 n_bytes_max)
{
    guint64 n = __atomic_add_fetch(&live_bytes, n_bytes, __ATOMIC_RELAXED);

    while (n > n_bytes_max && drop_one())
        n = __atomic_load_n(&live_bytes, __ATOMIC_RELAXED);
    if (n <= n_bytes_max)
        return TRUE;
    qd_tally_cache_discharge(n_bytes);
    return FALSE;
}

void
qd_tally_cache_discharge(guint64 n_bytes)
{
    (void) __atomic_sub_fetch(&live_bytes, n_bytes, __ATOMIC_RELAXED);
}

static GList *
find(gint64 stamp, QdTallyOrder order)
{
    for (GList *link = cache.columns.head; link != NULL; link = link->next) {
        const QdTallyColumn *column = link->data;

        if (column->stamp == stamp && column->order == order)
            return link;
    }
    return NULL;
}

void
qd_tally_cache_add_user(void)
{
    g_auto_lock locked = lock();

    cache.n_users++;
}

gboolean
qd_tally_cache_remove_user(void)
{
    g_auto_lock locked = lock();

    cache.n_users--;
    while (cache.n_users == 0 && !g_queue_is_empty(&cache.columns))
        drop_last();
    return cache.n_users == 0;
}

gboolean
qd_tally_cache_is_empty(void)
{
    g_auto_lock locked = lock();

    return g_queue_is_empty(&cache.columns);
}

gboolean
qd_tally_cache_has(gint64 stamp)
{
    g_auto_lock locked = lock();

    for (guint order = 0; order < QD_TALLY_N_ORDERS; order++) {
        if (find(stamp, (QdTallyOrder) order) != NULL)
            return TRUE;
    }
    return FALSE;
}

QdTallyColumn *
qd_tally_cache_find(gint64 stamp, QdTallyOrder order)
{
    g_auto_lock locked = lock();
    GList *link = stamp != 0 ? find(stamp, order) : NULL;

    if (link == NULL)
        return NULL;
    g_queue_unlink(&cache.columns, link);
    g_queue_push_head_link(&cache.columns, link);
    return qd_tally_column_ref(link->data);
}

void
qd_tally_cache_add(QdTallyColumn *column, guint64 n_bytes_max)
{
    g_auto_lock locked = lock();

    if (column->stamp == 0 || get_n_bytes(column) > n_bytes_max || find(column->stamp, column->order) != NULL)
        return;
    while (cache.n_bytes + get_n_bytes(column) > n_bytes_max)
        drop_last();
    g_queue_push_head(&cache.columns, qd_tally_column_ref(column));
    cache.n_bytes += get_n_bytes(column);
}

void
qd_tally_cache_add_texts(QdTallyColumn *column, QdTallyTexts *texts, guint64 n_bytes_max)
{
    g_auto_lock locked = lock();
    const guint64 n_bytes = qd_tally_texts_get_n_bytes(texts);

    if (g_queue_find(&cache.columns, column) == NULL || column->texts != NULL || get_n_bytes(column) + n_bytes > n_bytes_max) {
        (void) qd_tally_texts_free(texts);
        return;
    }
    g_queue_remove(&cache.columns, column);
    while (cache.n_bytes + n_bytes > n_bytes_max)
        drop_last();
    g_queue_push_head(&cache.columns, column);
    cache.n_bytes += n_bytes;
    g_atomic_pointer_set(&column->texts, texts);
}
