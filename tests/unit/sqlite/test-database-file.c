/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pages of a database by the VFS of the daemon. All connections have one mapping, which outlives what others write. The first page
 * of a part is read, and those that follow are mapped. What is after the end of the file, or of another file, is never given.
 */
#include "daemon/sqlite/vfs/database-file.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/interrupt.h"
#include "daemon/sqlite/vfs/log-file.h"
#include "tests/unit/store/store-fixture.h"
#include "tests/unit/valgrind.h"

#define PAGE_BYTES 4096
#define PAGES_IN_PART 16
#define UNMAPPED_UNDER_VALGRIND "valgrind's mremap() makes no second mapping, so that all pages are read"
#define FLAGS (SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)

typedef struct Fixture {
    char *dir, *path;
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    self->dir = g_dir_make_tmp("queryd-pages-XXXXXX", NULL);
    self->path = g_build_filename(self->dir, "pages.db", NULL);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    store_remove_folder(self->dir);
    g_free(self->path);
    g_free(self->dir);
}

static void
execute(sqlite3 *db, const char *sql)
{
    g_assert_cmpint(sqlite3_exec(db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
}

/* @vfs: (nullable) */
static sqlite3 *
open_with(const char *path, const char *vfs)
{
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open_v2(path, &db, FLAGS, vfs), ==, SQLITE_OK);
    execute(db, "PRAGMA page_size=4096; PRAGMA mmap_size=100000000; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; "
                "CREATE TABLE IF NOT EXISTS t(i INTEGER PRIMARY KEY, b BLOB)");
    return db;
}

static sqlite3 *
open_database(const char *path)
{
    return open_with(path, qd_log_file_get_vfs());
}

/* Adds about @n_pages pages, and writes them to the database's file. */
static void
add_pages(sqlite3 *db, guint n_pages)
{
    g_autofree char *sql = g_strdup_printf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT %u) "
                                           "INSERT INTO t(b) SELECT zeroblob(3900) FROM n; PRAGMA wal_checkpoint(TRUNCATE)",
                                           n_pages);

    execute(db, sql);
}

static sqlite3_file *
get_file(sqlite3 *db)
{
    sqlite3_file *file = NULL;

    g_assert_cmpint(sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file), ==, SQLITE_OK);
    return file;
}

static guint
get_n_pages(sqlite3 *db)
{
    sqlite3_int64 size = 0;

    g_assert_cmpint(get_file(db)->pMethods->xFileSize(get_file(db), &size), ==, SQLITE_OK);
    return (guint) (size / PAGE_BYTES);
}

/* (nullable): where the page @number, from 0 on, is mapped; NULL: it is to be read */
static const char *
fetch(sqlite3 *db, guint number)
{
    sqlite3_file *file = get_file(db);
    void *page = NULL;

    g_assert_cmpint(file->pMethods->xFetch(file, (sqlite3_int64) number * PAGE_BYTES, PAGE_BYTES, &page), ==, SQLITE_OK);
    if (page != NULL)
        g_assert_cmpint(file->pMethods->xUnfetch(file, (sqlite3_int64) number * PAGE_BYTES, page), ==, SQLITE_OK);
    return page;
}

/* The same, when its part was used before. */
static const char *
fetch_again(sqlite3 *db, guint number)
{
    (void) fetch(db, number);
    (void) fetch(db, 0);
    return fetch(db, number);
}

static gint64
count_rows(sqlite3 *db)
{
    sqlite3_stmt *stmt = NULL;
    gint64 n;

    g_assert_cmpint(sqlite3_prepare_v2(db, "SELECT count(*) FROM t", -1, &stmt, NULL), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_step(stmt), ==, SQLITE_ROW);
    n = sqlite3_column_int64(stmt, 0);
    g_assert_cmpint(sqlite3_finalize(stmt), ==, SQLITE_OK);
    return n;
}

/* In how many places this process has mapped the file. */
static guint
count_mappings(const char *path)
{
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;
    guint n = 0;

    g_assert_true(g_file_get_contents("/proc/self/maps", &text, NULL, NULL));
    lines = g_strsplit(text, "\n", -1);
    for (guint i = 0; lines[i] != NULL; i++)
        n += g_str_has_suffix(lines[i], path);
    return n;
}

static void
test_shared(Fixture *self, gconstpointer data)
{
    sqlite3 *a, *b;
    const char *page;

    if (skips_under_valgrind(UNMAPPED_UNDER_VALGRIND))
        return;
    a = open_database(self->path);
    b = open_database(self->path);
    add_pages(b, 100);
    g_assert_cmpint(count_rows(a), ==, 100);
    page = fetch_again(a, 40);
    g_assert_nonnull(page);
    g_assert_true(fetch_again(b, 40) == page);
    for (guint i = 0; i < 10; i++) {
        execute(b, "UPDATE t SET b = zeroblob(3899) WHERE i > 50; PRAGMA wal_checkpoint(TRUNCATE)");
        g_assert_cmpint(count_rows(a), ==, 100);
        g_assert_true(fetch_again(a, 40) == page);
        g_assert_cmpuint(count_mappings(self->path), ==, 1);
    }
    g_assert_cmpint(sqlite3_close(a), ==, SQLITE_OK);
    g_assert_true(fetch_again(b, 40) == page);
    g_assert_cmpint(sqlite3_close(b), ==, SQLITE_OK);
    g_assert_cmpuint(count_mappings(self->path), ==, 0);
}

