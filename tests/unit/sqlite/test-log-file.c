/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log in large pieces: how many calls a commit takes, and that the file is right after any transaction. Another connection
 * reads it, and so does a store that is opened on a copy of the files, as after a crash. And that what is mapped is read
 * without calls, and that a transaction waits for the disk while it writes. And that VACUUM and a long commit can be ended.
 * And that a new log seldom grows, and that one which another program has shortened is left alone.
 */
#include "daemon/sqlite/vfs/log-file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/interrupt.h"
#include "tests/unit/store/store-fixture.h"

#define N_FAULTS_MIN 10u
#define PIECE_BYTES (2u << 20)

static guint n_writes;
static guint n_writes_left; /* then one fails; 0: none does */
static gboolean was_hit;
static ssize_t (*true_pwrite)(int fd, const void *data, size_t n_bytes, off_t offset);
static gsize n_bytes_ahead; /* written since the disk was waited for */
static gsize n_bytes_ahead_most;
static guint n_waits;
static guint n_reads;
static ssize_t (*true_pread)(int fd, void *data, size_t n_bytes, off_t offset);

/* In place of libc's. */
int
sync_file_range(int fd, off64_t offset, off64_t n_bytes, unsigned flags)
{
    g_assert_cmpint(fcntl(fd, F_GETFD) & FD_CLOEXEC, !=, 0);
    g_assert_cmpuint(flags, ==, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE);
    n_waits++;
    n_bytes_ahead = 0;
    return 0;
}

static ssize_t
count_pwrite(int fd, const void *data, size_t n_bytes, off_t offset)
{
    n_writes++;
    n_bytes_ahead += n_bytes;
    n_bytes_ahead_most = MAX(n_bytes_ahead_most, n_bytes_ahead);
    if (n_writes_left == 0 || --n_writes_left > 0)
        return true_pwrite(fd, data, n_bytes, offset);
    was_hit = TRUE;
    errno = ENOSPC;
    return -1;
}

static ssize_t
count_pread(int fd, void *data, size_t n_bytes, off_t offset)
{
    n_reads++;
    return true_pread(fd, data, n_bytes, offset);
}

static void
set_up(StoreFixture *self, gconstpointer data)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

    store_fixture_set_up(self, data);
    true_pread = (void *) vfs->xGetSystemCall(vfs, "pread64");
    g_assert_nonnull(true_pread);
    g_assert_cmpint(vfs->xSetSystemCall(vfs, "pread64", (sqlite3_syscall_ptr) count_pread), ==, SQLITE_OK);
    store_execute(self->writer, "CREATE TABLE t(id INTEGER PRIMARY KEY, content BLOB)");
    true_pwrite = (void *) vfs->xGetSystemCall(vfs, "pwrite64");
    g_assert_nonnull(true_pwrite);
    g_assert_cmpint(vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr) count_pwrite), ==, SQLITE_OK);
    n_writes = n_writes_left = 0;
}

static void
tear_down(StoreFixture *self, gconstpointer data)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

    g_assert_cmpint(vfs->xSetSystemCall(vfs, "pwrite64", NULL), ==, SQLITE_OK);
    g_assert_cmpint(vfs->xSetSystemCall(vfs, "pread64", NULL), ==, SQLITE_OK);
    store_fixture_tear_down(self, data);
}

static void
copy_file(const char *from_dir, const char *to_dir, const char *name)
{
    g_autofree char *from = g_build_filename(from_dir, name, NULL);
    g_autofree char *to = g_build_filename(to_dir, name, NULL);
    g_autofree char *content = NULL;
    gsize n_bytes;

    g_assert_true(g_file_get_contents(from, &content, &n_bytes, NULL));
    g_assert_true(g_file_set_contents(to, content, (gssize) n_bytes, NULL));
}

/* What the next daemon would find. */
static gint64
sum_after_crash(const StoreFixture *self)
{
    g_autofree char *dir = g_dir_make_tmp("queryd-crash-XXXXXX", NULL);
    StoreFixture copy = { .dir = dir, .limits = self->limits };
    gint64 sum;

    copy_file(self->dir, dir, "queryd.db");
    copy_file(self->dir, dir, "queryd.db-wal");
    store_fixture_open(&copy);
    sum = store_get_int64(copy.writer, "SELECT ifnull(sum(id * length(content)), 0) FROM t");
    store_fixture_close(&copy);
    store_remove_folder(dir);
    return sum;
}

