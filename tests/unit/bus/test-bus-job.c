/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Jobs: the path comes first, then the end; what Cancel does; how a job can be asked afterwards.
 */
#include "daemon/bus/bus-job.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "tests/unit/bus/bus-fixture.h"

typedef struct Finished {
    char *path;
    char *state;
    char *error_name;
    char *error_message;
    uint64_t n_rows;
    uint64_t n_bytes;
    sd_bus_slot *slot;
} Finished;

static int
on_finished(sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
    Finished *self = user_data;
    const char *state;
    const char *error_name;
    const char *error_message;

    g_assert_null(self->state);
    g_assert_cmpint(sd_bus_message_read(message, "sttss", &state, &self->n_rows, &self->n_bytes, &error_name, &error_message), >,
                    0);
    self->path = g_strdup(sd_bus_message_get_path(message));
    self->state = g_strdup(state);
    self->error_name = g_strdup(error_name);
    self->error_message = g_strdup(error_message);
    return 0;
}

static void
finished_watch(Finished *self, BusFixture *fixture)
{
    g_assert_cmpint(sd_bus_match_signal(fixture->client, &self->slot, NULL, NULL, BUS_FIXTURE_JOB, "Finished", on_finished, self),
                    >=, 0);
}

static void
finished_wait(Finished *self, BusFixture *fixture)
{
    while (self->state == NULL)
        bus_fixture_run(fixture);
}

static void
finished_clear(Finished *self)
{
    sd_bus_slot_unref(self->slot);
    g_free(self->path);
    g_free(self->state);
    g_free(self->error_name);
    g_free(self->error_message);
}

static char *
start_import(BusFixture *self, int fd, const char *format)
{
    sd_bus_message *call = bus_fixture_new_call(self, BUS_FIXTURE_INTERFACE, "Import");
    sd_bus_message *reply;
    const char *path;
    char *copy;

    g_assert_cmpint(sd_bus_message_append(call, "hsa{sv}", fd, format, 2, "table", "s", "t", "create", "b", TRUE), >=, 0);
    reply = bus_fixture_call_ok(self, call);
    g_assert_cmpint(sd_bus_message_read(reply, "o", &path), >, 0);
    copy = g_strdup(path);
    sd_bus_message_unref(reply);
    return copy;
}

static sd_bus_message *
new_job_call(BusFixture *self, const char *path, const char *interface, const char *member)
{
    sd_bus_message *call = NULL;

    g_assert_cmpint(sd_bus_message_new_method_call(self->client, &call, NULL, path, interface, member), >=, 0);
    return call;
}

static char *
get_text(BusFixture *self, const char *path, const char *property)
{
    sd_bus_message *call = new_job_call(self, path, "org.freedesktop.DBus.Properties", "Get");
    sd_bus_message *reply;
    const char *text;
    char *copy;

    g_assert_cmpint(sd_bus_message_append(call, "ss", BUS_FIXTURE_JOB, property), >=, 0);
    reply = bus_fixture_call_ok(self, call);
    g_assert_cmpint(sd_bus_message_read(reply, "v", "s", &text), >, 0);
    copy = g_strdup(text);
    sd_bus_message_unref(reply);
    return copy;
}

