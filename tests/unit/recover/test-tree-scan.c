/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Trees that lie: cycles, wrong children, wrong numbers of cells, chains of overflow pages and free pages that bite their tails.
 *
 * Each row's value follows from its number. After any change the scan ends, no row is wrong or given twice, and what is missing
 * is reported as a loss.
 */
#include "daemon/recover/tree-scan.h"

#include <glib/gstdio.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "daemon/sqlite/page-cells.h"
#include "tests/unit/store/store-fixture.h"

#define PAGE_BYTES 512
#define N_ROWS 400
#define LARGE_ROW 200
#define LARGE_BYTES 3000
#define MAX_ROW_BYTES 1000000
#define N_NOISE 300

typedef struct Fixture {
    char *dir;
    char *path;
    guint8 *data;
    gsize n_bytes;
    guint32 root;
    gboolean seen[N_ROWS + 1];
    guint n_seen;
    QdTreeResult result;
} Fixture;

static guint32
ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    guint32 value;

    g_assert_cmpint(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_step(stmt), ==, SQLITE_ROW);
    value = (guint32) sqlite3_column_int(stmt, 0);
    (void) sqlite3_finalize(stmt);
    return value;
}

static void
set_up(Fixture *self, gconstpointer data)
{
    sqlite3 *db = NULL;

    self->dir = g_dir_make_tmp("queryd-test-XXXXXX", NULL);
    self->path = g_build_filename(self->dir, "db", NULL);
    g_assert_cmpint(sqlite3_open(self->path, &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(db,
                                 "PRAGMA page_size=512; CREATE TABLE t(k INTEGER PRIMARY KEY, x); CREATE TABLE gone(x);"
                                 "INSERT INTO gone VALUES(zeroblob(20000));"
                                 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT " G_STRINGIFY(
                                     N_ROWS) ") "
                                             "INSERT INTO t SELECT i, printf('%0*d', iif(i=" G_STRINGIFY(
                                                 LARGE_ROW) ", " G_STRINGIFY(LARGE_BYTES) ", 20), i) FROM n; DROP TABLE gone",
                                 NULL, NULL, NULL),
                    ==, SQLITE_OK);
    self->root = ask(db, "SELECT rootpage FROM sqlite_schema WHERE name='t'");
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
    g_assert_true(g_file_get_contents(self->path, (char **) &self->data, &self->n_bytes, NULL));
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    qd_tree_result_clear(&self->result);
    store_remove_folder(self->dir);
    g_free(self->data);
    g_free(self->path);
    g_free(self->dir);
}

static guint8 *
get_page(Fixture *self, guint32 number)
{
    g_assert_cmpuint(number * PAGE_BYTES, <=, self->n_bytes);
    return self->data + (gsize) (number - 1) * PAGE_BYTES;
}

static void
put_u32(guint8 *p, guint32 value)
{
    for (int i = 0; i < 4; i++)
        p[i] = (guint8) (value >> (24 - 8 * i));
}

static guint8 *
get_child_field(Fixture *self, guint32 page, guint index)
{
    return get_page(self, page) + qd_page_get_u16(get_page(self, page) + 12 + 2 * index);
}

static gboolean
on_row(const QdTreeRow *row, gboolean *ret_good, gpointer data, GError **error)
{
    Fixture *self = data;
    g_autoptr(GArray) fields = g_array_new(FALSE, FALSE, sizeof(QdField));
    const QdField *x;
    g_autofree char *text = NULL;

    *ret_good = qd_record_parse(row->data, row->n_bytes, fields) && fields->len == 2 && row->rowid >= 1 && row->rowid <= N_ROWS;
    if (!*ret_good)
        return TRUE;
    x = &g_array_index(fields, QdField, 1);
    text = g_strdup_printf("%0*d", row->rowid == LARGE_ROW ? LARGE_BYTES : 20, (int) row->rowid);
    g_assert_cmpmem(x->data, x->n_bytes, text, strlen(text));
    g_assert_false(self->seen[row->rowid]);
    self->seen[row->rowid] = TRUE;
    self->n_seen++;
    return TRUE;
}

/* For damage that may alter values: only a sanitizer looks at them. */
static gboolean
on_any_row(const QdTreeRow *row, gboolean *ret_good, gpointer data, GError **error)
{
    Fixture *self = data;
    volatile guint8 sum = 0;

    for (guint64 i = 0; i < row->n_bytes; i++)
        sum = (guint8) (sum + row->data[i]);
    *ret_good = TRUE;
    self->n_seen++;
    return TRUE;
}

