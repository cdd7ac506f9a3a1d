/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The list of what is being done: for ListQueries, CancelQuery and the statistics.
 *
 * Place: room runtime. Entries are embedded in channels and calls and are on the list only while a request is in work.
 * Invariant: what an entry points to stays valid until qd_registry_remove().
 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct QdClient QdClient;
typedef struct QdRegistry QdRegistry;

typedef struct QdEntry {
    struct QdEntry *previous;
    struct QdEntry *next;
    uint64_t id;
    const char *language;
    const char *text;
    gsize n_text_bytes;
    const QdClient *client;
    uint64_t start_usec;
    const char *state;                                    /* static strings; changed under the registry's lock; or, when NULL: */
    const char *(*describe)(const struct QdEntry *entry); /* (nullable): what its owner does just now; from any thread */
    uint64_t n_rows;                                      /* atomic */
    uint64_t n_bytes;                                     /* atomic */
    gint cancelled;                                       /* atomic: QD_CANCEL_… */
    gint holds_snapshot;                                  /* atomic */
    /* called under the registry's lock after `cancelled` was set, from any thread; must not wait */
    void (*kick)(struct QdEntry *entry);
    void *owner;
} QdEntry;

typedef struct QdQueryInfo {
    uint64_t id;
    const char *language;
    const char *text;
    const char *state; /* queued, running, blocked, writing, job */
    const char *client;
    uint64_t elapsed_usec;
    uint64_t n_rows;
    uint64_t n_bytes;
} QdQueryInfo;
typedef void (*QdQueryFunc)(const QdQueryInfo *info, void *user_data);

QdRegistry *qd_registry_new(void);
QdRegistry *qd_registry_free(QdRegistry *self);

/* @state: (nullable): what it does is known from its describe() */
void qd_registry_add(QdRegistry *self, QdEntry *entry, const char *state);
void qd_registry_set_state(QdRegistry *self, QdEntry *entry, const char *state, gboolean holds_snapshot);
void qd_registry_remove(QdRegistry *self, QdEntry *entry);

guint qd_registry_get_n(QdRegistry *self);
uint64_t qd_registry_get_n_total(QdRegistry *self);
void qd_registry_foreach(QdRegistry *self, QdQueryFunc func, void *user_data);
gboolean qd_registry_cancel(QdRegistry *self, uint64_t id);
/* Cancels everything, at the end of the daemon. */
void qd_registry_cancel_all(QdRegistry *self);
/* Ends the oldest unfinished result. Returns: whether there is one */
gboolean qd_registry_evict_oldest(QdRegistry *self);
