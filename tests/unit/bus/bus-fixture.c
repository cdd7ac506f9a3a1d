/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Set-up and tear-down of the service on a socketpair, and calls that run the loop.
 */
#include "tests/unit/bus/bus-fixture.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/error.h"

#define PATIENCE_USEC (10 * UINT64_C(1000000))

static rlim_t
set_limit(rlim_t n_descriptors)
{
    struct rlimit limit;
    rlim_t before;

    g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &limit), ==, 0);
    before = limit.rlim_cur;
    limit.rlim_cur = n_descriptors;
    g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &limit), ==, 0);
    return before;
}

rlim_t
bus_fixture_leave_descriptors(guint n)
{
    int next = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);

    g_assert_cmpint(next, >=, 0);
    g_assert_cmpint(close(next), ==, 0);
    return set_limit((rlim_t) next + n);
}

void
bus_fixture_free_descriptors(rlim_t before)
{
    (void) set_limit(before);
}

guint
bus_fixture_count_fds(void)
{
    g_autoptr(GDir) dir = g_dir_open("/proc/self/fd", 0, NULL);
    guint n = 0;

    while (g_dir_read_name(dir) != NULL)
        n++;
    return n;
}

static int
on_mail(sd_event_source *source, int fd, uint32_t events, void *user_data)
{
    qd_mailbox_dispatch(user_data);
    return 0;
}

static void
on_changed(uint64_t generation, const QdChanges *changes, void *user_data)
{
    BusFixture *self = user_data;

    if (self->service != NULL)
        qd_bus_service_notify_change(self->service, generation, changes);
}

static void
on_activity(void *user_data)
{
}

static gboolean
on_reload(GError **error, void *user_data)
{
    BusFixture *self = user_data;

    self->n_reloads++;
    if (self->refuse_reload)
        qd_error_set(error, QW_ERROR_BUSY, "not now");
    return !self->refuse_reload;
}

static void
start_buses(BusFixture *self)
{
    int fds[2];
    sd_id128_t id;

    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), ==, 0);
    g_assert_cmpint(sd_id128_randomize(&id), >=, 0);

    g_assert_cmpint(sd_bus_new(&self->server), >=, 0);
    g_assert_cmpint(sd_bus_set_fd(self->server, fds[0], fds[0]), >=, 0);
    g_assert_cmpint(sd_bus_set_server(self->server, TRUE, id), >=, 0);
    g_assert_cmpint(sd_bus_negotiate_fds(self->server, TRUE), >=, 0);
    g_assert_cmpint(sd_bus_start(self->server), >=, 0);
    g_assert_cmpint(sd_bus_attach_event(self->server, self->event, 0), >=, 0);

    g_assert_cmpint(sd_bus_new(&self->client), >=, 0);
    g_assert_cmpint(sd_bus_set_fd(self->client, fds[1], fds[1]), >=, 0);
    g_assert_cmpint(sd_bus_negotiate_fds(self->client, TRUE), >=, 0);
    g_assert_cmpint(sd_bus_start(self->client), >=, 0);
    g_assert_cmpint(sd_bus_attach_event(self->client, self->event, 0), >=, 0);

    /* sd_bus_send() of a descriptor waits for the handshake, whose other end is this thread. */
    while (sd_bus_is_ready(self->client) <= 0)
        bus_fixture_run(self);
}

void
bus_fixture_set_up(BusFixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    QdEngineConfig config = { .changed = on_changed, .activity = on_activity, .user_data = self };
    const QdBusServiceHooks hooks = { .reload = on_reload, .activity = on_activity, .user_data = self };

    self->n_fds = bus_fixture_count_fds();
    self->dir = g_dir_make_tmp("queryd-bus-XXXXXX", NULL);
    g_assert_cmpint(sd_event_new(&self->event), >=, 0);
    start_buses(self);

    self->mailbox = qd_mailbox_new(&error);
    g_assert_no_error(error);
    g_assert_cmpint(sd_event_add_io(self->event, NULL, qd_mailbox_get_fd(self->mailbox), EPOLLIN, on_mail, self->mailbox), >=, 0);

    config.directory = self->dir;
    qd_limits_init(&config.limits);
    self->engine = qd_engine_new(&config, self->mailbox, &error);
    g_assert_no_error(error);
    self->service = qd_bus_service_new(self->server, self->event, self->engine, &hooks, &error);
    g_assert_no_error(error);
}