/* Writes what the fixture holds, and scans it. Returns: the orphans */
static GArray *
scan(Fixture *self, QdTreeRowFunc func)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QdPageFile) file = NULL;
    g_autoptr(QdTreeScan) tree = NULL;
    guint n_keyed = 0;

    qd_tree_result_clear(&self->result);
    qd_tree_result_init(&self->result);
    memset(self->seen, 0, sizeof self->seen);
    self->n_seen = 0;
    g_assert_true(g_file_set_contents(self->path, (const char *) self->data, (gssize) self->n_bytes, NULL));
    file = qd_page_file_open(self->path, &error);
    if (file == NULL) { /* not even a page */
        store_assert_error(error, QW_ERROR_CORRUPT, "looks like a page");
        return g_array_new(FALSE, FALSE, sizeof(QdOrphan));
    }
    tree = qd_tree_scan_new(file, MAX_ROW_BYTES);
    qd_tree_scan_count(tree, 1);
    qd_tree_scan_count(tree, self->root);
    g_assert_true(qd_tree_scan_run(tree, self->root, TRUE, &self->result, func, self, &error));
    g_assert_no_error(error);
    return qd_tree_scan_find_orphans(tree, &n_keyed);
}

static void
assert_scan(Fixture *self, guint n_rows, guint n_losses, guint n_lost_rows, guint n_orphans)
{
    g_autoptr(GArray) orphans = scan(self, on_row);

    g_assert_cmpuint(self->n_seen, ==, n_rows);
    g_assert_cmpuint(self->result.n_rows, ==, n_rows);
    g_assert_cmpuint(self->result.losses->len, ==, n_losses);
    g_assert_cmpuint(self->result.n_lost_rows, ==, n_lost_rows);
    g_assert_cmpuint(orphans->len, ==, n_orphans);
}

static void
test_whole(Fixture *self, gconstpointer data)
{
    assert_scan(self, N_ROWS, 0, 0, 0);
}

static guint
count_cells(Fixture *self, guint32 page)
{
    return qd_page_get_u16(get_page(self, page) + 3);
}

/* The root's first child is the root: its true child is found as a page without a reference. */
static void
test_cycle(Fixture *self, gconstpointer data)
{
    guint8 *field = get_child_field(self, self->root, 0);
    guint32 child = qd_page_get_u32(field);
    guint n = count_cells(self, child);

    g_assert_cmpuint(get_page(self, child)[0], ==, QD_PAGE_TABLE_LEAF);
    put_u32(field, self->root);
    assert_scan(self, N_ROWS - n, 1, 0, 1);
    put_u32(field, G_MAXUINT32);
    assert_scan(self, N_ROWS - n, 1, 0, 1);
    put_u32(field, 0);
    assert_scan(self, N_ROWS - n, 1, 0, 1);
}

/* Two cells name one leaf: its rows come once, in the place of their rowids. */
static void
test_shared_child(Fixture *self, gconstpointer data)
{
    guint32 second = qd_page_get_u32(get_child_field(self, self->root, 1));
    guint8 *field = get_child_field(self, self->root, 0);
    guint n = count_cells(self, qd_page_get_u32(field));

    put_u32(field, second);
    assert_scan(self, N_ROWS - n, 1, 0, 1);
}

/* A page that promises more cells than it can have is no page; with one more than it has, the rest stays. */
static void
test_number_of_cells(Fixture *self, gconstpointer data)
{
    guint32 child = qd_page_get_u32(get_child_field(self, self->root, 0));
    guint8 *page = get_page(self, child);
    guint n = count_cells(self, child);

    page[3] = page[4] = 0xff;
    assert_scan(self, N_ROWS - n, 1, 0, 0);
    page[3] = 0;
    page[4] = 0;
    assert_scan(self, N_ROWS - n, 0, 0, 0);
}

/* The second overflow page names the first one, or itself, or a page of the tree, as the next. */
static void
test_overflow(Fixture *self, gconstpointer data)
{
    guint32 first = 0;
    guint32 wrong[3];

    for (guint32 page = 3; first == 0 && (gsize) page * PAGE_BYTES <= self->n_bytes; page++) {
        guint32 next = qd_page_get_u32(get_page(self, page));

        if (memcmp(get_page(self, page) + 4, "00000000", 8) == 0 && next > 0 && (gsize) next * PAGE_BYTES <= self->n_bytes &&
            memcmp(get_page(self, next) + 4, "00000000", 8) == 0)
            first = page;
    }
    g_assert_cmpuint(first, !=, 0);
    wrong[0] = first;
    wrong[1] = self->root;
    wrong[2] = (guint32) (self->n_bytes / PAGE_BYTES) + 1;
    for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
        put_u32(get_page(self, first), wrong[i]);
        assert_scan(self, N_ROWS - 1, 0, 1, 0);
        g_assert_false(self->seen[LARGE_ROW]);
    }
}

