/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A doubly linked list under one mutex that is held for a few instructions.
 */
#include "daemon/runtime/registry.h"

#include <pthread.h>

#include "daemon/read/client.h"
#include "daemon/read/run.h"

struct QdRegistry {
    pthread_mutex_t mutex;
    QdEntry *first;
    guint n;
    uint64_t last_id;
};

QdRegistry *
qd_registry_new(void)
{
    QdRegistry *self = g_new0(QdRegistry, 1);

    pthread_mutex_init(&self->mutex, NULL);
    return self;
}

QdRegistry *
qd_registry_free(QdRegistry *self)
{
    if (self == NULL)
        return NULL;

    pthread_mutex_destroy(&self->mutex);
    g_free(self);
    return NULL;
}

void
qd_registry_add(QdRegistry *self, QdEntry *entry, const char *state)
{
    entry->state = state;
    entry->start_usec = (uint64_t) g_get_monotonic_time();
    entry->n_rows = 0;
    entry->n_bytes = 0;
    g_atomic_int_set(&entry->holds_snapshot, FALSE);

    pthread_mutex_lock(&self->mutex);
    entry->id = ++self->last_id;
    entry->previous = NULL;
    entry->next = self->first;
    if (self->first != NULL)
        self->first->previous = entry;
    self->first = entry;
    self->n++;
    pthread_mutex_unlock(&self->mutex);
}

void
qd_registry_set_state(QdRegistry *self, QdEntry *entry, const char *state, gboolean holds_snapshot)
{
    pthread_mutex_lock(&self->mutex);
    entry->state = state;
    g_atomic_int_set(&entry->holds_snapshot, holds_snapshot);
    pthread_mutex_unlock(&self->mutex);
}

void
qd_registry_remove(QdRegistry *self, QdEntry *entry)
{
    pthread_mutex_lock(&self->mutex);
    if (entry->id != 0) {
        if (entry->previous != NULL)
            entry->previous->next = entry->next;
        else
            self->first = entry->next;
        if (entry->next != NULL)
            entry->next->previous = entry->previous;
        entry->id = 0;
        self->n--;
    }
    pthread_mutex_unlock(&self->mutex);
}

guint
qd_registry_get_n(QdRegistry *self)
{
    guint n;

    pthread_mutex_lock(&self->mutex);
    n = self->n;
    pthread_mutex_unlock(&self->mutex);
    return n;
}

uint64_t
qd_registry_get_n_total(QdRegistry *self)
{
    uint64_t n;

    pthread_mutex_lock(&self->mutex);
    n = self->last_id;
    pthread_mutex_unlock(&self->mutex);
    return n;
}

void
qd_registry_foreach(QdRegistry *self, QdQueryFunc func, void *user_data)
{
    uint64_t now = (uint64_t) g_get_monotonic_time();

    pthread_mutex_lock(&self->mutex);
    for (QdEntry *entry = self->first; entry != NULL; entry = entry->next) {
        g_autofree char *text = g_utf8_make_valid(entry->text != NULL ? entry->text : "", (gssize) entry->n_text_bytes);
        QdQueryInfo info = {
            .id = entry->id,
            .language = entry->language != NULL ? entry->language : "",
            .text = text,
            .state = entry->state != NULL ? entry->state : entry->describe(entry),
            .client = qd_client_get_label(entry->client),
            .elapsed_usec = now - entry->start_usec,
            .n_rows = __atomic_load_n(&entry->n_rows, __ATOMIC_RELAXED),
            .n_bytes = __atomic_load_n(&entry->n_bytes, __ATOMIC_RELAXED),
        };

        func(&info, user_data);
    }
    pthread_mutex_unlock(&self->mutex);
}

static void
cancel_entry(QdEntry *entry, gint reason)
{
    g_atomic_int_set(&entry->cancelled, reason);
    if (entry->kick != NULL)
        entry->kick(entry);
}

gboolean
qd_registry_cancel(QdRegistry *self, uint64_t id)
{
    gboolean found = FALSE;

    pthread_mutex_lock(&self->mutex);
    for (QdEntry *entry = self->first; entry != NULL && !found; entry = entry->next) {
        if (entry->id == id) {
            cancel_entry(entry, QD_CANCEL_BY_CLIENT);
            found = TRUE;
        }
    }
    pthread_mutex_unlock(&self->mutex);
    return found;
}

void
qd_registry_cancel_all(QdRegistry *self)
{
    pthread_mutex_lock(&self->mutex);
    for (QdEntry *entry = self->first; entry != NULL; entry = entry->next)
        cancel_entry(entry, QD_CANCEL_BY_CLIENT);
    pthread_mutex_unlock(&self->mutex);
}

gboolean
qd_registry_evict_oldest(QdRegistry *self)
{
    QdEntry *oldest = NULL;

    pthread_mutex_lock(&self->mutex);
    for (QdEntry *entry = self->first; entry != NULL; entry = entry->next)
        if (g_atomic_int_get(&entry->holds_snapshot) && (oldest == NULL || entry->start_usec < oldest->start_usec))
            oldest = entry;
    if (oldest != NULL)
        cancel_entry(oldest, QD_CANCEL_EVICT);
    pthread_mutex_unlock(&self->mutex);
    return oldest != NULL;
}
