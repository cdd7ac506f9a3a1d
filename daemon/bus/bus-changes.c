/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A timer that runs for 40 ms after each signal. While it runs, commits are merged; when it ends without any, it is not
 * started again, so that a quiet daemon does not wake up.
 */
#include "daemon/bus/bus-changes.h"

#include <string.h>
#include <time.h>

#include "daemon/bus/bus-error.h"
#include "daemon/bus/bus-private.h"

#define INTERVAL_USEC (40 * UINT64_C(1000))

struct QdBusChanges {
    sd_bus *bus;
    sd_event *event;
    sd_event_source *timer; /* exists while signals must wait */
    uint64_t generation;
    GHashTable *tables; /* set of char*, owned */
    gboolean pending;
};

QdBusChanges *
qd_bus_changes_new(sd_bus *bus, sd_event *event)
{
    QdBusChanges *self = g_new0(QdBusChanges, 1);

    self->bus = sd_bus_ref(bus);
    self->event = sd_event_ref(event);
    self->tables = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return self;
}

QdBusChanges *
qd_bus_changes_free(QdBusChanges *self)
{
    if (self == NULL)
        return NULL;

    qd_bus_changes_flush(self);
    sd_event_source_disable_unref(self->timer);
    g_hash_table_unref(self->tables);
    sd_event_unref(self->event);
    sd_bus_unref(self->bus);
    g_free(self);
    return NULL;
}

static int
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(a, b);
}

static int
append_tables(sd_bus_message *signal, GHashTable *tables)
{
    g_autoptr(GList) names = g_list_sort(g_hash_table_get_keys(tables), compare_names);
    int r;

    r = sd_bus_message_open_container(signal, 'a', "s");
    for (GList *link = names; r >= 0 && link != NULL; link = link->next)
        r = qd_bus_append_text(signal, link->data);
    if (r < 0)
        return r;

    return sd_bus_message_close_container(signal);
}

void
qd_bus_changes_flush(QdBusChanges *self)
{
    sd_bus_message *signal = NULL;
    int r;

    if (!self->pending)
        return;

    r = sd_bus_message_new_signal(self->bus, &signal, QD_BUS_PATH, QD_BUS_INTERFACE, "Changed");
    if (r >= 0)
        r = sd_bus_message_append(signal, "t", self->generation);
    if (r >= 0)
        r = append_tables(signal, self->tables);
    if (r >= 0)
        r = sd_bus_message_append(signal, "as", 0); /* graphs */
    /* Fails when the connection is gone, and nobody listens any more. */
    if (r >= 0)
        (void) sd_bus_send(self->bus, signal, NULL);
    sd_bus_message_unref(signal);

    self->pending = FALSE;
    g_hash_table_remove_all(self->tables);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *user_data);

static void
send_and_wait(QdBusChanges *self)
{
    qd_bus_changes_flush(self);
    self->timer = sd_event_source_disable_unref(self->timer);
    (void) sd_event_add_time_relative(self->event, &self->timer, CLOCK_MONOTONIC, INTERVAL_USEC, 0, on_timer, self);
}

static int
on_timer(sd_event_source *source, uint64_t usec, void *user_data)
{
    QdBusChanges *self = user_data;

    if (self->pending)
        send_and_wait(self);
    else
        self->timer = sd_event_source_disable_unref(self->timer);
    return 0;
}

void
qd_bus_changes_add(QdBusChanges *self, uint64_t generation, const char *const *tables)
{
    self->pending = TRUE;
    self->generation = MAX(self->generation, generation);
    for (guint i = 0; tables != NULL && tables[i] != NULL; i++)
        if (!g_hash_table_contains(self->tables, tables[i]))
            g_hash_table_add(self->tables, g_strdup(tables[i]));

    if (self->timer == NULL)
        send_and_wait(self);
}
