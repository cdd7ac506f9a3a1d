/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Subscriptions on D-Bus: /org/queryd/Query1/subscription/N, and the signal Stale.
 *
 * Place: room bus. Invariants: a subscription is visible only to the bus name that made it, and goes when that name does. A
 * commit that may have changed its result is covered by a Stale that follows.
 */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>

#include "daemon/bus/bus-service.h"

typedef struct QdBusSubscriptions QdBusSubscriptions;

/**
 * qd_bus_subscriptions_new:
 * @service: (transfer none): its bus and engine are used
 * @error: (nullable): location for an error
 *
 * Thread: main, as everything here.
 *
 * Returns: (transfer full): no subscriptions yet; NULL on failure
 */
QdBusSubscriptions *qd_bus_subscriptions_new(QdBusService *service, GError **error);

/**
 * qd_bus_subscriptions_free:
 * @self: (nullable) (transfer full): the subscriptions; the engine has ended its calls
 *
 * Returns: NULL
 */
QdBusSubscriptions *qd_bus_subscriptions_free(QdBusSubscriptions *self);

/*
 * Charges the client of @call with a subscription before its query is compiled: of a flood most are refused at once.
 * LIMIT_EXCEEDED. What was charged is the subscription's when it is added, or given back by the second function.
 */
gboolean qd_bus_subscriptions_reserve(QdBusService *service, QdCall *call, GError **error);
void qd_bus_subscriptions_release(QdCall *call);

/**
 * qd_bus_subscriptions_add:
 * @service: the service
 * @sender: (nullable): the bus name that subscribes
 * @call: (transfer none): a SUBSCRIBE that has succeeded, with what was reserved; its text and read set are taken
 * @error: (nullable): location for an error
 *
 * Errors: LIMIT_EXCEEDED; CLOSED when @sender has left.
 *
 * Returns: (transfer none) (nullable): the new object's path
 */
const char *qd_bus_subscriptions_add(QdBusService *service, const char *sender, QdCall *call, GError **error);

/**
 * qd_bus_subscriptions_drop:
 * @self: the subscriptions
 * @owner: a bus name that has left, "" without a bus
 */
void qd_bus_subscriptions_drop(QdBusSubscriptions *self, const char *owner);

/**
 * qd_bus_subscriptions_touch:
 * @self: the subscriptions
 * @generation: of a commit
 * @changes: (transfer none): what it changed
 *
 * Notes which subscriptions to report.
 */
void qd_bus_subscriptions_touch(QdBusSubscriptions *self, uint64_t generation, const QdChanges *changes);

/**
 * qd_bus_subscriptions_tell:
 * @self: the subscriptions
 * @generation: of the last commit
 * @changes: (transfer none): what the commits since the last time have changed
 *
 * Sends one Stale to each owner of subscriptions that were touched since the last time; before it RowsChanged, if some of them
 * asked for keys.
 */
void qd_bus_subscriptions_tell(QdBusSubscriptions *self, uint64_t generation, const QdChanges *changes);

/**
 * qd_bus_subscriptions_check_access:
 * @self: the subscriptions
 *
 * After the configuration was read again: those of clients from which a grant was taken back are looked at again. One that its
 * client may not read any more ends with a last Stale. The others get one, too, since meanwhile nothing was reported.
 */
void qd_bus_subscriptions_check_access(QdBusSubscriptions *self);

/**
 * qd_bus_subscriptions_get_n:
 * @self: the subscriptions
 *
 * Returns: how many there are
 */
guint qd_bus_subscriptions_get_n(const QdBusSubscriptions *self);
