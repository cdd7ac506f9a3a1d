/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads run what they are given, with memory of their own, and a condition's time-out is of the monotonic clock.
 */
#include "daemon/base/thread.h"

#include <errno.h>
#include <glib.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

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

static void *
get_policy(void *data)
{
    return GINT_TO_POINTER(sched_getscheduler(0));
}

static void *
get_policy_of_worker(void *data)
{
    (void) qd_thread_get_self();
    return get_policy(data);
}

/* A batch job makes threads, by qd_thread_create() and without. */
static void *
make_threads(void *data)
{
    void *policies[2];
    pthread_t threads[2];

    qd_thread_set_batch(qd_thread_get_self(), TRUE);
    g_assert_cmpint(sched_getscheduler(0), ==, SCHED_BATCH);
    g_assert_cmpint(qd_thread_create(&threads[0], get_policy, NULL), ==, 0);
    g_assert_cmpint(pthread_create(&threads[1], NULL, get_policy_of_worker, NULL), ==, 0);
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++) {
        g_assert_cmpint(pthread_join(threads[i], &policies[i]), ==, 0);
        g_assert_cmpint(GPOINTER_TO_INT(policies[i]), ==, SCHED_OTHER);
    }
    return NULL;
}

static void *
become_batch_and_nice(void *data)
{
    QdThread *self = qd_thread_get_self();

    g_assert_cmpint(setpriority(PRIO_PROCESS, (id_t) self->tid, 5), ==, 0);
    for (guint i = 0; i < 2; i++) {
        qd_thread_set_batch(self, i == 0);
        g_assert_cmpint(sched_getscheduler(0), ==, i == 0 ? SCHED_BATCH : SCHED_OTHER);
        g_assert_cmpint(getpriority(PRIO_PROCESS, (id_t) self->tid), ==, 5);
    }
    return NULL;
}

/* An unprivileged process may not take it back. */
static void
test_batch_keeps_nice(void)
{
    pthread_t thread;

    g_assert_cmpint(qd_thread_create(&thread, become_batch_and_nice, NULL), ==, 0);
    g_assert_cmpint(pthread_join(thread, NULL), ==, 0);
}

static void
test_batch_makes_none(void)
{
    pthread_t maker;

    g_assert_cmpint(qd_thread_create(&maker, make_threads, NULL), ==, 0);
    g_assert_cmpint(pthread_join(maker, NULL), ==, 0);
}

static uint64_t
read_mapped_bytes(void)
{
    g_autofree char *text = NULL;

    g_assert_true(g_file_get_contents("/proc/self/statm", &text, NULL, NULL));
    return g_ascii_strtoull(text, NULL, 10) * (uint64_t) sysconf(_SC_PAGESIZE);
}

/* With its guard. */
static size_t
get_stack_bytes(void)
{
    size_t stack_bytes = 0, guard_bytes = 0;
    pthread_attr_t attributes;

    g_assert_cmpint(pthread_getattr_default_np(&attributes), ==, 0);
    pthread_attr_getstacksize(&attributes, &stack_bytes);
    pthread_attr_getguardsize(&attributes, &guard_bytes);
    pthread_attr_destroy(&attributes);
    return stack_bytes + guard_bytes;
}

/* There is room for a stack and none for a heap of this thread: the maker hears of it, and @func does not run. */
static void
test_no_memory(void)
{
    struct rlimit limit, all;
    Shared shared;

    if (!g_test_subprocess()) {
        if (g_getenv("QUERYD_SANITIZER") != NULL) {
            g_test_skip("a sanitizer maps more than the process may");
            return;
        }
        g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
        g_test_trap_assert_passed();
        return;
    }
    shared_init(&shared);
    g_assert_cmpint(getrlimit(RLIMIT_AS, &all), ==, 0);
    limit = all;
    limit.rlim_cur = read_mapped_bytes() + get_stack_bytes();
    g_assert_cmpint(setrlimit(RLIMIT_AS, &limit), ==, 0);
    g_assert_cmpint(qd_thread_start(count_main, &shared), ==, ENOMEM);
    g_assert_cmpint(setrlimit(RLIMIT_AS, &all), ==, 0);
    g_assert_cmpuint(shared.n, ==, 0);
    pthread_mutex_lock(&shared.mutex);
    g_assert_cmpint(qd_thread_start(count_main, &shared), ==, 0);
    while (shared.n == 0)
        pthread_cond_wait(&shared.cond, &shared.mutex);
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
    g_test_add_func("/base/thread/batch-keeps-nice", test_batch_keeps_nice);
    g_test_add_func("/base/thread/batch-makes-none", test_batch_makes_none);
    g_test_add_func("/base/thread/no-memory", test_no_memory);
    return g_test_run();
}
