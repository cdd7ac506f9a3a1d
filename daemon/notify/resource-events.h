/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Resources that commits have made, changed or deleted, by graph: for the signal GraphUpdated (docs/tinysparql.md).
 *
 * Place: room notify, a part of QdChanges. Invariant: at most QD_RESOURCE_EVENTS_MAX; more are dropped.
 */
#pragma once

#include <glib.h>

#define QD_RESOURCE_EVENTS_MAX 10000

/* TrackerNotifierEventType */
typedef enum QdResourceEvent {
    QD_RESOURCE_CREATED = 0,
    QD_RESOURCE_DELETED = 1,
    QD_RESOURCE_UPDATED = 2,
} QdResourceEvent;

typedef struct QdResourceEvents QdResourceEvents;

QdResourceEvents *qd_resource_events_new(void);
/* Takes NULL. Returns: NULL */
QdResourceEvents *qd_resource_events_free(QdResourceEvents *self);
void qd_resource_events_clear(QdResourceEvents *self);

/* @graph: "": the default graph. @id: the number of the resource. What was made and then updated was made. */
void qd_resource_events_add(QdResourceEvents *self, const char *graph, gint32 id, QdResourceEvent event);
void qd_resource_events_add_all(QdResourceEvents *self, const QdResourceEvents *other);

/* @ids, @events: as many as @n_events */
typedef void (*QdResourceEventsFunc)(const char *graph, const gint32 *ids, const gint32 *events, guint n_events, void *user_data);
/* Calls @func for each graph. */
void qd_resource_events_foreach(const QdResourceEvents *self, QdResourceEventsFunc func, void *user_data);
