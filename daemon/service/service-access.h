/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SERVICE on a connection: who asks, and what came of it; and the table that asks.
 *
 * Place: room service. The daemon has no network: queryd-service has, and the list of what may be asked (service-link.h).
 * Thread: the one that runs the connection.
 */
#pragma once

#include <sqlite3.h>

#include "daemon/functions/resolver.h"
#include "daemon/service/service-columns.h"

typedef struct QdServiceAccess {
    QdResolver resolver;
    const QdLimits *limits;
    /* Set for a run, else NULL: who asks. take_func: FALSE with an error when it may not, or not now. */
    gpointer client;
    gboolean (*take_func)(gpointer client, const QdLimits *limits, GError **error);
    void (*give_func)(gpointer client);
    gboolean has_asked; /* an endpoint: the run does not begin again, which would ask it twice */
    GError *failure;    /* (nullable): of the statement, which SQLite's code does not tell */
} QdServiceAccess;

/* Creates the table and the aggregate in @db. @access: (not owned): outlives @db. FALSE with INTERNAL when SQLite refuses. */
gboolean qd_service_register(sqlite3 *db, QdServiceAccess *access, GError **error);

/* The error of the statement that has failed just now, if SERVICE was the reason. */
gboolean qd_service_take_failure(QdServiceAccess *access, GError **error);