static void
assert_sum(StoreFixture *self, gint64 expected)
{
    g_autoptr(QdConnection) reader = store_fixture_open_reader(self);

    g_assert_cmpint(store_get_int64(reader, "SELECT ifnull(sum(id * length(content)), 0) FROM t"), ==, expected);
    g_assert_cmpint(store_get_int64(reader, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check<>'ok'"), ==, 0);
    g_assert_cmpint(sum_after_crash(self), ==, expected);
}

static void
test_few_calls(StoreFixture *self, gconstpointer data)
{
    /* the log has grown */
    store_execute(self->writer, "INSERT INTO t VALUES(1, randomblob(3000000)); PRAGMA wal_checkpoint(RESTART)");
    n_writes = 0;
    store_execute(self->writer, "INSERT INTO t VALUES(2, randomblob(65536))");
    g_assert_cmpuint(n_writes, <=, 2); /* the log's header, too */
    n_writes = 0;
    store_execute(self->writer, "INSERT INTO t VALUES(3, randomblob(1048576))");
    g_assert_cmpuint(n_writes, >=, 8);
    g_assert_cmpuint(n_writes, <=, 10);
    assert_sum(self, 3000000 + 2 * 65536 + 3 * 1048576);
}

/* Pages leave the cache before the commit, are read back, and are written again: then SQLite computes checksums again. */
static void
test_spilled(StoreFixture *self, gconstpointer data)
{
    store_execute(self->writer, "PRAGMA cache_size=5");
    store_execute(
        self->writer,
        "BEGIN; INSERT INTO t VALUES(1, randomblob(50000)); SAVEPOINT a;"
        "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i+1 FROM n WHERE i<60) INSERT INTO t SELECT i, randomblob(3000) FROM n");
    store_execute(self->writer, "ROLLBACK TO a; UPDATE t SET content=randomblob(40000);"
                                "INSERT INTO t VALUES(2, randomblob(70000)); UPDATE t SET content=randomblob(60000) WHERE id=1;"
                                "COMMIT");
    assert_sum(self, 60000 + 2 * 70000);
    store_execute(self->writer, "BEGIN; UPDATE t SET content=randomblob(90000); ROLLBACK");
    assert_sum(self, 60000 + 2 * 70000);
    store_execute(self->writer, "INSERT INTO t VALUES(3, randomblob(1000))");
    assert_sum(self, 60000 + 2 * 70000 + 3 * 1000);
    store_execute(self->writer, "PRAGMA wal_checkpoint(TRUNCATE)");
    store_execute(self->writer, "DELETE FROM t WHERE id=2");
    assert_sum(self, 60000 + 3 * 1000);
}

/* Without a sync after the commit what it has written has to be in the file, too: also checksums that were computed again. */
static void
test_relaxed(StoreFixture *self, gconstpointer data)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(7);
    gint64 lengths[20] = { 0 };

    store_execute(self->writer, "PRAGMA cache_size=2; PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0");
    store_execute(self->writer,
                  "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<19) INSERT INTO t SELECT i, '' FROM n");
    for (guint i = 0; i < 40; i++) {
        gint64 expected = 0;

        store_execute(self->writer, "BEGIN");
        for (gint k = g_rand_int_range(random, 1, 30); k > 0; k--) {
            gint id = g_rand_int_range(random, 0, G_N_ELEMENTS(lengths));
            g_autofree char *sql = NULL;

            lengths[id] = g_rand_int_range(random, 1, 20000);
            sql = g_strdup_printf("UPDATE t SET content=randomblob(%" G_GINT64_FORMAT ") WHERE id=%d", lengths[id], id);
            store_execute(self->writer, sql);
        }
        store_execute(self->writer, "COMMIT");
        for (guint id = 0; id < G_N_ELEMENTS(lengths); id++)
            expected += id * lengths[id];
        assert_sum(self, expected);
        if (i % 10 == 9)
            store_execute(self->writer, "PRAGMA wal_checkpoint(RESTART)");
    }
}

/* What is rolled back, too: the next commit's sync would wait for it. Short commits wait for their own sync only. */
static void
test_paced(StoreFixture *self, gconstpointer data)
{
    static const char insert[] = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<600)"
                                 "INSERT INTO t SELECT i, zeroblob(50000) FROM n";

    store_execute(self->writer, "PRAGMA cache_size=100");
    n_waits = 0;
    n_bytes_ahead = n_bytes_ahead_most = 0;
    store_execute(self->writer, "BEGIN");
    store_execute(self->writer, insert);
    store_execute(self->writer, "ROLLBACK");
    g_assert_cmpuint(n_waits, >=, 600 * 50000 / PIECE_BYTES - 1);
    g_assert_cmpuint(n_bytes_ahead_most, <, PIECE_BYTES + (1u << 17));
    store_execute(self->writer, "PRAGMA synchronous=FULL");
    n_waits = 0;
    for (guint i = 0; i < 100; i++)
        store_execute(self->writer, "REPLACE INTO t VALUES(1, zeroblob(50000))");
    g_assert_cmpuint(n_waits, ==, 0);
}

