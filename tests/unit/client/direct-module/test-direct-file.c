/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening files for direct connections, also those that cannot be opened, are damaged, or change underneath.
 */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/client/direct-module/direct-fixture.h"

#define SUM "SELECT sum(length(v)) FROM t"
#define PAGE 4096

/* Everything into the database file: nothing waits in the log. Its files stay, as the daemon leaves them. */
static void
close_store(DirectFixture *self)
{
    int persist = 1;

    (void) sqlite3_file_control(qd_connection_get_db(self->store.writer), "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
    store_execute(self->store.writer, "PRAGMA wal_checkpoint(TRUNCATE)");
    store_fixture_close(&self->store);
}

static void
assert_cannot_open(DirectFixture *self, QueryError code, const char *words)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryConnection) connection = direct_fixture_open(self, &error);

    g_assert_null(connection);
    direct_assert_error(error, code, words);
}

static void
test_no_file(DirectFixture *self, gconstpointer data)
{
    g_autofree char *file = g_steal_pointer(&self->path);

    self->path = g_strconcat(file, ".not", NULL);
    assert_cannot_open(self, QUERY_ERROR_UNAVAILABLE, "No such file or directory");
    g_free(self->path);
    self->path = g_strdup(self->store.dir);
    assert_cannot_open(self, QUERY_ERROR_UNAVAILABLE, "not a regular file");
    g_free(self->path);
    self->path = g_strdup("/dev/null");
    assert_cannot_open(self, QUERY_ERROR_UNAVAILABLE, "not a regular file");
}

/* Without a path: that of the default store, below XDG_DATA_HOME. */
static void
test_default_store(DirectFixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryConnection) connection = query_connection_new_direct(NULL, NULL, &error);
    g_autofree char *path = g_build_filename(g_get_user_data_dir(), "queryd", "queryd.db", NULL);

    g_assert_null(connection);
    direct_assert_error(error, QUERY_ERROR_UNAVAILABLE, path);
}

static void
test_not_a_database(DirectFixture *self, gconstpointer data)
{
    g_autofree char *junk = g_strnfill(2 * PAGE, 'x');

    g_clear_object(&self->connection);
    close_store(self);
    g_assert_true(g_file_set_contents(self->path, junk, 2 * PAGE, NULL));
    assert_cannot_open(self, QUERY_ERROR_CORRUPT, "file is not a database");
}

static void
test_newer_schema(DirectFixture *self, gconstpointer data)
{
    store_execute(self->store.writer, "UPDATE queryd_meta SET value = 99 WHERE key = 'schema_version'");
    assert_cannot_open(self, QUERY_ERROR_UNSUPPORTED, "has schema version 99");
}

