/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Three numbers under one mutex: they belong together.
 */
#include "daemon/read/session-counts.h"

#include <pthread.h>

struct QdSession {
    pthread_mutex_t mutex;
    QdCounts counts;
};

QdSession *
qd_session_new(void)
{
    QdSession *self = g_new0(QdSession, 1);

    pthread_mutex_init(&self->mutex, NULL);
    return self;
}

QdSession *
qd_session_free(QdSession *self)
{
    if (self == NULL)
        return NULL;

    pthread_mutex_destroy(&self->mutex);
    g_free(self);
    return NULL;
}

QdCounts
qd_session_get_counts(QdSession *self)
{
    QdCounts counts;

    pthread_mutex_lock(&self->mutex);
    counts = self->counts;
    pthread_mutex_unlock(&self->mutex);
    return counts;
}

void
qd_session_set_counts(QdSession *self, const QdCounts *counts)
{
    pthread_mutex_lock(&self->mutex);
    self->counts = *counts;
    pthread_mutex_unlock(&self->mutex);
}
