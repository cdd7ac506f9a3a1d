/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Jobs on D-Bus: /org/queryd/Query1/job/N, for Import and Backup.
 *
 * Place: room bus. Invariant: a job is visible only to the bus name that started it, and is cancelled when that name leaves. It
 * is kept for a minute after its end, so that its owner can still ask for the outcome.
 */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>

#include "daemon/bus/bus-service.h"

typedef struct QdBusJobs QdBusJobs;

/**
 * qd_bus_jobs_new:
 * @service: (transfer none): its bus, loop and engine are used
 * @error: (nullable): location for an error
 *
 * Thread: main, as everything here.
 *
 * Returns: (transfer full): no jobs yet; NULL on failure
 */
QdBusJobs *qd_bus_jobs_new(QdBusService *service, GError **error);

/**
 * qd_bus_jobs_free:
 * @self: (nullable) (transfer full): the jobs; none may be running
 *
 * Returns: NULL
 */
QdBusJobs *qd_bus_jobs_free(QdBusJobs *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdBusJobs, qd_bus_jobs_free)

/**
 * qd_bus_jobs_start:
 * @self: the jobs
 * @message: (transfer none): the method call, which is answered with the new object's path
 * @client: (transfer none): is charged
 * @call: (transfer full): what to run
 * @started_usec: when the call came
 */
void qd_bus_jobs_start(QdBusJobs *self, sd_bus_message *message, QdClient *client, QdCall *call, gint64 started_usec);

/**
 * qd_bus_jobs_cancel:
 * @self: the jobs
 * @owner: (nullable): a bus name that has left: its jobs are cancelled and forgotten; NULL: all jobs are cancelled
 */
void qd_bus_jobs_cancel(QdBusJobs *self, const char *owner);

/* After the configuration was read again: jobs of clients from which a grant was taken back end with ACCESS_DENIED. */
void qd_bus_jobs_check_access(QdBusJobs *self);

/**
 * qd_bus_jobs_get_n_running:
 * @self: the jobs
 *
 * Returns: jobs that have not ended
 */
guint qd_bus_jobs_get_n_running(const QdBusJobs *self);

/**
 * qd_bus_jobs_get_n:
 * @self: the jobs
 *
 * Returns: jobs that run or can still be asked how they ended
 */
guint qd_bus_jobs_get_n(const QdBusJobs *self);
