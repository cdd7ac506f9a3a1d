/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The property Prefixes: a copy of what the store keeps, read by a worker at the start and after each change.
 *
 * Place: room bus. Invariant: PropertiesChanged follows each time that the copy has become another.
 */
#pragma once

#include <systemd/sd-bus.h>

#include "daemon/bus/bus-service.h"

typedef struct QdBusPrefixes QdBusPrefixes;

/**
 * qd_bus_prefixes_new:
 * @service: (transfer none): its bus and engine are used
 *
 * Thread: main, as everything here.
 *
 * Returns: (transfer full): none yet; they are being read
 */
QdBusPrefixes *qd_bus_prefixes_new(QdBusService *service);

/**
 * qd_bus_prefixes_free:
 * @self: (nullable) (transfer full): the prefixes; the engine has ended its calls
 *
 * Returns: NULL
 */
QdBusPrefixes *qd_bus_prefixes_free(QdBusPrefixes *self);

/**
 * qd_bus_prefixes_refresh:
 * @self: the prefixes
 *
 * Has them read again.
 */
void qd_bus_prefixes_refresh(QdBusPrefixes *self);

/**
 * qd_bus_prefixes_append:
 * @self: the prefixes
 * @reply: (transfer none): gets them as a{ss}
 *
 * Returns: negative errno on failure
 */
int qd_bus_prefixes_append(const QdBusPrefixes *self, sd_bus_message *reply);
