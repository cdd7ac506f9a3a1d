/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pages in the place of others. Their rows do not appear in the table, and are counted as lost there. No table loses a good page by
 * that, regardless of the order of its keys and of a wrong key above it.
 */
#include <fcntl.h>
#include <unistd.h>

#include "daemon/sqlite/page-cells.h"
#include "tests/unit/recover/salvage-fixture.h"

#define N_ROWS 2000
#define NUMBERS "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<" G_STRINGIFY(N_ROWS) ") "
#define LEAF_OF "SELECT pageno FROM dbstat WHERE pagetype='leaf' AND name="

typedef struct Order {
    const char *path;
    const char *columns; /* a, b and c, with their key */
    const char *keys;    /* a and b, by i */
} Order;

static const Order orders[] = {
    { "integers", "(a, b, c, PRIMARY KEY(a, b)) WITHOUT ROWID", "i*7, i" },
    { "texts", "(a, b, c, PRIMARY KEY(b, a)) WITHOUT ROWID", "i%10, printf('key %05d', i*3)" },
    { "descending", "(a, b, c, PRIMARY KEY(a DESC, b)) WITHOUT ROWID", "i/3, i" },
    { "mixed-directions", "(a, b, c, PRIMARY KEY(a, b DESC)) WITHOUT ROWID", "i/3, i" },
    { "nocase", "(a COLLATE NOCASE, b, c, PRIMARY KEY(a, b)) WITHOUT ROWID", "iif(i%2, 'KEY', 'key') || printf('%05d', i), i" },
    { "rtrim", "(a, b, c, PRIMARY KEY(a COLLATE RTRIM, b)) WITHOUT ROWID",
      "printf('%c%s', 97+i/100, substr('          ', 1, i%10)), i" },
    { "types", "(a, b, c, PRIMARY KEY(a, b)) WITHOUT ROWID",
      "CASE i%4 WHEN 0 THEN i WHEN 1 THEN i+0.5 WHEN 2 THEN 'text' || i ELSE CAST('blob' || i AS BLOB) END, i" },
    { "rowids", "(a INTEGER PRIMARY KEY, b, c)", "i*7, i" },
};

static const char *const page_sizes[] = { "PRAGMA page_size=512", "PRAGMA page_size=4096",
                                          "PRAGMA page_size=512; PRAGMA encoding='UTF-16le'" };

/* Rows of table t have 'mine' and their number in c. Those of the others come after all of them, or between. */
static void
fill(SalvageFixture *self, const Order *order, const char *settings)
{
    static const char *const others[] = { "other", "before" };
    g_autofree char *create = g_strconcat(settings, "; CREATE TABLE t", order->columns, NULL);
    g_autofree char *insert = g_strdup_printf(NUMBERS "INSERT INTO t SELECT %s, 'mine' || i FROM n", order->keys);

    (void) unlink(self->source);
    salvage_fixture_execute(self, create);
    salvage_fixture_execute(self, insert);
    for (guint i = 0; i < G_N_ELEMENTS(others); i++) {
        g_autofree char *create_other = g_strconcat("CREATE TABLE ", others[i], order->columns, NULL);
        g_autofree char *insert_other = g_strdup_printf(NUMBERS
                                                        "INSERT INTO %s SELECT %s, 'not mine' FROM (SELECT i+%d AS i FROM n)",
                                                        others[i], order->keys, i == 0 ? 1000000 : -1000000);

        salvage_fixture_execute(self, create_other);
        salvage_fixture_execute(self, insert_other);
    }
}

static gint64
count(SalvageFixture *self, const char *condition)
{
    g_autofree char *sql = g_strdup_printf("SELECT count(*) FROM t WHERE %s", condition);

    return salvage_fixture_ask(self, sql);
}

static void
test_whole(SalvageFixture *self, gconstpointer data)
{
    for (guint i = 0; i < G_N_ELEMENTS(page_sizes); i++) {
        fill(self, data, page_sizes[i]);
        salvage_fixture_run(self);
        g_assert_cmpint(count(self, "c LIKE 'mine%'"), ==, N_ROWS);
        g_assert_cmpuint(self->report->n_doubtful_rows, ==, 0);
        g_assert_cmpuint(self->report->n_lost_rows, ==, 0);
        g_assert_cmpuint(self->report->n_lost_pages, ==, 0);
    }
}

