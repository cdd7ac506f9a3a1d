/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A connection is held while one of its calls runs; cursors that are freed meanwhile wait for the end of that call.
 *
 * Place: a part of QpyConnection. Python frees an object in any thread: the garbage collector runs in the thread that allocates.
 * Cursors of queryd.aio are freed in the thread of the event loop, while the connection's own thread works.
 * Invariant: a cursor is closed, and its last reference dropped, only by a thread that holds the connection. To free one never
 * waits for a call. No thread waits for the GIL with `mutex` locked, so that it may be locked with the GIL or without.
 */
#include "client-lib/python/python-module.h"

static guint n_forks; /* of this process since it has imported the module */

static void
on_forked(void)
{
    n_forks++;
}

gboolean
qpy_hold_watch_forks(void)
{
    return pthread_atfork(NULL, NULL, on_forked) == 0;
}

void
qpy_hold_init(QpyHold *self)
{
    *self = (QpyHold){ .n_forks = n_forks };
    (void) pthread_mutex_init(&self->mutex, NULL);
    (void) pthread_cond_init(&self->is_free, NULL);
}

/* The thread that held it, or had the mutex, is not in this process. The library refuses all calls. */
static gboolean
is_of_parent(const QpyHold *self)
{
    return self->n_forks != n_forks;
}

void
qpy_hold_clear(QpyHold *self)
{
    if (is_of_parent(self))
        return;
    (void) pthread_cond_destroy(&self->is_free);
    (void) pthread_mutex_destroy(&self->mutex);
}

void
qpy_hold_take(QpyHold *self)
{
    if (is_of_parent(self))
        return;
    (void) pthread_mutex_lock(&self->mutex);
    self->n_waiting++;
    while (self->is_held)
        (void) pthread_cond_wait(&self->is_free, &self->mutex);
    self->n_waiting--;
    self->is_held = TRUE;
    (void) pthread_mutex_unlock(&self->mutex);
}

/* Returns: (transfer full) (nullable): cursors to be freed; NULL: there are none, and the connection is free now */
static GSList *
take_dropped_or_leave(QpyHold *self)
{
    GSList *dropped;

    (void) pthread_mutex_lock(&self->mutex);
    dropped = g_steal_pointer(&self->dropped);
    if (dropped == NULL) {
        self->is_held = FALSE;
        if (self->n_waiting > 0)
            (void) pthread_cond_signal(&self->is_free);
    }
    (void) pthread_mutex_unlock(&self->mutex);
    return dropped;
}

void
qpy_hold_leave(QpyHold *self)
{
    GSList *dropped;

    if (is_of_parent(self))
        return;
    while ((dropped = take_dropped_or_leave(self)) != NULL)
        g_slist_free_full(dropped, g_object_unref);
}

void
qpy_hold_drop(QpyHold *self, QueryCursor *cursor)
{
    gboolean was_held;

    if (is_of_parent(self)) {
        g_object_unref(cursor);
        return;
    }
    (void) pthread_mutex_lock(&self->mutex);
    was_held = self->is_held;
    self->is_held = TRUE;
    self->dropped = g_slist_prepend(self->dropped, cursor);
    (void) pthread_mutex_unlock(&self->mutex);
    if (!was_held)
        qpy_hold_leave(self);
}
