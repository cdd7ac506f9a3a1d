/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table of graphs, each a table of ids.
 */
#include "daemon/notify/resource-events.h"

struct QdResourceEvents {
    GHashTable *graphs; /* IRI → table id → event */
    guint n_events;
};

static void
table_free(gpointer table)
{
    g_hash_table_unref(table);
}

QdResourceEvents *
qd_resource_events_new(void)
{
    QdResourceEvents *self = g_new0(QdResourceEvents, 1);

    self->graphs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, table_free);
    return self;
}

QdResourceEvents *
qd_resource_events_free(QdResourceEvents *self)
{
    if (self == NULL)
        return NULL;

    g_hash_table_unref(self->graphs);
    g_free(self);
    return NULL;
}

void
qd_resource_events_clear(QdResourceEvents *self)
{
    g_hash_table_remove_all(self->graphs);
    self->n_events = 0;
}

void
qd_resource_events_add(QdResourceEvents *self, const char *graph, gint32 id, QdResourceEvent event)
{
    GHashTable *table = g_hash_table_lookup(self->graphs, graph);
    gpointer before;

    if (table == NULL) {
        table = g_hash_table_new(NULL, NULL);
        g_hash_table_insert(self->graphs, g_strdup(graph), table);
    }
    if (!g_hash_table_lookup_extended(table, GINT_TO_POINTER(id), NULL, &before)) {
        if (self->n_events >= QD_RESOURCE_EVENTS_MAX)
            return;
        self->n_events++;
    } else if (GPOINTER_TO_INT(before) == QD_RESOURCE_CREATED && event == QD_RESOURCE_UPDATED) {
        return;
    }
    g_hash_table_insert(table, GINT_TO_POINTER(id), GINT_TO_POINTER(event));
}

void
qd_resource_events_add_all(QdResourceEvents *self, const QdResourceEvents *other)
{
    GHashTableIter graphs;
    gpointer graph;
    gpointer table;

    g_hash_table_iter_init(&graphs, other->graphs);
    while (g_hash_table_iter_next(&graphs, &graph, &table)) {
        GHashTableIter iter;
        gpointer id;
        gpointer event;

        g_hash_table_iter_init(&iter, table);
        while (g_hash_table_iter_next(&iter, &id, &event))
            qd_resource_events_add(self, graph, GPOINTER_TO_INT(id), (QdResourceEvent) GPOINTER_TO_INT(event));
    }
}

void
qd_resource_events_foreach(const QdResourceEvents *self, QdResourceEventsFunc func, void *user_data)
{
    GHashTableIter graphs;
    gpointer graph;
    gpointer table;

    g_hash_table_iter_init(&graphs, self->graphs);
    while (g_hash_table_iter_next(&graphs, &graph, &table)) {
        guint n_events = g_hash_table_size(table);
        g_autofree gint32 *ids = g_new(gint32, n_events);
        g_autofree gint32 *events = g_new(gint32, n_events);
        GHashTableIter iter;
        gpointer id;
        gpointer event;
        guint i = 0;

        g_hash_table_iter_init(&iter, table);
        for (; g_hash_table_iter_next(&iter, &id, &event); i++) {
            ids[i] = GPOINTER_TO_INT(id);
            events[i] = GPOINTER_TO_INT(event);
        }
        func(graph, ids, events, n_events, user_data);
    }
}
