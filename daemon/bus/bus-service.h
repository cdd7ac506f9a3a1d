/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Everything that queryd shows on one D-Bus connection.
 *
 * Place: room bus; what daemon/main sees of the folder. The same code serves a bus and a bare socketpair (tests).
 * Invariant: every method call is answered exactly once, at the latest by qd_bus_service_free().
 */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "daemon/base/config.h"
#include "daemon/engine/engine.h"

typedef struct QdBusService QdBusService;

typedef struct QdBusServiceHooks {
    gboolean (*reload)(GError **error, void *user_data); /* Manager.Reload */
    void (*activity)(void *user_data);                   /* a call came or was answered; the idle state may have changed */
    void *user_data;
} QdBusServiceHooks;

/**
 * qd_bus_service_new:
 * @bus: (transfer none): a started connection, attached to @event
 * @event: (transfer none): the loop of the main thread
 * @engine: (transfer none): answers the calls; freed only after the service, or drained of its calls before
 * @hooks: (transfer none): copied; each function may be NULL
 * @error: (nullable): location for an error
 *
 * Puts the objects on the connection. Thread: main, as everything here.
 *
 * Returns: (transfer full): the service; NULL on failure
 */
QdBusService *qd_bus_service_new(sd_bus *bus, sd_event *event, QdEngine *engine, const QdBusServiceHooks *hooks, GError **error);

/**
 * qd_bus_service_free:
 * @self: (nullable) (transfer full): the service
 *
 * The engine must have ended all calls before (qd_engine_free() does that).
 *
 * Returns: NULL
 */
QdBusService *qd_bus_service_free(QdBusService *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdBusService, qd_bus_service_free)

/**
 * qd_bus_service_notify_change:
 * @self: the service
 * @generation: of the commit
 * @changes: (transfer none): what it changed
 *
 * Announces a durable commit by the signal Changed, at once or merged with others a little later.
 */
void qd_bus_service_notify_change(QdBusService *self, uint64_t generation, const QdChanges *changes);

/**
 * qd_bus_service_set_tracker:
 * @self: the service
 * @mode: whether the interface of TinySPARQL is there, and what its default graph is
 *
 * Puts the object on the connection, or takes it away. What runs goes on.
 */
void qd_bus_service_set_tracker(QdBusService *self, QdTrackerMode mode);

/**
 * qd_bus_service_set_access:
 * @self: the service
 * @config: (transfer none): until the next call, or the end
 * @store: the name of the store
 *
 * What sandboxed applications may do from now on. Until the first call they may do nothing.
 */
void qd_bus_service_set_access(QdBusService *self, const QdConfig *config, const char *store);

/* Signals of all commits so far, now: once the name has been given back, clients no longer listen to it. */
void qd_bus_service_tell_changes(QdBusService *self);

/**
 * qd_bus_service_is_idle:
 * @self: the service
 *
 * Returns: whether no call is unanswered, no job runs or waits to be asked for its end, and all is written to the bus
 */
gboolean qd_bus_service_is_idle(const QdBusService *self);

/**
 * qd_bus_service_is_answered:
 * @self: the service
 *
 * Returns: whether no call is unanswered and no job runs, and all is written to the bus
 */
gboolean qd_bus_service_is_answered(const QdBusService *self);

/**
 * qd_bus_service_cancel_calls:
 * @self: the service
 *
 * Asks the engine to end all calls and jobs soon.
 */
void qd_bus_service_cancel_calls(QdBusService *self);

/**
 * qd_bus_service_get_n_calls:
 * @self: the service
 *
 * Returns: unanswered calls and running jobs
 */
guint qd_bus_service_get_n_calls(const QdBusService *self);
