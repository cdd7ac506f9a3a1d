/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interface org.freedesktop.Tracker3.Endpoint, for programs that were written for TinySPARQL (docs/tinysparql.md).
 *
 * Place: room bus. Off unless queryd.conf says otherwise: the object is not there then.
 * Thread: main, as everything here.
 */
#pragma once

#include <glib.h>

#include "daemon/base/config.h"

typedef struct QdBusService QdBusService;
typedef struct QdChanges QdChanges;
typedef struct QdBusTracker QdBusTracker;

/* qd_bus_tracker_new: (transfer full): off. @service outlives it. */
QdBusTracker *qd_bus_tracker_new(QdBusService *service);
/* qd_bus_tracker_free: updates that are still being read are dropped. Takes NULL. Returns: NULL */
QdBusTracker *qd_bus_tracker_free(QdBusTracker *self);

void qd_bus_tracker_set_mode(QdBusTracker *self, QdTrackerMode mode);

/* qd_bus_tracker_tell: GraphUpdated for each graph in which @changes name resources. */
void qd_bus_tracker_tell(QdBusTracker *self, const QdChanges *changes);

/* qd_bus_tracker_cancel: @sender (nullable: all): what is still being read of its updates is dropped, with an answer. */
void qd_bus_tracker_cancel(QdBusTracker *self, const char *sender);
/* qd_bus_tracker_get_n_inputs: updates that are being read. */
guint qd_bus_tracker_get_n_inputs(const QdBusTracker *self);
