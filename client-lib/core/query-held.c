/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A list of cursors, the one longest unread first.
 *
 * Pins are taken without a lock, since a look-up of one row takes four; a claim is made and ended under the list's mutex.
 */
#include "client-lib/core/query-held.h"

#include <time.h>

#include "client-lib/core/query-mutex.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static GQueue held = G_QUEUE_INIT; /* of QueryHeld, by their links */
static pthread_cond_t unclaimed = PTHREAD_COND_INITIALIZER;
static QueryHeld *youngest; /* atomic: at the tail of the list, if it has not left it since */
static guint64 last_round;
static guint n_waiting; /* atomic */

void
query_held_init(QueryHeld *self, gpointer owner, QueryHeldFunc set_aside)
{
    *self = (QueryHeld){ .owner = owner, .set_aside = set_aside };
}

static void
wait_for_claim(QueryHeld *self)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&mutex);

    while (__atomic_load_n(&self->n_pins, __ATOMIC_RELAXED) < 0)
        (void) pthread_cond_wait(&unclaimed, &mutex);
}

void
query_held_pin(QueryHeld *self)
{
    gint n = __atomic_load_n(&self->n_pins, __ATOMIC_RELAXED);

    while (n < 0 || !__atomic_compare_exchange_n(&self->n_pins, &n, n + 1, TRUE, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        if (n < 0)
            wait_for_claim(self);
        n = __atomic_load_n(&self->n_pins, __ATOMIC_RELAXED);
    }
}

void
query_held_unpin(QueryHeld *self)
{
    (void) __atomic_fetch_sub(&self->n_pins, 1, __ATOMIC_RELEASE);
}

/* @self may be freed as soon as it is not claimed any more. */
static void
end_claim(QueryHeld *self)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&mutex);

    __atomic_store_n(&self->n_pins, 0, __ATOMIC_RELEASE);
    (void) pthread_cond_broadcast(&unclaimed);
}

void
query_held_add(QueryHeld *self)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&mutex);

    self->link.data = self;
    g_queue_push_tail_link(&held, &self->link);
    __atomic_store_n(&youngest, self, __ATOMIC_RELAXED);
    if (n_waiting > 0)
        (void) pthread_cond_signal(&changed);
}

void
query_held_remove(QueryHeld *self)
{
    if (self->link.data == NULL)
        return;

    (void) pthread_mutex_lock(&mutex);
    g_queue_unlink(&held, &self->link);
    self->link.data = NULL;
    if (n_waiting > 0)
        (void) pthread_cond_signal(&changed);
    (void) pthread_mutex_unlock(&mutex);
}

void
query_held_touch(QueryHeld *self)
{
    if (self->link.data == NULL || __atomic_load_n(&youngest, __ATOMIC_RELAXED) == self)
        return;

    (void) pthread_mutex_lock(&mutex);
    g_queue_unlink(&held, &self->link);
    g_queue_push_tail_link(&held, &self->link);
    __atomic_store_n(&youngest, self, __ATOMIC_RELAXED);
    (void) pthread_mutex_unlock(&mutex);
}

guint
query_held_get_n(void)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&mutex);

    return held.length;
}

/* The next one that was not tried in @round, claimed; NULL: there is none. */
static QueryHeld *
pick(guint64 round)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&mutex);

    for (GList *link = held.head; link != NULL; link = link->next) {
        QueryHeld *self = link->data;
        gint none = 0;

        if (self->round == round)
            continue;
        self->round = round;
        if (__atomic_compare_exchange_n(&self->n_pins, &none, -1, FALSE, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
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
        QueryHeld *self = pick(round);

        if (self == NULL)
            break;
        any = self->set_aside(self->owner, deadline_usec) || any;
        end_claim(self);
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
