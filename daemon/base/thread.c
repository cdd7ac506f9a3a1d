/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Detached from birth: a thread may be over before its maker could detach it.
 */
#include "daemon/base/thread.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BATCH_SLICE_NSEC 10000000u

int
qd_thread_start(void *(*func)(void *data), void *data)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int r;

    pthread_attr_init(&attributes);
    (void) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    r = pthread_create(&thread, &attributes, func, data);
    pthread_attr_destroy(&attributes);
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
        self.tid = (pid_t) syscall(SYS_gettid);
        (void) pthread_getcpuclockid(pthread_self(), &self.cpu_clock);
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