static gint64
ask_source(SalvageFixture *self, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    sqlite3 *db = NULL;
    gint64 value;

    g_assert_cmpint(sqlite3_open(self->source, &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_step(stmt), ==, SQLITE_ROW);
    value = sqlite3_column_int64(stmt, 0);
    (void) sqlite3_finalize(stmt);
    (void) sqlite3_close(db);
    return value;
}

/* Each leaf in turn gets the content of one of another table. */
static void
test_foreign(SalvageFixture *self, gconstpointer data)
{
    gint64 n_leaves;
    guint n_taken = 0;
    guint n_tried = 0;

    fill(self, data, page_sizes[0]);
    n_leaves = ask_source(self, "SELECT count(*) FROM dbstat WHERE name='t' AND pagetype='leaf'");
    for (gint64 i = 0; i < n_leaves; i += 1 + n_leaves / 12) {
        for (guint k = 0; k < 2; k++) {
            g_autofree char *to = g_strdup_printf(LEAF_OF "'t' ORDER BY path LIMIT 1 OFFSET %" G_GINT64_FORMAT, i);
            g_autofree char *n_cells_of = g_strdup_printf("SELECT ncell FROM dbstat WHERE pageno=(%s)", to);
            gint64 n_cells;

            fill(self, data, page_sizes[0]);
            n_cells = ask_source(self, n_cells_of);
            salvage_fixture_misplace_page(
                self, k == 0 ? LEAF_OF "'other' ORDER BY path LIMIT 1 OFFSET 5" : LEAF_OF "'before' ORDER BY path LIMIT 1 OFFSET 5",
                to);
            salvage_fixture_run(self);
            g_assert_cmpint(count(self, "c LIKE 'mine%'"), ==, N_ROWS - n_cells);
            n_taken += count(self, "c='not mine'") > 0;
            n_tried++;
            g_assert_true(count(self, "c='not mine'") > 0 || self->report->n_lost_pages > 0);
        }
    }
    g_test_message("%u of %u foreign pages were taken", n_taken, n_tried);
    g_assert_cmpuint(n_taken, <=, 2); /* nothing is before the first leaf, nor after the last one */
}

/* A page above with all that is below it, which stands on free pages now. */
static void
test_foreign_interior(SalvageFixture *self, gconstpointer data)
{
    static const char inner[] = "SELECT pageno FROM dbstat WHERE pagetype='internal' AND path<>'/' AND name=";
    g_autofree char *from = g_strconcat(inner, "'other' ORDER BY path LIMIT 1 OFFSET 1", NULL);
    g_autofree char *to = g_strconcat(
        inner, "'t' ORDER BY path LIMIT 1 OFFSET (SELECT (count(*)-2)/2 FROM dbstat WHERE name='t' AND pagetype='internal')", NULL);
    g_autofree char *number = NULL;

    fill(self, data, page_sizes[0]);
    number = g_strdup_printf("SELECT %" G_GINT64_FORMAT, ask_source(self, from));
    salvage_fixture_execute(self, "PRAGMA secure_delete=OFF; DROP TABLE other");
    salvage_fixture_misplace_page(self, number, to);
    salvage_fixture_run(self);
    g_assert_cmpint(count(self, "c='not mine'"), ==, 0);
    g_assert_cmpint(count(self, "c LIKE 'mine%'"), >, N_ROWS / 4);
    g_assert_cmpuint(self->report->n_lost_pages, >, 0);
}

/* The last byte of a key, which no row of another table has. */
static gsize
find_key_byte(const char *page, guint index)
{
    QdPageCells cells;
    QdPageCell cell;

    g_assert_true(qd_page_cells_init(&cells, (const guint8 *) page, 2, 512));
    if (index >= cells.n_cells || !qd_page_cells_get(&cells, index, &cell))
        return 0;
    if (qd_page_cells_is_of_table(&cells))
        return (gsize) (cell.local - cells.data) - 1;
    return (gsize) (cell.local - cells.data) + cell.n_local - 8 - index % 4; /* before "mine" and a number of up to four digits */
}

/* One key on a page above, each in turn: no more than one row is lost. */
static void
test_wrong_keys(SalvageFixture *self, gconstpointer data)
{
    g_autofree char *whole = NULL;
    gsize n_bytes = 0;
    gint64 n_pages;
    guint n_tried = 0;

    fill(self, data, page_sizes[0]);
    g_assert_true(g_file_get_contents(self->source, &whole, &n_bytes, NULL));
    n_pages = ask_source(self, "SELECT count(*) FROM dbstat WHERE name='t' AND pagetype='internal'");
    for (gint64 i = 0; i < n_pages; i++) {
        g_autofree char *sql = g_strdup_printf(
            "SELECT pageno FROM dbstat WHERE name='t' AND pagetype='internal' ORDER BY path LIMIT 1 OFFSET %" G_GINT64_FORMAT, i);
        gsize page;
        gsize at;

        g_assert_true(g_file_set_contents(self->source, whole, (gssize) n_bytes, NULL));
        page = (gsize) (ask_source(self, sql) - 1) * 512;
        for (guint k = 0; (at = find_key_byte(whole + page, k)) > 0; k += 3) {
            g_autofree char *bytes = g_memdup2(whole, n_bytes);

            bytes[page + at] ^= (char) (1 << (guint) (k + i) % 7);
            g_assert_true(g_file_set_contents(self->source, bytes, (gssize) n_bytes, NULL));
            salvage_fixture_run(self);
            g_assert_cmpint(count(self, "c LIKE 'mine%'"), >=, N_ROWS - 1);
            g_assert_cmpuint(self->report->n_lost_pages, ==, 0);
            n_tried++;
        }
    }
    g_assert_cmpuint(n_tried, >, 10);
}

/* The file's order is another than the definition's: in an old format without DESC, or after a change of the schema by hand. */
static void
test_other_order(SalvageFixture *self, gconstpointer data)
{
    static const char *const definitions[] = { "a DESC", "a COLLATE NOCASE", "a DESC COLLATE NOCASE" };
    static const guint lengths[] = { 5, 12, 300, N_ROWS };

    for (guint i = 0; i < G_N_ELEMENTS(definitions); i++) {
        for (guint k = 0; k < G_N_ELEMENTS(lengths); k++) {
            g_autofree char *sql = g_strdup_printf(
                "PRAGMA page_size=512; CREATE TABLE t(a, b, PRIMARY KEY(a)) WITHOUT ROWID;" NUMBERS
                "INSERT INTO t SELECT printf('%%c%%04d', iif(i%%2, 65, 98), i), zeroblob(50) FROM n WHERE i<=%u;"
                "PRAGMA writable_schema=ON;"
                "UPDATE sqlite_schema SET sql='CREATE TABLE t(a, b, PRIMARY KEY(%s)) WITHOUT ROWID' WHERE name='t'",
                lengths[k], i == 2 ? "a COLLATE NOCASE DESC" : definitions[i]);

            (void) unlink(self->source);
            salvage_fixture_execute(self, sql);
            salvage_fixture_run(self);
            g_assert_cmpint(count(self, "1"), ==, lengths[k]);
            g_assert_cmpuint(self->report->n_lost_pages, ==, 0);
            g_assert_true(i == 1 || self->report->n_doubtful_rows > lengths[k] / 2); /* NOCASE has them in the same order */
        }
    }
}

/* A collation of another program: no order of its keys is known. */
static void
test_unknown_collation(SalvageFixture *self, gconstpointer data)
{
    salvage_fixture_execute(self,
                            "PRAGMA page_size=512; CREATE TABLE t(a, b, c, PRIMARY KEY(a)) WITHOUT ROWID;" NUMBERS
                            "INSERT INTO t SELECT printf('%c%04d', iif(i%2, 65, 98), i), i, 'mine' FROM n;"
                            "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET"
                            " sql='CREATE TABLE t(a COLLATE theirs, b, c, PRIMARY KEY(a DESC)) WITHOUT ROWID' WHERE name='t'");
    salvage_fixture_run(self);
    g_assert_cmpint(count(self, "c='mine'"), ==, N_ROWS);
    g_assert_cmpuint(self->report->n_lost_pages, ==, 0);
}

/* Keys, and what follows them, that go on elsewhere. */
static void
test_overflow(SalvageFixture *self, gconstpointer data)
{
    salvage_fixture_execute(self, "PRAGMA page_size=512; CREATE TABLE t(a, b, c, PRIMARY KEY(a)) WITHOUT ROWID;"
                                  "CREATE TABLE k(a, b, c, PRIMARY KEY(a)) WITHOUT ROWID;");
    salvage_fixture_execute(self, NUMBERS "INSERT INTO t SELECT i, zeroblob(i%7*200), 'mine' FROM n");
    salvage_fixture_execute(self, NUMBERS "INSERT INTO k SELECT printf('%0*d', i%7*200, i), i, 'mine' FROM n");
    salvage_fixture_run(self);
    g_assert_cmpint(count(self, "c='mine'"), ==, N_ROWS);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM k WHERE c='mine'"), ==, N_ROWS);
    g_assert_cmpuint(self->report->n_lost_rows + self->report->n_lost_pages, ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(orders); i++) {
        const gboolean overlap = g_str_equal(orders[i].path, "types"); /* keys of one table stand between those of another */
        static const struct {
            const char *name;
            void (*func)(SalvageFixture *self, gconstpointer data);
        } tests[] = { { "whole", test_whole },
                      { "foreign", test_foreign },
                      { "foreign-interior", test_foreign_interior },
                      { "wrong-keys", test_wrong_keys } };

        for (guint k = 0; k < G_N_ELEMENTS(tests); k++) {
            g_autofree char *path = g_strdup_printf("/recover/salvage-keys/%s/%s", tests[k].name, orders[i].path);

            if (tests[k].func != test_foreign_interior || !overlap)
                g_test_add(path, SalvageFixture, &orders[i], salvage_fixture_set_up, tests[k].func, salvage_fixture_tear_down);
        }
    }
#define ADD(path, func) \
    g_test_add("/recover/salvage-keys/" path, SalvageFixture, NULL, salvage_fixture_set_up, func, salvage_fixture_tear_down)
    ADD("other-order", test_other_order);
    ADD("unknown-collation", test_unknown_collation);
    ADD("overflow", test_overflow);
    return g_test_run();
}