/* Any database of SQLite can be read, also one that was never a store. */
static void
test_foreign_database(DirectFixture *self, gconstpointer data)
{
    g_autoptr(QueryConnection) connection = NULL;
    g_autoptr(GError) error = NULL;
    g_autofree char *odd = g_build_filename(self->store.dir, "100% odd?mode=memory&x#y", NULL);
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open(odd, &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(db, "CREATE TABLE o(a); INSERT INTO o VALUES(5)", NULL, NULL, NULL), ==, SQLITE_OK);
    (void) sqlite3_close(db);
    connection = query_connection_new_direct(odd, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpint(direct_query_int64(connection, "SELECT a FROM o"), ==, 5);
}

static void
test_async(DirectFixture *self, gconstpointer data)
{
    g_autoptr(GCancellable) cancellable = g_cancellable_new();
    g_autoptr(GError) error = NULL;

    g_cancellable_cancel(cancellable);
    g_assert_null(query_connection_new_direct(self->path, cancellable, &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* Rights ----------------------------------------------------------------------------------------------------------------- */

#define PATH_VARIABLE "QUERYD_TEST_DATABASE"
#define CHILD "/client/direct/subprocess/"

/*
 * Root may read everything: only other users can be kept out. A process of its own, that has nothing of SQLite from here, runs
 * one of the functions below.
 */
static void
run_as_nobody(DirectFixture *self, const char *test)
{
    g_autofree char *path = g_strconcat(CHILD, test, NULL);

    g_setenv(PATH_VARIABLE, self->path, TRUE);
    g_test_trap_subprocess(path, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
    g_test_trap_assert_passed();
}

static QueryConnection *
open_as_nobody(GError **error)
{
    if (geteuid() == 0)
        g_assert_true(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
    return query_connection_new_direct(g_getenv(PATH_VARIABLE), NULL, error);
}

static void
child_reads(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryConnection) connection = open_as_nobody(&error);

    g_assert_no_error(error);
    g_assert_cmpint(direct_query_int64(connection, SUM), ==, 2000000);
}

static void
child_cannot_read(void)
{
    g_autoptr(GError) error = NULL;

    g_assert_null(open_as_nobody(&error));
    direct_assert_error(error, QUERY_ERROR_UNAVAILABLE, "the daemon may serve it all the same");
}

static void
child_cannot_reach(void)
{
    g_autoptr(GError) error = NULL;

    g_assert_null(open_as_nobody(&error));
    direct_assert_error(error, QUERY_ERROR_UNAVAILABLE, g_strerror(EACCES));
}

static void
remove_beside(DirectFixture *self, const char *suffix)
{
    g_autofree char *path = g_strconcat(self->path, suffix, NULL);

    (void) g_remove(path);
}

static void
set_mode(DirectFixture *self, const char *suffix, int mode)
{
    g_autofree char *path = g_strconcat(self->path, suffix, NULL);

    g_assert_cmpint(g_chmod(path, mode), ==, 0);
}

/* A folder that cannot be written: readable while the daemon's -wal and -shm are there, and after it has gone. */
static void
test_read_only_folder(DirectFixture *self, gconstpointer data)
{
    g_clear_object(&self->connection);
    set_mode(self, "", 0644);
    set_mode(self, "-wal", 0644);
    set_mode(self, "-shm", 0644);
    g_assert_cmpint(g_chmod(self->store.dir, 0555), ==, 0);
    run_as_nobody(self, "reads");
    close_store(self);
    run_as_nobody(self, "reads");
    remove_beside(self, "-wal");
    remove_beside(self, "-shm");
    run_as_nobody(self, "cannot-read");
    g_assert_cmpint(g_chmod(self->store.dir, 0700), ==, 0);
}

static void
test_no_rights(DirectFixture *self, gconstpointer data)
{
    g_clear_object(&self->connection);
    g_assert_cmpint(g_chmod(self->store.dir, 0755), ==, 0);
    set_mode(self, "", 0600);
    run_as_nobody(self, "cannot-read");
    g_assert_cmpint(g_chmod(self->store.dir, 0700), ==, 0);
    run_as_nobody(self, "cannot-reach");
}

/* Damage ----------------------------------------------------------------------------------------------------------------- */

static void
overwrite(DirectFixture *self, off_t offset, gsize n_bytes)
{
    g_autofree char *junk = g_strnfill(n_bytes, '\xff');
    int fd = open(self->path, O_WRONLY | O_CLOEXEC);

    g_assert_cmpint(pwrite(fd, junk, n_bytes, offset), ==, (gssize) n_bytes);
    (void) close(fd);
}

static guint
read_damaged(DirectFixture *self, GError **error)
{
    g_autoptr(QueryCursor) cursor = query_connection_query(self->connection, DIRECT_SQL, "SELECT v FROM t", NULL, NULL, error);

    return cursor != NULL ? direct_count_rows(cursor, error) : 0;
}

static void
test_corrupt_page(DirectFixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;

    g_clear_object(&self->connection);
    close_store(self);
    overwrite(self, 200 * PAGE, PAGE);
    self->connection = direct_fixture_open(self, NULL);
    g_assert_cmpuint(read_damaged(self, &error), <, 20000);
    direct_assert_error(error, QUERY_ERROR_CORRUPT, "malformed");
}

/* Nothing of the file is mapped: what is missing is an error and no signal. */
static void
test_truncated_underneath(DirectFixture *self, gconstpointer data)
{
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;

    g_clear_object(&self->connection);
    close_store(self);
    self->connection = direct_fixture_open(self, NULL);
    cursor = direct_query(self->connection, "SELECT v FROM t");
    g_assert_true(query_cursor_next(cursor, NULL, &error));
    g_assert_cmpint(truncate(self->path, 100 * PAGE), ==, 0);
    g_assert_cmpuint(direct_count_rows(cursor, &error), <, 19999);
    g_assert_nonnull(error);
    g_assert_cmpint((int) error->domain, ==, (int) QUERY_ERROR);
    g_clear_error(&error);
    g_assert_cmpuint(read_damaged(self, &error), <, 20000);
    g_assert_nonnull(error);
    g_clear_error(&error);
    g_assert_cmpint(truncate(self->path, 0), ==, 0);
    g_assert_cmpuint(read_damaged(self, &error), ==, 0);
    g_assert_nonnull(error);
}

/* Replacement ------------------------------------------------------------------------------------------------------------ */

static void
test_replaced(DirectFixture *self, gconstpointer data)
{
    g_autofree char *other = g_build_filename(self->store.dir, "other.db", NULL);
    g_autoptr(QueryStatement) statement = NULL;
    g_autoptr(QueryCursor) open = NULL;
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;
    sqlite3 *db = NULL;

    query_direct_set_times(query_connection_get_direct(self->connection), 300000, 0);
    statement = query_connection_prepare(self->connection, DIRECT_SQL, "SELECT max(id) FROM t", NULL, &error);
    open = direct_query(self->connection, "SELECT id FROM t");
    g_assert_cmpint(sqlite3_open(other, &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(db, "CREATE TABLE t(id, v); INSERT INTO t VALUES(-1, 'other')", NULL, NULL, NULL), ==, SQLITE_OK);
    (void) sqlite3_close(db);
    close_store(self);
    remove_beside(self, "-wal");
    remove_beside(self, "-shm");
    g_assert_cmpint(g_rename(other, self->path), ==, 0);

    cursor = query_statement_execute(statement, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(query_cursor_next(cursor, NULL, &error));
    g_assert_cmpint(query_cursor_get_int64(cursor, 0), ==, -1);
    g_assert_cmpuint(direct_count_rows(open, &error), ==, 20000); /* it stays with its file */
    g_assert_no_error(error);

    g_assert_cmpint(g_remove(self->path), ==, 0);
    g_assert_null(query_connection_query(self->connection, DIRECT_SQL, "SELECT 1", NULL, NULL, &error));
    direct_assert_error(error, QUERY_ERROR_UNAVAILABLE, "No such file or directory");
}

#define ADD(path, func) \
    g_test_add("/client/direct/" path, DirectFixture, NULL, direct_fixture_set_up, func, direct_fixture_tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func(CHILD "reads", child_reads);
    g_test_add_func(CHILD "cannot-read", child_cannot_read);
    g_test_add_func(CHILD "cannot-reach", child_cannot_reach);
    ADD("no-file", test_no_file);
    ADD("default-store", test_default_store);
    ADD("not-a-database", test_not_a_database);
    ADD("newer-schema", test_newer_schema);
    ADD("foreign-database", test_foreign_database);
    ADD("async", test_async);
    ADD("read-only-folder", test_read_only_folder);
    ADD("no-rights", test_no_rights);
    ADD("corrupt-page", test_corrupt_page);
    ADD("truncated-underneath", test_truncated_underneath);
    ADD("replaced", test_replaced);
    return g_test_run();
}
