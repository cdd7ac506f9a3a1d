/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A thread has memory of its own before its maker goes on. glibc gives each thread a heap of its own at its first allocation.
 * Where the system refuses that heap, each allocation of this thread fails, and GLib ends the process. So the new thread asks
 * for it first, and its maker gets the error.
 */
#include "daemon/base/thread.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BATCH_SLICE_NSEC 10000000u
#define FIRST_BYTES 64

/* In the frame of the maker, which waits for @is_born. */
typedef struct Birth {
    void *(*func)(void *data);
    void *data;
    sem_t is_born;
    int error;
} Birth;

static int
take_memory(void)
{
    void *volatile first = malloc(FIRST_BYTES); /* volatile: compilers may drop a pair of malloc() and free() */

    if (first == NULL)
        return ENOMEM;
    free(first);
    g_slice_free1(FIRST_BYTES, g_slice_alloc(FIRST_BYTES)); /* GLib's own of this thread */
    return 0;
}

void
qd_thread_need_memory(void)
{
    static const char MESSAGE[] = "queryd: the system has no memory for a thread\n";
    static _Thread_local gboolean has_memory;

    if (has_memory)
        return;
    if (take_memory() != 0) {
        ssize_t n = write(STDERR_FILENO, MESSAGE, sizeof MESSAGE - 1);

        (void) n;
        abort();
    }
    has_memory = TRUE;
}

static void *
thread_main(void *data)
{
    Birth *birth = data;
    const Birth kept = { .func = birth->func, .data = birth->data, .error = take_memory() };

    birth->error = kept.error;
    (void) qd_thread_get_self(); /* it is no batch job, also where its maker is one */
    sem_post(&birth->is_born);
    return kept.error == 0 ? kept.func(kept.data) : NULL;
}

int
qd_thread_create(pthread_t *ret_thread, void *(*func)(void *data), void *data)
{
    Birth birth = { .func = func, .data = data };
    int r;

    sem_init(&birth.is_born, 0, 0);
    r = pthread_create(ret_thread, NULL, thread_main, &birth);
    if (r == 0) {
        while (sem_wait(&birth.is_born) < 0) /* a signal */
            ;
        r = birth.error;
        if (r != 0)
            (void) pthread_join(*ret_thread, NULL);
    }
    sem_destroy(&birth.is_born);
    return r;
}

int
qd_thread_start(void *(*func)(void *data), void *data)
{
    pthread_t thread;
    int r = qd_thread_create(&thread, func, data);

    if (r == 0)
        (void) pthread_detach(thread);
    return r;
}

void
qd_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    (void) pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* sched_setattr(2); glibc has neither the function nor the type, and the kernel's header does not go with <sched.h>. */
typedef struct SchedAttr {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_nsec;
    uint64_t deadline_nsec;
    uint64_t period_nsec;
} SchedAttr;

QdThread *
qd_thread_get_self(void)
{
    static _Thread_local QdThread self;

    if (self.tid == 0) {
        self = (QdThread){ .tid = (pid_t) syscall(SYS_gettid), .is_batch = sched_getscheduler(0) == SCHED_BATCH };
        (void) pthread_getcpuclockid(pthread_self(), &self.cpu_clock);
        qd_thread_set_batch(&self, FALSE); /* a thread begins as its maker is */
    }
    return &self;
}

void
qd_thread_set_batch(QdThread *self, gboolean batch)
{
    SchedAttr attr = {
        .size = sizeof attr,
        .policy = batch ? SCHED_BATCH : SCHED_OTHER,
        .runtime_nsec = batch ? BATCH_SLICE_NSEC : 0,
    };

    if (g_atomic_int_get(&self->is_batch) == batch)
        return;
    g_atomic_int_set(&self->is_batch, batch);
    attr.nice = getpriority(PRIO_PROCESS, (id_t) self->tid); /* as it was: a unit may have Nice= */
    (void) syscall(SYS_sched_setattr, self->tid, &attr, 0);
}

uint64_t
qd_thread_get_cpu_usec(const QdThread *self)
{
    struct timespec used;

    if (clock_gettime(self->cpu_clock, &used) < 0)
        return 0;
    return (uint64_t) used.tv_sec * G_USEC_PER_SEC + (uint64_t) used.tv_nsec / 1000;
}

uint64_t
qd_thread_count_preemptions(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t) usage.ru_nivcsw : 0;
}

uint64_t
qd_thread_get_coarse_usec(void)
{
    struct timespec now = { 0 };

    (void) clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t) now.tv_sec * G_USEC_PER_SEC + (uint64_t) now.tv_nsec / 1000;
}
