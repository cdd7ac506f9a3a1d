/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files and logs as they are after damage: what the header says is doubted, and of the log only whole transactions count.
 */
#include "daemon/recover/page-file.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/store/store-fixture.h"

#define PAGE_BYTES 1024
#define LOG_HEADER_BYTES 32
#define FRAME_BYTES (24 + PAGE_BYTES)

/* A database whose second half is in its log, as a process that was killed leaves it. */
typedef struct Fixture {
    char *dir;
    char *path;
    char *log_path;
    guint8 *data;
    gsize n_bytes;
    guint8 *log;
    gsize n_log_bytes;
} Fixture;

static void
execute(sqlite3 *db, const char *sql)
{
    g_assert_cmpint(sqlite3_exec(db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
}

static void
set_up(Fixture *self, gconstpointer data)
{
    sqlite3 *db = NULL;

    self->dir = g_dir_make_tmp("queryd-test-XXXXXX", NULL);
    self->path = g_build_filename(self->dir, "db", NULL);
    self->log_path = g_strconcat(self->path, "-wal", NULL);
    g_assert_cmpint(sqlite3_open(self->path, &db), ==, SQLITE_OK);
    execute(db, "PRAGMA page_size=1024; PRAGMA journal_mode=WAL; PRAGMA user_version=77; CREATE TABLE t(x);"
                "INSERT INTO t VALUES(zeroblob(20000)); PRAGMA wal_checkpoint(TRUNCATE); PRAGMA user_version=78;"
                "INSERT INTO t VALUES(zeroblob(5000)); PRAGMA user_version=79");
    g_assert_true(g_file_get_contents(self->path, (char **) &self->data, &self->n_bytes, NULL));
    g_assert_true(g_file_get_contents(self->log_path, (char **) &self->log, &self->n_log_bytes, NULL));
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    store_remove_folder(self->dir);
    g_free(self->dir);
    g_free(self->path);
    g_free(self->log_path);
    g_free(self->data);
    g_free(self->log);
}

static QdPageFile *
open_file(Fixture *self)
{
    g_autoptr(GError) error = NULL;
    QdPageFile *file;

    g_assert_true(g_file_set_contents(self->path, (const char *) self->data, (gssize) self->n_bytes, NULL));
    g_assert_true(g_file_set_contents(self->log_path, (const char *) self->log, (gssize) self->n_log_bytes, NULL));
    file = qd_page_file_open(self->path, &error);
    g_assert_no_error(error);
    return file;
}

/* @user_version tells how much of the log was believed. */
static void
assert_info(Fixture *self, gint32 user_version, gboolean header_damaged, gboolean log_damaged)
{
    g_autoptr(QdPageFile) file = open_file(self);
    const QdPageFileInfo *info = qd_page_file_get_info(file);

    g_assert_cmpuint(info->page_size, ==, PAGE_BYTES);
    g_assert_cmpint(info->user_version, ==, user_version);
    g_assert_cmpint(info->header_damaged, ==, header_damaged);
    g_assert_cmpint(info->log_damaged, ==, log_damaged);
}

static void
test_log(Fixture *self, gconstpointer data)
{
    g_autoptr(QdPageFile) file = open_file(self);
    const QdPageFileInfo *info = qd_page_file_get_info(file);
    guint8 page[PAGE_BYTES];

    g_assert_cmpint(info->user_version, ==, 79);
    g_assert_cmpuint(info->n_log_pages, >, 5);
    g_assert_cmpuint(info->n_pages, ==, info->n_known_pages);
    g_assert_cmpuint(info->n_pages, >, self->n_bytes / PAGE_BYTES);
    g_assert_true(qd_page_file_read(file, info->n_pages, page));
    g_assert_false(qd_page_file_read(file, info->n_pages + 1, page));
    g_assert_false(qd_page_file_read(file, 0, page));
    g_assert_false(qd_page_file_read(file, G_MAXUINT32, page));
}

/* The last transaction is one frame: without it, or with a bit of it flipped, the ones before count. */
static void
test_damaged_log(Fixture *self, gconstpointer data)
{
    gsize n_whole = self->n_log_bytes;

    self->log[n_whole - 1] ^= 1;
    assert_info(self, 78, FALSE, TRUE);
    self->log[n_whole - 1] ^= 1;
    self->n_log_bytes = n_whole - 1;
    assert_info(self, 78, FALSE, TRUE);
    self->n_log_bytes = n_whole - FRAME_BYTES;
    assert_info(self, 78, FALSE, FALSE);
    self->n_log_bytes = n_whole - FRAME_BYTES - 1; /* now the one before has no end */
    assert_info(self, 78, FALSE, TRUE);
    self->n_log_bytes = LOG_HEADER_BYTES + FRAME_BYTES - 1;
    assert_info(self, 77, FALSE, TRUE);
    self->n_log_bytes = LOG_HEADER_BYTES;
    assert_info(self, 77, FALSE, FALSE);
    self->n_log_bytes = 0;
    assert_info(self, 77, FALSE, FALSE);
    self->n_log_bytes = n_whole;
    self->log[LOG_HEADER_BYTES + 100] ^= 1;
    assert_info(self, 77, FALSE, TRUE);
}

/* Its checksum would have to be right for it to be believed. */
static void
test_log_header(Fixture *self, gconstpointer data)
{
    for (guint i = 0; i < LOG_HEADER_BYTES; i++) {
        self->log[i] ^= 0x10;
        assert_info(self, 77, FALSE, TRUE);
        self->log[i] ^= 0x10;
    }
}

static void
test_header(Fixture *self, gconstpointer data)
{
    g_autoptr(QdPageFile) file = NULL;
    const QdPageFileInfo *info;

    self->n_log_bytes = 0;
    memset(self->data, 0xff, 100);
    file = open_file(self);
    info = qd_page_file_get_info(file);
    g_assert_true(info->header_damaged);
    g_assert_cmpuint(info->usable_size, >=, 480);
    g_assert_cmpuint(info->usable_size, <=, info->page_size);
    g_assert_cmpuint(info->encoding, <=, 3);
    g_assert_cmpuint(info->n_pages, ==, self->n_bytes / info->page_size);
}

/* A number of pages that cannot be is not believed: no buffer is as large as it says. */
static void
test_number_of_pages(Fixture *self, gconstpointer data)
{
    g_autoptr(QdPageFile) file = NULL;

    self->n_log_bytes = 0;
    memset(self->data + 28, 0xff, 4);
    file = open_file(self);
    g_assert_true(qd_page_file_get_info(file)->header_damaged);
    g_assert_cmpuint(qd_page_file_get_info(file)->n_pages, ==, self->n_bytes / PAGE_BYTES);
}

/* The rest of the header is as it was. */
static void
test_wrong_page_size(Fixture *self, gconstpointer data)
{
    static const guint16 sizes[] = { 512, 2048, 4096, 8192, 32768, 1 /* 65536 */ };
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open(self->path, &db), ==, SQLITE_OK);
    execute(db, "CREATE TABLE r(x); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9000)"
                " INSERT INTO r SELECT i FROM n; PRAGMA wal_checkpoint(TRUNCATE)");
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
    g_free(self->data);
    g_assert_true(g_file_get_contents(self->path, (char **) &self->data, &self->n_bytes, NULL));
    self->n_log_bytes = 0;
    for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autoptr(QdPageFile) file = NULL;

        self->data[16] = (guint8) (sizes[i] >> 8);
        self->data[17] = (guint8) sizes[i];
        file = open_file(self);
        g_assert_cmpuint(qd_page_file_get_info(file)->page_size, ==, PAGE_BYTES);
        g_assert_true(qd_page_file_get_info(file)->header_damaged);
    }
}

