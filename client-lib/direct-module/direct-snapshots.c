/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A list with due times and a thread that waits for the first one.
 *
 * Invariant: the mutex is never held while a run's own mutex is waited for; a run that is busy is left to itself.
 */
#include "client-lib/direct-module/direct-snapshots.h"

#include "client-lib/core/query-mutex.h"

/* A run that was busy when it was due looks at its age within milliseconds; then it is gone from the list. */
#define BUSY_PAUSE_USEC 100000

typedef struct Entry {
    QueryDirectRun *run; /* borrowed: it removes itself before it goes */
    guint64 due_usec;    /* monotonic */
} Entry;

struct QueryDirectSnapshots {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    GArray *entries; /* of Entry, by the time they were added */
    GThread *thread; /* (nullable): may have ended */
    gboolean thread_runs;
    gboolean stopping;
};

QueryDirectSnapshots *
direct_snapshots_new(void)
{
    QueryDirectSnapshots *self = g_new0(QueryDirectSnapshots, 1);

    (void) pthread_mutex_init(&self->mutex, NULL);
    query_cond_init(&self->changed);
    self->entries = g_array_new(FALSE, FALSE, sizeof(Entry));
    return self;
}

void
direct_snapshots_free(QueryDirectSnapshots *self)
{
    if (self == NULL)
        return;

    (void) pthread_mutex_lock(&self->mutex);
    self->stopping = TRUE;
    (void) pthread_cond_signal(&self->changed);
    (void) pthread_mutex_unlock(&self->mutex);
    if (self->thread != NULL)
        g_thread_join(self->thread);

    g_array_unref(self->entries);
    (void) pthread_cond_destroy(&self->changed);
    (void) pthread_mutex_destroy(&self->mutex);
    g_free(self);
}

/* Under the mutex. Returns when to look again, 0 when nothing is left. */
static guint64
expire_due(QueryDirectSnapshots *self, guint64 now)
{
    guint64 next_usec = 0;

    for (guint i = self->entries->len; i > 0; i--) {
        Entry *entry = &g_array_index(self->entries, Entry, i - 1);
        guint64 due_usec = entry->due_usec;

        if (due_usec <= now) {
            if (direct_run_expire(entry->run)) {
                g_array_remove_index(self->entries, i - 1);
                continue;
            }
            due_usec = now + BUSY_PAUSE_USEC;
        }
        next_usec = next_usec == 0 ? due_usec : MIN(next_usec, due_usec);
    }
    return next_usec;
}

static gpointer
thread_main(gpointer data)
{
    QueryDirectSnapshots *self = data;

    (void) pthread_mutex_lock(&self->mutex);
    while (!self->stopping) {
        guint64 next_usec = expire_due(self, (guint64) g_get_monotonic_time());

        if (next_usec == 0)
            break;
        (void) query_cond_wait_until(&self->changed, &self->mutex, (gint64) next_usec);
    }
    self->thread_runs = FALSE;
    (void) pthread_mutex_unlock(&self->mutex);
    return NULL;
}

void
direct_snapshots_add(QueryDirectSnapshots *self, QueryDirectRun *run, guint64 age_msec)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);
    Entry entry = { .run = run, .due_usec = (guint64) g_get_monotonic_time() + 1000 * age_msec };

    g_array_append_val(self->entries, entry);
    if (self->thread_runs)
        return;

    if (self->thread != NULL)
        g_thread_join(self->thread); /* it has given the mutex back for the last time */
    self->thread = g_thread_try_new("query-snapshots", thread_main, self, NULL);
    self->thread_runs = self->thread != NULL;
}

void
direct_snapshots_remove(QueryDirectSnapshots *self, QueryDirectRun *run)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);

    for (guint i = 0; i < self->entries->len; i++)
        if (g_array_index(self->entries, Entry, i).run == run) {
            g_array_remove_index(self->entries, i);
            return;
        }
}
