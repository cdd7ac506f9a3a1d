/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening a store: lock, file, internal schema, read-only folders, what is refused.
 */
#include "daemon/store/database.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/sqlite/schema.h"
#include "tests/unit/store/store-fixture.h"

static QdDatabase *
open_again(StoreFixture *self, GError **error)
{
    return qd_database_open(self->dir, &self->limits, error);
}

static void
assert_refused(StoreFixture *self, QwError code, const char *words)
{
    g_autoptr(GError) error = NULL;

    g_assert_null(open_again(self, &error));
    store_assert_error(error, code, words);
}

static char *
get_file(StoreFixture *self, const char *name)
{
    return g_build_filename(self->dir, name, NULL);
}

static void
test_fresh(StoreFixture *self, gconstpointer data)
{
    g_autofree char *path = get_file(self, "queryd.db");
    struct stat st;

    g_assert_cmpstr(qd_database_get_path(self->database), ==, path);
    g_assert_cmpstr(qd_database_get_directory(self->database), ==, self->dir);
    g_assert_false(qd_database_is_read_only(self->database));
    g_assert_cmpuint(qd_database_get_start_counter(self->database), ==, 1);
    g_assert_cmpint(g_stat(path, &st), ==, 0);
    g_assert_nonnull(self->writer);
    g_assert_null(qd_database_steal_writer(self->database));
    g_assert_cmpint(store_get_int64(self->writer, "SELECT value FROM queryd_meta WHERE key = 'schema_version'"), ==,
                    QD_SCHEMA_VERSION);
    g_assert_cmpint(store_get_int64(self->writer, "SELECT count(*) FROM queryd_meta"), ==, 4);
}