static void
assert_usable_size(Fixture *self, guint32 n_bytes)
{
    g_autoptr(QdPageFile) file = open_file(self);

    g_assert_cmpuint(qd_page_file_get_info(file)->usable_size, ==, n_bytes);
}

/* For extensions, which put something after all cells. */
static void
test_reserved_bytes(Fixture *self, gconstpointer data)
{
    sqlite3 *db = NULL;
    int n_reserved = 40;

    g_assert_cmpint(g_unlink(self->path), ==, 0);
    g_assert_cmpint(sqlite3_open(self->path, &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_file_control(db, NULL, SQLITE_FCNTL_RESERVE_BYTES, &n_reserved), ==, SQLITE_OK);
    execute(db, "PRAGMA page_size=1024; CREATE TABLE t(x); INSERT INTO t VALUES(zeroblob(20000))");
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
    g_clear_pointer(&self->data, g_free);
    g_assert_true(g_file_get_contents(self->path, (char **) &self->data, &self->n_bytes, NULL));
    self->n_log_bytes = 0;
    assert_usable_size(self, PAGE_BYTES - 40);
}

/* The number is damaged: cells reach to the ends of the pages. */
static void
test_reserved_bytes_damaged(Fixture *self, gconstpointer data)
{
    self->n_log_bytes = 0;
    self->data[20] = 255;
    assert_usable_size(self, PAGE_BYTES);
}

/* The database is missing, and its log is not: what was committed there can be had. */
static void
test_log_only(Fixture *self, gconstpointer data)
{
    g_autoptr(QdPageFile) file = NULL;
    g_autoptr(GError) error = NULL;
    guint8 page[PAGE_BYTES];

    self->n_bytes = 0;
    file = open_file(self);
    g_assert_cmpint(qd_page_file_get_info(file)->user_version, ==, 79);
    g_clear_pointer(&file, qd_page_file_free);

    g_assert_cmpint(g_unlink(self->path), ==, 0);
    file = qd_page_file_open(self->path, &error);
    g_assert_no_error(error);
    g_assert_cmpint(qd_page_file_get_info(file)->user_version, ==, 79);
    g_assert_true(qd_page_file_read(file, 1, page));
    g_clear_pointer(&file, qd_page_file_free);

    g_assert_cmpint(truncate(self->log_path, LOG_HEADER_BYTES), ==, 0);
    g_assert_null(qd_page_file_open(self->path, &error));
    g_assert_nonnull(error);
}

static void
assert_no_page(Fixture *self)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QdPageFile) file = NULL;

    g_assert_true(g_file_set_contents(self->path, (const char *) self->data, (gssize) self->n_bytes, NULL));
    g_assert_cmpint(g_unlink(self->log_path), ==, 0);
    file = qd_page_file_open(self->path, &error);
    g_assert_null(file);
    store_assert_error(error, QW_ERROR_CORRUPT, "looks like a page");
    g_assert_true(g_file_set_contents(self->log_path, "", 0, NULL));
}