static gint64
get_log_bytes(StoreFixture *self)
{
    g_autofree char *path = g_build_filename(self->dir, "queryd.db-wal", NULL);
    GStatBuf status;

    g_assert_cmpint(g_stat(path, &status), ==, 0);
    return status.st_size;
}

/* A new log grows a few times, not with each commit. Where the disk has no room for that, the commit is there all the same. */
static void
test_grows(StoreFixture *self, gconstpointer data)
{
    guint n_grown = 0;

    store_execute(self->writer, "PRAGMA wal_autocheckpoint=0; PRAGMA synchronous=FULL");
    for (gint64 i = 1, size = 0; i <= 400; i++) {
        store_execute(self->writer, "REPLACE INTO t VALUES(1, zeroblob(3000))");
        n_grown += get_log_bytes(self) != size;
        size = get_log_bytes(self);
    }
    g_assert_cmpint(get_log_bytes(self), >, 400 * 4096);
    g_assert_cmpuint(n_grown, >, 3);
    g_assert_cmpuint(n_grown, <, 15);
    assert_sum(self, 3000);
    store_execute(self->writer, "PRAGMA wal_checkpoint(TRUNCATE)");
    n_writes_left = 2; /* the log's header, then zeros */
    was_hit = FALSE;
    store_execute(self->writer, "REPLACE INTO t VALUES(1, zeroblob(2000))");
    n_writes_left = 0;
    g_assert_true(was_hit);
    g_assert_cmpint((get_log_bytes(self) - 32) % (4096 + 24), ==, 0);
    assert_sum(self, 2000);
    store_execute(self->writer, "REPLACE INTO t VALUES(1, zeroblob(1000))");
    assert_sum(self, 1000);
}

static gboolean
look(void *data)
{
    return n_waits > 0;
}

/* VACUUM copies the database to the log by one operation, in which SQLite calls no handler. What has ended there has changed
 * nothing. */
static void
test_ends(StoreFixture *self, gconstpointer data)
{
    QdInterrupt interrupt = { .look = look, .is_always_due = TRUE };
    g_autoptr(GError) error = NULL;

    store_execute(self->writer, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<60)"
                                "INSERT INTO t SELECT i, randomblob(100000) FROM n");
    n_waits = 0;
    qd_interrupt_begin(&interrupt);
    g_assert_false(qd_connection_execute(self->writer, "VACUUM", &error));
    qd_interrupt_end(&interrupt);
    g_assert_error(error, QD_ERROR, QW_ERROR_CANCELLED);
    g_assert_cmpuint(n_waits, ==, 1);
    assert_sum(self, 60 * 61 / 2 * 100000);
    store_execute(self->writer, "DELETE FROM t WHERE id>1; VACUUM");
    assert_sum(self, 100000);
}

static gboolean
look_after_some(void *data)
{
    guint *n_looks = data;

    return ++*n_looks >= 3;
}

/* A page that was written twice makes SQLite write each header since then once more when it commits. */
static void
test_commit_ends(StoreFixture *self, gconstpointer data)
{
    guint n_looks = 0;
    QdInterrupt interrupt = { .look = look_after_some, .is_always_due = TRUE, .data = &n_looks };
    g_autoptr(GError) error = NULL;
    guint n_before;

    store_execute(self->writer, "PRAGMA cache_size=5; INSERT INTO t VALUES(1, randomblob(5000)); BEGIN;"
                                "UPDATE t SET content=randomblob(6000);"
                                "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i+1 FROM n WHERE i<600)"
                                "INSERT INTO t SELECT i, randomblob(5000) FROM n; UPDATE t SET content=NULL WHERE id=1");
    n_before = n_writes;
    qd_interrupt_begin(&interrupt);
    g_assert_false(qd_connection_execute(self->writer, "COMMIT", &error));
    qd_interrupt_end(&interrupt);
    g_assert_error(error, QD_ERROR, QW_ERROR_CANCELLED);
    g_assert_cmpuint(n_looks, ==, 3);
    g_assert_cmpuint(n_writes - n_before, >, 100); /* it was rewriting */
    g_assert_cmpuint(n_writes - n_before, <, 500);
    g_assert_true(sqlite3_get_autocommit(qd_connection_get_db(self->writer)) != 0);
    assert_sum(self, 5000);
    store_execute(self->writer, "INSERT INTO t VALUES(2, randomblob(7000))");
    assert_sum(self, 5000 + 2 * 7000);
    store_execute(self->writer, "PRAGMA wal_checkpoint(TRUNCATE)");
    assert_sum(self, 5000 + 2 * 7000);
}

