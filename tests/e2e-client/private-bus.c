/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A private session bus by GTestDBus, with queryd and some services that do not start.
 */
#include "tests/e2e-client/private-bus.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>

#define DAEMON_NAME "org.queryd.Query1"
#define ELSEWHERE_NAME DAEMON_NAME "." PRIVATE_BUS_STORE_ELSEWHERE

struct PrivateBus {
    char *folder;
    GTestDBus *bus;
    GDBusConnection *connection;
};

static void
write_service(PrivateBus *self, const char *name, const char *command)
{
    g_autofree char *path = g_strdup_printf("%s/services/%s.service", self->folder, name);
    g_autofree char *text = g_strdup_printf("[D-BUS Service]\nName=%s\nExec=%s\n", name, command);

    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static void
write_store_elsewhere(PrivateBus *self)
{
    g_autofree char *config = g_build_filename(self->folder, "elsewhere.conf", NULL);
    g_autofree char *limits = g_strdup_printf("[Limits]\npayloads_per_call=%d\n", PRIVATE_BUS_PAYLOADS_PER_CALL);
    g_autofree char *command = g_strdup_printf("%s --store=" PRIVATE_BUS_STORE_ELSEWHERE " --directory=%s/elsewhere --config=%s",
                                               g_getenv("QUERYD"), self->folder, config);

    g_assert_true(g_file_set_contents(config, limits, -1, NULL));
    write_service(self, ELSEWHERE_NAME, command);
}

static void
make_folder(PrivateBus *self, const char *name, const char *variable)
{
    g_autofree char *path = g_build_filename(self->folder, name, NULL);

    g_assert_cmpint(g_mkdir(path, 0700), ==, 0);
    if (variable != NULL)
        g_assert_true(g_setenv(variable, path, TRUE));
}

static void
start(PrivateBus *self)
{
    g_autoptr(GError) error = NULL;

    g_test_dbus_up(self->bus);
    self->connection = g_dbus_connection_new_for_address_sync(
        g_test_dbus_get_bus_address(self->bus),
        G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION, NULL, NULL, &error);
    g_assert_no_error(error);
}

PrivateBus *
private_bus_new(void)
{
    PrivateBus *self = g_new0(PrivateBus, 1);
    g_autofree char *services = NULL;
    g_autoptr(GError) error = NULL;

    self->folder = g_dir_make_tmp("queryd-client-XXXXXX", &error);
    g_assert_no_error(error);
    make_folder(self, "services", NULL);
    make_folder(self, "home", "HOME");
    make_folder(self, "data", "XDG_DATA_HOME");
    make_folder(self, "config", "XDG_CONFIG_HOME");
    make_folder(self, "run", "XDG_RUNTIME_DIR");
    write_service(self, DAEMON_NAME, g_getenv("QUERYD"));
    write_store_elsewhere(self);
    write_service(self, DAEMON_NAME ".exits", "/bin/false");
    write_service(self, DAEMON_NAME ".hangs", "/bin/sleep 7");

    self->bus = g_test_dbus_new(G_TEST_DBUS_NONE);
    services = g_build_filename(self->folder, "services", NULL);
    g_test_dbus_add_service_dir(self->bus, services);
    start(self);
    return self;
}

void
private_bus_restart(PrivateBus *self)
{
    g_object_unref(self->connection);
    g_test_dbus_down(self->bus);
    start(self);
}

static void
remove_tree(const char *path)
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;

    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *child = g_build_filename(path, name, NULL);

        remove_tree(child);
    }
    (void) g_remove(path);
}

const char *
private_bus_get_folder(const PrivateBus *self)
{
    return self->folder;
}

GPid
private_bus_get_owner_pid(PrivateBus *self, const char *name)
{
    g_autoptr(GVariant) reply = NULL;
    guint32 pid = 0;

    reply = g_dbus_connection_call_sync(self->connection, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                        "GetConnectionUnixProcessID", g_variant_new("(s)", name), G_VARIANT_TYPE("(u)"),
                                        G_DBUS_CALL_FLAGS_NONE, -1, NULL, NULL);
    if (reply != NULL)
        g_variant_get(reply, "(u)", &pid);
    return (GPid) pid;
}

typedef struct KillState {
    GPid pid;
    int signal_number;
    gboolean is_gone;
} KillState;

/* Only now is the watch in place: nothing of the end can be missed. */
static void
on_appeared(GDBusConnection *connection, const char *name, const char *owner, gpointer user_data)
{
    KillState *state = user_data;

    g_assert_cmpint(kill(state->pid, state->signal_number), ==, 0);
}

static void
on_vanished(GDBusConnection *connection, const char *name, gpointer user_data)
{
    ((KillState *) user_data)->is_gone = TRUE;
}

static void
kill_service(PrivateBus *self, const char *name, int signal_number)
{
    KillState state = { .pid = private_bus_get_owner_pid(self, name), .signal_number = signal_number };
    guint watch;

    g_assert_cmpint(state.pid, !=, 0);
    watch = g_bus_watch_name_on_connection(self->connection, name, G_BUS_NAME_WATCHER_FLAGS_NONE, on_appeared, on_vanished, &state,
                                           NULL);
    while (!state.is_gone)
        g_main_context_iteration(g_main_context_get_thread_default(), TRUE); /* inside a progress function: the job's own */
    g_bus_unwatch_name(watch);
}

void
private_bus_kill_daemon(PrivateBus *self, int signal_number)
{
    kill_service(self, DAEMON_NAME, signal_number);
}

void
private_bus_free(PrivateBus *self)
{
    static const char *const names[] = { DAEMON_NAME, ELSEWHERE_NAME };

    for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
        if (private_bus_get_owner_pid(self, names[i]) != 0)
            kill_service(self, names[i], SIGTERM);
    g_assert_true(g_dbus_connection_close_sync(self->connection, NULL, NULL));
    g_object_unref(self->connection);
    g_test_dbus_down(self->bus);
    g_object_unref(self->bus);
    remove_tree(self->folder);
    g_free(self->folder);
    g_free(self);
}

/* Whether all threads of it have stopped, or its folder is not there. */
static gboolean
is_stopped(pid_t pid)
{
    g_autofree char *folder = g_strdup_printf("/proc/%d/task", (int) pid);
    g_autoptr(GDir) tasks = g_dir_open(folder, 0, NULL);
    const char *task;

    while (tasks != NULL && (task = g_dir_read_name(tasks)) != NULL) {
        g_autofree char *path = g_build_filename(folder, task, "stat", NULL);
        g_autofree char *stat = NULL;
        const char *state;

        if (!g_file_get_contents(path, &stat, NULL, NULL))
            continue;
        state = strrchr(stat, ')');
        if (state != NULL && !g_str_has_prefix(state, ") T"))
            return FALSE;
    }
    return TRUE;
}

void
private_bus_stop(pid_t pid)
{
    g_assert_cmpint(kill(pid, SIGSTOP), ==, 0);
    while (!is_stopped(pid))
        g_thread_yield();
}
