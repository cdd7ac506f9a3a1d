/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A mutex held to the end of a block, and a condition whose waits end by the monotonic clock.
 *
 * Place: internal to libquery-client. pthread's and not GLib's: ThreadSanitizer gives false alarms on GMutex and GCond.
 */
#pragma once

#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <time.h>

typedef pthread_mutex_t *QueryMutexHold;

static inline QueryMutexHold
query_mutex_hold(pthread_mutex_t *mutex)
{
    (void) pthread_mutex_lock(mutex);
    return mutex;
}

static inline void
query_mutex_release(QueryMutexHold *hold)
{
    (void) pthread_mutex_unlock(*hold);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(QueryMutexHold, query_mutex_release)

static inline void
query_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;

    (void) pthread_condattr_init(&attributes);
    (void) pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void) pthread_cond_init(cond, &attributes);
    (void) pthread_condattr_destroy(&attributes);
}

/* query_cond_wait_until: @until_usec: monotonic. Returns: false when it is over */
static inline gboolean
query_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, gint64 until_usec)
{
    const struct timespec until = { .tv_sec = (time_t) (until_usec / G_USEC_PER_SEC),
                                    .tv_nsec = (long) (until_usec % G_USEC_PER_SEC) * 1000 };

    return pthread_cond_timedwait(cond, mutex, &until) != ETIMEDOUT;
}
