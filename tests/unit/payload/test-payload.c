/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows and files through commits, rollbacks and sweeps, on a real store: after each, a row has its file, and a file its row.
 */
#include "daemon/payload/payload.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "tests/unit/store/store-fixture.h"

#define LARGE "this one is larger than what a row takes"
#define OTHER "another one that is larger than a row takes"

typedef struct Fixture {
    StoreFixture store;
    QdPayloads *payloads;
    QdConnection *reader;
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    store_fixture_set_up(&self->store, data);
    self->store.limits.values[QD_LIMIT_PAYLOAD_INLINE_BYTES] = 8;
    self->payloads = qd_payloads_new(self->store.dir, &self->store.limits);
    qd_payloads_attach(self->payloads, self->store.writer);
    self->reader = store_fixture_open_reader(&self->store);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    qd_connection_free(self->reader);
    g_clear_pointer(&self->store.writer, qd_connection_free);
    qd_payloads_free(self->payloads);
    store_fixture_tear_down(&self->store, data);
}

static QdPayloadDraft *
make_draft(Fixture *self, const char *text)
{
    QdPayloadDraft *draft = qd_payload_draft_new(qd_payloads_get_files(self->payloads), &self->store.limits);
    g_autoptr(GError) error = NULL;

    (void) qd_payload_draft_append(draft, text, strlen(text), &error);
    g_assert_no_error(error);
    qd_payload_draft_finish(draft);
    return draft;
}

static void
begin(Fixture *self)
{
    store_execute(self->store.writer, "BEGIN IMMEDIATE");
}

/* Returns: what there is to sweep. */
static QdPayloadSweep
commit(Fixture *self)
{
    g_autoptr(GError) error = NULL;

    (void) qd_payloads_before_commit(self->payloads, self->store.writer, TRUE, &error);
    g_assert_no_error(error);
    store_execute(self->store.writer, "COMMIT");
    return qd_payloads_after_commit(self->payloads, TRUE);
}

static int64_t
store(Fixture *self, const char *text)
{
    g_autoptr(QdPayloadDraft) draft = make_draft(self, text);
    g_autoptr(GError) error = NULL;
    int64_t id = 0;

    (void) qd_payload_store(self->store.writer, draft, "text/plain", &id, &error);
    g_assert_no_error(error);
    return id;
}

static void
replace(Fixture *self, int64_t id, const char *text)
{
    g_autoptr(QdPayloadDraft) draft = make_draft(self, text);
    g_autoptr(GError) error = NULL;

    (void) qd_payload_replace(self->store.writer, id, draft, NULL, &error);
    g_assert_no_error(error);
}

static gboolean delete (Fixture *self, int64_t id)
{
    g_autoptr(GError) error = NULL;
    gboolean deleted = FALSE;

    (void) qd_payload_delete(self->store.writer, id, &deleted, &error);
    g_assert_no_error(error);
    return deleted;
}

/* (nullable): NULL when there is no such payload */
static char *
read_text(QdConnection *connection, int64_t id)
{
    g_autoptr(GBytes) content = NULL;
    g_autoptr(GError) error = NULL;
    g_auto(QdFd) fd = -1;
    QdPayloadInfo info;
    char *text;

    if (!qd_payload_read(connection, id, &info, &content, &fd, &error)) {
        g_assert_no_error(error);
        return NULL;
    }
    g_assert_cmpint(info.in_file, ==, fd >= 0);
    text = g_malloc0(info.size + 1);
    if (fd >= 0)
        g_assert_cmpint(pread(fd, text, info.size, 0), ==, info.size);
    else
        memcpy(text, g_bytes_get_data(content, NULL), g_bytes_get_size(content));
    return text;
}

static void
assert_text(QdConnection *connection, int64_t id, const char *expected)
{
    g_autofree char *text = read_text(connection, id);

    g_assert_cmpstr(text, ==, expected);
}

static void
test_store(Fixture *self, gconstpointer data)
{
    int64_t small;
    int64_t large;

    begin(self);
    small = store(self, "small");
    large = store(self, LARGE);
    assert_text(self->store.writer, large, LARGE); /* in its transaction, where the file has no name yet */
    assert_text(self->reader, large, NULL);
    g_assert_cmpint(commit(self), ==, QD_PAYLOAD_SWEEP_NONE);
    assert_text(self->reader, small, "small");
    assert_text(self->reader, large, LARGE);
    g_assert_cmpint(store_get_int64(self->reader, "SELECT count(*) FROM queryd_payload WHERE content IS NULL"), ==, 1);
    g_assert_cmpuint(store_count_files(self->store.dir, "payload"), ==, 1);
}

