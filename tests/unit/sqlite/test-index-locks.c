/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What another program would see of the locks of the log's index, before and after a descriptor of it was closed here.
 */
#include "daemon/sqlite/vfs/index-locks.h"

#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/store/store-fixture.h"

/* Bytes of the file that SQLite locks. */
#define WRITE_LOCK 120
#define FIRST_READ_LOCK 123
#define N_READ_LOCKS 5
#define DEAD_MAN_SWITCH 128

/* The descriptor by which it looks is closed again: POSIX locks of this process would be gone after it. */
static gboolean
is_locked(const StoreFixture *self, off_t start, off_t n_bytes)
{
    g_autofree char *path = g_strconcat(qd_database_get_path(self->database), "-shm", NULL);
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = n_bytes };
    int fd = open(path, O_RDWR | O_CLOEXEC);

    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(fcntl(fd, F_OFD_GETLK, &lock), ==, 0);
    g_assert_cmpint(close(fd), ==, 0);
    return lock.l_type != F_UNLCK;
}

static void
test_outlives_a_descriptor(StoreFixture *self, gconstpointer data)
{
    QdConnection *reader = store_fixture_open_reader(self);

    store_execute(self->writer, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
    for (guint i = 0; i < 3; i++) {
        g_assert_true(is_locked(self, DEAD_MAN_SWITCH, 1));
        g_assert_false(is_locked(self, WRITE_LOCK, 1));
        g_assert_false(is_locked(self, FIRST_READ_LOCK, N_READ_LOCKS));
    }
    store_execute(reader, "BEGIN; SELECT * FROM t");
    store_execute(self->writer, "BEGIN IMMEDIATE");
    for (guint i = 0; i < 3; i++) {
        g_assert_true(is_locked(self, DEAD_MAN_SWITCH, 1));
        g_assert_true(is_locked(self, WRITE_LOCK, 1));
        g_assert_true(is_locked(self, FIRST_READ_LOCK, N_READ_LOCKS));
    }
    store_execute(self->writer, "INSERT INTO t VALUES(2); COMMIT");
    g_assert_false(is_locked(self, WRITE_LOCK, 1));
    g_assert_true(is_locked(self, FIRST_READ_LOCK, N_READ_LOCKS));
    store_execute(reader, "COMMIT");
    g_assert_false(is_locked(self, FIRST_READ_LOCK, N_READ_LOCKS));
    qd_connection_free(reader);
    g_assert_true(is_locked(self, DEAD_MAN_SWITCH, 1));
}

/* Connections of this process hold each other off as ever. */
static void
test_between_connections(StoreFixture *self, gconstpointer data)
{
    QdConnection *reader = store_fixture_open_reader(self);

    store_execute(self->writer, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
    store_execute(reader, "BEGIN");
    g_assert_cmpint(store_get_int64(reader, "SELECT count(*) FROM t"), ==, 1);
    store_execute(self->writer, "INSERT INTO t VALUES(2)");
    g_assert_cmpint(store_get_int64(self->writer, "PRAGMA wal_checkpoint(TRUNCATE)"), ==, 1);
    g_assert_cmpint(store_get_int64(reader, "SELECT count(*) FROM t"), ==, 1);
    store_execute(reader, "COMMIT");
    g_assert_cmpint(store_get_int64(self->writer, "PRAGMA wal_checkpoint(TRUNCATE)"), ==, 0);
    g_assert_cmpint(store_get_int64(reader, "SELECT count(*) FROM t"), ==, 2);
    qd_connection_free(reader);
}

static void
count_kept(void *data)
{
    ++*(guint *) data;
}

/* The lock of a snapshot that has ended stays, and keeps no connection of this process from anything. */
static void
test_kept(StoreFixture *self, gconstpointer data)
{
    QdConnection *reader = store_fixture_open_reader(self);
    guint n_kept = 0;

    store_execute(self->writer, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
    qd_index_locks_keep(count_kept, &n_kept);
    store_execute(reader, "SELECT * FROM t");
    g_assert_cmpuint(n_kept, >, 0);
    g_assert_true(is_locked(self, FIRST_READ_LOCK, N_READ_LOCKS));
    qd_index_locks_release();
    g_assert_false(is_locked(self, FIRST_READ_LOCK, N_READ_LOCKS));

    store_execute(reader, "SELECT * FROM t");
    g_assert_true(is_locked(self, FIRST_READ_LOCK, N_READ_LOCKS));
    store_execute(reader, "BEGIN; SELECT * FROM t");
    qd_index_locks_release(); /* it is in use */
    g_assert_true(is_locked(self, FIRST_READ_LOCK, N_READ_LOCKS));
    store_execute(reader, "COMMIT");
    for (guint i = 2; i < 5; i++) {
        store_execute(self->writer, "INSERT INTO t VALUES(2)");
        g_assert_cmpint(store_get_int64(self->writer, "PRAGMA wal_checkpoint(TRUNCATE)"), ==, 0);
        g_assert_cmpint(store_get_int64(reader, "SELECT count(*) FROM t"), ==, i);
    }
    g_assert_true(is_locked(self, FIRST_READ_LOCK, N_READ_LOCKS));
    qd_index_locks_keep(NULL, NULL);
    g_assert_false(is_locked(self, FIRST_READ_LOCK, N_READ_LOCKS));
    store_execute(reader, "SELECT * FROM t");
    g_assert_false(is_locked(self, FIRST_READ_LOCK, N_READ_LOCKS));
    qd_connection_free(reader);
}

/* Another program makes its checkpoint once the lock is released. */
static void
test_kept_from_others(StoreFixture *self, gconstpointer data)
{
    const char *path = qd_database_get_path(self->database);
    QdConnection *reader = store_fixture_open_reader(self);
    guint n_kept = 0;
    g_autofree char *output = NULL;
    const char *argv[] = { "sqlite3", path, "PRAGMA wal_checkpoint(TRUNCATE)", NULL };

    store_execute(self->writer, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
    qd_index_locks_keep(count_kept, &n_kept);
    store_execute(reader, "SELECT * FROM t");
    for (guint i = 0; i < 2; i++) {
        g_autoptr(GError) error = NULL;

        g_clear_pointer(&output, g_free);
        (void) g_spawn_sync(NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &output, NULL, NULL, &error);
        g_assert_no_error(error);
        g_assert_true(g_str_has_prefix(output, i == 0 ? "1|" : "0|"));
        qd_index_locks_release();
    }
    qd_index_locks_keep(NULL, NULL);
    qd_connection_free(reader);
}

int
main(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;

    g_test_init(&argc, &argv, NULL);
    g_assert_true(qd_index_locks_init(&error));
    g_assert_true(qd_index_locks_init(&error));
#define ADD(path, func) \
    g_test_add("/sqlite/index-locks/" path, StoreFixture, NULL, store_fixture_set_up, func, store_fixture_tear_down)
    ADD("outlives-a-descriptor", test_outlives_a_descriptor);
    ADD("between-connections", test_between_connections);
    ADD("kept", test_kept);
    ADD("kept-from-others", test_kept_from_others);
    return g_test_run();
}
