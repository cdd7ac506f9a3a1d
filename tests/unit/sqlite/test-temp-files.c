/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Temporary files are seen though they have no name any more, and only when it is time to look.
 */
#include "daemon/sqlite/temp-files.h"

#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/store/store-fixture.h"

#define LIMIT (1024 * 1024)
#define PAUSE 100000

static int
make_file(const StoreFixture *fixture, const char *name, off_t n_bytes)
{
    g_autofree char *path = g_build_filename(fixture->dir, name, NULL);
    g_autofree char *bytes = g_malloc0((gsize) n_bytes);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(unlink(path), ==, 0);
    g_assert_cmpint(write(fd, bytes, (size_t) n_bytes), ==, n_bytes);
    return fd;
}

static gboolean
check_now(StoreFixture *fixture, GError **error)
{
    uint64_t next_usec = 1;

    return qd_temp_files_check(&fixture->limits, 1, &next_usec, error);
}

static void
test_sizes(StoreFixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    int other = make_file(fixture, "some_etilqs", 4 * LIMIT);
    int first;
    int second;

    fixture->limits.values[QD_LIMIT_TEMP_FILE_BYTES] = LIMIT;
    g_assert_true(check_now(fixture, &error));
    first = make_file(fixture, "etilqs_0123456789abcdef", LIMIT);
    g_assert_true(check_now(fixture, &error));
    second = make_file(fixture, "etilqs_1123456789abcdef", 4096);
    g_assert_false(check_now(fixture, &error));
    store_assert_error(error, QW_ERROR_DISK_FULL,
                       "temporary files, as for sorting, are too big: the limit 'temp_file_bytes' is 1048576 bytes");
    /* what is cut or closed counts no more */
    g_assert_cmpint(ftruncate(first, 0), ==, 0);
    g_assert_true(check_now(fixture, NULL));
    (void) close(first);
    (void) close(second);
    (void) close(other);
}

/* Not at the first call, and then every 100 ms. */
static void
test_pause(StoreFixture *fixture, gconstpointer data)
{
    int fd = make_file(fixture, "etilqs_0", 2 * LIMIT);
    uint64_t next_usec = 0;

    fixture->limits.values[QD_LIMIT_TEMP_FILE_BYTES] = LIMIT;
    g_assert_true(qd_temp_files_check(&fixture->limits, 5000, &next_usec, NULL));
    g_assert_true(qd_temp_files_check(&fixture->limits, 5000 + PAUSE - 1, &next_usec, NULL));
    g_assert_false(qd_temp_files_check(&fixture->limits, 5000 + PAUSE, &next_usec, NULL));
    g_assert_true(qd_temp_files_check(&fixture->limits, 5000 + 2 * PAUSE - 1, &next_usec, NULL));
    g_assert_false(qd_temp_files_check(&fixture->limits, 5000 + 2 * PAUSE, &next_usec, NULL));
    (void) close(fd);
}

static int
look(void *data)
{
    StoreFixture *fixture = data;
    uint64_t next_usec = 1;

    return !qd_temp_files_check(&fixture->limits, 1, &next_usec, NULL);
}

/* The names are SQLite's own: sorting what its cache does not hold is found. */
static void
test_sqlite(StoreFixture *fixture, gconstpointer data)
{
    g_autoptr(QdConnection) reader = store_fixture_open_reader(fixture);
    sqlite3 *db = qd_connection_get_db(reader);

    (void) qd_connection_set_policy(reader, QD_POLICY_INTERNAL);
    fixture->limits.values[QD_LIMIT_TEMP_FILE_BYTES] = LIMIT;
    sqlite3_progress_handler(db, 1000, look, fixture);
    g_assert_cmpint(sqlite3_exec(db,
                                 "PRAGMA cache_size=10; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<20000)"
                                 " SELECT i, randomblob(1000) AS b FROM n ORDER BY b",
                                 NULL, NULL, NULL),
                    ==, SQLITE_INTERRUPT);
    sqlite3_progress_handler(db, 0, NULL, NULL);
    g_assert_true(check_now(fixture, NULL));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) \
    g_test_add("/sqlite/temp-files/" path, StoreFixture, NULL, store_fixture_set_up, func, store_fixture_tear_down)
    ADD("sizes", test_sizes);
    ADD("pause", test_pause);
    ADD("sqlite", test_sqlite);
    return g_test_run();
}
