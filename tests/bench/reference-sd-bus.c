/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows are appended value by value, as any such service does; the message is what holds the result.
 */
#include "tests/bench/reference-sd-bus.h"

#include <errno.h>
#include <gio/gio.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/bench/reference-database.h"
#include "tests/demo/founding-table.h"
#include "tests/demo/helper.h"

static int
append_row(sd_bus_message *message, sqlite3_stmt *stmt)
{
    int n_columns = sqlite3_column_count(stmt);
    int r = sd_bus_message_open_container(message, 'a', "s");

    for (int i = 0; r >= 0 && i < n_columns; i++)
        r = sd_bus_message_append_basic(message, 's', sqlite3_column_text(stmt, i));
    return r < 0 ? r : sd_bus_message_close_container(message);
}

static int
handle_prepare(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
    const char *sql;
    int r = sd_bus_message_read(call, "s", &sql);

    if (r < 0)
        return r;
    if (!reference_database_prepare(userdata, sql))
        return -EINVAL;
    return sd_bus_reply_method_return(call, "");
}

static int
handle_fetch(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
    ReferenceDatabase *database = userdata;
    sd_bus_message *reply = NULL;
    guint32 n_rows;
    int r = sd_bus_message_read(call, "u", &n_rows);

    if (r >= 0)
        r = sd_bus_message_new_method_return(call, &reply);
    if (r >= 0)
        r = sd_bus_message_open_container(reply, 'a', "as");
    while (r >= 0 && n_rows-- > 0 && reference_database_step(database))
        r = append_row(reply, database->stmt);
    if (r >= 0)
        r = sd_bus_message_close_container(reply);
    if (r >= 0)
        r = sd_bus_send(NULL, reply, NULL);
    sd_bus_message_unref(reply);
    return r;
}

static int
handle_lookup(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
    ReferenceDatabase *database = userdata;
    sd_bus_message *reply = NULL;
    gint64 id;
    int r = sd_bus_message_read(call, "x", &id);

    if (r >= 0)
        r = sd_bus_message_new_method_return(call, &reply);
    if (r >= 0)
        r = reference_database_look_up(database, id) ? append_row(reply, database->lookup) : -ENOENT;
    (void) sqlite3_reset(database->lookup);
    if (r >= 0)
        r = sd_bus_send(NULL, reply, NULL);
    sd_bus_message_unref(reply);
    return r;
}

/* What queryd's Query answers to a look-up, without the look-up: the message alone. */
static int
handle_query(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
    sd_bus_message *reply = NULL;
    gint64 id = 1;
    int r = sd_bus_message_new_method_return(call, &reply);

    if (r >= 0)
        r = sd_bus_message_open_container(reply, 'a', "s");
    for (guint i = 0; r >= 0 && i <= FOUNDING_TEXTS; i++)
        r = sd_bus_message_append(reply, "s", "column");
    if (r >= 0)
        r = sd_bus_message_close_container(reply);
    if (r >= 0)
        r = sd_bus_message_open_container(reply, 'a', "av");
    if (r >= 0)
        r = sd_bus_message_open_container(reply, 'a', "v");
    if (r >= 0)
        r = sd_bus_message_append(reply, "v", "x", id);
    for (guint i = 0; r >= 0 && i < FOUNDING_TEXTS; i++)
        r = sd_bus_message_append(reply, "v", "s", "twenty letters of it");
    if (r >= 0)
        r = sd_bus_message_close_container(reply);
    if (r >= 0)
        r = sd_bus_message_close_container(reply);
    if (r >= 0)
        r = sd_bus_message_append(reply, "b", 0);
    if (r >= 0)
        r = sd_bus_send(NULL, reply, NULL);
    sd_bus_message_unref(reply);
    return r;
}

static int
handle_ping(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
    return sd_bus_reply_method_return(call, "");
}

static int
handle_get_integer(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
    sd_bus_message *reply = NULL;
    guint32 n;
    int r = sd_bus_message_read(call, "u", &n);

    if (r >= 0)
        r = sd_bus_message_new_method_return(call, &reply);
    if (r >= 0)
        r = reference_sd_bus_append_integers(reply, n);
    if (r >= 0)
        r = sd_bus_send(NULL, reply, NULL);
    sd_bus_message_unref(reply);
    return r;
}

