/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recovery: the damaged file, its report and what belongs to it are kept; a recovery that fails has changed nothing.
 */
#include "daemon/recover/recovery.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/payload/payload.h"
#include "tests/unit/store/store-fixture.h"

#define N_PAYLOADS 40
#define PAYLOAD_BYTES 2000
#define SMALL_INLINE_BYTES 100

static gboolean
run(StoreFixture *self, const gint *cancelled, QdRecoveryResult *result, GError **error)
{
    const QdRecoveryOptions options = { .directory = self->dir, .limits = &self->limits, .cancelled = cancelled };

    return qd_recovery_run(&options, result, error);
}

static char *
get_path(const StoreFixture *self, const char *name)
{
    return g_build_filename(self->dir, name, NULL);
}

static void
store_payloads(StoreFixture *self)
{
    g_autoptr(QdPayloads) payloads = NULL;
    g_autoptr(GError) error = NULL;

    self->limits.values[QD_LIMIT_PAYLOAD_INLINE_BYTES] = SMALL_INLINE_BYTES;
    payloads = qd_payloads_new(self->dir, &self->limits);
    qd_payloads_attach(payloads, self->writer);
    store_execute(self->writer, "CREATE TABLE t(x); INSERT INTO t VALUES(1); BEGIN");
    for (guint i = 0; i < N_PAYLOADS; i++) {
        g_autoptr(QdPayloadDraft) draft = qd_payload_draft_new(qd_payloads_get_files(payloads), &self->limits);
        guint8 data[PAYLOAD_BYTES];
        int64_t id;

        memset(data, (int) i, sizeof data);
        g_assert_true(qd_payload_draft_append(draft, data, sizeof data, &error));
        qd_payload_draft_finish(draft);
        g_assert_true(qd_payload_store(self->writer, draft, NULL, &id, &error));
    }
    g_assert_true(qd_payloads_before_commit(payloads, self->writer, TRUE, &error));
    store_execute(self->writer, "COMMIT");
    (void) qd_payloads_after_commit(payloads, TRUE);
    store_fixture_close(self);
}

/* The rows of half of them are deleted without the store's knowledge, as damage would do it. */
static void
lose_rows(const StoreFixture *self)
{
    g_autofree char *path = get_path(self, "queryd.db");
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(db, "DELETE FROM queryd_payload WHERE id%2", NULL, NULL, NULL), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

static void
test_payloads(StoreFixture *self, gconstpointer data)
{
    g_autoptr(QdPayloads) payloads = NULL;
    g_autoptr(GError) error = NULL;
    g_autofree char *report = NULL;
    QdRecoveryResult result = { 0 };

    store_payloads(self);
    lose_rows(self);
    g_assert_true(run(self, NULL, &result, &error));
    g_assert_no_error(error);
    g_assert_true(g_file_test(result.aside, G_FILE_TEST_EXISTS));
    g_assert_true(g_file_get_contents(result.report, &report, NULL, NULL));
    g_assert_nonnull(strstr(report, "20 payload files that no row names are kept in "));
    g_assert_nonnull(strstr(report, "payload-lost"));
    g_assert_cmpuint(store_count_files(self->dir, "payload-lost"), ==, N_PAYLOADS / 2);

    /* the sweep takes only its own */
    store_fixture_open(self);
    payloads = qd_payloads_new(self->dir, &self->limits);
    qd_payloads_sweep(payloads, self->writer, QD_PAYLOAD_SWEEP_ALL);
    g_assert_cmpuint(store_count_files(self->dir, "payload"), ==, N_PAYLOADS / 2);
    g_assert_cmpuint(store_count_files(self->dir, "payload-lost"), ==, N_PAYLOADS / 2);
    g_assert_cmpint(store_get_int64(self->writer, "SELECT count(*) FROM queryd_payload"), ==, N_PAYLOADS / 2);
    qd_recovery_result_clear(&result);
}

static void
assert_nothing_changed(StoreFixture *self)
{
    g_autofree char *target = get_path(self, "queryd.db.new");

    g_assert_cmpint(g_access(target, F_OK), ==, -1);
    g_assert_cmpuint(store_count_files(self->dir, "payload-lost"), ==, 0);
    store_fixture_open(self);
    g_assert_cmpint(store_get_int64(self->writer, "SELECT count(*) FROM queryd_payload"), ==, N_PAYLOADS);
}

static void
test_cancelled(StoreFixture *self, gconstpointer data)
{
    const gint yes = 1;
    g_autoptr(GError) error = NULL;
    QdRecoveryResult result = { 0 };

    store_payloads(self);
    g_assert_false(run(self, &yes, &result, &error));
    store_assert_error(error, QW_ERROR_CANCELLED, "interrupted");
    assert_nothing_changed(self);
}

/* Where the files cannot be kept the old database stays. */
static void
test_no_place(StoreFixture *self, gconstpointer data)
{
    g_autofree char *in_the_way = get_path(self, "payload-lost");
    g_autoptr(GError) error = NULL;
    QdRecoveryResult result = { 0 };

    store_payloads(self);
    lose_rows(self);
    g_assert_true(g_file_set_contents(in_the_way, "a file", -1, NULL));
    g_assert_false(run(self, NULL, &result, &error));
    store_assert_error(error, QW_ERROR_INTERNAL, "cannot set payload files aside");
    g_assert_cmpuint(store_count_files(self->dir, "payload"), ==, N_PAYLOADS);
    store_fixture_open(self);
    g_assert_cmpint(store_get_int64(self->writer, "SELECT count(*) FROM t"), ==, 1);
}

static void
test_nothing_to_read(StoreFixture *self, gconstpointer data)
{
    g_autofree char *path = get_path(self, "queryd.db");
    g_autoptr(GError) error = NULL;
    g_autofree char *content = NULL;
    QdRecoveryResult result = { 0 };

    store_fixture_close(self);
    g_assert_true(g_file_set_contents(path, "no database", -1, NULL));
    g_assert_false(run(self, NULL, &result, &error));
    store_assert_error(error, QW_ERROR_CORRUPT, "");
    g_assert_true(g_file_get_contents(path, &content, NULL, NULL));
    g_assert_cmpstr(content, ==, "no database");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) \
    g_test_add("/recover/recovery/" path, StoreFixture, NULL, store_fixture_set_up, func, store_fixture_tear_down)
    ADD("payloads", test_payloads);
    ADD("cancelled", test_cancelled);
    ADD("no-place", test_no_place);
    ADD("nothing-to-read", test_nothing_to_read);
    return g_test_run();
}