static void
test_rollback(Fixture *self, gconstpointer data)
{
    begin(self);
    (void) store(self, LARGE);
    store_execute(self->store.writer, "ROLLBACK");
    g_assert_cmpuint(store_count_files(self->store.dir, "payload"), ==, 0);

    /* after the files have got their names, as when the commit fails: they are looked at after the next one */
    begin(self);
    (void) store(self, LARGE);
    g_assert_true(qd_payloads_before_commit(self->payloads, self->store.writer, TRUE, NULL));
    store_execute(self->store.writer, "ROLLBACK");
    g_assert_cmpuint(store_count_files(self->store.dir, "payload"), ==, 1);
    begin(self);
    (void) store(self, OTHER);
    g_assert_cmpint(commit(self), ==, QD_PAYLOAD_SWEEP_SOME);
    qd_payloads_sweep(self->payloads, self->reader, QD_PAYLOAD_SWEEP_SOME);
    g_assert_cmpuint(store_count_files(self->store.dir, "payload"), ==, 1);
}

/* A member of a group that fails takes its rows with it, and its files get no names. */
static void
test_savepoint(Fixture *self, gconstpointer data)
{
    int64_t id;

    begin(self);
    id = store(self, LARGE);
    store_execute(self->store.writer, "SAVEPOINT s");
    (void) store(self, OTHER);
    store_execute(self->store.writer, "ROLLBACK TO s; RELEASE s");
    (void) commit(self);
    assert_text(self->reader, id, LARGE);
    g_assert_cmpuint(store_count_files(self->store.dir, "payload"), ==, 1);
}

static void
test_replace(Fixture *self, gconstpointer data)
{
    int64_t id;

    begin(self);
    id = store(self, LARGE);
    (void) commit(self);
    begin(self);
    replace(self, id, OTHER);
    g_assert_cmpint(commit(self), ==, QD_PAYLOAD_SWEEP_SOME);
    g_assert_cmpuint(store_count_files(self->store.dir, "payload"), ==, 2);
    qd_payloads_sweep(self->payloads, self->reader, QD_PAYLOAD_SWEEP_SOME);
    g_assert_cmpuint(store_count_files(self->store.dir, "payload"), ==, 1);
    assert_text(self->reader, id, OTHER);

    begin(self);
    replace(self, id, "small");
    (void) commit(self);
    qd_payloads_sweep(self->payloads, self->reader, QD_PAYLOAD_SWEEP_SOME);
    assert_text(self->reader, id, "small");
    g_assert_cmpuint(store_count_files(self->store.dir, "payload"), ==, 0);
}

/* The same content has one file, which goes with its last row. */
static void
test_shared(Fixture *self, gconstpointer data)
{
    int64_t first;
    int64_t second;

    begin(self);
    first = store(self, LARGE);
    second = store(self, LARGE);
    (void) commit(self);
    g_assert_cmpint(first, !=, second);
    g_assert_cmpuint(store_count_files(self->store.dir, "payload"), ==, 1);
    begin(self);
    g_assert_true(delete (self, first));
    g_assert_false(delete (self, first));
    g_assert_cmpint(commit(self), ==, QD_PAYLOAD_SWEEP_SOME);
    qd_payloads_sweep(self->payloads, self->reader, QD_PAYLOAD_SWEEP_SOME);
    assert_text(self->reader, second, LARGE);
    begin(self);
    g_assert_true(delete (self, second));
    (void) commit(self);
    qd_payloads_sweep(self->payloads, self->reader, QD_PAYLOAD_SWEEP_SOME);
    g_assert_cmpuint(store_count_files(self->store.dir, "payload"), ==, 0);
}

/* What an open transaction stores is not swept, although no row is to be seen. */
static void
test_sweep_under_way(Fixture *self, gconstpointer data)
{
    int64_t id;

    begin(self);
    id = store(self, LARGE);
    (void) commit(self);
    begin(self);
    g_assert_true(delete (self, id));
    (void) commit(self);
    begin(self);
    id = store(self, LARGE);
    qd_payloads_sweep(self->payloads, self->reader, QD_PAYLOAD_SWEEP_ALL);
    (void) commit(self);
    assert_text(self->reader, id, LARGE);
}

static void
test_delete_by_client(Fixture *self, gconstpointer data)
{
    begin(self);
    (void) store(self, LARGE);
    (void) store(self, OTHER);
    (void) commit(self);
    begin(self);
    store_execute(self->store.writer, "DELETE FROM queryd_payload");
    qd_payloads_note_deleted(self->store.writer);
    g_assert_cmpint(commit(self), ==, QD_PAYLOAD_SWEEP_ALL);
    g_assert_cmpuint(store_count_files(self->store.dir, "payload"), ==, 2);
    qd_payloads_sweep(self->payloads, self->reader, QD_PAYLOAD_SWEEP_ALL);
    g_assert_cmpuint(store_count_files(self->store.dir, "payload"), ==, 0);
}

