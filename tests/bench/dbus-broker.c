/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The policy is what its own launcher would send for a session: one batch for every user that connects, sends and receives all.
 */
#include "tests/bench/dbus-broker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "tests/demo/helper.h"
#include "tests/demo/store-control.h"

/* connect allowed at priority; own names; send and receive rules */
#define BATCH "bta(btbs)a(btssssuutt)a(btssssuutt)"
#define POLICY "(a(u(" BATCH "))a(buu(" BATCH "))a(ss)bs)"
#define ANY_USER UINT32_MAX
#define PRIORITY ((uint64_t) 1)

/* One rule each for names, sending and receiving: all is allowed. */
static int
append_batch(sd_bus_message *message)
{
    return sd_bus_message_append(message, "(" BATCH ")", true, PRIORITY,                           /* connect */
                                 1, true, PRIORITY, true, "",                                      /* own any prefix */
                                 1, true, PRIORITY, "", "", "", "", 0, 0, UINT64_C(0), UINT64_MAX, /* send */
                                 1, true, PRIORITY, "", "", "", "", 0, 0, UINT64_C(0), UINT64_MAX /* receive */);
}

static int
append_policy(sd_bus_message *message)
{
    int r = sd_bus_message_open_container(message, 'v', POLICY);

    if (r >= 0)
        r = sd_bus_message_open_container(message, 'r', "a(u(" BATCH "))a(buu(" BATCH "))a(ss)bs");
    if (r >= 0)
        r = sd_bus_message_open_container(message, 'a', "(u(" BATCH "))");
    if (r >= 0)
        r = sd_bus_message_open_container(message, 'r', "u(" BATCH ")");
    if (r >= 0)
        r = sd_bus_message_append(message, "u", ANY_USER);
    if (r >= 0)
        r = append_batch(message);
    if (r >= 0)
        r = sd_bus_message_close_container(message);
    if (r >= 0)
        r = sd_bus_message_close_container(message);
    if (r >= 0)
        r = sd_bus_message_append(message, "a(buu(" BATCH "))", 0);
    if (r >= 0)
        r = sd_bus_message_append(message, "a(ss)bs", 0, false, "session");
    if (r >= 0)
        r = sd_bus_message_close_container(message);
    return r < 0 ? r : sd_bus_message_close_container(message);
}

static int
add_listener(sd_bus *controller, int listener)
{
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *call = NULL;
    int r = sd_bus_message_new_method_call(controller, &call, NULL, "/org/bus1/DBus/Broker", "org.bus1.DBus.Broker", "AddListener");

    if (r >= 0)
        r = sd_bus_message_append(call, "oh", "/org/bus1/DBus/Listener/0", listener);
    if (r >= 0)
        r = append_policy(call);
    if (r >= 0)
        r = sd_bus_call(controller, call, 0, &error, NULL);
    if (r < 0)
        (void) fprintf(stderr, "dbus-broker: %s\n", error.message != NULL ? error.message : g_strerror(-r));
    sd_bus_error_free(&error);
    sd_bus_message_unref(call);
    return r;
}

static int
listen_at(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    (void) g_strlcpy(address.sun_path, path, sizeof address.sun_path);
    if (fd < 0 || bind(fd, (const struct sockaddr *) &address, sizeof address) != 0 || listen(fd, SOMAXCONN) != 0)
        return -errno;
    return fd;
}

/* The broker inherits one end and finds it by its number. Returns the other end. */
static int
start_broker(const char *program)
{
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) != 0)
        return -errno;
    if (fork() == 0) {
        g_autofree char *number = g_strdup_printf("%d", fds[1]);

        (void) fcntl(fds[1], F_SETFD, 0);
        (void) execl(program, program, "--controller", number, "--machine-id", "00112233445566778899aabbccddeeff", "--max-bytes",
                     "1000000000", "--max-matches", "100000", "--max-objects", "100000", NULL);
        _exit(127);
    }
    (void) close(fds[1]);
    return fds[0];
}

int
dbus_broker_serve(int argc, char **argv)
{
    int listener = argc == 4 ? listen_at(argv[3]) : -EINVAL;
    int fd = listener >= 0 ? start_broker(argv[2]) : -EINVAL;
    sd_bus *controller = NULL;
    int r;

    helper_end_with_input(); /* the broker ends with its controller */
    if (fd < 0 || sd_bus_new(&controller) < 0 || sd_bus_set_fd(controller, fd, fd) < 0 || sd_bus_start(controller) < 0 ||
        add_listener(controller, listener) < 0)
        return 2;
    helper_say_in_position();
    do {
        r = sd_bus_process(controller, NULL);
        if (r == 0)
            r = sd_bus_wait(controller, UINT64_MAX);
    } while (r >= 0);
    return 0;
}

GPtrArray *
dbus_broker_start(char **ret_address)
{
    g_autofree char *program = g_strdup(g_getenv("QUERYD_DBUS_BROKER"));
    g_autofree char *name = g_strdup_printf("broker-%d", (int) getpid());
    g_autofree char *path = g_build_filename(g_get_user_runtime_dir(), name, NULL);

    if (program == NULL)
        program = g_find_program_in_path("dbus-broker");
    if (program == NULL)
        return NULL;

    *ret_address = g_strdup_printf("unix:path=%s", path);
    return helpers_start(1, (const char *[]){ DBUS_BROKER_ROLE, program, path, NULL });
}
