/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A mutex, which is held for some instructions, and one condition for all.
 */
#include "daemon/read/ranges/range-ring.h"

#include <pthread.h>
#include <sqlite3.h>

#include "daemon/base/thread.h"

struct QdRangeRing {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    QdRange ranges[QD_RANGE_RING_N];
    guint64 n_popped;
    guint64 n_added;
    guint64 n_changes;
    guint n_asked; /* that have not ended */
    gboolean stops_asking;
    gint ended; /* atomic, written under the mutex */
    guint n_helpers;
};

QdRangeRing *
qd_range_ring_new(void)
{
    QdRangeRing *self = g_new0(QdRangeRing, 1);

    pthread_mutex_init(&self->mutex, NULL);
    qd_cond_init(&self->cond);
    for (guint i = 0; i < QD_RANGE_RING_N; i++) {
        self->ranges[i].rows = sqlite3_malloc64(QD_RANGE_BYTES);
        if (self->ranges[i].rows == NULL)
            return qd_range_ring_free(self);
    }
    return self;
}

QdRangeRing *
qd_range_ring_free(QdRangeRing *self)
{
    for (guint i = 0; i < QD_RANGE_RING_N; i++)
        sqlite3_free(self->ranges[i].rows);
    pthread_cond_destroy(&self->cond);
    pthread_mutex_destroy(&self->mutex);
    g_free(self);
    return NULL;
}

/* Under the mutex. */
static void
note_change(QdRangeRing *self)
{
    self->n_changes++;
    pthread_cond_broadcast(&self->cond);
}

gboolean
qd_range_ring_has_room(QdRangeRing *self)
{
    gboolean has_room;

    pthread_mutex_lock(&self->mutex);
    has_room = self->n_added - self->n_popped < QD_RANGE_RING_N &&
               self->ranges[self->n_added % QD_RANGE_RING_N].state == QD_RANGE_NONE;
    pthread_mutex_unlock(&self->mutex);
    return has_room;
}

void
qd_range_ring_add(QdRangeRing *self, gint64 first, gint64 last)
{
    QdRange *range = &self->ranges[self->n_added % QD_RANGE_RING_N];

    pthread_mutex_lock(&self->mutex);
    range->first = first;
    range->last = last;
    range->state = QD_RANGE_FREE;
    range->is_for_runner = FALSE;
    range->n_bytes = 0;
    self->n_added++;
    note_change(self);
    pthread_mutex_unlock(&self->mutex);
}

QdRange *
qd_range_ring_get_first(QdRangeRing *self, gboolean *ret_is_busy)
{
    QdRange *range = &self->ranges[self->n_popped % QD_RANGE_RING_N];

    *ret_is_busy = FALSE;
    if (self->n_popped == self->n_added)
        return NULL;
    pthread_mutex_lock(&self->mutex);
    *ret_is_busy = range->state == QD_RANGE_TAKEN;
    if (range->state == QD_RANGE_FREE)
        range->state = QD_RANGE_TAKEN;
    pthread_mutex_unlock(&self->mutex);
    return *ret_is_busy ? NULL : range;
}

QdRange *
qd_range_ring_drop_first(QdRangeRing *self)
{
    QdRange *range = &self->ranges[self->n_popped % QD_RANGE_RING_N];

    pthread_mutex_lock(&self->mutex);
    if (range->state != QD_RANGE_TAKEN)
        range = NULL;
    else
        range->is_dropped = TRUE;
    pthread_mutex_unlock(&self->mutex);
    return range;
}

void
qd_range_ring_pop(QdRangeRing *self)
{
    QdRange *range = &self->ranges[self->n_popped % QD_RANGE_RING_N];

    pthread_mutex_lock(&self->mutex);
    if (!range->is_dropped) /* else its place is free when the other thread gives it */
        range->state = QD_RANGE_NONE;
    self->n_popped++;
    pthread_mutex_unlock(&self->mutex);
}

gboolean
qd_range_ring_wait(QdRangeRing *self, guint64 usec)
{
    gboolean has_changed;
    guint64 end_usec = (guint64) g_get_monotonic_time() + usec;
    const struct timespec until = { .tv_sec = (time_t) (end_usec / G_USEC_PER_SEC),
                                    .tv_nsec = (long) (end_usec % G_USEC_PER_SEC) * 1000 };
    guint64 n_changes;

    pthread_mutex_lock(&self->mutex);
    n_changes = self->n_changes;
    while (n_changes == self->n_changes && !g_atomic_int_get(&self->ended) &&
           pthread_cond_timedwait(&self->cond, &self->mutex, &until) == 0)
        ;
    has_changed = n_changes != self->n_changes;
    pthread_mutex_unlock(&self->mutex);
    return has_changed;
}

gboolean
qd_range_ring_ask(QdRangeRing *self)
{
    gboolean asks;

    pthread_mutex_lock(&self->mutex);
    asks = !self->stops_asking && self->n_asked < QD_RANGE_MAX_HELPERS;
    self->n_asked += asks ? 1 : 0;
    pthread_mutex_unlock(&self->mutex);
    return asks;
}

void
qd_range_ring_stop_asking(QdRangeRing *self)
{
    pthread_mutex_lock(&self->mutex);
    self->stops_asking = TRUE;
    pthread_mutex_unlock(&self->mutex);
}

void
qd_range_ring_end(QdRangeRing *self)
{
    pthread_mutex_lock(&self->mutex);
    g_atomic_int_set(&self->ended, TRUE);
    note_change(self);
    while (self->n_helpers > 0)
        pthread_cond_wait(&self->cond, &self->mutex);
    pthread_mutex_unlock(&self->mutex);
}

QdRange *
qd_range_ring_take(QdRangeRing *self)
{
    QdRange *found = NULL;

    pthread_mutex_lock(&self->mutex);
    for (guint64 i = self->n_popped; i < self->n_added && found == NULL && !g_atomic_int_get(&self->ended); i++) {
        QdRange *range = &self->ranges[i % QD_RANGE_RING_N];

        if (range->state == QD_RANGE_FREE && !range->is_for_runner)
            found = range;
    }
    if (found != NULL)
        found->state = QD_RANGE_TAKEN;
    pthread_mutex_unlock(&self->mutex);
    return found;
}

void
qd_range_ring_give(QdRangeRing *self, QdRange *range, QdRangeState state, gboolean is_for_runner)
{
    pthread_mutex_lock(&self->mutex);
    range->state = range->is_dropped ? QD_RANGE_NONE : state;
    range->is_for_runner = is_for_runner;
    range->is_dropped = FALSE;
    note_change(self);
    pthread_mutex_unlock(&self->mutex);
}

gboolean
qd_range_ring_join(QdRangeRing *self)
{
    gboolean joins;

    pthread_mutex_lock(&self->mutex);
    joins = !g_atomic_int_get(&self->ended);
    self->n_helpers += joins ? 1 : 0;
    pthread_mutex_unlock(&self->mutex);
    return joins;
}

void
qd_range_ring_leave(QdRangeRing *self)
{
    pthread_mutex_lock(&self->mutex);
    self->n_helpers--;
    note_change(self);
    pthread_mutex_unlock(&self->mutex);
}

void
qd_range_ring_forget(QdRangeRing *self)
{
    pthread_mutex_lock(&self->mutex);
    self->n_asked--;
    pthread_mutex_unlock(&self->mutex);
}

gboolean
qd_range_ring_has_ended(const QdRangeRing *self)
{
    return g_atomic_int_get(&self->ended) != 0;
}