static void
test_first_use(Fixture *self, gconstpointer data)
{
    const guint part = 4 * PAGES_IN_PART;
    sqlite3 *a, *b;

    if (skips_under_valgrind(UNMAPPED_UNDER_VALGRIND))
        return;
    a = open_database(self->path);
    b = open_database(self->path);
    add_pages(a, 200);
    g_assert_cmpint(count_rows(b), ==, 200); /* a scan, whose pages follow each other but for the first ones */
    g_assert_nonnull(fetch(b, part));
    g_assert_cmpint(sqlite3_close(a), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_close(b), ==, SQLITE_OK);

    a = open_database(self->path);
    b = open_database(self->path);
    g_assert_null(fetch(a, part + 3));
    g_assert_nonnull(fetch(a, part + 7));
    g_assert_null(fetch(a, part + PAGES_IN_PART));
    g_assert_nonnull(fetch(b, part + PAGES_IN_PART)); /* one mapping: what one has used is mapped for all */
    g_assert_null(fetch(a, part + 4 * PAGES_IN_PART - 1));
    g_assert_nonnull(fetch(a, part + 4 * PAGES_IN_PART)); /* it follows */
    g_assert_cmpint(sqlite3_close(a), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_close(b), ==, SQLITE_OK);
}

static void
test_grows(Fixture *self, gconstpointer data)
{
    sqlite3 *a, *b;
    guint n_before;

    if (skips_under_valgrind(UNMAPPED_UNDER_VALGRIND))
        return;
    a = open_database(self->path);
    b = open_database(self->path);
    add_pages(a, 50);
    g_assert_cmpint(count_rows(b), ==, 50);
    n_before = get_n_pages(b);
    g_assert_nonnull(fetch_again(b, n_before - 2));
    g_assert_null(fetch_again(b, n_before - 1)); /* SQLite may read a little more than a page */
    add_pages(a, 2000);
    g_assert_null(fetch_again(b, n_before + 100)); /* not for the snapshot that it had */
    g_assert_cmpint(count_rows(b), ==, 2050);
    g_assert_nonnull(fetch_again(b, n_before + 100));
    g_assert_nonnull(fetch_again(a, get_n_pages(a) - 2));
    g_assert_cmpuint(count_mappings(self->path), ==, 1); /* SQLite's VFS, which makes room for a checkpoint, has none */
    g_assert_cmpint(sqlite3_close(a), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_close(b), ==, SQLITE_OK);
}