static int
remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
    return remove(path);
}

void
bus_fixture_tear_down(BusFixture *self, gconstpointer data)
{
    self->engine = qd_engine_free(self->engine);
    self->service = qd_bus_service_free(self->service);
    sd_bus_close_unref(self->client);
    sd_bus_close_unref(self->server);
    self->mailbox = qd_mailbox_free(self->mailbox);
    sd_event_unref(self->event);
    g_assert_cmpint(nftw(self->dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS), ==, 0);
    g_free(self->dir);
    g_assert_cmpuint(bus_fixture_count_fds(), ==, self->n_fds);
}

void
bus_fixture_run(BusFixture *self)
{
    g_assert_cmpint(sd_event_run(self->event, PATIENCE_USEC), >, 0);
}

sd_bus_message *
bus_fixture_new_call(BusFixture *self, const char *interface, const char *member)
{
    sd_bus_message *call = NULL;

    g_assert_cmpint(sd_bus_message_new_method_call(self->client, &call, NULL, BUS_FIXTURE_PATH, interface, member), >=, 0);
    return call;
}

static int
on_reply(sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
    sd_bus_message **reply = user_data;

    *reply = sd_bus_message_ref(message);
    return 0;
}

sd_bus_message *
bus_fixture_call(BusFixture *self, sd_bus_message *call)
{
    sd_bus_message *reply = NULL;
    sd_bus_slot *slot = NULL;

    g_assert_cmpint(sd_bus_call_async(self->client, &slot, call, on_reply, &reply, 0), >=, 0);
    sd_bus_message_unref(call);
    while (reply == NULL)
        bus_fixture_run(self);
    sd_bus_slot_unref(slot);
    return reply;
}

sd_bus_message *
bus_fixture_call_ok(BusFixture *self, sd_bus_message *call)
{
    sd_bus_message *reply = bus_fixture_call(self, call);

    if (sd_bus_message_is_method_error(reply, NULL))
        g_error("unexpected error: %s", sd_bus_message_get_error(reply)->message);
    return reply;
}

void
bus_fixture_call_error(BusFixture *self, sd_bus_message *call, const char *name, const char *part)
{
    g_autofree char *whole_name = g_strconcat(QW_ERROR_DBUS_PREFIX, name, NULL);
    sd_bus_message *reply = bus_fixture_call(self, call);

    g_assert_cmpint(sd_bus_message_is_method_error(reply, NULL), >, 0);
    g_assert_cmpstr(sd_bus_message_get_error(reply)->name, ==, whole_name);
    if (strstr(sd_bus_message_get_error(reply)->message, part) == NULL)
        g_error("'%s' is not in '%s'", part, sd_bus_message_get_error(reply)->message);
    sd_bus_message_unref(reply);
}

void
bus_fixture_update(BusFixture *self, const char *text)
{
    sd_bus_message *call = bus_fixture_new_call(self, BUS_FIXTURE_INTERFACE, "Update");

    g_assert_cmpint(sd_bus_message_append(call, "ssa{sv}a{sv}", "sql", text, 0, 0), >=, 0);
    sd_bus_message_unref(bus_fixture_call_ok(self, call));
}

sd_bus *
bus_fixture_new_message_bus(void)
{
    sd_bus *bus = NULL;
    int fds[2];

    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), ==, 0);
    g_assert_cmpint(sd_bus_new(&bus), >=, 0);
    g_assert_cmpint(sd_bus_set_fd(bus, fds[0], fds[0]), >=, 0);
    g_assert_cmpint(sd_bus_start(bus), >=, 0);
    (void) close(fds[1]);
    return bus;
}

sd_bus_message *
bus_fixture_new_message(sd_bus *bus)
{
    sd_bus_message *message = NULL;

    g_assert_cmpint(sd_bus_message_new_method_call(bus, &message, NULL, "/", "a.b", "C"), >=, 0);
    return message;
}

void
bus_fixture_seal(sd_bus_message *message)
{
    g_assert_cmpint(sd_bus_message_seal(message, 1, 0), >=, 0);
    g_assert_cmpint(sd_bus_message_rewind(message, TRUE), >=, 0);
}
