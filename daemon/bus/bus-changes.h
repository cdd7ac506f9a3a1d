/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The signal Changed: at once after a quiet time, then at least 40 ms apart with the tables merged.
 *
 * Place: layer 5. Invariant: every commit told to qd_bus_changes_add() is covered by a signal that follows it.
 */
#pragma once

#include <glib.h>
#include <stdint.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

typedef struct QdBusChanges QdBusChanges;

/**
 * qd_bus_changes_new:
 * @bus: (transfer none): where to send
 * @event: (transfer none): for the timer
 *
 * Thread: main, as everything here.
 *
 * Returns: (transfer full): nothing to tell yet
 */
QdBusChanges *qd_bus_changes_new(sd_bus *bus, sd_event *event);

/**
 * qd_bus_changes_free:
 * @self: (nullable) (transfer full): the changes; what waits is sent
 *
 * Returns: NULL
 */
QdBusChanges *qd_bus_changes_free(QdBusChanges *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdBusChanges, qd_bus_changes_free)

/**
 * qd_bus_changes_add:
 * @self: the changes
 * @generation: of the commit
 * @tables: (transfer none): NULL-terminated
 */
void qd_bus_changes_add(QdBusChanges *self, uint64_t generation, const char *const *tables);

/**
 * qd_bus_changes_flush:
 * @self: the changes
 *
 * Sends at once what waits.
 */
void qd_bus_changes_flush(QdBusChanges *self);