static void
test_no_database(Fixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;

    g_assert_true(g_file_set_contents(self->log_path, "", 0, NULL));
    memset(self->data, 'x', self->n_bytes);
    assert_no_page(self);
    self->n_bytes = 0;
    assert_no_page(self);
    g_assert_cmpint(g_unlink(self->path), ==, 0);
    g_assert_null(qd_page_file_open(self->path, &error));
    store_assert_error(error, QW_ERROR_INTERNAL, "No such file");
}

/* Each read fails, as with a disk that is gone: that says nothing about the file. A directory reads so, too. */
static void
test_refused(Fixture *self, gconstpointer data)
{
    g_autofree char *folder = g_path_get_dirname(self->path);
    gint64 start_usec = g_get_monotonic_time();
    g_autoptr(GError) error = NULL;

    g_assert_null(qd_page_file_open(folder, &error));
    store_assert_error(error, QW_ERROR_INTERNAL, g_strerror(EISDIR));
    g_assert_cmpint(g_get_monotonic_time() - start_usec, >, 10000); /* it was tried again */
}

#define ADD(path, func) g_test_add("/recover/page-file/" path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("log", test_log);
    ADD("damaged-log", test_damaged_log);
    ADD("log-header", test_log_header);
    ADD("header", test_header);
    ADD("number-of-pages", test_number_of_pages);
    ADD("wrong-page-size", test_wrong_page_size);
    ADD("reserved-bytes", test_reserved_bytes);
    ADD("reserved-bytes/damaged", test_reserved_bytes_damaged);
    ADD("log-only", test_log_only);
    ADD("no-database", test_no_database);
    ADD("refused", test_refused);
    return g_test_run();
}