static QdPayloadSweep
delete_by_client(Fixture *self)
{
    begin(self);
    store_execute(self->store.writer, "DELETE FROM queryd_payload");
    qd_payloads_note_deleted(self->store.writer);
    return commit(self);
}

/* Where no file was left, a DELETE has nothing to look for, until there is one again. */
static void
test_delete_without_files(Fixture *self, gconstpointer data)
{
    qd_payloads_sweep(self->payloads, self->reader, QD_PAYLOAD_SWEEP_ALL);
    begin(self);
    (void) store(self, "small");
    (void) commit(self);
    g_assert_cmpint(delete_by_client(self), ==, QD_PAYLOAD_SWEEP_NONE);
    begin(self);
    (void) store(self, LARGE);
    qd_payloads_sweep(self->payloads, self->reader, QD_PAYLOAD_SWEEP_ALL); /* it has no name yet */
    (void) commit(self);
    g_assert_cmpint(delete_by_client(self), ==, QD_PAYLOAD_SWEEP_ALL);
    g_assert_cmpint(delete_by_client(self), ==, QD_PAYLOAD_SWEEP_ALL); /* not checked yet */
    qd_payloads_sweep(self->payloads, self->reader, QD_PAYLOAD_SWEEP_ALL);
    g_assert_cmpuint(store_count_files(self->store.dir, "payload"), ==, 0);
    g_assert_cmpint(delete_by_client(self), ==, QD_PAYLOAD_SWEEP_NONE);
}

static void
test_errors(Fixture *self, gconstpointer data)
{
    g_autoptr(QdPayloadDraft) draft = make_draft(self, LARGE);
    g_autoptr(GError) error = NULL;
    int64_t id = 0;

    g_assert_false(qd_payload_store(self->reader, draft, NULL, &id, &error));
    store_assert_error(error, QW_ERROR_READ_ONLY, "payloads are written by updates only");
    g_clear_error(&error);
    begin(self);
    g_assert_false(qd_payload_replace(self->store.writer, 7, draft, NULL, &error));
    store_assert_error(error, QW_ERROR_BAD_PARAMETER, "there is no payload 7");
    store_execute(self->store.writer, "ROLLBACK");
}

static gboolean
collect(const char *message, void *data)
{
    if (message != NULL)
        g_ptr_array_add(data, g_strdup(message));
    return TRUE;
}

static void
assert_fault(Fixture *self, gboolean contents, const char *words)
{
    g_autoptr(GPtrArray) faults = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) error = NULL;

    (void) qd_payloads_check(self->reader, contents, collect, faults, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(faults->len, ==, words != NULL ? 1 : 0);
    if (words != NULL)
        g_assert_nonnull(strstr(faults->pdata[0], words));
}

static void
test_check(Fixture *self, gconstpointer data)
{
    g_autofree char *name = g_compute_checksum_for_string(G_CHECKSUM_SHA256, LARGE, -1);
    g_autofree char *path = g_build_filename(self->store.dir, "payload", name, NULL);
    g_auto(QdFd) fd = -1;

    begin(self);
    (void) store(self, LARGE);
    (void) commit(self);
    assert_fault(self, TRUE, NULL);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    g_assert_cmpint(pwrite(fd, "X", 1, 0), ==, 1);
    assert_fault(self, FALSE, NULL);
    assert_fault(self, TRUE, "content of its file is damaged");
    g_assert_cmpint(ftruncate(fd, 3), ==, 0);
    assert_fault(self, FALSE, "damaged");
    g_assert_cmpint(unlink(path), ==, 0);
    assert_fault(self, FALSE, "missing");

    begin(self); /* the same content again repairs it */
    (void) store(self, LARGE);
    (void) commit(self);
    assert_fault(self, TRUE, NULL);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/payload/payload/store", Fixture, NULL, set_up, test_store, tear_down);
    g_test_add("/payload/payload/rollback", Fixture, NULL, set_up, test_rollback, tear_down);
    g_test_add("/payload/payload/savepoint", Fixture, NULL, set_up, test_savepoint, tear_down);
    g_test_add("/payload/payload/replace", Fixture, NULL, set_up, test_replace, tear_down);
    g_test_add("/payload/payload/shared", Fixture, NULL, set_up, test_shared, tear_down);
    g_test_add("/payload/payload/sweep-under-way", Fixture, NULL, set_up, test_sweep_under_way, tear_down);
    g_test_add("/payload/payload/delete-by-client", Fixture, NULL, set_up, test_delete_by_client, tear_down);
    g_test_add("/payload/payload/delete-without-files", Fixture, NULL, set_up, test_delete_without_files, tear_down);
    g_test_add("/payload/payload/errors", Fixture, NULL, set_up, test_errors, tear_down);
    g_test_add("/payload/payload/check", Fixture, NULL, set_up, test_check, tear_down);
    return g_test_run();
}
