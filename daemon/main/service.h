/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon as one object: event loop, bus connection, engine, configuration.
 *
 * Place: room main. Invariant: READY=1 is sent as soon as the bus name is owned, before the database is looked at. A caller of
 * a service that dies before READY hangs until its own time-out.
 */
#pragma once

#include <glib.h>

typedef struct QdServiceOptions {
    const char *store;       /* its name */
    const char *bus_name;    /* to own */
    const char *bus_address; /* (nullable): NULL is the session's bus */
    const char *directory;   /* of the store */
    const char *config_path; /* (nullable): NULL is the default */
    gint64 idle_exit_msec;   /* below 0: as configured */
    gboolean debug;          /* log at debug level, regardless of the configuration */
} QdServiceOptions;

/**
 * qd_service_run:
 * @options: (transfer none): what the command line said
 *
 * Runs the daemon to its end. SIGTERM, SIGINT and SIGHUP are blocked and taken from the loop. Thread: main, before any other
 * thread was made.
 *
 * Returns: the process's exit code
 */
int qd_service_run(const QdServiceOptions *options);
