/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A mutex held to the end of a block.
 *
 * Place: internal to libquery-client. pthread's and not GLib's: ThreadSanitizer gives false alarms on GMutex.
 */
#pragma once

#include <glib.h>
#include <pthread.h>

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
