/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon on the session bus of the environment: its process, its database file, what it does now.
 *
 * Place: shared by the demo and the benchmarks, which run on the private bus of demo.sh. Errors end the program.
 */
#pragma once

#include <query-client.h>

/* Ends the program with @error's message, if there is one. */
void die_on_error(const GError *error, const char *what);

QueryConnection *open_connection(void);

/* Executes an update. */
void execute(QueryConnection *connection, const char *text);

/* The first value of a query's only row. */
gint64 query_number(QueryConnection *connection, const char *text);

/* The process that owns a name on the session bus; of "org.freedesktop.DBus": the bus itself. */
GPid get_owner_pid(const char *name);

/* The process that owns the daemon's name. */
GPid get_daemon_pid(void);

/* Ends the daemon, if there is one, waits until it has left, and lets the bus start it again. Returns the new process, which has
 * the database open. */
GPid restart_daemon(void);

/* The same, with an empty store: that of before is deleted meanwhile. */
GPid restart_daemon_anew(void);

/* (transfer full): the file of the default store. */
char *get_database_path(void);

/* Returns when the daemon runs (state "running") at least @n queries, polling its list. */
void wait_until_running(QueryConnection *connection, guint n);
