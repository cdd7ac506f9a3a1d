/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Resources that a SPARQL update made, changed and deleted, for the signal GraphUpdated of TinySPARQL's interface.
 *
 * Place: room write, internal to it; one for an update, on the leader's thread.
 */
#pragma once

#include "daemon/base/limits.h"
#include "daemon/notify/resource-events.h"
#include "daemon/quads/dictionary.h"

typedef struct QdUpdateEvents QdUpdateEvents;

/* The limit resource_events bounds them; more are not reported. Returns: (transfer full) (nullable): NULL if it is 0 */
QdUpdateEvents *qd_update_events_new(const QdLimits *limits);
QdUpdateEvents *qd_update_events_free(QdUpdateEvents *self);

/* A quad of @resource was inserted into @graph, or deleted. */
void qd_update_events_count(QdUpdateEvents *self, gint64 graph, gint64 resource, gboolean insert);
/* At the end of the update, into @events. The connection @db reads what the resources have now. */
gboolean qd_update_events_tell(QdUpdateEvents *self, sqlite3 *db, QdDictionary *dictionary, QdResourceEvents *events,
                               GError **error);
