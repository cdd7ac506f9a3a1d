/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A queue between the threads of a test, and their start and end.
 *
 * Place: tests. As GAsyncQueue and GThread, but on pthreads: ThreadSanitizer does not see what GLib's own locks order.
 */
#pragma once

#include <glib.h>
#include <pthread.h>

typedef struct HandOver {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    GQueue items;
} HandOver;

static inline HandOver *
hand_over_new(void)
{
    HandOver *self = g_new0(HandOver, 1);

    pthread_mutex_init(&self->mutex, NULL);
    pthread_cond_init(&self->cond, NULL);
    return self;
}

/* It must be empty. */
static inline void
hand_over_free(HandOver *self)
{
    g_assert_cmpuint(self->items.length, ==, 0);
    pthread_cond_destroy(&self->cond);
    pthread_mutex_destroy(&self->mutex);
    g_free(self);
}

static inline void
hand_over_push(HandOver *self, gpointer item)
{
    pthread_mutex_lock(&self->mutex);
    g_queue_push_tail(&self->items, item);
    pthread_cond_signal(&self->cond);
    pthread_mutex_unlock(&self->mutex);
}

/* NULL when there is nothing. */
static inline gpointer
hand_over_try_pop(HandOver *self)
{
    gpointer item;

    pthread_mutex_lock(&self->mutex);
    item = g_queue_pop_head(&self->items);
    pthread_mutex_unlock(&self->mutex);
    return item;
}

static inline gpointer
hand_over_pop(HandOver *self)
{
    gpointer item;

    pthread_mutex_lock(&self->mutex);
    while ((item = g_queue_pop_head(&self->items)) == NULL)
        pthread_cond_wait(&self->cond, &self->mutex);
    pthread_mutex_unlock(&self->mutex);
    return item;
}

static inline pthread_t
start_thread(void *(*func)(void *), void *data)
{
    pthread_t thread;

    g_assert_cmpint(pthread_create(&thread, NULL, func, data), ==, 0);
    return thread;
}
