/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The service object as the files of daemon/bus share it.
 *
 * Place: room bus, private. The vtables' userdata is always the QdBusService.
 */
#pragma once

#include "daemon/bus/bus-service.h"

typedef struct QdBusCall QdBusCall;
typedef struct QdBusChanges QdBusChanges;
typedef struct QdBusJobs QdBusJobs;
typedef struct QdBusListeners QdBusListeners;
typedef struct QdBusPrefixes QdBusPrefixes;
typedef struct QdBusSubscriptions QdBusSubscriptions;
typedef struct QdBusTracker QdBusTracker;
typedef struct QdPeers QdPeers;

#define QD_BUS_PATH "/org/queryd/Query1"
#define QD_BUS_INTERFACE "org.queryd.Query1"
#define QD_BUS_MANAGER_INTERFACE "org.queryd.Query1.Manager"
#define QD_BUS_JOB_INTERFACE "org.queryd.Query1.Job"
#define QD_BUS_SUBSCRIPTION_INTERFACE "org.queryd.Query1.Subscription"
#define QD_BUS_TRACKER_PATH "/org/freedesktop/Tracker3/Endpoint"
#define QD_BUS_TRACKER_INTERFACE "org.freedesktop.Tracker3.Endpoint"

struct QdBusService {
    sd_bus *bus;
    sd_event *event;
    QdEngine *engine;
    QdBusServiceHooks hooks;
    QdPeers *peers;
    QdBusChanges *changes;
    QdBusJobs *jobs;
    QdBusListeners *listeners;
    QdBusPrefixes *prefixes;
    QdBusSubscriptions *subscriptions;
    QdBusTracker *tracker;
    GQueue calls; /* of QdBusCall: not answered yet */
    GQueue late;  /* of QdBusCall: of these, large answers that wait until the bus has taken the one before */
    sd_event_source *late_source;
    sd_bus_slot *query_slot;
    sd_bus_slot *manager_slot;
};

extern const sd_bus_vtable qd_bus_query_vtable[];
extern const sd_bus_vtable qd_bus_manager_vtable[];
extern const sd_bus_vtable qd_bus_job_vtable[];
extern const sd_bus_vtable qd_bus_subscription_vtable[];
extern const sd_bus_vtable qd_bus_tracker_vtable[];
