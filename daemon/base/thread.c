/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Detached from birth: a thread may be over before its maker could detach it.
 */
#include "daemon/base/thread.h"

#include <time.h>

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
