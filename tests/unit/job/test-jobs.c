/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many jobs there are at once, what descriptors they take, and how they end that wait for the other side of one.
 */
#include "daemon/job/jobs.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "daemon/job/job-classes.h"
#include "tests/unit/engine/engine-fixture.h"

/* (transfer full): an import that waits for what comes through *@ret_writer. */
static QdCall *
start_waiting(EngineFixture *self, QdClient *client, int *ret_writer)
{
    QdCall *call = qd_call_new(&qd_import_call, client);
    int fds[2];

    g_assert_cmpint(pipe2(fds, O_CLOEXEC), ==, 0);
    call->format = g_strdup("csv");
    call->options.transfer.table = g_strdup("t");
    call->fd = fds[0];
    *ret_writer = fds[1];
    engine_fixture_submit(self, call);
    return call;
}

static void
test_of_one_client(EngineFixture *self, gconstpointer data)
{
    g_auto(QdFd) writer = -1;
    g_autoptr(QdCall) waiting = start_waiting(self, self->client, &writer);
    g_autoptr(QdCall) next = NULL;
    QdCall *check;

    engine_fixture_fail(self, engine_fixture_make_call(self, &qd_dump_call, "nquads", ""), QW_ERROR_BUSY,
                        "too many jobs of client 'test': the limit 'jobs_per_client' is 1");
    check = qd_call_new(&qd_check_call, self->client); /* counts as none */
    g_assert_true(engine_fixture_run(self, check));
    qd_call_free(check);
    g_assert_cmpuint(qd_jobs_get_n(self->engine->context.jobs), >=, 1);
    g_assert_cmpint(write(writer, "a,b\n1,2\n", 8), ==, 8);
    writer = qd_fd_close(writer);
    engine_fixture_await(self, waiting);
    g_assert_no_error(waiting->result.error);
    g_assert_cmpuint(waiting->result.n_rows, ==, 1);
    next = engine_fixture_make_call(self, &qd_dump_call, "nquads", "");
    g_assert_true(engine_fixture_run(self, next));
}

static void
test_of_all_clients(EngineFixture *self, gconstpointer data)
{
    g_autoptr(QdClient) other = NULL;
    g_auto(QdFd) writer = -1;
    g_autoptr(QdCall) waiting = NULL;
    g_autoptr(QdCall) next = NULL;

    self->store.limits.values[QD_LIMIT_JOBS] = 1;
    self->store.limits.values[QD_LIMIT_JOBS_WAITING] = 0;
    engine_fixture_restart(self);
    other = qd_client_new("other");
    waiting = start_waiting(self, other, &writer);
    for (guint i = 0; i < 2; i++) /* the refused one is not charged */
        engine_fixture_fail(self, engine_fixture_make_call(self, &qd_dump_call, "nquads", ""), QW_ERROR_BUSY,
                            "too many jobs: the limit 'jobs' is 1");
    qd_engine_cancel(self->engine, waiting);
    engine_fixture_await(self, waiting);
    store_assert_error(waiting->result.error, QW_ERROR_CANCELLED, "job was cancelled");
    next = engine_fixture_make_call(self, &qd_dump_call, "nquads", "");
    g_assert_true(engine_fixture_run(self, next));
}

/* After a second: others have its place, and it goes on although that is taken. */
static void
test_waiting_gives_place(EngineFixture *self, gconstpointer data)
{
    g_autoptr(QdClient) other = NULL;
    g_autoptr(QdClient) third = NULL;
    g_auto(QdFd) writer = -1;
    g_auto(QdFd) next_writer = -1;
    g_autoptr(QdCall) waiting = NULL;
    g_autoptr(QdCall) next = NULL;
    gboolean has_place = FALSE;

    self->store.limits.values[QD_LIMIT_JOBS] = 1;
    self->store.limits.values[QD_LIMIT_JOBS_WAITING] = 1;
    engine_fixture_restart(self);
    other = qd_client_new("other");
    third = qd_client_new("third");
    waiting = start_waiting(self, other, &writer);
    while (!has_place) {
        QdCall *dump = engine_fixture_make_call(self, &qd_dump_call, "nquads", "");

        has_place = engine_fixture_run(self, dump);
        qd_call_free(dump);
    }
    next = start_waiting(self, third, &next_writer);
    engine_fixture_fail(self, engine_fixture_make_call(self, &qd_dump_call, "nquads", ""), QW_ERROR_BUSY,
                        "too many jobs: the limit 'jobs' is 1");
    g_assert_cmpint(write(writer, "a,b\n1,2\n", 8), ==, 8);
    writer = qd_fd_close(writer);
    engine_fixture_await(self, waiting);
    g_assert_no_error(waiting->result.error);
    qd_engine_cancel(self->engine, next);
    engine_fixture_await(self, next);
}

/* A daemon that ends does not wait for the other side. */
static void
test_stop(EngineFixture *self, gconstpointer data)
{
    g_auto(QdFd) writer = -1;
    g_autoptr(QdCall) waiting = start_waiting(self, self->client, &writer);

    engine_fixture_stop(self);
    g_assert_cmpuint(self->ended->len, ==, 1);
    g_assert_true(g_ptr_array_remove(self->ended, waiting));
    store_assert_error(waiting->result.error, QW_ERROR_CANCELLED, "job was cancelled");
}

static void
test_idle_other_side(EngineFixture *self, gconstpointer data)
{
    g_auto(QdFd) writer = -1;
    g_autoptr(QdCall) waiting = NULL;

    self->store.limits.values[QD_LIMIT_READER_IDLE_MSEC] = 100;
    engine_fixture_restart(self);
    waiting = start_waiting(self, self->client, &writer);
    engine_fixture_await(self, waiting);
    store_assert_error(waiting->result.error, QW_ERROR_TIMEOUT,
                       "the other side of the descriptor does nothing: the limit 'reader_idle_ms' is 100 ms");
}

static void
test_descriptors(EngineFixture *self, gconstpointer data)
{
    QdCall *call = engine_fixture_make_call(self, &qd_dump_call, "nquads", "");

    (void) close(call->fd);
    call->fd = epoll_create1(EPOLL_CLOEXEC);
    engine_fixture_fail(self, call, QW_ERROR_BAD_PARAMETER, "neither file, pipe, socket nor character device");
    call = engine_fixture_make_call(self, &qd_dump_call, "nquads", "");
    (void) close(call->fd);
    call->fd = -1;
    engine_fixture_fail(self, call, QW_ERROR_INTERNAL, "cannot look at the descriptor: Bad file descriptor");
}

int
main(int argc, char **argv)
{
    engine_fixture_init(&argc, &argv);
#define ADD(path, func) g_test_add("/job/jobs/" path, EngineFixture, NULL, engine_fixture_set_up, func, engine_fixture_tear_down)
    ADD("limit/of-one-client", test_of_one_client);
    ADD("limit/of-all-clients", test_of_all_clients);
    ADD("limit/waiting-gives-place", test_waiting_gives_place);
    ADD("stop", test_stop);
    ADD("idle-other-side", test_idle_other_side);
    ADD("descriptors", test_descriptors);
    return g_test_run();
}