/* A row says that it goes on, and has no page for it: nothing beyond its own page is read. */
static void
test_no_overflow(Fixture *self, gconstpointer data)
{
    for (guint32 number = 2; (gsize) number * PAGE_BYTES <= self->n_bytes; number++) {
        QdPageCells cells;
        QdPageCell cell;

        if (!qd_page_cells_init(&cells, get_page(self, number), number, PAGE_BYTES) || cells.kind != QD_PAGE_TABLE_LEAF)
            continue;
        for (guint i = 0; i < cells.n_cells; i++)
            if (qd_page_cells_get(&cells, i, &cell) && cell.rowid == LARGE_ROW)
                put_u32((guint8 *) cell.local + cell.n_local, 0);
    }
    assert_scan(self, N_ROWS - 1, 0, 1, 0);
    g_assert_false(self->seen[LARGE_ROW]);
}

/* A list of free pages that comes round, or that is longer than a page: then no page is taken for an orphan. */
static void
test_free_list(Fixture *self, gconstpointer data)
{
    guint32 trunk = qd_page_get_u32(self->data + 32);
    guint8 *field = get_child_field(self, self->root, 0);
    guint n = count_cells(self, qd_page_get_u32(field));

    g_assert_cmpuint(trunk, !=, 0);
    put_u32(field, 0); /* there is an orphan to be found */
    assert_scan(self, N_ROWS - n, 1, 0, 1);
    put_u32(get_page(self, trunk), trunk);
    assert_scan(self, N_ROWS - n, 1, 0, 0);
    put_u32(get_page(self, trunk), 0);
    put_u32(get_page(self, trunk) + 4, G_MAXUINT32);
    assert_scan(self, N_ROWS - n, 1, 0, 0);
}

/* Interior pages below each other, deeper than any tree of SQLite's. */
static void
test_depth(Fixture *self, gconstpointer data)
{
    const guint n_pages = 100;

    g_free(self->data);
    self->n_bytes = n_pages * PAGE_BYTES;
    self->data = g_malloc0(self->n_bytes);
    memcpy(self->data, "SQLite format 3\0\2\0\1\1\0\100\40\40", 24);
    get_page(self, 1)[100] = QD_PAGE_TABLE_LEAF;
    for (guint32 page = 2; page < n_pages; page++) {
        get_page(self, page)[0] = QD_PAGE_TABLE_INTERIOR;
        put_u32(get_page(self, page) + 8, page + 1);
    }
    self->root = 2;
    assert_scan(self, 0, 1, 0, 0);
}

static void
test_truncated(Fixture *self, gconstpointer data)
{
    gsize n_whole = self->n_bytes;
    guint n_before = N_ROWS;

    for (gsize n = n_whole; n > 0; n -= MIN(n, 1777)) {
        g_autoptr(GArray) orphans = NULL;

        self->n_bytes = n;
        orphans = scan(self, on_row);
        g_assert_cmpuint(self->n_seen, <=, n_before);
        g_assert_true(self->n_seen == N_ROWS || n < n_whole);
        n_before = self->n_seen;
    }
    self->n_bytes = 0;
    g_array_unref(scan(self, on_row));
    g_assert_cmpuint(self->n_seen, ==, 0);
    self->n_bytes = n_whole;
}

static void
test_noise(Fixture *self, gconstpointer data)
{
    GRand *rand = g_rand_new_with_seed(3);
    g_autofree guint8 *whole = g_memdup2(self->data, self->n_bytes);

    for (guint i = 0; i < N_NOISE; i++) {
        g_autoptr(GArray) orphans = NULL;

        memcpy(self->data, whole, self->n_bytes);
        for (guint k = 0; k < 1 + i % 40; k++)
            self->data[100 + g_rand_int_range(rand, 0, (gint32) self->n_bytes - 100)] = (guint8) g_rand_int(rand);
        orphans = scan(self, on_any_row);
        g_assert_cmpuint(self->n_seen, <=, 2 * N_ROWS);
    }
    g_rand_free(rand);
}

#define ADD(path, func) g_test_add("/recover/tree-scan/" path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("whole", test_whole);
    ADD("cycle", test_cycle);
    ADD("shared-child", test_shared_child);
    ADD("number-of-cells", test_number_of_cells);
    ADD("overflow", test_overflow);
    ADD("no-overflow", test_no_overflow);
    ADD("free-list", test_free_list);
    ADD("depth", test_depth);
    ADD("truncated", test_truncated);
    ADD("noise", test_noise);
    return g_test_run();
}
