/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Notices that the session bus has gone, and finds the next one. It is for objects that wait for signals, which would not
 * notice otherwise.
 *
 * Place: internal to libquery-client. Bound to the main context of its maker.
 * Invariant: after query_bus_watch_end() nothing begins any more; what runs in the context at that moment comes to its end.
 */
#pragma once

#include "client-lib/core/query-bus.h"

typedef struct QueryBusWatch QueryBusWatch;

/* Both in the watch's main context. */
typedef struct QueryBusWatchFuncs {
    /* @bus: (transfer none): a new one; nothing is known of its names */
    void (*come)(GDBusConnection *bus, gpointer user_data);
    /* after that: the daemon is there */
    void (*owned)(gpointer user_data);
} QueryBusWatchFuncs;

/**
 * query_bus_watch_new:
 * @owner: (not owned): owns @bus; without it no next bus is looked for
 * @bus: where the next connection comes from
 * @dbus: the connection that is open now
 * @destroy: (nullable): for @user_data, in any thread
 *
 * Returns: (transfer full): to be ended
 */
QueryBusWatch *query_bus_watch_new(GObject *owner, QueryBus *bus, GDBusConnection *dbus, const QueryBusWatchFuncs *funcs,
                                   gpointer user_data, GDestroyNotify destroy);
/* query_bus_watch_end: any thread; takes NULL. */
void query_bus_watch_end(QueryBusWatch *self);