static const sd_bus_vtable vtable[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD_WITH_ARGS("Prepare", SD_BUS_ARGS("s", sql), SD_BUS_NO_RESULT, handle_prepare, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Fetch", SD_BUS_ARGS("u", n_rows), SD_BUS_RESULT("aas", rows), handle_fetch,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Lookup", SD_BUS_ARGS("x", id), SD_BUS_RESULT("as", row), handle_lookup, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Query", SD_BUS_ARGS("s", language, "s", text, "a{sv}", parameters, "a{sv}", options),
                            SD_BUS_RESULT("as", columns, "aav", rows, "b", truncated), handle_query, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Ping", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, handle_ping, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("GetInteger", SD_BUS_ARGS("u", n), SD_BUS_RESULT("ai", numbers), handle_get_integer,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END,
};

int
reference_sd_bus_append_integers(sd_bus_message *message, guint32 n)
{
    int r = sd_bus_message_open_container(message, 'a', "i");

    for (guint32 i = 0; r >= 0 && i < MIN(n, REFERENCE_INTEGERS_MAX); i++) {
        gint32 number = (gint32) i;

        r = sd_bus_message_append_basic(message, 'i', &number);
    }
    return r < 0 ? r : sd_bus_message_close_container(message);
}

static void
serve(sd_bus *bus)
{
    int r;

    do {
        r = sd_bus_process(bus, NULL);
        if (r == 0)
            r = sd_bus_wait(bus, UINT64_MAX);
    } while (r >= 0);
}

int
reference_sd_bus_serve(int argc, char **argv)
{
    ReferenceDatabase database;
    sd_bus *bus = NULL;
    int r;

    helper_end_with_input();
    reference_database_open(&database, argc > 2 ? argv[2] : "");
    r = sd_bus_open_user(&bus);
    if (r >= 0)
        r = sd_bus_add_object_vtable(bus, NULL, REFERENCE_PATH, REFERENCE_INTERFACE, vtable, &database);
    if (r >= 0)
        r = sd_bus_request_name(bus, REFERENCE_SD_BUS_NAME, 0);
    if (r < 0) {
        (void) fprintf(stderr, "sd-bus service: %s\n", g_strerror(-r));
        return 2;
    }
    helper_say_in_position();
    serve(bus);
    return 0;
}

GPtrArray *
reference_sd_bus_start(const char *path, const char *address, GPid *ret_pid)
{
    g_autofree char *before = g_strdup(g_getenv("DBUS_SESSION_BUS_ADDRESS"));
    GPtrArray *helpers;

    if (address != NULL)
        g_setenv("DBUS_SESSION_BUS_ADDRESS", address, TRUE);
    helpers = helpers_start(1, (const char *[]){ REFERENCE_SD_BUS_ROLE, path, NULL });
    g_setenv("DBUS_SESSION_BUS_ADDRESS", before, TRUE);
    *ret_pid = (GPid) atoi(g_subprocess_get_identifier(helpers->pdata[0]));
    return helpers;
}

static G_GNUC_NORETURN void
serve_peer(int fd, const char *path)
{
    ReferenceDatabase database;
    sd_bus *bus = NULL;
    sd_id128_t id;

    reference_database_open(&database, path);
    (void) sd_id128_randomize(&id);
    if (sd_bus_new(&bus) < 0 || sd_bus_set_fd(bus, fd, fd) < 0 || sd_bus_set_server(bus, 1, id) < 0 ||
        sd_bus_set_anonymous(bus, 1) < 0 || sd_bus_set_trusted(bus, 1) < 0 || sd_bus_start(bus) < 0 ||
        sd_bus_add_object_vtable(bus, NULL, REFERENCE_PATH, REFERENCE_INTERFACE, vtable, &database) < 0)
        _exit(1);
    serve(bus);
    _exit(0);
}

sd_bus *
reference_sd_bus_start_peer(const Bench *bench, const char *path, GPid *ret_pid)
{
    sd_bus *bus = NULL;
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
        bench_fail(bench, "socketpair: %s", g_strerror(errno));
    *ret_pid = fork();
    if (*ret_pid == 0) {
        (void) close(fds[0]);
        serve_peer(fds[1], path);
    }
    (void) close(fds[1]);
    if (*ret_pid < 0 || sd_bus_new(&bus) < 0 || sd_bus_set_fd(bus, fds[0], fds[0]) < 0 || sd_bus_set_anonymous(bus, 1) < 0 ||
        sd_bus_start(bus) < 0)
        bench_fail(bench, "cannot connect without a bus");
    return bus;
}