static void
test_import(BusFixture *self, gconstpointer data)
{
    static const char text[] = "a,b\n1,x\n2,y\n";
    Finished finished = { 0 };
    int fds[2];
    g_autofree char *path = NULL;
    g_autofree char *state = NULL;
    g_autofree char *kind = NULL;

    finished_watch(&finished, self);
    g_assert_cmpint(pipe2(fds, O_CLOEXEC), ==, 0);
    path = start_import(self, fds[0], "csv");
    g_assert_null(finished.state); /* the path is known before the end is reported */
    g_assert_cmpuint(qd_bus_service_get_n_calls(self->service), ==, 1);
    g_assert_cmpint(write(fds[1], text, strlen(text)), ==, (gssize) strlen(text));
    (void) qd_fd_close(fds[1]);
    (void) qd_fd_close(fds[0]);

    finished_wait(&finished, self);
    g_assert_cmpstr(finished.error_message, ==, "");
    g_assert_cmpstr(finished.state, ==, "finished");
    g_assert_cmpstr(finished.error_name, ==, "");
    g_assert_cmpstr(finished.path, ==, path);
    g_assert_cmpuint(finished.n_rows, ==, 2);
    g_assert_cmpuint(finished.n_bytes, ==, strlen(text));

    /* It can still be asked, and keeps the daemon from leaving. */
    state = get_text(self, path, "State");
    kind = get_text(self, path, "Kind");
    g_assert_cmpstr(state, ==, "finished");
    g_assert_cmpstr(kind, ==, "import");
    g_assert_true(qd_bus_service_is_answered(self->service));
    g_assert_false(qd_bus_service_is_idle(self->service));
    finished_clear(&finished);
}

static void
test_cancel(BusFixture *self, gconstpointer data)
{
    Finished finished = { 0 };
    int fds[2];
    g_autofree char *path = NULL;
    g_autofree char *error_name = NULL;

    finished_watch(&finished, self);
    g_assert_cmpint(pipe2(fds, O_CLOEXEC), ==, 0); /* never written: the job waits */
    path = start_import(self, fds[0], "csv");
    sd_bus_message_unref(bus_fixture_call_ok(self, new_job_call(self, path, BUS_FIXTURE_JOB, "Cancel")));
    finished_wait(&finished, self);
    g_assert_cmpstr(finished.state, ==, "cancelled");
    g_assert_cmpstr(finished.error_name, ==, "org.queryd.Query1.Error.Cancelled");
    error_name = get_text(self, path, "ErrorName");
    g_assert_cmpstr(error_name, ==, finished.error_name);

    /* Once more is harmless. */
    sd_bus_message_unref(bus_fixture_call_ok(self, new_job_call(self, path, BUS_FIXTURE_JOB, "Cancel")));
    (void) qd_fd_close(fds[0]);
    (void) qd_fd_close(fds[1]);
    finished_clear(&finished);
}

static void
test_failure(BusFixture *self, gconstpointer data)
{
    Finished finished = { 0 };
    g_auto(QdFd) fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    g_autofree char *path = NULL;

    finished_watch(&finished, self);
    path = start_import(self, fd, "parquet");
    finished_wait(&finished, self);
    g_assert_cmpstr(finished.state, ==, "failed");
    g_assert_true(g_str_has_prefix(finished.error_name, "org.queryd.Query1.Error."));
    g_assert_cmpstr(finished.error_message, !=, "");
    finished_clear(&finished);
}

static void
test_unknown_path(BusFixture *self, gconstpointer data)
{
    sd_bus_message *reply = bus_fixture_call(self, new_job_call(self, BUS_FIXTURE_PATH "/job/77", BUS_FIXTURE_JOB, "Cancel"));

    g_assert_cmpint(sd_bus_message_is_method_error(reply, "org.freedesktop.DBus.Error.UnknownObject"), >, 0);
    sd_bus_message_unref(reply);
}

static void
test_end_with_job(BusFixture *self, gconstpointer data)
{
    g_autofree char *path = NULL;
    int fds[2];

    g_assert_cmpint(pipe2(fds, O_CLOEXEC), ==, 0);
    path = start_import(self, fds[0], "csv");
    qd_bus_service_cancel_calls(self->service);
    while (qd_bus_service_get_n_calls(self->service) > 0)
        bus_fixture_run(self);
    (void) qd_fd_close(fds[0]);
    (void) qd_fd_close(fds[1]);
}

#define ADD(path, func) g_test_add("/bus/job/" path, BusFixture, NULL, bus_fixture_set_up, func, bus_fixture_tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("import", test_import);
    ADD("cancel", test_cancel);
    ADD("failure", test_failure);
    ADD("unknown-path", test_unknown_path);
    ADD("end-with-job", test_end_with_job);
    return g_test_run();
}
