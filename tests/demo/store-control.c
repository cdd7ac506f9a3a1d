/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Small helpers around the public library; the pid comes from the bus, never from a process list.
 */
#include "tests/demo/store-control.h"

#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define POLL_INTERVAL_USEC 2000
#define POLL_MAX_USEC (30 * G_USEC_PER_SEC)

void
die_on_error(const GError *error, const char *what)
{
    if (error == NULL)
        return;

    (void) fprintf(stderr, "%s: %s\n", what, error->message);
    exit(2);
}

QueryConnection *
open_connection(void)
{
    g_autoptr(GError) error = NULL;
    QueryConnection *connection = query_connection_new(NULL, &error);

    die_on_error(error, "connect");
    query_connection_set_fresh(connection, TRUE); /* executions are measured: those that are remembered have a group of their own */
    return connection;
}

void
execute(QueryConnection *connection, const char *text)
{
    g_autoptr(GError) error = NULL;

    (void) query_connection_update(connection, QUERY_LANGUAGE_SQL, text, NULL, NULL, &error);
    die_on_error(error, text);
}

gint64
query_number(QueryConnection *connection, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = query_connection_query(connection, QUERY_LANGUAGE_SQL, text, NULL, NULL, &error);
    gint64 number;

    die_on_error(error, text);
    (void) query_cursor_next(cursor, NULL, &error);
    die_on_error(error, text);
    number = query_cursor_get_int64(cursor, 0);
    (void) query_cursor_next(cursor, NULL, &error);
    die_on_error(error, text);
    return number;
}

GPid
get_owner_pid(const char *name)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GDBusConnection) bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, &error);
    g_autoptr(GVariant) reply = NULL;
    guint32 pid = 0;

    die_on_error(error, "session bus");
    reply = g_dbus_connection_call_sync(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                        "GetConnectionUnixProcessID", g_variant_new("(s)", name), G_VARIANT_TYPE("(u)"),
                                        G_DBUS_CALL_FLAGS_NONE, -1, NULL, &error);
    die_on_error(error, name);
    g_variant_get(reply, "(u)", &pid);
    return (GPid) pid;
}

GPid
get_daemon_pid(void)
{
    return get_owner_pid("org.queryd.Query1");
}

/* It owns the name as long as it is there, or has just given it back. A process that is no child is waited for by a
 * descriptor. */
static void
end_process(GPid pid)
{
    struct pollfd end = { .fd = (int) syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };

    if (end.fd < 0)
        return;
    (void) kill(pid, SIGTERM);
    (void) poll(&end, 1, POLL_MAX_USEC / 1000);
    (void) close(end.fd);
}

static int
delete_entry(const char *path, const struct stat *status, int type, struct FTW *where)
{
    return remove(path);
}

static GPid
end_daemon_and_start(gboolean delete_store)
{
    g_autoptr(QueryConnection) before = open_connection();
    g_autoptr(QueryConnection) after = NULL;
    g_autofree char *folder = g_build_filename(g_get_user_data_dir(), "queryd", NULL);

    end_process(get_daemon_pid());
    if (delete_store)
        (void) nftw(folder, delete_entry, 8, FTW_DEPTH | FTW_PHYS);
    after = open_connection();
    (void) query_number(after, "SELECT 1"); /* it answers before it has opened the database */
    return get_daemon_pid();
}

GPid
restart_daemon(void)
{
    return end_daemon_and_start(FALSE);
}

GPid
restart_daemon_anew(void)
{
    return end_daemon_and_start(TRUE);
}

char *
get_database_path(void)
{
    return g_build_filename(g_get_user_data_dir(), "queryd", "queryd.db", NULL);
}

static guint
count_running(QueryConnection *connection)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GVariant) queries = query_connection_list_queries(connection, NULL, &error);
    GVariantIter iter;
    GVariant *query;
    guint n = 0;

    die_on_error(error, "list of queries");
    g_variant_iter_init(&iter, queries);
    while (g_variant_iter_loop(&iter, "@a{sv}", &query)) {
        const char *state = "";

        n += g_variant_lookup(query, "state", "&s", &state) && g_str_equal(state, "running");
    }
    return n;
}

void
wait_until_running(QueryConnection *connection, guint n)
{
    gint64 deadline_usec = g_get_monotonic_time() + POLL_MAX_USEC;

    while (count_running(connection) < n) {
        if (g_get_monotonic_time() > deadline_usec) {
            (void) fprintf(stderr, "the daemon does not run %u queries\n", n);
            exit(2);
        }
        g_usleep(POLL_INTERVAL_USEC);
    }
}