static gboolean
look_always(void *data)
{
    return TRUE;
}

/* A frame that ends a commit and is in the file is found after the machine has stopped. By the sizes, the disk is waited for at the
 * last write of some of these commits, before that of others and not at all. */
static void
test_refused_is_not_found(StoreFixture *self, gconstpointer data)
{
    QdInterrupt interrupt = { .look = look_always, .is_always_due = TRUE };
    guint n_refused = 0;
    guint n_sizes = 0;

    store_execute(self->writer, "PRAGMA cache_size=5000");
    for (guint n_bytes = 2000000; n_bytes < 2300000; n_bytes += 20000) {
        g_autofree char *text = g_strdup_printf("BEGIN; INSERT INTO t VALUES(1, randomblob(%u))", n_bytes);
        g_autoptr(GError) error = NULL;
        gboolean ok;

        store_execute(self->writer, "DELETE FROM t");
        store_execute(self->writer, text);
        qd_interrupt_begin(&interrupt);
        ok = qd_connection_execute(self->writer, "COMMIT", &error);
        qd_interrupt_end(&interrupt);
        if (!ok)
            g_assert_error(error, QD_ERROR, QW_ERROR_CANCELLED);
        assert_sum(self, ok ? n_bytes : 0);
        n_refused += !ok;
        n_sizes++;
    }
    g_assert_cmpuint(n_refused, >, 0);
    g_assert_cmpuint(n_refused, <, n_sizes);
}

/* A full disk is reported to the commit that it hits, and the next one is whole. */
static void
test_faults(StoreFixture *self, gconstpointer data)
{
    gint64 expected = 0;
    guint n_failed = 0;

    store_execute(self->writer, "PRAGMA cache_size=5");
    for (guint k = 1; k == 1 || was_hit; k++) {
        g_autofree char *sql = g_strdup_printf("BEGIN; INSERT INTO t VALUES(%u, randomblob(1000000));"
                                               "UPDATE t SET content=randomblob(700000) WHERE id=%u; COMMIT",
                                               k, k);
        g_autoptr(GError) error = NULL;

        was_hit = FALSE;
        n_writes_left = k;
        if (qd_connection_execute(self->writer, sql, &error)) {
            expected += (gint64) k * 700000;
        } else {
            store_assert_error(error, QW_ERROR_DISK_FULL, "full");
            n_failed++;
        }
        n_writes_left = 0;
        if (sqlite3_get_autocommit(qd_connection_get_db(self->writer)) == 0)
            store_execute(self->writer, "ROLLBACK");
        assert_sum(self, expected);
    }
    g_assert_cmpuint(n_failed, >=, N_FAULTS_MIN);
    g_assert_cmpint(expected, >, 0);
}

/* How many calls a connection takes to read all. */
static guint
count_reads(QdConnection *reader, gint64 expected)
{
    n_reads = 0;
    g_assert_cmpint(store_get_int64(reader, "SELECT ifnull(sum(id * length(hex(content)) / 2), 0) FROM t"), ==, expected);
    return n_reads;
}

/* One connection for all: its mapping is as old as the connection, and the log grows, restarts, and is cut. */
static void
test_mapped(StoreFixture *self, gconstpointer data)
{
    g_autoptr(QdConnection) reader = store_fixture_open_reader(self);
    gint64 expected = 0;

    store_execute(self->writer, "PRAGMA wal_autocheckpoint=0");
    for (gint i = 1; i < 40; i++) {
        g_autofree char *sql = g_strdup_printf("INSERT INTO t VALUES(%d, randomblob(65536))", i);

        store_execute(self->writer, sql);
        expected += i * 65536;
        g_assert_cmpuint(count_reads(reader, expected), <, 10);
        if (i % 13 == 0)
            store_execute(self->writer, i == 26 ? "PRAGMA wal_checkpoint(TRUNCATE)" : "PRAGMA wal_checkpoint(RESTART)");
    }
}

