/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A timer that runs for 40 ms after each signal. While it runs, commits are merged where they happen, and this thread sleeps.
 * When it ends without a commit, it is not started again, so a quiet daemon does not wake up.
 */
#include "daemon/bus/bus-changes.h"

#include <time.h>

#include "daemon/base/access.h"
#include "daemon/base/name-set.h"
#include "daemon/bus/bus-error.h"
#include "daemon/bus/bus-peer.h"
#include "daemon/bus/bus-private.h"
#include "daemon/notify/changes.h"

#define INTERVAL_USEC (40 * UINT64_C(1000))
/* Not 0: that would be 250 ms, by which the last signal of many would be late. */
#define ACCURACY_USEC 1000

/* For "all graphs" (or tables): no IRI is written like this. */
#define ALL_NAMES "*"

struct QdBusChanges {
    sd_bus *bus;
    QdPeers *peers;
    sd_event *event;
    QdBusChangesHooks hooks;
    sd_event_source *timer; /* exists while signals must wait */
    uint64_t generation;
    QdChanges *changes;
    gboolean pending;
};

QdBusChanges *
qd_bus_changes_new(sd_bus *bus, QdPeers *peers, sd_event *event, const QdBusChangesHooks *hooks)
{
    QdBusChanges *self = g_new0(QdBusChanges, 1);

    self->bus = sd_bus_ref(bus);
    self->peers = peers;
    self->event = sd_event_ref(event);
    self->hooks = *hooks;
    self->changes = qd_changes_new();
    return self;
}

QdBusChanges *
qd_bus_changes_free(QdBusChanges *self)
{
    if (self == NULL)
        return NULL;

    qd_bus_changes_flush(self);
    sd_event_source_disable_unref(self->timer);
    (void) qd_changes_free(self->changes);
    sd_event_unref(self->event);
    sd_bus_unref(self->bus);
    g_free(self);
    return NULL;
}

/* Of what one listener may hear. */
typedef struct Names {
    const QdAccess *access; /* (nullable): everything */
    gboolean (*has_any)(const QdAccess *access, QdAccessKind kind);
    gboolean (*has)(const QdAccess *access, QdAccessKind kind, const char *name);
    const QdNameSet *set;
} Names;

static GPtrArray *
list_names(const Names *self)
{
    g_autoptr(GPtrArray) all = qd_name_set_list(self->set);
    GPtrArray *names = g_ptr_array_new();

    if (qd_name_set_is_all(self->set) && (self->access == NULL || self->has_any(self->access, QD_ACCESS_READ)))
        g_ptr_array_add(names, (gpointer) ALL_NAMES);
    for (guint i = 0; i < all->len; i++)
        if (self->access == NULL || self->has(self->access, QD_ACCESS_READ, all->pdata[i]))
            g_ptr_array_add(names, all->pdata[i]);
    return names;
}

static int
append_names(sd_bus_message *signal, const GPtrArray *names)
{
    int r;

    r = sd_bus_message_open_container(signal, 'a', "s");
    for (guint i = 0; r >= 0 && i < names->len; i++)
        r = qd_bus_append_text(signal, names->pdata[i]);
    if (r < 0)
        return r;

    return sd_bus_message_close_container(signal);
}

/* One that may not see everything learns of no other commits. */
static void
send_changed(const char *name, const QdAccess *access, void *user_data)
{
    const QdBusChanges *self = user_data;
    g_autoptr(GPtrArray) tables = list_names(&(Names){ access, qd_access_has_tables, qd_access_has_table, self->changes->tables });
    g_autoptr(GPtrArray) graphs = list_names(&(Names){ access, qd_access_has_graphs, qd_access_has_graph, self->changes->graphs });
    sd_bus_message *signal = NULL;
    int r;

    if (access != NULL && !qd_access_has_all(access, QD_ACCESS_READ) && tables->len == 0 && graphs->len == 0)
        return;

    r = sd_bus_message_new_signal(self->bus, &signal, QD_BUS_PATH, QD_BUS_INTERFACE, "Changed");
    if (r >= 0 && name != NULL)
        r = sd_bus_message_set_destination(signal, name);
    if (r >= 0)
        r = sd_bus_message_append(signal, "t", self->generation);
    if (r >= 0)
        r = append_names(signal, tables);
    if (r >= 0)
        r = append_names(signal, graphs);
    /* Fails when the connection is gone; then there are no listeners. */
    if (r >= 0)
        (void) sd_bus_send(self->bus, signal, NULL);
    sd_bus_message_unref(signal);
}

void
qd_bus_changes_flush(QdBusChanges *self)
{
    if (!self->pending)
        return;

    qd_peers_tell(self->peers, QD_PEER_CHANGES, send_changed, self);
    if (self->hooks.sent != NULL)
        self->hooks.sent(self->generation, self->changes, self->hooks.user_data);
    self->pending = FALSE;
    qd_changes_clear(self->changes);
}

static void
hold(QdBusChanges *self, gboolean hold)
{
    if (self->hooks.hold != NULL)
        self->hooks.hold(hold, self->hooks.user_data);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *user_data);

static void
send_and_wait(QdBusChanges *self)
{
    qd_bus_changes_flush(self);
    self->timer = sd_event_source_disable_unref(self->timer);
    /* not relative: that would count from when the loop woke up last */
    (void) sd_event_add_time(self->event, &self->timer, CLOCK_MONOTONIC, (uint64_t) g_get_monotonic_time() + INTERVAL_USEC,
                             ACCURACY_USEC, on_timer, self);
    hold(self, self->timer != NULL);
}

static int
on_timer(sd_event_source *source, uint64_t usec, void *user_data)
{
    QdBusChanges *self = user_data;

    hold(self, FALSE);
    if (self->pending)
        send_and_wait(self);
    else
        self->timer = sd_event_source_disable_unref(self->timer);
    return 0;
}

void
qd_bus_changes_add(QdBusChanges *self, uint64_t generation, const QdChanges *changes)
{
    self->pending = TRUE;
    self->generation = MAX(self->generation, generation);
    qd_changes_add_all(self->changes, changes);

    if (self->timer == NULL)
        send_and_wait(self);
}
