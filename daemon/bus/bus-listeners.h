/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which connections listen to the signals of changes, and the properties that say what the store holds.
 *
 * Place: room bus. A broadcast would reach applications in sandboxes, too: their proxy hands on those of each name that they may
 * call. The bus does not say which connections have a match. So the signals go to single connections.
 * One listens to Changed once it has called the object, and to GraphUpdated once it has called TinySPARQL's. Prepare does not
 * count: programs that use the library call little else, and those that listen ask for a property.
 * Invariant: Generation and Prefixes are read only by callers that may read something of the store.
 */
#pragma once

#include <glib.h>

#include "daemon/bus/bus-service.h"

typedef struct QdBusListeners QdBusListeners;

/* NULL: @error is set. Thread: main, as everything here. */
QdBusListeners *qd_bus_listeners_new(QdBusService *service, GError **error);
QdBusListeners *qd_bus_listeners_free(QdBusListeners *self);
