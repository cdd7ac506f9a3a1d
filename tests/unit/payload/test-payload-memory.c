/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Payloads at the end of their transaction: what happens when SQLite ends it first. tests/e2e/test_payloads.py has the rest.
 */
#include "daemon/payload/payload.h"

#include <string.h>

#include "tests/unit/store/store-fixture.h"

#define PAYLOAD_BYTES 5000

static sqlite3_mem_methods real_methods;
static gboolean memory_is_out;

static void *
limited_malloc(int n_bytes)
{
    return memory_is_out ? NULL : real_methods.xMalloc(n_bytes);
}

static void *
limited_realloc(void *p, int n_bytes)
{
    return memory_is_out ? NULL : real_methods.xRealloc(p, n_bytes);
}

static void
limit_memory(void)
{
    sqlite3_mem_methods methods;

    g_assert_cmpint(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_methods), ==, SQLITE_OK);
    methods = real_methods;
    methods.xMalloc = limited_malloc;
    methods.xRealloc = limited_realloc;
    g_assert_cmpint(sqlite3_config(SQLITE_CONFIG_MALLOC, &methods), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), ==, SQLITE_OK);
}

static void
store(QdPayloads *payloads, StoreFixture *self, guint8 byte)
{
    g_autoptr(QdPayloadDraft) draft = qd_payload_draft_new(qd_payloads_get_files(payloads), &self->limits);
    g_autoptr(GError) error = NULL;
    guint8 data[PAYLOAD_BYTES];
    int64_t id;

    memset(data, byte, sizeof data);
    g_assert_true(qd_payload_draft_append(draft, data, sizeof data, &error));
    qd_payload_draft_finish(draft);
    g_assert_true(qd_payload_store(self->writer, draft, NULL, &id, &error));
    g_assert_no_error(error);
}

static void
commit(QdPayloads *payloads, StoreFixture *self, guint8 byte)
{
    g_autoptr(GError) error = NULL;

    store_execute(self->writer, "BEGIN");
    store(payloads, self, byte);
    g_assert_true(qd_payloads_before_commit(payloads, self->writer, TRUE, &error));
    g_assert_no_error(error);
    store_execute(self->writer, "COMMIT");
    (void) qd_payloads_after_commit(payloads, TRUE);
}

/* The rollback is reported while the drafts are looked at. */
static void
test_no_memory_before_commit(StoreFixture *self, gconstpointer data)
{
    sqlite3 *db = qd_connection_get_db(self->writer);
    g_autoptr(QdPayloads) payloads = NULL;
    g_autoptr(GError) error = NULL;

    self->limits.values[QD_LIMIT_PAYLOAD_INLINE_BYTES] = 100;
    payloads = qd_payloads_new(self->dir, &self->limits);
    qd_payloads_attach(payloads, self->writer);
    commit(payloads, self, 1); /* the statements are compiled */
    store_execute(self->writer, "BEGIN");
    store(payloads, self, 2);
    store(payloads, self, 3);
    (void) sqlite3_db_release_memory(db);
    memory_is_out = TRUE;
    g_assert_false(qd_payloads_before_commit(payloads, self->writer, TRUE, &error));
    memory_is_out = FALSE;
    store_assert_error(error, QW_ERROR_NO_MEMORY, "out of memory");
    g_assert_true(sqlite3_get_autocommit(db));

    commit(payloads, self, 4);
    g_assert_cmpint(store_get_int64(self->writer, "SELECT count(*) FROM queryd_payload"), ==, 2);
    qd_payloads_sweep(payloads, self->writer, QD_PAYLOAD_SWEEP_ALL);
    store_fixture_close(self);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    limit_memory();
    g_test_add("/payload/payload-memory/no-memory-before-commit", StoreFixture, NULL, store_fixture_set_up,
               test_no_memory_before_commit, store_fixture_tear_down);
    return g_test_run();
}
