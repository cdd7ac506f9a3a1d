/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads with memory from birth, their urgency, and conditions that wait by the monotonic clock.
 *
 * Place: room base.
 */
#pragma once

#include <glib.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/*
 * qd_thread_create:
 *
 * A thread that runs @func, once it has memory of its own; ends with pthread_join().
 *
 * Returns: 0, or errno's number when the system gives no thread or no memory for one
 */
int qd_thread_create(pthread_t *ret_thread, void *(*func)(void *data), void *data);

/* qd_thread_start: like qd_thread_create(), but detached from its start; @func's result is dropped. */
int qd_thread_start(void *(*func)(void *data), void *data);

/* qd_cond_init: pthread_cond_timedwait() on it takes times of CLOCK_MONOTONIC. Ends with pthread_cond_destroy(). */
void qd_cond_init(pthread_cond_t *cond);

/*
 * qd_thread_need_memory:
 *
 * Takes memory for the calling thread, one of pthread_create() that may never have work. Where the system has none, this ends
 * the process at once. GLib's g_error() would fail to allocate its message and call itself, to the end of the stack.
 */
void qd_thread_need_memory(void);

/* A thread as others see it. */
typedef struct QdThread QdThread;
struct QdThread {
    pid_t tid;
    clockid_t cpu_clock;
    gint is_batch; /* atomic */
};

/* (transfer none): the calling thread, valid until it ends. */
QdThread *qd_thread_get_self(void);

/*
 * qd_thread_set_batch:
 *
 * A batch thread with a long slice. Since Linux 6.12 a thread that wakes up with a shorter slice (ours, and clients that wait
 * for us) takes the core at once. It does not wait for the end of the long slice. Older kernels ignore the slice. It is not
 * longer, since a thread that is to end waits for all other slices: with 100 ms that took up to 3 s. Costs a system call where
 * it changes something.
 *
 * Thread: any, while that of @self lives.
 */
void qd_thread_set_batch(QdThread *self, gboolean batch);

/* How often the calling thread has lost the core to another one that was ready. */
uint64_t qd_thread_count_preemptions(void);

/* CLOCK_MONOTONIC to a few milliseconds, for a tenth of the price. */
uint64_t qd_thread_get_coarse_usec(void);

/* The processor time that @self has used, in microseconds; 0: unknown. Thread: any, while that of @self lives. */
uint64_t qd_thread_get_cpu_usec(const QdThread *self);
