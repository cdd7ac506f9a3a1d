/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two lists under a mutex: those that hold a seat, and those that wait for one, first come first.
 */
#include "daemon/sqlite/guard/compile-seat.h"

#include <errno.h>
#include <time.h>

#include "daemon/base/thread.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static GQueue holders = G_QUEUE_INIT;
static GQueue waiters = G_QUEUE_INIT;

/* Under the mutex. */
static guint
count_held(const void *owner)
{
    guint n = 0;

    for (const GList *each = holders.head; each != NULL; each = each->next)
        n += ((const QdCompileSeat *) each->data)->owner == owner ? 1 : 0;
    return n;
}

/* Under the mutex. An owner without a seat finds one beside others that hold theirs for long. */
static gboolean
is_free_for(const QdCompileSeat *self)
{
    guint n_cores = g_get_num_processors();

    return holders.length < n_cores || (holders.length < 2 * n_cores && count_held(self->owner) == 0);
}

/* Under the mutex. (nullable): the one that has waited longest of those whose owners hold the fewest. */
static QdCompileSeat *
find_next(void)
{
    QdCompileSeat *found = NULL;

    for (const GList *each = waiters.head; each != NULL; each = each->next) {
        QdCompileSeat *seat = each->data;

        if (found == NULL || count_held(seat->owner) < count_held(found->owner))
            found = seat;
    }
    return found;
}

/* Under the mutex. */
static void
grant(void)
{
    QdCompileSeat *next;

    while ((next = find_next()) != NULL && is_free_for(next)) {
        g_queue_unlink(&waiters, &next->link);
        g_queue_push_tail_link(&holders, &next->link);
        next->is_taken = TRUE;
        pthread_cond_signal(&next->granted);
    }
}

/* Under the mutex. FALSE: it is too late. */
static gboolean
wait(QdCompileSeat *self)
{
    const struct timespec end = { .tv_sec = (time_t) (self->end_usec / G_USEC_PER_SEC),
                                  .tv_nsec = (long) (self->end_usec % G_USEC_PER_SEC) * 1000 };

    if (self->end_usec == UINT64_MAX)
        return pthread_cond_wait(&self->granted, &mutex) == 0;
    return pthread_cond_timedwait(&self->granted, &mutex, &end) != ETIMEDOUT;
}

void
qd_compile_seat_take(QdCompileSeat *self, const void *owner, uint64_t end_usec)
{
    *self = (QdCompileSeat){ .owner = owner, .end_usec = end_usec, .link = { .data = self } };
    if (owner == NULL)
        return;

    qd_cond_init(&self->granted);
    pthread_mutex_lock(&mutex);
    g_queue_push_tail_link(&waiters, &self->link);
    grant();
    while (!self->is_taken && wait(self))
        ;
    if (!self->is_taken)
        g_queue_unlink(&waiters, &self->link);
    pthread_mutex_unlock(&mutex);
    pthread_cond_destroy(&self->granted);
}

void
qd_compile_seat_give(QdCompileSeat *self)
{
    if (!self->is_taken)
        return;

    pthread_mutex_lock(&mutex);
    g_queue_unlink(&holders, &self->link);
    grant();
    pthread_mutex_unlock(&mutex);
}
