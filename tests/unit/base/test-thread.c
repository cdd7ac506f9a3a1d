/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Detached threads run what they are given, and a condition's time-out is of the monotonic clock.
 */
#include "daemon/base/thread.h"

#include <errno.h>
#include <glib.h>
#include <sched.h>
#include <time.h>

typedef struct Shared {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    guint n;
    QdThread *thread;
} Shared;

static void *
count_main(void *data)
{
    Shared *self = data;

    pthread_mutex_lock(&self->mutex);
    self->n++;
    pthread_cond_signal(&self->cond);
    pthread_mutex_unlock(&self->mutex);
    return NULL;
}

static void
shared_init(Shared *self)
{
    *self = (Shared){ 0 };
    pthread_mutex_init(&self->mutex, NULL);
    qd_cond_init(&self->cond);
}

static void
shared_clear(Shared *self)
{
    pthread_cond_destroy(&self->cond);
    pthread_mutex_destroy(&self->mutex);
}

static void
test_start(void)
{
    Shared shared;

    shared_init(&shared);
    for (guint i = 0; i < 20; i++)
        g_assert_cmpint(qd_thread_start(count_main, &shared), ==, 0);
    pthread_mutex_lock(&shared.mutex);
    while (shared.n < 20)
        pthread_cond_wait(&shared.cond, &shared.mutex);
    pthread_mutex_unlock(&shared.mutex);
    shared_clear(&shared);
}

/* By the other clock, which counts from 1970, this time is long over. */
static void
test_clock(void)
{
    struct timespec until;
    Shared shared;
    int r = 0;

    shared_init(&shared);
    (void) clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 100;
    pthread_mutex_lock(&shared.mutex);
    g_assert_cmpint(qd_thread_start(count_main, &shared), ==, 0);
    while (shared.n == 0 && r == 0)
        r = pthread_cond_timedwait(&shared.cond, &shared.mutex, &until);
    g_assert_cmpint(r, ==, 0);
    until.tv_sec -= 200;
    g_assert_cmpint(pthread_cond_timedwait(&shared.cond, &shared.mutex, &until), ==, ETIMEDOUT);
    pthread_mutex_unlock(&shared.mutex);
    shared_clear(&shared);
}

static void *
note_policy(void *data)
{
    Shared *self = data;

    pthread_mutex_lock(&self->mutex);
    qd_thread_set_batch(qd_thread_get_self(), TRUE);
    self->n = sched_getscheduler(0) == SCHED_BATCH ? 1 : 2;
    self->thread = qd_thread_get_self();
    pthread_cond_signal(&self->cond);
    while (self->thread != NULL)
        pthread_cond_wait(&self->cond, &self->mutex);
    self->n += sched_getscheduler(0) == SCHED_OTHER ? 10 : 20;
    pthread_cond_signal(&self->cond);
    pthread_mutex_unlock(&self->mutex);
    return NULL;
}

/* A thread makes itself a batch job, and another one makes it urgent again. */
static void
test_batch(void)
{
    Shared shared;

    shared_init(&shared);
    pthread_mutex_lock(&shared.mutex);
    g_assert_cmpint(qd_thread_start(note_policy, &shared), ==, 0);
    while (shared.thread == NULL)
        pthread_cond_wait(&shared.cond, &shared.mutex);
    g_assert_cmpuint(shared.n, ==, 1);
    qd_thread_set_batch(g_steal_pointer(&shared.thread), FALSE);
    pthread_cond_signal(&shared.cond);
    while (shared.n == 1)
        pthread_cond_wait(&shared.cond, &shared.mutex);
    g_assert_cmpuint(shared.n, ==, 11);
    pthread_mutex_unlock(&shared.mutex);
    shared_clear(&shared);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/base/thread/start", test_start);
    g_test_add_func("/base/thread/clock", test_clock);
    g_test_add_func("/base/thread/batch", test_batch);
    return g_test_run();
}
