/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A list, the column used last in front: there are a few dozen.
 */
#include "daemon/tally/tally-cache.h"

static struct {
    GMutex lock;
    GQueue columns; /* of QdTallyColumn */
    guint64 n_bytes;
    guint n_users;
} cache;

static void
drop_last(void)
{
    QdTallyColumn *column = g_queue_pop_tail(&cache.columns);

    cache.n_bytes -= column->n_bytes;
    (void) qd_tally_column_unref(column);
}

void
qd_tally_cache_add_user(void)
{
    g_autoptr(GMutexLocker) locker = g_mutex_locker_new(&cache.lock);

    cache.n_users++;
}

void
qd_tally_cache_remove_user(void)
{
    g_autoptr(GMutexLocker) locker = g_mutex_locker_new(&cache.lock);

    cache.n_users--;
    while (cache.n_users == 0 && !g_queue_is_empty(&cache.columns))
        drop_last();
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

QdTallyColumn *
qd_tally_cache_find(gint64 stamp, QdTallyOrder order)
{
    g_autoptr(GMutexLocker) locker = g_mutex_locker_new(&cache.lock);
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
    g_autoptr(GMutexLocker) locker = g_mutex_locker_new(&cache.lock);

    if (column->stamp == 0 || column->n_bytes > n_bytes_max || find(column->stamp, column->order) != NULL)
        return;
    while (cache.n_bytes + column->n_bytes > n_bytes_max)
        drop_last();
    g_queue_push_head(&cache.columns, qd_tally_column_ref(column));
    cache.n_bytes += column->n_bytes;
}
