/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A list of cursors, the one longest unread first.
 *
 * Locks: a cursor's mutex may be held while the list's is taken; the other way round it is only tried.
 */
#include "client-lib/core/query-held.h"

#include <time.h>

#include "client-lib/core/query-mutex.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static GQueue held = G_QUEUE_INIT; /* of QueryHeld, by their links */
static guint64 last_round;
static guint n_waiting; /* atomic */

void
query_held_init(QueryHeld *self, gpointer owner, QueryHeldFunc set_aside)
{
    *self = (QueryHeld){ .owner = owner, .set_aside = set_aside };
    (void) pthread_mutex_init(&self->mutex, NULL);
}

void
query_held_clear(QueryHeld *self)
{
    (void) pthread_mutex_destroy(&self->mutex);
}

void
query_held_add(QueryHeld *self)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&mutex);

    self->link.data = self;
    g_queue_push_tail_link(&held, &self->link);
    if (n_waiting > 0)
        (void) pthread_cond_signal(&changed);
}

void
query_held_remove(QueryHeld *self)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&mutex);

    if (self->link.data == NULL)
        return;
    g_queue_unlink(&held, &self->link);
    self->link.data = NULL;
    if (n_waiting > 0)
        (void) pthread_cond_signal(&changed);
}

void
query_held_touch(QueryHeld *self)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&mutex);

    if (self->link.data == NULL || held.tail == &self->link)
        return;
    g_queue_unlink(&held, &self->link);
    g_queue_push_tail_link(&held, &self->link);
}

guint
query_held_get_n(void)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&mutex);

    return held.length;
}

/* The next one that was not tried in @round, with its own mutex held; NULL: there is none. */
static QueryHeld *
pick(guint64 round)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&mutex);

    for (GList *link = held.head; link != NULL; link = link->next) {
        QueryHeld *self = link->data;

        if (self->round == round)
            continue;
        self->round = round;
        if (pthread_mutex_trylock(&self->mutex) == 0) /* else another thread is at it */
            return self;
    }
    return NULL;
}

static guint64
begin_round(void)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&mutex);

    return ++last_round;
}

gboolean
query_held_reduce(guint n_max, guint budget_msec)
{
    gint64 deadline_usec = g_get_monotonic_time() + 1000 * (gint64) budget_msec;
    guint64 round = begin_round();
    gboolean any = FALSE;

    while (query_held_get_n() > n_max && g_get_monotonic_time() < deadline_usec) {
        QueryHeld *self = pick(round); /* may be freed as soon as its mutex is given back */

        if (self == NULL)
            break;
        any = self->set_aside(self->owner, deadline_usec) || any;
        (void) pthread_mutex_unlock(&self->mutex);
    }
    return any;
}

void
query_held_wait(guint timeout_msec)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&mutex);
    struct timespec until;

    (void) clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += timeout_msec / 1000;
    until.tv_nsec += (long) (timeout_msec % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    (void) __atomic_add_fetch(&n_waiting, 1, __ATOMIC_SEQ_CST);
    (void) pthread_cond_timedwait(&changed, &mutex, &until);
    (void) __atomic_sub_fetch(&n_waiting, 1, __ATOMIC_SEQ_CST);
}

void
query_held_notify(void)
{
    if (__atomic_load_n(&n_waiting, __ATOMIC_RELAXED) == 0)
        return;

    (void) pthread_mutex_lock(&mutex);
    (void) pthread_cond_signal(&changed);
    (void) pthread_mutex_unlock(&mutex);
}
