/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Updates that clients of TinySPARQL write into a pipe: read as they come, without a thread, until all of one call are there.
 *
 * Place: room bus, used by bus-tracker.c. Invariant: what is kept is charged to the client as a request without an answer. A pipe
 * of which nothing comes for request_idle_ms ends its call.
 */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>

typedef struct QdBusService QdBusService;
typedef struct QdClient QdClient;
typedef struct QdTrackerInputs QdTrackerInputs;

/* All bytes are there. @message: the method call, to be answered */
typedef void (*QdTrackerInputFunc)(QdBusService *service, sd_bus_message *message, GBytes *bytes);

QdTrackerInputs *qd_tracker_inputs_new(QdBusService *service);
QdTrackerInputs *qd_tracker_inputs_free(QdTrackerInputs *self);

/**
 * qd_tracker_inputs_start:
 * @message: (not owned): the method call, positioned at its descriptor
 * @client: (not owned): is charged
 * @is_array: whether a count comes first
 * @func: what to do with it; errors are answered here
 */
void qd_tracker_inputs_start(QdTrackerInputs *self, sd_bus_message *message, QdClient *client, gboolean is_array,
                             QdTrackerInputFunc func);

void qd_tracker_inputs_cancel(QdTrackerInputs *self, const char *sender);
guint qd_tracker_inputs_get_n(const QdTrackerInputs *self);
