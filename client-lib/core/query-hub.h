/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Gives the daemon's signals Stale and RowsChanged to the subscriptions that they name, and renews them when the daemon was
 * restarted.
 *
 * Place: internal to libquery-client. One for each main context of a connection that has subscriptions: a signal that names a
 * thousand of them is received and looked at once. It has two descriptors, so it goes with its last subscription.
 * Invariant: the mutex guards the tables and is never held while a subscription is informed.
 */
#pragma once

#include "client-lib/core/query-bus.h"

typedef struct QueryHub QueryHub;
typedef struct QueryHubEntry QueryHubEntry;

/* What a subscription does; in the hub's main context. */
typedef struct QueryHubFuncs {
    void (*tell)(GObject *subscription, guint64 generation);
    /* Before that: which rows. @tables: a(sbasasa(sav)) */
    void (*tell_rows)(GObject *subscription, guint64 generation, GVariant *tables);
    void (*renew)(GObject *subscription);
} QueryHubFuncs;

/* @owner: (not owned): it owns the hub and @bus. @dbus: the connection of @bus that is open now. Listens in the thread-default main
 * context of the caller; when the bus was restarted, to the next one. */
QueryHub *query_hub_new(GObject *owner, QueryBus *bus, GDBusConnection *dbus, const QueryHubFuncs *funcs);
/* All entries must have been removed. */
void query_hub_free(QueryHub *self);

/* One subscription more, or less. @owner calls them one at a time. Release returns whether there is none now. */
void query_hub_use(QueryHub *self);
gboolean query_hub_release(QueryHub *self);

/* TRUE when it listens on @bus in the caller's main context. */
gboolean query_hub_is_here(QueryHub *self, GDBusConnection *bus);
/* (transfer full): the one it listens on now. Any thread. */
GDBusConnection *query_hub_get_bus(QueryHub *self);

/* @subscription: (not owned). Any thread. */
QueryHubEntry *query_hub_add(QueryHub *self, GObject *subscription, const char *path);
/* @path: of the object in the daemon. Any thread. */
void query_hub_set_path(QueryHub *self, QueryHubEntry *entry, const char *path);
/* Returns: (transfer full) (nullable): the last path. Any thread. */
char *query_hub_remove(QueryHub *self, QueryHubEntry *entry);