static void
test_limit(Fixture *self, gconstpointer data)
{
    sqlite3 *db;

    if (skips_under_valgrind(UNMAPPED_UNDER_VALGRIND))
        return;
    db = open_database(self->path);
    add_pages(db, 200);
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
    db = open_database(self->path);
    execute(db, "PRAGMA mmap_size=131072");
    g_assert_nonnull(fetch_again(db, 20));
    g_assert_null(fetch_again(db, 32));
    g_assert_cmpint(count_rows(db), ==, 200);
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

/* Another file has the name: each connection has the pages of its own file. */
static void
test_replaced(Fixture *self, gconstpointer data)
{
    g_autofree char *other = g_build_filename(self->dir, "other.db", NULL);
    sqlite3 *old, *db;
    sqlite3 *late = NULL;
    const char *page;

    if (skips_under_valgrind(UNMAPPED_UNDER_VALGRIND))
        return;
    old = open_database(self->path);
    add_pages(old, 100);
    page = fetch_again(old, 50);
    g_assert_cmpint(sqlite3_open_v2(self->path, &late, FLAGS, qd_log_file_get_vfs()), ==, SQLITE_OK);
    execute(late, "PRAGMA mmap_size=100000000");
    db = open_database(other);
    add_pages(db, 300);
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
    g_assert_cmpint(g_rename(other, self->path), ==, 0);
    db = open_database(self->path);
    g_assert_true(fetch_again(old, 50) == page);
    g_assert_nonnull(fetch_again(db, 50));
    g_assert_true(fetch_again(db, 50) != page);
    g_assert_null(fetch_again(late, 50)); /* which file it has cannot be found by its name */
    g_assert_cmpint(sqlite3_close(late), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_close(old), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

/* Rows in their order, and from the last page on, which has no next one. */
static void
assert_rows(sqlite3 *db, const char *order, guint n_rows)
{
    g_autofree char *sql = g_strdup_printf("SELECT i, length(b), b = zeroblob(1000) FROM t ORDER BY i %s", order);
    sqlite3_stmt *stmt = NULL;
    guint n = 0;

    g_assert_cmpint(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), ==, SQLITE_OK);
    for (; sqlite3_step(stmt) == SQLITE_ROW; n++) {
        g_assert_cmpint(sqlite3_column_int(stmt, 0), ==, order[0] == 'A' ? n + 1 : n_rows - n);
        g_assert_cmpint(sqlite3_column_int(stmt, 1), ==, 1000);
        g_assert_true(sqlite3_column_int(stmt, 2));
    }
    g_assert_cmpint(sqlite3_finalize(stmt), ==, SQLITE_OK);
    g_assert_cmpuint(n, ==, n_rows);
}

/* A database that is mapped as far as it goes; SQLite's own VFS reads it alike. */
static void
test_pages_ahead(Fixture *self, gconstpointer data)
{
    const char *const vfs[] = { qd_log_file_get_vfs(), NULL };
    const sqlite3_io_methods *methods[2];

    for (guint i = 0; i < G_N_ELEMENTS(vfs); i++) {
        sqlite3 *db = open_with(self->path, vfs[i]);

        execute(db, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000) "
                    "INSERT OR IGNORE INTO t SELECT i, zeroblob(1000) FROM n; PRAGMA wal_checkpoint(TRUNCATE)");
        assert_rows(db, "ASC", 5000);
        assert_rows(db, "DESC", 5000);
        methods[i] = get_file(db)->pMethods;
        g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
    }
    g_assert_true(methods[0]->xFetch != methods[1]->xFetch);
    g_assert_true(methods[0]->xWrite == methods[1]->xWrite);
}

/* The mapping stays as long as the file was. SQLite's VFS makes one of its own for a checkpoint that adds pages. A read after
 * the end is that of a file. A page that another program has cut off is damage, and no page of zeros. */
static void
test_cut_under_a_mapping(Fixture *self, gconstpointer data)
{
    sqlite3 *db = open_database(self->path);
    const guint8 none[PAGE_BYTES] = { 0 };
    guint8 page[PAGE_BYTES] = { 1 };
    sqlite3_int64 size;

    add_pages(db, 100);
    g_assert_cmpint(count_rows(db), ==, 100);
    g_assert_true(is_under_valgrind() || fetch_again(db, get_n_pages(db) - 2) != NULL);
    add_pages(db, 100);
    size = (sqlite3_int64) (get_n_pages(db) - 1) * PAGE_BYTES;
    g_assert_cmpint(get_file(db)->pMethods->xRead(get_file(db), page, sizeof page, size), ==, SQLITE_OK);
    g_assert_cmpint(truncate(self->path, size), ==, 0);
    g_assert_cmpint(get_file(db)->pMethods->xRead(get_file(db), page, sizeof page, size), ==, SQLITE_CORRUPT);
    g_assert_cmpint(get_file(db)->pMethods->xRead(get_file(db), page, sizeof page, size + PAGE_BYTES), ==, SQLITE_IOERR_SHORT_READ);
    g_assert_cmpmem(page, sizeof page, none, sizeof none);
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

static gboolean
look_and_count(void *data)
{
    guint *n_looks = data;

    return --*n_looks == 0;
}

/* A table of which each page is read by one operation. After the rollback it is whole, and the next statement is another one. */
static void
test_ends_in_one_operation(Fixture *self, gconstpointer data)
{
    const char *sql = data;
    sqlite3 *db = open_database(self->path);
    guint n_looks = 100;
    QdInterrupt interrupt = { .is_always_due = TRUE, .look = look_and_count, .data = &n_looks };

    add_pages(db, 1000);
    execute(db, "PRAGMA cache_size=10");
    qd_interrupt_begin(&interrupt);
    g_assert_cmpint(sqlite3_exec(db, sql, NULL, NULL, NULL), ==, SQLITE_INTERRUPT);
    qd_interrupt_end(&interrupt);
    g_assert_cmpuint(n_looks, ==, 0);
    g_assert_cmpint(count_rows(db), ==, 1000);
    execute(db, "DELETE FROM t WHERE i > 900");
    g_assert_cmpint(count_rows(db), ==, 900);
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/sqlite/database-file/shared", Fixture, NULL, set_up, test_shared, tear_down);
    g_test_add("/sqlite/database-file/first-use", Fixture, NULL, set_up, test_first_use, tear_down);
    g_test_add("/sqlite/database-file/grows", Fixture, NULL, set_up, test_grows, tear_down);
    g_test_add("/sqlite/database-file/limit", Fixture, NULL, set_up, test_limit, tear_down);
    g_test_add("/sqlite/database-file/replaced", Fixture, NULL, set_up, test_replaced, tear_down);
    g_test_add("/sqlite/database-file/pages-ahead", Fixture, NULL, set_up, test_pages_ahead, tear_down);
    g_test_add("/sqlite/database-file/cut-under-a-mapping", Fixture, NULL, set_up, test_cut_under_a_mapping, tear_down);
    g_test_add("/sqlite/database-file/delete-ends", Fixture, "DELETE FROM t", set_up, test_ends_in_one_operation, tear_down);
    g_test_add("/sqlite/database-file/drop-ends", Fixture, "DROP TABLE t", set_up, test_ends_in_one_operation, tear_down);
    return g_test_run();
}
