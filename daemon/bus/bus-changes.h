/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The signals of commits: Changed to all that listen and may know of it, Stale to those who subscribed. At once after a quiet time,
 * then at least 40 ms apart with what was changed merged.
 *
 * Place: room bus. Invariant: every commit that was given to qd_bus_changes_add() is covered by a signal that follows it.
 */
#pragma once

#include <glib.h>
#include <stdint.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

typedef struct QdChanges QdChanges;
typedef struct QdBusChanges QdBusChanges;
typedef struct QdPeers QdPeers;

typedef struct QdBusChangesHooks {
    /* (nullable) with each Changed, which is about @changes: for other signals due then */
    void (*sent)(uint64_t generation, const QdChanges *changes, void *user_data);
    /* (nullable) TRUE: commits need not be added for now. FALSE: what was held back is added before it returns. */
    void (*hold)(gboolean hold, void *user_data);
    void *user_data;
} QdBusChangesHooks;

/**
 * qd_bus_changes_new:
 * @bus: (transfer none): where to send
 * @peers: (transfer none): those that listen
 * @event: (transfer none): for the timer
 * @hooks: (transfer none): copied
 *
 * Thread: main, as everything here.
 *
 * Returns: (transfer full): nothing to tell yet
 */
QdBusChanges *qd_bus_changes_new(sd_bus *bus, QdPeers *peers, sd_event *event, const QdBusChangesHooks *hooks);

/**
 * qd_bus_changes_free:
 * @self: (nullable) (transfer full): the changes; what waits is sent to subscribers and @peers, which are there still
 *
 * Returns: NULL
 */
QdBusChanges *qd_bus_changes_free(QdBusChanges *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdBusChanges, qd_bus_changes_free)

/**
 * qd_bus_changes_add:
 * @self: the changes
 * @generation: of the commit
 * @changes: (transfer none): what it changed
 */
void qd_bus_changes_add(QdBusChanges *self, uint64_t generation, const QdChanges *changes);

/**
 * qd_bus_changes_flush:
 * @self: the changes
 *
 * Sends at once what waits.
 */
void qd_bus_changes_flush(QdBusChanges *self);
