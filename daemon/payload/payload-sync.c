/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The first sync of a group tells what the disk is like: it waits for the journal, which knows of all files by then. The others
 * only need a flush each. A fast disk has done those before threads are there; a slow one would make them a long queue.
 */
#include "daemon/payload/payload-sync.h"

#include <pthread.h>

#include "daemon/base/thread.h"

/* A first sync that takes longer makes threads worth while (docs/decisions/payload-speed.md). */
#define SLOW_USEC 400
#define THREADS_MAX 15u

typedef struct Work {
    QdPayloadDraft *const *drafts;
    guint n_drafts;
    guint n_taken; /* atomic */
    pthread_mutex_t mutex;
    GError *error; /* the first one; guarded by the mutex */
} Work;

static void *
sync_main(void *data)
{
    Work *self = data;
    guint index;

    while ((index = __atomic_fetch_add(&self->n_taken, 1, __ATOMIC_RELAXED)) < self->n_drafts) {
        g_autoptr(GError) error = NULL;

        if (qd_payload_draft_sync(self->drafts[index], &error))
            continue;
        pthread_mutex_lock(&self->mutex);
        if (self->error == NULL)
            self->error = g_steal_pointer(&error);
        pthread_mutex_unlock(&self->mutex);
    }
    return NULL;
}

/* This thread works, too: without any other it does all. */
static void
sync_in_threads(Work *self, guint n_threads)
{
    pthread_t threads[THREADS_MAX];
    guint n_started = 0;

    while (n_started < n_threads && qd_thread_create(&threads[n_started], sync_main, self) == 0)
        n_started++;
    (void) sync_main(self);
    for (guint i = 0; i < n_started; i++)
        (void) pthread_join(threads[i], NULL);
}

gboolean
qd_payload_drafts_sync(QdPayloadDraft *const *drafts, guint n_drafts, GError **error)
{
    Work work = { .drafts = drafts, .n_drafts = n_drafts, .n_taken = 1 };
    gint64 start_usec = g_get_monotonic_time();
    gboolean slow;

    if (n_drafts == 0)
        return TRUE;
    if (!qd_payload_draft_sync(drafts[0], error))
        return FALSE;

    slow = g_get_monotonic_time() - start_usec > SLOW_USEC;
    pthread_mutex_init(&work.mutex, NULL);
    sync_in_threads(&work, slow && n_drafts > 2 ? MIN(n_drafts - 2, THREADS_MAX) : 0);
    pthread_mutex_destroy(&work.mutex);
    if (work.error != NULL)
        g_propagate_error(error, work.error);
    return work.error == NULL;
}
