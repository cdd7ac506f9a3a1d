/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Restores: what cannot come in the place of the store's database, and the report of one that does.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "daemon/job/job-classes.h"
#include "tests/unit/engine/engine-fixture.h"

/* (transfer full): a restore of a database that @sql has made. */
static QdCall *
make_restore(const EngineFixture *self, const char *sql)
{
    g_autofree char *path = g_build_filename(self->store.dir, "source.db", NULL);
    QdCall *call = qd_call_new(&qd_restore_call, self->client);
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
    call->fd = open(path, O_RDONLY | O_CLOEXEC);
    g_assert_cmpint(call->fd, >=, 0);
    g_assert_cmpint(unlink(path), ==, 0);
    return call;
}

static guint
count_files(const EngineFixture *self)
{
    return store_count_files(self->store.dir, ".");
}

static void
test_encoding(EngineFixture *self, gconstpointer data)
{
    guint n_files = count_files(self);

    engine_fixture_execute(self, "INSERT INTO t VALUES('as it was', 1)");
    engine_fixture_fail(self, make_restore(self, "PRAGMA encoding='UTF-16le'; CREATE TABLE t(a, b)"), QW_ERROR_UNSUPPORTED,
                        "nothing was restored: the source's texts are in another encoding than the store's");
    engine_fixture_assert_query(self, "SELECT a FROM t", "as it was\n");
    g_assert_cmpuint(count_files(self), ==, n_files);
}

static void
test_read_only_client(EngineFixture *self, gconstpointer data)
{
    engine_fixture_sandbox(self->client);
    engine_fixture_fail(self, make_restore(self, "CREATE TABLE t(a, b)"), QW_ERROR_ACCESS_DENIED,
                        "application 'org.example.Test' may not write in this store");
}

/* Each payload that lacks its file is named, up to a hundred. */
static void
test_missing_payloads(EngineFixture *self, gconstpointer data)
{
    g_autoptr(QdCall) backup = engine_fixture_make_call(self, &qd_backup_call, NULL, "");
    g_autoptr(QdCall) restore = qd_call_new(&qd_restore_call, self->client);

    engine_fixture_execute(self, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<130) "
                                 "INSERT INTO t SELECT i, queryd_store_payload(zeroblob(70000+i)) FROM n");
    g_assert_true(engine_fixture_run(self, backup));
    engine_fixture_execute(self, "DELETE FROM queryd_payload WHERE id>2");
    while (store_count_files(self->store.dir, "payload") > 2) /* they are deleted after the answer */
        engine_fixture_iterate(self, 10);
    restore->fd = qd_fd_dup(backup->fd);
    g_assert_cmpint(lseek(restore->fd, 0, SEEK_SET), ==, 0);
    g_assert_true(engine_fixture_run(self, restore));
    g_assert_cmpuint(restore->result.messages->len, ==, 101);
    g_assert_nonnull(strstr(restore->result.messages->pdata[0], "payload 3: "));
    g_assert_cmpstr(restore->result.messages->pdata[100], ==, "and 28 more payloads");
    engine_fixture_assert_query(self, "SELECT count(*) FROM queryd_payload", "130\n");
}

/* The first half is the copy of the source. */
static gboolean
is_half_done(const QdCall *call)
{
    uint64_t total = __atomic_load_n(&call->progress.bytes_total, __ATOMIC_RELAXED);

    return total > 0 && __atomic_load_n(&call->progress.bytes_done, __ATOMIC_RELAXED) > total / 2;
}

/* Cancelled while its pages come in: all of it is there then, or nothing. */
static void
test_cancelled_in_place(EngineFixture *self, gconstpointer data)
{
    static const char large[] = "CREATE TABLE t(a, b); INSERT INTO t VALUES('restored', zeroblob(30000000))";
    guint n_cancelled = 0;

    for (guint i = 0; i < 5; i++) {
        g_autoptr(QdCall) call = make_restore(self, large);
        guint n_files = count_files(self);

        engine_fixture_execute(self, "DELETE FROM t");
        engine_fixture_execute(self, "INSERT INTO t VALUES('as it was', 1)");
        engine_fixture_submit(self, call);
        while (self->ended->len == 0 && !is_half_done(call))
            engine_fixture_iterate(self, 0);
        qd_engine_cancel(self->engine, call);
        engine_fixture_await(self, call);
        engine_fixture_assert_query(self, "SELECT a FROM t", call->result.error == NULL ? "restored\n" : "as it was\n");
        if (call->result.error != NULL)
            store_assert_error(call->result.error, QW_ERROR_CANCELLED, "job was cancelled");
        n_cancelled += call->result.error != NULL ? 1 : 0;
        g_assert_cmpuint(count_files(self), ==, n_files);
    }
    g_test_message("%u of 5 were cancelled in time", n_cancelled);
}

int
main(int argc, char **argv)
{
    engine_fixture_init(&argc, &argv);
#define ADD(path, func) \
    g_test_add("/job/job-restore/" path, EngineFixture, NULL, engine_fixture_set_up, func, engine_fixture_tear_down)
    ADD("encoding", test_encoding);
    ADD("read-only-client", test_read_only_client);
    ADD("missing-payloads", test_missing_payloads);
    ADD("cancelled-in-place", test_cancelled_in_place);
    return g_test_run();
}
