/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Assembles the objects of one connection. The parts know each other through bus-private.h only.
 */
#include "daemon/bus/bus-service.h"

#include "daemon/base/error.h"
#include "daemon/bus/bus-call.h"
#include "daemon/bus/bus-changes.h"
#include "daemon/bus/bus-job.h"
#include "daemon/bus/bus-listeners.h"
#include "daemon/bus/bus-peer.h"
#include "daemon/bus/bus-prefixes.h"
#include "daemon/bus/bus-private.h"
#include "daemon/bus/bus-subscribe.h"
#include "daemon/bus/bus-tracker.h"
#include "daemon/notify/changes.h"

static void
on_peer_gone(const char *name, void *user_data)
{
    QdBusService *self = user_data;

    qd_bus_calls_cancel(self, name);
    qd_bus_jobs_cancel(self->jobs, name);
    qd_bus_subscriptions_drop(self->subscriptions, name);
    qd_bus_tracker_cancel(self->tracker, name);
}

static void
on_changes_sent(uint64_t generation, const QdChanges *changes, void *user_data)
{
    const QdBusService *self = user_data;

    qd_bus_subscriptions_tell(self->subscriptions, generation, changes);
}

static void
hold_changes(gboolean hold, void *user_data)
{
    const QdBusService *self = user_data;

    qd_engine_hold_changes(self->engine, hold);
    if (!hold)
        qd_engine_tell_changes(self->engine);
}

QdBusService *
qd_bus_service_new(sd_bus *bus, sd_event *event, QdEngine *engine, const QdBusServiceHooks *hooks, GError **error)
{
    g_autoptr(QdBusService) self = g_new0(QdBusService, 1);
    const QdBusChangesHooks changes_hooks = { .sent = on_changes_sent, .hold = hold_changes, .user_data = self };
    int r;

    self->bus = sd_bus_ref(bus);
    self->event = sd_event_ref(event);
    self->engine = engine;
    self->hooks = *hooks;
    self->peers = qd_peers_new(bus, engine, on_peer_gone, self);
    self->changes = qd_bus_changes_new(bus, self->peers, event, &changes_hooks);
    self->jobs = qd_bus_jobs_new(self, error);
    if (self->jobs == NULL)
        return NULL;
    self->subscriptions = qd_bus_subscriptions_new(self, error);
    if (self->subscriptions == NULL)
        return NULL;
    self->prefixes = qd_bus_prefixes_new(self);
    self->tracker = qd_bus_tracker_new(self);
    self->listeners = qd_bus_listeners_new(self, error);
    if (self->listeners == NULL)
        return NULL;

    r = sd_bus_add_object_vtable(bus, &self->query_slot, QD_BUS_PATH, QD_BUS_INTERFACE, qd_bus_query_vtable, self);
    if (r >= 0)
        r = sd_bus_add_object_vtable(bus, &self->manager_slot, QD_BUS_PATH, QD_BUS_MANAGER_INTERFACE, qd_bus_manager_vtable, self);
    if (r < 0) {
        qd_error_set_errno(error, -r, "cannot put objects on the bus");
        return NULL;
    }

    return g_steal_pointer(&self);
}

QdBusService *
qd_bus_service_free(QdBusService *self)
{
    if (self == NULL)
        return NULL;

    self->hooks = (QdBusServiceHooks){ 0 };
    sd_bus_slot_unref(self->query_slot);
    sd_bus_slot_unref(self->manager_slot);
    (void) qd_bus_tracker_free(self->tracker);
    (void) qd_bus_listeners_free(self->listeners);
    if (self->changes != NULL)
        qd_bus_changes_flush(self->changes); /* tells the subscriptions, too */
    qd_bus_calls_answer_late(self, TRUE);
    (void) qd_peers_free(self->peers); /* answers calls of peers that are not known yet */
    g_assert(self->calls.length == 0);
    (void) qd_bus_jobs_free(self->jobs);
    (void) qd_bus_changes_free(self->changes);
    (void) qd_bus_subscriptions_free(self->subscriptions);
    (void) qd_bus_prefixes_free(self->prefixes);
    sd_event_unref(self->event);
    sd_bus_unref(self->bus);
    g_free(self);
    return NULL;
}

void
qd_bus_service_notify_change(QdBusService *self, uint64_t generation, const QdChanges *changes)
{
    qd_bus_subscriptions_touch(self->subscriptions, generation, changes);
    qd_bus_changes_add(self->changes, generation, changes);
    qd_bus_tracker_tell(self->tracker, changes);
    if (changes->prefixes)
        qd_bus_prefixes_refresh(self->prefixes);
}

void
qd_bus_service_tell_changes(QdBusService *self)
{
    qd_engine_tell_changes(self->engine);
    qd_bus_changes_flush(self->changes);
}

guint
qd_bus_service_get_n_calls(const QdBusService *self)
{
    return self->calls.length + qd_bus_jobs_get_n_running(self->jobs) + qd_bus_tracker_get_n_inputs(self->tracker);
}

gboolean
qd_bus_service_is_answered(const QdBusService *self)
{
    uint64_t n_queued = 0;

    /* Fails on a closed connection, which takes nothing any more. */
    (void) sd_bus_get_n_queued_write(self->bus, &n_queued);
    return qd_bus_service_get_n_calls(self) == 0 && n_queued == 0;
}

gboolean
qd_bus_service_is_idle(const QdBusService *self)
{
    return qd_bus_jobs_get_n(self->jobs) == 0 && qd_bus_service_is_answered(self);
}

void
qd_bus_service_cancel_calls(QdBusService *self)
{
    qd_bus_calls_cancel(self, NULL);
    qd_bus_jobs_cancel(self->jobs, NULL);
    qd_bus_tracker_cancel(self->tracker, NULL);
}

void
qd_bus_service_set_tracker(QdBusService *self, QdTrackerMode mode)
{
    qd_bus_tracker_set_mode(self->tracker, mode);
}

void
qd_bus_service_set_access(QdBusService *self, const QdConfig *config, const char *store)
{
    qd_peers_set_config(self->peers, config, store);
    qd_bus_subscriptions_check_access(self->subscriptions);
    qd_bus_jobs_check_access(self->jobs);
}
