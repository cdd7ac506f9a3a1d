/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Payloads by descriptor, for callers in a sandbox and for those who change their mind.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "daemon/call/call-classes.h"
#include "tests/unit/engine/engine-fixture.h"

#define LARGE_BYTES 100000

static QdCall *
make_store(const EngineFixture *self, gsize n_bytes)
{
    g_autofree char *content = g_malloc(n_bytes + 1);

    memset(content, 'x', n_bytes);
    content[n_bytes] = '\0';
    return engine_fixture_make_call(self, &qd_store_payload_call, NULL, content);
}

static int64_t
store(EngineFixture *self, gsize n_bytes)
{
    g_autoptr(QdCall) call = make_store(self, n_bytes);

    (void) engine_fixture_run(self, call);
    g_assert_no_error(call->result.error);
    return call->payload_id;
}

static QdCall *
make_open(const EngineFixture *self, int64_t id)
{
    QdCall *call = qd_call_new(&qd_open_payloads_call, self->client);

    call->payload_ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
    g_array_append_val(call->payload_ids, id);
    return call;
}

/* It may own the store's file as much as the daemon does, and could change it: so it gets a sealed copy. */
static void
test_copy_for_a_sandbox(EngineFixture *self, gconstpointer data)
{
    int64_t id = store(self, LARGE_BYTES);
    g_autoptr(QdCall) call = NULL;
    const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
    char end[2] = { 0 };
    int fd;

    engine_fixture_sandbox(self->client);
    call = make_open(self, id);
    (void) engine_fixture_run(self, call);
    g_assert_no_error(call->result.error);
    fd = g_array_index(call->result.payload_fds, int, 0);
    g_assert_cmpint(fcntl(fd, F_GET_SEALS) & seals, ==, seals);
    g_assert_cmpint(pread(fd, end, sizeof end, LARGE_BYTES - 1), ==, 1);
    g_assert_cmpint(end[0], ==, 'x');
}

static void
test_too_big_for_a_sandbox(EngineFixture *self, gconstpointer data)
{
    int64_t id = store(self, LARGE_BYTES);

    self->store.limits.values[QD_LIMIT_VALUE_BYTES] = LARGE_BYTES - 1;
    engine_fixture_restart(self);
    engine_fixture_sandbox(self->client);
    engine_fixture_fail(self, make_open(self, id), QW_ERROR_TOO_BIG,
                        "payload is too big for a sandboxed application: the limit 'value_bytes' is 99999 bytes");
}

static void
test_read_only_client(EngineFixture *self, gconstpointer data)
{
    engine_fixture_sandbox(self->client);
    engine_fixture_fail(self, make_store(self, LARGE_BYTES), QW_ERROR_ACCESS_DENIED,
                        "application 'org.example.Test' may not write in this store");
    g_assert_cmpuint(store_count_files(self->store.dir, "payload"), ==, 0);
    engine_fixture_assert_query(self, "SELECT count(*) FROM queryd_payload", "0\n");
}

static void
test_cancelled(EngineFixture *self, gconstpointer data)
{
    QdCall *call = make_store(self, LARGE_BYTES);

    g_atomic_int_set(&call->cancelled, TRUE);
    engine_fixture_fail(self, call, QW_ERROR_CANCELLED, "job was cancelled");
    g_assert_cmpuint(store_count_files(self->store.dir, "payload"), ==, 0);
    engine_fixture_assert_query(self, "SELECT count(*) FROM queryd_payload", "0\n");
}

/* A file that was shortened is no payload's, and nothing of it is read. */
static void
test_damaged(EngineFixture *self, gconstpointer data)
{
    int64_t id = store(self, LARGE_BYTES);
    g_autofree char *sum = engine_fixture_query(self, "SELECT lower(hex(hash)) FROM queryd_payload");
    g_autofree char *path = g_build_filename(self->store.dir, "payload", g_strchomp(sum), NULL);

    g_assert_cmpint(truncate(path, LARGE_BYTES / 2), ==, 0);
    engine_fixture_fail(self, make_open(self, id), QW_ERROR_CORRUPT, "is damaged: it should have 100000 bytes");
    engine_fixture_fail(self, make_open(self, id + 1), QW_ERROR_BAD_PARAMETER, "there is no payload 2");
}

int
main(int argc, char **argv)
{
    engine_fixture_init(&argc, &argv);
#define ADD(path, func) \
    g_test_add("/call/payload-calls/" path, EngineFixture, NULL, engine_fixture_set_up, func, engine_fixture_tear_down)
    ADD("sandbox/copy", test_copy_for_a_sandbox);
    ADD("sandbox/too-big", test_too_big_for_a_sandbox);
    ADD("sandbox/read-only", test_read_only_client);
    ADD("cancelled", test_cancelled);
    ADD("damaged", test_damaged);
    return g_test_run();
}
