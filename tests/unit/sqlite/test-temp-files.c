/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Temporary files are counted by their writes, in all and in the statement that makes them.
 */
#include "daemon/sqlite/vfs/temp-files.h"

#include "daemon/sqlite/memory.h"
#include "tests/unit/store/store-fixture.h"

#define LIMIT (16 * 1024 * 1024)
#define SORT                                                                   \
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<%d)" \
    " SELECT i, randomblob(1000) AS b FROM n ORDER BY b"

typedef struct Looker {
    const QdLimits *limits;
    QdMemoryUse use;
    int64_t most_bytes;
    GError *error;
} Looker;

static int
look(void *data)
{
    Looker *self = data;

    self->most_bytes = MAX(self->most_bytes, self->use.n_file_bytes);
    return !qd_temp_files_check(self->limits, &self->use, &self->error);
}

static int
sort(Looker *self, sqlite3 *db, int n_rows)
{
    g_autofree char *sql = g_strdup_printf("PRAGMA cache_size=10; " SORT, n_rows);
    int r;

    self->most_bytes = 0;
    sqlite3_progress_handler(db, 1000, look, self);
    qd_memory_begin_use(&self->use);
    r = sqlite3_exec(db, sql, NULL, NULL, NULL);
    qd_memory_end_use(&self->use);
    sqlite3_progress_handler(db, 0, NULL, NULL);
    g_assert_cmpint(self->use.n_file_bytes, ==, 0);
    return r;
}

/* Three times what stays free: three quarters of all, when there are no others. */
static void
test_sort(StoreFixture *fixture, gconstpointer data)
{
    g_autoptr(QdConnection) reader = store_fixture_open_reader(fixture);
    QdMemoryAccount account = { 0 };
    Looker looker = { .limits = &fixture->limits, .use = { .account = data != NULL ? &account : NULL } };
    sqlite3 *db = qd_connection_get_db(reader);

    (void) qd_connection_set_policy(reader, QD_POLICY_INTERNAL);
    fixture->limits.values[QD_LIMIT_TEMP_FILE_BYTES] = LIMIT;
    g_assert_cmpint(sort(&looker, db, 9000), ==, SQLITE_OK);
    g_assert_cmpint(looker.most_bytes, >, 8 * 1000 * 1000);
    g_assert_cmpuint(qd_temp_files_get_bytes(), ==, 0);
    g_assert_cmpint(account.n_file_bytes, ==, 0);

    g_assert_cmpint(sort(&looker, db, 20000), ==, SQLITE_INTERRUPT);
    store_assert_error(looker.error, QW_ERROR_DISK_FULL, "the limit 'temp_file_bytes' is 16777216 bytes");
    g_clear_error(&looker.error);
    g_assert_cmpint(looker.most_bytes, >=, LIMIT / 4 * 3);
    g_assert_cmpint(looker.most_bytes, <, LIMIT / 8 * 7);
    g_assert_cmpuint(qd_temp_files_get_bytes(), ==, 0);
}

/* A statement goes on that has none, or whose client has few. */
static void
test_others(StoreFixture *fixture, gconstpointer data)
{
    QdMemoryAccount accounts[3] = { 0 };
    QdMemoryUse much = { .account = &accounts[0] };
    QdMemoryUse none = { .account = &accounts[0] };
    QdMemoryUse little = { .account = &accounts[1] };
    QdMemoryUse some = { .account = &accounts[2] };
    g_autoptr(QdConnection) reader = store_fixture_open_reader(fixture);
    sqlite3 *db = qd_connection_get_db(reader);
    g_autofree char *sql = g_strdup_printf(SORT, 9000);
    sqlite3_stmt *stmt = NULL;

    (void) qd_connection_set_policy(reader, QD_POLICY_INTERNAL);
    qd_memory_begin_use(&much);
    g_assert_cmpint(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_step(stmt), ==, SQLITE_ROW);
    qd_memory_end_use(&much);
    g_assert_cmpint(much.n_file_bytes, ==, (gint64) qd_temp_files_get_bytes());

    fixture->limits.values[QD_LIMIT_TEMP_FILE_BYTES] = qd_temp_files_get_bytes() + 1024 * 1024;
    g_assert_false(qd_temp_files_check(&fixture->limits, &much, NULL));
    g_assert_true(qd_temp_files_check(&fixture->limits, &none, NULL));
    qd_memory_begin_use(&little);
    qd_memory_count_file(1000);
    qd_memory_end_use(&little);
    g_assert_true(qd_temp_files_check(&fixture->limits, &little, NULL));
    qd_memory_begin_use(&some);
    qd_memory_count_file(4 * 1024 * 1024);
    qd_memory_end_use(&some);
    g_assert_false(qd_temp_files_check(&fixture->limits, &some, NULL));

    /* what another statement closes is taken from all, and from no more than it has */
    qd_memory_begin_use(&little);
    (void) sqlite3_finalize(stmt);
    qd_memory_end_use(&little);
    g_assert_cmpuint(qd_temp_files_get_bytes(), ==, 0);
    g_assert_cmpint(accounts[1].n_file_bytes, ==, 0);
    qd_memory_release_use(&much);
    qd_memory_release_use(&some);
    g_assert_cmpint(accounts[0].n_file_bytes, ==, 0);
    g_assert_cmpint(accounts[2].n_file_bytes, ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, data, func) \
    g_test_add("/sqlite/temp-files/" path, StoreFixture, data, store_fixture_set_up, func, store_fixture_tear_down)
    ADD("sort", NULL, test_sort);
    ADD("sort-of-client", GINT_TO_POINTER(1), test_sort);
    ADD("others", NULL, test_others);
    return g_test_run();
}