/* The log is longer than what is mapped of it, or nothing is. */
static void
test_partly_mapped(StoreFixture *self, gconstpointer data)
{
    guint n_before = 0;

    store_execute(self->writer, "PRAGMA wal_autocheckpoint=0; INSERT INTO t VALUES(1, randomblob(4000000))");
    for (guint n_map_bytes = 0; n_map_bytes <= 4000000; n_map_bytes += 1000000) {
        g_autoptr(QdConnection) reader = NULL;
        guint n;

        g_assert_true(qd_limits_set(&self->limits, "map_bytes", n_map_bytes, NULL));
        reader = store_fixture_open_reader(self);
        n = count_reads(reader, 4000000);
        g_assert_cmpuint(n, >, 20);
        if (n_before > 0)
            g_assert_cmpuint(n, <, n_before - 200);
        n_before = n;
    }
    g_assert_cmpuint(n_before, <, 200);
}

/* Another program has shortened it. A frame after its end is not written, and no checkpoint copies a part of it. */
static void
test_shortened(StoreFixture *self, gconstpointer data)
{
    g_autofree char *log = g_build_filename(self->dir, "queryd.db-wal", NULL);
    g_autofree char *database = g_build_filename(self->dir, "queryd.db", NULL);
    g_autofree char *before = NULL;
    g_autofree char *after = NULL;
    g_autoptr(GError) error = NULL;
    gsize n_before, n_after;
    struct stat st;

    store_execute(self->writer, "INSERT INTO t VALUES(1, randomblob(100000)); PRAGMA wal_checkpoint(TRUNCATE)");
    store_execute(self->writer, "INSERT INTO t VALUES(2, randomblob(50000)); UPDATE t SET content=randomblob(70000)");
    g_assert_true(g_file_get_contents(database, &before, &n_before, NULL));
    g_assert_cmpint(g_stat(log, &st), ==, 0);
    g_assert_cmpint(truncate(log, 100000), ==, 0);
    g_assert_false(qd_connection_execute(self->writer, "INSERT INTO t VALUES(3, NULL)", &error));
    store_assert_error(error, QW_ERROR_READ_ONLY, "queryd.db-wal' was shortened");
    g_clear_error(&error);
    g_assert_false(qd_connection_execute(self->writer, "PRAGMA wal_checkpoint(PASSIVE)", &error));
    store_assert_error(error, QW_ERROR_READ_ONLY, "queryd.db-wal' was shortened");
    store_fixture_close(self);
    g_assert_true(g_file_get_contents(database, &after, &n_after, NULL));
    g_assert_cmpmem(before, n_before, after, n_after);
    store_fixture_open(self);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/sqlite/log-file/few-calls", StoreFixture, NULL, set_up, test_few_calls, tear_down);
    g_test_add("/sqlite/log-file/spilled", StoreFixture, NULL, set_up, test_spilled, tear_down);
    g_test_add("/sqlite/log-file/relaxed", StoreFixture, NULL, set_up, test_relaxed, tear_down);
    g_test_add("/sqlite/log-file/paced", StoreFixture, NULL, set_up, test_paced, tear_down);
    g_test_add("/sqlite/log-file/grows", StoreFixture, NULL, set_up, test_grows, tear_down);
    g_test_add("/sqlite/log-file/mapped", StoreFixture, NULL, set_up, test_mapped, tear_down);
    g_test_add("/sqlite/log-file/partly-mapped", StoreFixture, NULL, set_up, test_partly_mapped, tear_down);
    g_test_add("/sqlite/log-file/ends", StoreFixture, NULL, set_up, test_ends, tear_down);
    g_test_add("/sqlite/log-file/commit-ends", StoreFixture, NULL, set_up, test_commit_ends, tear_down);
    g_test_add("/sqlite/log-file/refused-is-not-found", StoreFixture, NULL, set_up, test_refused_is_not_found, tear_down);
    g_test_add("/sqlite/log-file/shortened", StoreFixture, NULL, set_up, test_shortened, tear_down);
    g_test_add("/sqlite/log-file/faults", StoreFixture, NULL, set_up, test_faults, tear_down);
    return g_test_run();
}