static void
test_makes_folders(StoreFixture *self, gconstpointer data)
{
    g_autofree char *dir = g_build_filename(self->dir, "a", "b", NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(QdDatabase) database = qd_database_open(dir, &self->limits, &error);
    struct stat st;

    g_assert_no_error(error);
    g_assert_cmpstr(qd_database_get_directory(database), ==, dir);
    g_assert_cmpint(g_stat(dir, &st), ==, 0);
    g_assert_cmpint(st.st_mode & 0777, ==, 0700);
}

static void
test_counts_starts(StoreFixture *self, gconstpointer data)
{
    store_execute(self->writer, "CREATE TABLE t(a); INSERT INTO t VALUES(7); PRAGMA user_version = 42");
    for (guint i = 2; i < 5; i++) {
        store_fixture_close(self);
        store_fixture_open(self);
        g_assert_cmpuint(qd_database_get_start_counter(self->database), ==, i);
    }
    g_assert_cmpint(store_get_int64(self->writer, "SELECT a FROM t"), ==, 7);
    g_assert_cmpint(store_get_int64(self->writer, "PRAGMA user_version"), ==, 42);
}

static void
test_lock_names_the_holder(StoreFixture *self, gconstpointer data)
{
    g_autofree char *words = g_strdup_printf("is in use by another queryd, process %ld", (long) getpid());
    g_autoptr(QdDatabase) database = NULL;
    g_autoptr(GError) error = NULL;

    assert_refused(self, QW_ERROR_BUSY, words);
    store_fixture_close(self);
    database = open_again(self, &error);
    g_assert_no_error(error);
}

/* The lock is the kernel's: a process that was killed leaves none. */
static void
test_lock_of_a_killed_process(StoreFixture *self, gconstpointer data)
{
    g_autofree char *words = NULL;
    g_autofree char *path = get_file(self, "lock");
    int ready[2];
    int status = 0;
    char byte = 0;
    pid_t pid;

    store_fixture_close(self);
    g_assert_cmpint(pipe2(ready, O_CLOEXEC), ==, 0);
    pid = fork();
    if (pid == 0) {
        struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
        int fd = open(path, O_RDWR | O_CLOEXEC);

        if (fd < 0 || fcntl(fd, F_OFD_SETLK, &lock) < 0 || ftruncate(fd, 0) < 0 || dprintf(fd, "%ld\n", (long) getpid()) < 0 ||
            write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            (void) pause();
    }
    g_assert_cmpint(read(ready[0], &byte, 1), ==, 1);
    words = g_strdup_printf("process %ld", (long) pid);
    assert_refused(self, QW_ERROR_BUSY, words);
    g_assert_cmpint(kill(pid, SIGKILL), ==, 0);
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    store_fixture_open(self);
    (void) close(ready[0]);
    (void) close(ready[1]);
}

/* It is not counted as a start, nor migrated down, nor switched to another journal: not one byte changes. */
static void
test_newer_schema(StoreFixture *self, gconstpointer data)
{
    g_autofree char *path = get_file(self, "queryd.db");
    g_autofree char *before = NULL;
    g_autofree char *after = NULL;
    gsize n_before;
    gsize n_after;

    store_execute(self->writer, "UPDATE queryd_meta SET value = 1000 WHERE key = 'schema_version'");
    store_execute(self->writer, "PRAGMA journal_mode=DELETE");
    store_fixture_close(self);
    g_assert_true(g_file_get_contents(path, &before, &n_before, NULL));
    assert_refused(self, QW_ERROR_UNSUPPORTED, "has schema version 1000, this queryd knows ");
    assert_refused(self, QW_ERROR_UNSUPPORTED, "has schema version 1000");
    g_assert_true(g_file_get_contents(path, &after, &n_after, NULL));
    g_assert_cmpmem(before, n_before, after, n_after);
}

static void
test_not_a_database(StoreFixture *self, gconstpointer data)
{
    g_autofree char *path = get_file(self, "queryd.db");
    g_autofree char *junk = g_strnfill(8192, 'x');
    g_autofree char *after = NULL;

    store_fixture_close(self);
    g_assert_true(g_file_set_contents(path, junk, 8192, NULL));
    assert_refused(self, QW_ERROR_CORRUPT, path);
    g_assert_true(g_file_get_contents(path, &after, NULL, NULL));
    g_assert_cmpstr(after, ==, junk);
}

/* An SQLite file that was made by another program becomes a store and keeps what is the user's. */
static void
test_adopts_a_file(StoreFixture *self, gconstpointer data)
{
    g_autofree char *path = get_file(self, "queryd.db");
    sqlite3 *db = NULL;

    store_fixture_close(self);
    g_assert_cmpint(g_remove(path), ==, 0);
    g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(db,
                                 "PRAGMA application_id = 77; PRAGMA user_version = 5; CREATE TABLE old(a); INSERT INTO old "
                                 "VALUES('x')",
                                 NULL, NULL, NULL),
                    ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
    store_fixture_open(self);
    g_assert_cmpint(store_get_int64(self->writer, "PRAGMA application_id"), ==, 77);
    g_assert_cmpint(store_get_int64(self->writer, "PRAGMA user_version"), ==, 5);
    g_assert_cmpint(store_get_int64(self->writer, "SELECT count(*) FROM old WHERE a = 'x'"), ==, 1);
}

static void
check_read_only(gpointer data)
{
    StoreFixture *self = data;

    g_autoptr(GError) error = NULL;
    g_autoptr(QdDatabase) database = open_again(self, &error);
    g_autoptr(QdConnection) reader = NULL;
    QdConnectionInfo info;

    g_assert_no_error(error);
    g_assert_true(qd_database_is_read_only(database));
    g_assert_null(qd_database_steal_writer(database));
    info = qd_database_get_info(database);
    g_assert_true(info.immutable);
    reader = qd_connection_open(&info, QD_CONNECTION_READER, &self->limits, &error);
    g_assert_no_error(error);
    g_assert_cmpint(store_get_int64(reader, "SELECT a FROM t"), ==, 7);
    g_assert_false(qd_connection_execute(reader, "INSERT INTO t VALUES(8)", &error));
    g_assert_error(error, QD_ERROR, (gint) QW_ERROR_READ_ONLY);
}

static void
test_read_only_folder(StoreFixture *self, gconstpointer data)
{
    g_autofree char *path = get_file(self, "queryd.db");
    g_autofree char *lock = get_file(self, "lock");

    store_execute(self->writer, "CREATE TABLE t(a); INSERT INTO t VALUES(7)");
    store_fixture_close(self);
    g_assert_cmpint(g_chmod(path, 0444), ==, 0);
    g_assert_cmpint(g_chmod(lock, 0444), ==, 0);
    g_assert_cmpint(g_chmod(self->dir, 0555), ==, 0);
    store_run_as_other_user(self->dir, check_read_only, self);
    g_assert_cmpint(g_chmod(self->dir, 0700), ==, 0);
}

static void
check_log_waits(gpointer data)
{
    StoreFixture *self = data;

    assert_refused(self, QW_ERROR_READ_ONLY, "its log has to be recovered first");
}

static void
test_read_only_with_a_log(StoreFixture *self, gconstpointer data)
{
    g_autofree char *wal = get_file(self, "queryd.db-wal");
    g_autofree char *lock = get_file(self, "lock");

    store_fixture_close(self);
    g_assert_true(g_file_set_contents(wal, "some frames", -1, NULL));
    g_assert_cmpint(g_chmod(lock, 0444), ==, 0);
    g_assert_cmpint(g_chmod(self->dir, 0555), ==, 0);
    store_run_as_other_user(self->dir, check_log_waits, self);
    g_assert_cmpint(g_chmod(self->dir, 0700), ==, 0);
    g_assert_cmpint(g_remove(wal), ==, 0);
}

static void
check_no_database(gpointer data)
{
    StoreFixture *self = data;

    assert_refused(self, QW_ERROR_READ_ONLY, "holds no database");
}

static void
test_read_only_and_empty(StoreFixture *self, gconstpointer data)
{
    g_autofree char *path = get_file(self, "queryd.db");
    g_autofree char *lock = get_file(self, "lock");

    store_fixture_close(self);
    g_assert_cmpint(g_remove(path), ==, 0);
    g_assert_cmpint(g_remove(lock), ==, 0);
    g_assert_cmpint(g_chmod(self->dir, 0555), ==, 0);
    store_run_as_other_user(self->dir, check_no_database, self);
    g_assert_cmpint(g_chmod(self->dir, 0700), ==, 0);
}

/* A link at the lock's place must not make us write elsewhere. */
static void
test_lock_is_no_link(StoreFixture *self, gconstpointer data)
{
    g_autofree char *lock = get_file(self, "lock");
    g_autofree char *target = get_file(self, "target");
    g_autofree char *after = NULL;

    store_fixture_close(self);
    g_assert_cmpint(g_remove(lock), ==, 0);
    g_assert_true(g_file_set_contents(target, "precious", -1, NULL));
    g_assert_cmpint(symlink(target, lock), ==, 0);
    assert_refused(self, QW_ERROR_INTERNAL, lock);
    g_assert_true(g_file_get_contents(target, &after, NULL, NULL));
    g_assert_cmpstr(after, ==, "precious");
}

/* As a process that is killed leaves it: all that was written is in the log. */
static void
leave_log(StoreFixture *self)
{
    static const char *const names[] = { "queryd.db", "queryd.db-wal" };
    char *bytes[2] = { NULL, NULL };
    gsize n_bytes[2] = { 0, 0 };

    store_execute(self->writer, "CREATE TABLE t(x); INSERT INTO t VALUES(1), (2), (3)");
    for (guint i = 0; i < 2; i++) {
        g_autofree char *path = get_file(self, names[i]);

        g_assert_true(g_file_get_contents(path, &bytes[i], &n_bytes[i], NULL));
    }
    store_fixture_close(self);
    for (guint i = 0; i < 2; i++) {
        g_autofree char *path = get_file(self, names[i]);

        g_assert_true(g_file_set_contents(path, bytes[i], (gssize) n_bytes[i], NULL));
        g_free(bytes[i]);
    }
}

/* SQLite would make a new database and delete the log. */
static void
test_log_only(StoreFixture *self, gconstpointer data)
{
    const char *kind = data;
    g_autofree char *path = get_file(self, "queryd.db");
    g_autofree char *log = get_file(self, "queryd.db-wal");
    g_autoptr(GError) error = NULL;
    QdDatabaseRepair repair = { 0 };

    leave_log(self);
    if (g_str_equal(kind, "missing"))
        g_assert_cmpint(g_unlink(path), ==, 0);
    else
        g_assert_cmpint(truncate(path, g_str_equal(kind, "empty") ? 0 : 1), ==, 0);
    assert_refused(self, QW_ERROR_CORRUPT,
                   g_str_equal(kind, "missing") ? "it is missing or empty, and there is a log of it"
                                                : "another program has emptied it");
    g_assert_cmpint(g_access(log, F_OK), ==, 0);

    self->database = qd_database_open_repaired(self->dir, &self->limits, NULL, &repair, &error);
    g_assert_no_error(error);
    self->writer = qd_database_steal_writer(self->database);
    g_assert_cmpint(store_get_int64(self->writer, "SELECT sum(x) FROM t"), ==, 6);
    g_assert_true(g_file_test(repair.result.report, G_FILE_TEST_EXISTS));
    qd_recovery_result_clear(&repair.result);
}

/* There is nothing to be salvaged in a log without a commit. */
static void
test_empty_log(StoreFixture *self, gconstpointer data)
{
    g_autofree char *path = get_file(self, "queryd.db");
    g_autofree char *log = get_file(self, "queryd.db-wal");

    store_fixture_close(self);
    g_assert_cmpint(g_unlink(path), ==, 0);
    g_assert_true(g_file_set_contents(log, "", 0, NULL));
    store_fixture_open(self);
    g_assert_cmpuint(qd_database_get_start_counter(self->database), ==, 1);
}

/* The user who finds the last copy of the database needs them; a sweep would delete them. */
static void
test_payloads_of_a_lost_database(StoreFixture *self, gconstpointer data)
{
    g_autofree char *path = get_file(self, "queryd.db");
    g_autofree char *folder = get_file(self, "payload");
    g_autofree char *file = g_build_filename(folder, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", NULL);
    g_autoptr(GError) error = NULL;
    QdDatabaseRepair repair = { 0 };

    store_fixture_close(self);
    g_assert_cmpint(g_unlink(path), ==, 0);
    g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
    g_assert_true(g_file_set_contents(file, "content", -1, NULL));
    self->database = qd_database_open_repaired(self->dir, &self->limits, NULL, &repair, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(repair.n_kept_payloads, ==, 1);
    g_assert_cmpuint(store_count_files(self->dir, "payload-lost"), ==, 1);
    g_assert_true(g_str_has_suffix(repair.kept_folder, "payload-lost"));
    g_free(repair.kept_folder);
}

/* A byte of its header, which SQLite has no error of its own for. */
static void
test_unknown_format(StoreFixture *self, gconstpointer data)
{
    g_autofree char *path = get_file(self, "queryd.db");
    g_autofree char *bytes = NULL;
    gsize n_bytes = 0;

    store_fixture_close(self);
    g_assert_true(g_file_get_contents(path, &bytes, &n_bytes, NULL));
    bytes[47] = 99;
    g_assert_true(g_file_set_contents(path, bytes, (gssize) n_bytes, NULL));
    assert_refused(self, QW_ERROR_CORRUPT, "unsupported file format");
}

/* The key of the hash of terms is lost, by @sql or by a byte of its page. */
static void
check_lost_key(StoreFixture *self, const char *sql, const char *words)
{
    gint64 offset = store_get_int64(self->writer, "SELECT rootpage FROM sqlite_schema WHERE name='queryd_term_key'") *
                    store_get_int64(self->writer, "PRAGMA page_size");
    g_autofree char *path = g_strdup(qd_database_get_path(self->database));
    g_autoptr(GError) error = NULL;
    g_autoptr(QdDatabase) database = NULL;
    FILE *file;

    if (sql != NULL)
        store_execute(self->writer, sql);
    store_fixture_close(self);
    if (sql == NULL) {
        file = fopen(path, "r+be");
        g_assert_nonnull(file);
        g_assert_cmpint(fseek(file, (long) offset - 1, SEEK_SET), ==, 0);
        g_assert_cmpint(fputc(0x55, file), ==, 0x55);
        g_assert_cmpint(fclose(file), ==, 0);
    }
    database = qd_database_open(self->dir, &self->limits, &error);
    g_assert_null(database);
    store_assert_error(error, QW_ERROR_CORRUPT, words);
    store_assert_error(error, QW_ERROR_CORRUPT, "queryd_term_key lacks a row, or has lost its rowids");
    store_assert_error(error, QW_ERROR_CORRUPT, "queryd --salvage --directory");
}

static void
test_damaged_key(StoreFixture *self, gconstpointer data)
{
    check_lost_key(self, NULL, "database disk image is malformed: ");
}

static void
test_changed_key(StoreFixture *self, gconstpointer data)
{
    check_lost_key(self, "DELETE FROM queryd_term_key", "another program has changed internal tables of queryd: ");
}

/* Whether another program could have the file for itself, as SQLite asks when it closes what it takes for the last connection. */
static gboolean
is_free(const char *path)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0x40000002, .l_len = 510 };
    int fd = open(path, O_RDWR | O_CLOEXEC);

    g_assert_cmpint(fcntl(fd, F_OFD_GETLK, &lock), ==, 0);
    (void) close(fd);
    return lock.l_type == F_UNLCK;
}

/* A descriptor of the file that is closed here takes SQLite's locks with it, but not this one. */
static void
test_guard(StoreFixture *fixture, gconstpointer data)
{
    const char *path = qd_database_get_path(fixture->database);

    (void) store_get_int64(fixture->writer, "SELECT count(*) FROM sqlite_schema");
    g_assert_false(is_free(path));
    g_assert_true(is_free(path)); /* since it was looked at */
    qd_database_guard(fixture->database);
    qd_database_guard(fixture->database);
    g_assert_false(is_free(path));
    g_assert_false(is_free(path));
    store_execute(fixture->writer, "CREATE TABLE t(a); PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t VALUES(1); VACUUM");
    qd_database_lift_guard(fixture->database);
    g_assert_true(is_free(path));
}

static void
test_own_files(StoreFixture *fixture, gconstpointer data)
{
    static const char *const names[] = { "queryd.db", "queryd.db-wal", "queryd.db-shm", "queryd.db-schema", "lock", "ballast" };
    g_autofree char *linked = g_build_filename(fixture->dir, "linked", NULL);
    g_autofree char *found = NULL;
    struct stat st;

    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(fixture->dir, names[i], NULL);
        g_autofree char *own = NULL;

        g_assert_cmpint(stat(path, &st), ==, 0);
        own = qd_database_find_own_file(fixture->database, &st);
        g_assert_cmpstr(own, ==, path);
    }
    g_assert_cmpint(link(qd_database_get_path(fixture->database), linked), ==, 0);
    g_assert_cmpint(stat(linked, &st), ==, 0);
    found = qd_database_find_own_file(fixture->database, &st);
    g_assert_cmpstr(found, ==, qd_database_get_path(fixture->database));
    g_assert_cmpint(stat(fixture->dir, &st), ==, 0);
    g_assert_null(qd_database_find_own_file(fixture->database, &st));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) g_test_add("/store/database/" path, StoreFixture, NULL, store_fixture_set_up, func, store_fixture_tear_down)
    ADD("fresh", test_fresh);
    ADD("makes-folders", test_makes_folders);
    ADD("counts-starts", test_counts_starts);
    ADD("lock/names-the-holder", test_lock_names_the_holder);
    ADD("lock/of-a-killed-process", test_lock_of_a_killed_process);
    ADD("lock/is-no-link", test_lock_is_no_link);
    ADD("newer-schema", test_newer_schema);
    ADD("not-a-database", test_not_a_database);
    ADD("adopts-a-file", test_adopts_a_file);
    g_test_add("/store/database/log-only/missing", StoreFixture, "missing", store_fixture_set_up, test_log_only,
               store_fixture_tear_down);
    g_test_add("/store/database/log-only/empty", StoreFixture, "empty", store_fixture_set_up, test_log_only,
               store_fixture_tear_down);
    g_test_add("/store/database/log-only/byte", StoreFixture, "byte", store_fixture_set_up, test_log_only, store_fixture_tear_down);
    ADD("empty-log", test_empty_log);
    ADD("payloads-of-a-lost-database", test_payloads_of_a_lost_database);
    ADD("unknown-format", test_unknown_format);
    ADD("damaged-key", test_damaged_key);
    ADD("changed-key", test_changed_key);
    ADD("guard", test_guard);
    ADD("own-files", test_own_files);
    ADD("read-only/folder", test_read_only_folder);
    ADD("read-only/with-a-log", test_read_only_with_a_log);
    ADD("read-only/and-empty", test_read_only_and_empty);
    return g_test_run();
}
