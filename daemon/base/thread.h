/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads that are never joined, and conditions that wait by the monotonic clock.
 *
 * Place: room base.
 */
#pragma once

#include <pthread.h>

/* qd_thread_start: a detached thread; @func's result is dropped. Returns: 0, or errno's number when the system gives none */
int qd_thread_start(void *(*func)(void *data), void *data);

/* qd_cond_init: pthread_cond_timedwait() on it takes times of CLOCK_MONOTONIC. Ends with pthread_cond_destroy(). */
void qd_cond_init(pthread_cond_t *cond);
