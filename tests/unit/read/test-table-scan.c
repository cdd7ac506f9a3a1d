/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows read from the pages of a table against those that SQLite gives: all kinds of records and trees. Also which statements are
 * scans, snapshots while another connection commits, and damaged files.
 *
 * Pages of the wire are small, so that many rows do not fit and are put again.
 */
#include "daemon/read/table-scan.h"

#include <glib/gstdio.h>
#include <string.h>

#include "daemon/base/interrupt.h"
#include "daemon/read/row-encoder.h"
#include "tests/unit/read/scan-fixture.h"
#include "tests/unit/store/store-fixture.h"

#define PAGE_BYTES 4096
#define LARGE_BYTES (1 << 21)
#define N_COMMIT_ROUNDS 40
#define N_DAMAGED 4000

typedef struct Fixture {
    char *dir;
    char *path;
    sqlite3 *db;     /* reads */
    sqlite3 *writer; /* is another one */
} Fixture;

/* @data: pragmas before the first table (nullable). */
static void
set_up(Fixture *self, gconstpointer data)
{
    self->dir = g_dir_make_tmp("queryd-scan-XXXXXX", NULL);
    self->path = g_build_filename(self->dir, "scan.db", NULL);
    self->writer = scan_fixture_open(self->path);
    if (data != NULL)
        scan_fixture_execute(self->writer, data);
    scan_fixture_execute(self->writer, "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; PRAGMA synchronous=OFF");
    self->db = scan_fixture_open(self->path);
    scan_fixture_execute(self->db, "PRAGMA mmap_size=100000000");
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    g_assert_cmpint(sqlite3_close(self->db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_close(self->writer), ==, SQLITE_OK);
    store_remove_folder(self->dir);
    g_free(self->dir);
    g_free(self->path);
}

/* Statements ----------------------------------------------------------------------------------------------------------------- */

typedef struct Rows {
    GByteArray *bytes; /* of all rows but the first, as on the wire */
    int result;        /* of the last step; -1: there was no scan */
} Rows;

static void
rows_clear(Rows *self)
{
    g_clear_pointer(&self->bytes, g_byte_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Rows, rows_clear)

/* By sqlite3_step(). */
static void
read_plainly(sqlite3 *db, const char *sql, Rows *ret_rows)
{
    sqlite3_stmt *stmt = scan_fixture_prepare(db, sql);
    g_autofree guint8 *data = g_malloc(LARGE_BYTES);

    *ret_rows = (Rows){ .bytes = g_byte_array_new(), .result = SQLITE_ERROR };
    if (stmt == NULL) /* the schema is damaged */
        return;
    for (guint i = 0; (ret_rows->result = sqlite3_step(stmt)) == SQLITE_ROW; i++) {
        QwPageWriter page;

        if (i == 0)
            continue;
        qw_page_writer_init(&page, data, LARGE_BYTES, (guint32) sqlite3_column_count(stmt));
        g_assert_cmpint(qd_row_encode(&page, stmt), ==, 0);
        g_byte_array_append(ret_rows->bytes, data + QW_HEADER_SIZE, (guint) (page.used - QW_HEADER_SIZE));
    }
    (void) sqlite3_finalize(stmt);
}

/* Into small pages; a row that fits into none into a large one. */
static void
put_row(QdTableScan *scan, QwPageWriter *page, GByteArray *bytes)
{
    if (qd_table_scan_put_row(scan, page) == 0)
        return;
    g_byte_array_append(bytes, page->data + QW_HEADER_SIZE, (guint) (page->used - QW_HEADER_SIZE));
    qw_page_writer_init(page, page->data, PAGE_BYTES, 0);
    if (qd_table_scan_put_row(scan, page) != 0) {
        gsize size = qd_table_scan_get_row_size(scan);
        g_autofree guint8 *large = g_malloc(size);
        QwPageWriter writer;

        qw_page_writer_init(&writer, large, size, 0);
        g_assert_cmpint(qd_table_scan_put_row(scan, &writer), ==, 0);
        g_assert_cmpuint(writer.used, <=, size);
        g_byte_array_append(bytes, large + QW_HEADER_SIZE, (guint) (writer.used - QW_HEADER_SIZE));
    }
}

static void
read_scan(QdTableScan *scan, Rows *rows)
{
    guint64 data[PAGE_BYTES / 8];
    QwPageWriter page;

    qw_page_writer_init(&page, (guint8 *) data, PAGE_BYTES, 0);
    while ((rows->result = qd_table_scan_step(scan)) == SQLITE_ROW)
        put_row(scan, &page, rows->bytes);
    g_byte_array_append(rows->bytes, page.data + QW_HEADER_SIZE, (guint) (page.used - QW_HEADER_SIZE));
}

/* @before, @after: (nullable): between the first look at the log, the step, and the second. */
static void
read_pages(sqlite3 *db, const char *sql, void (*before)(gpointer), void (*after)(gpointer), gpointer data, Rows *ret_rows)
{
    sqlite3_stmt *wrapped;
    g_autofree QdScanProgram *program = scan_fixture_read_program(db, sql, &wrapped);
    QdTableScan *scan = program != NULL ? qd_table_scan_new(db, program) : NULL;

    *ret_rows = (Rows){ .bytes = g_byte_array_new(), .result = -1 };
    if (before != NULL)
        before(data);
    if (scan != NULL && sqlite3_step(wrapped) == SQLITE_ROW && (after == NULL || (after(data), TRUE)) && qd_table_scan_begin(scan))
        read_scan(scan, ret_rows);
    qd_table_scan_free(scan);
    (void) sqlite3_finalize(wrapped);
}

static void
assert_equal(sqlite3 *db, const char *sql)
{
    g_auto(Rows) plain = { 0 };
    g_auto(Rows) pages = { 0 };

    read_plainly(db, sql, &plain);
    read_pages(db, sql, NULL, NULL, NULL, &pages);
    if (pages.result != SQLITE_DONE)
        g_error("'%s': %d", sql, pages.result);
    g_assert_cmpint(plain.result, ==, SQLITE_DONE);
    g_assert_cmpmem(plain.bytes->data, plain.bytes->len, pages.bytes->data, pages.bytes->len);
}

/* Programs ------------------------------------------------------------------------------------------------------------------- */

static const char program_schema[] = "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b TEXT, c REAL);"
                                     "CREATE TABLE u(x, y); CREATE INDEX ux ON u(x);"
                                     "CREATE TABLE w(k PRIMARY KEY, v) WITHOUT ROWID;"
                                     "CREATE TABLE g(a, b AS (a + 1), c AS (a + 2) STORED);"
                                     "CREATE TABLE d(a); ALTER TABLE d ADD COLUMN b; ALTER TABLE d ADD COLUMN c DEFAULT 7;"
                                     "ALTER TABLE d ADD COLUMN e DEFAULT '';"
                                     "CREATE VIEW v AS SELECT b, c FROM t;"
                                     "CREATE VIRTUAL TABLE f USING fts5(q);"
                                     "CREATE TEMP TABLE tmp(a);";

static void
test_programs(Fixture *self, gconstpointer data)
{
    static const struct {
        const char *sql;
        gboolean scans;
    } cases[] = {
        { "SELECT * FROM t", TRUE },
        { "SELECT b, c, id, b, rowid FROM t", TRUE },
        { "SELECT * FROM v", TRUE },
        { "SELECT y FROM u", TRUE },
        { "SELECT a, c FROM g", TRUE },
        { "SELECT a, b FROM d", TRUE },
        { "SELECT * FROM sqlite_schema", TRUE },
        { "SELECT * FROM t WHERE id > 5", FALSE },
        { "SELECT * FROM t WHERE a", TRUE },
        { "SELECT * FROM t WHERE b LIKE '%x%' AND (a = 1 OR c > 2.5) AND length(b) BETWEEN 3 AND 5", TRUE },
        { "SELECT * FROM t WHERE b GLOB ? AND c IS NOT :c AND a IN (1, 2)", TRUE },
        { "SELECT rowid FROM t WHERE b = 'x' COLLATE nocase OR a IS NULL", TRUE },
        { "SELECT * FROM t WHERE b = 'x' COLLATE rtrim", FALSE },
        { "SELECT * FROM t WHERE b LIKE 'x' ESCAPE '!'", FALSE },
        { "SELECT * FROM t WHERE upper(b) = 'X'", FALSE },
        { "SELECT * FROM t WHERE a + 1 = 2", FALSE },
        { "SELECT * FROM t WHERE a = random()", FALSE },
        { "SELECT * FROM t WHERE a IN (SELECT x FROM u)", FALSE },
        { "SELECT * FROM t WHERE a = (SELECT max(x) FROM u)", FALSE },
        { "SELECT * FROM t WHERE CAST(a AS TEXT) = 'x'", FALSE },
        { "SELECT * FROM t WHERE a = 1 LIMIT 5", FALSE },
        { "SELECT a + 1 FROM t WHERE a = 1", FALSE },
        { "SELECT * FROM d WHERE c = 7", FALSE },
        { "SELECT * FROM u WHERE x = 1", FALSE },
        { "SELECT count(*) FROM t WHERE a = 1", FALSE },
        { "SELECT * FROM t LIMIT 5", FALSE },
        { "SELECT * FROM t ORDER BY id DESC", FALSE },
        { "SELECT a + 1 FROM t", FALSE },
        { "SELECT 1 FROM t", FALSE },
        { "SELECT a, 'x' FROM t", FALSE },
        { "SELECT a COLLATE nocase || 'x' FROM t", FALSE },
        { "SELECT x FROM u", FALSE }, /* of the index */
        { "SELECT * FROM w", FALSE },
        { "SELECT * FROM g", FALSE },
        { "SELECT c FROM d", FALSE }, /* rows that are older than the column have its default */
        { "SELECT e FROM d", FALSE },
        { "SELECT * FROM t, u", FALSE },
        { "SELECT x FROM u UNION ALL SELECT a FROM t", FALSE },
        { "SELECT count(*) FROM t", FALSE },
        { "SELECT * FROM f", FALSE },
        { "SELECT * FROM tmp", FALSE },
        { "SELECT " SCAN_FUNCTION "(a) FROM t", FALSE },
    };

    scan_fixture_execute(self->db, program_schema);
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        sqlite3_stmt *wrapped;
        g_autofree QdScanProgram *program = scan_fixture_read_program(self->db, cases[i].sql, &wrapped);

        if ((program != NULL) != cases[i].scans)
            g_error("'%s' is %sa scan", cases[i].sql, program != NULL ? "" : "not ");
        (void) sqlite3_finalize(wrapped);
    }
}

/* Records -------------------------------------------------------------------------------------------------------------------- */

#define COUNT(n) "WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < " #n ") "

/* Each serial type, texts around the sizes at which a page or a varint is full, rows that were deleted, moved, and made longer. */
static const char record_schema[] =
    "CREATE TABLE n(id INTEGER PRIMARY KEY, a, b REAL, c INTEGER, d TEXT, e BLOB);"
    "CREATE TABLE s(a, b, c); CREATE TABLE m(a); CREATE TABLE one(a); CREATE TABLE empty(a);"
    "INSERT INTO n(a, b, c, d, e) VALUES(NULL, NULL, NULL, NULL, NULL), (0, 0, 0, '', X''), (1, 1, 1, 'a', X'00'),"
    "  (-1, -1, -1, char(0), X'ff00'), (127, 127, 128, 'ä', zeroblob(9)), (-128, -129, 32767, 'a' || char(0) || 'b', 1.5),"
    "  (-32768, 32768, 8388607, CAST(X'ff61fe' AS TEXT), 'text'), (-8388608, 2147483647, -2147483648, x'6162', 0.0),"
    "  (140737488355327, -140737488355328, 140737488355328, '1', 1), (9223372036854775807, -9223372036854775807, 1e300, 2, -0.0),"
    "  (9e999, -9e999, 1e-300, 0.1, 3.0), (1.0, 'no number', 'nor this', 5e-324, 9007199254740993);" COUNT(
        3000) "INSERT INTO n SELECT i * i - 4000000, i, i * 0.5, i, 'text ' || i, zeroblob(i % 90) FROM k WHERE i > 20;"
              "INSERT INTO n VALUES(-9223372036854775808, 1, 2, 3, 4, 5), (9223372036854775807, 1, 2, 3, 4, 5);" COUNT(
                  700) "INSERT INTO s SELECT zeroblob(i * 13), substr(hex(zeroblob(i)), 1, i), CASE WHEN i % 100 = 0 THEN "
                       "zeroblob(100000 + "
                       "i) END FROM k;"
                       "DELETE FROM s WHERE rowid % 7 = 0; UPDATE s SET b = b || hex(zeroblob(rowid % 300)) WHERE rowid % 5 = "
                       "0;" COUNT(500) "INSERT INTO m SELECT i FROM k;"
                                       "ALTER TABLE m ADD COLUMN b REAL; ALTER TABLE m ADD COLUMN c;" COUNT(
                                           500) "INSERT INTO m SELECT i, i, 'later' FROM k;"
                                                "INSERT INTO one VALUES(1);";

static const char *const record_texts[] = {
    "SELECT * FROM n",    "SELECT e, d, id, a, b, b FROM n",
    "SELECT id FROM n",   "SELECT c FROM n",
    "SELECT * FROM s",    "SELECT b FROM s",
    "SELECT c, a FROM s", "SELECT * FROM m",
    "SELECT b, a FROM m", "SELECT c FROM m",
    "SELECT * FROM one",  "SELECT * FROM sqlite_schema",
};

static void
compare_all(Fixture *self)
{
    for (gsize i = 0; i < G_N_ELEMENTS(record_texts); i++)
        assert_equal(self->db, record_texts[i]);
}

/* All of it in the log; a part of it; nothing. */
static void
test_records(Fixture *self, gconstpointer data)
{
    g_auto(Rows) none = { 0 };

    scan_fixture_execute(self->writer, record_schema);
    compare_all(self);
    scan_fixture_execute(self->writer, "PRAGMA wal_checkpoint(PASSIVE)");
    compare_all(self);
    scan_fixture_execute(self->writer, "UPDATE n SET d = d || ' changed' WHERE id % 3 = 0; DELETE FROM s WHERE rowid % 11 = 0;"
                                       "INSERT INTO m(a) SELECT b FROM n");
    compare_all(self);
    scan_fixture_execute(self->writer, "PRAGMA wal_checkpoint(TRUNCATE)");
    compare_all(self);
    scan_fixture_execute(self->db, "PRAGMA mmap_size=0");
    compare_all(self);
    scan_fixture_execute(self->writer, "DELETE FROM n WHERE id BETWEEN -100000 AND 2000; VACUUM");
    compare_all(self);
    read_pages(self->db, "SELECT * FROM empty", NULL, NULL, NULL, &none);
    g_assert_cmpint(none.result, ==, -1);
}

/* Their texts are for SQLite. */
static void
test_other_encoding(Fixture *self, gconstpointer data)
{
    g_auto(Rows) rows = { 0 };

    scan_fixture_execute(self->writer, "CREATE TABLE t(a); INSERT INTO t VALUES('one'), ('two')");
    read_pages(self->db, "SELECT * FROM t", NULL, NULL, NULL, &rows);
    g_assert_cmpint(rows.result, ==, -1);
}

/* A value above the limit of the connection. */
static void
test_large_value(Fixture *self, gconstpointer data)
{
    g_auto(Rows) rows = { 0 };

    scan_fixture_execute(self->writer, "CREATE TABLE t(a); INSERT INTO t VALUES(1), (zeroblob(5000)), (3)");
    (void) sqlite3_limit(self->db, SQLITE_LIMIT_LENGTH, 4000);
    read_pages(self->db, "SELECT * FROM t", NULL, NULL, NULL, &rows);
    g_assert_cmpint(rows.result, ==, SQLITE_TOOBIG);
}

/* Snapshots ------------------------------------------------------------------------------------------------------------------ */

static void
commit(gpointer data)
{
    scan_fixture_execute(((Fixture *) data)->writer, "INSERT INTO one VALUES(2)");
}

static void
restart_log(gpointer data)
{
    scan_fixture_execute(((Fixture *) data)->writer, "PRAGMA wal_checkpoint(RESTART); INSERT INTO one VALUES(2)");
}

/* It is not known whether SQLite has seen the commit. */
static void
test_commit_at_begin(Fixture *self, gconstpointer data)
{
    static void (*const moves[])(gpointer) = { commit, restart_log };

    scan_fixture_execute(self->writer, record_schema);
    for (gsize i = 0; i < G_N_ELEMENTS(moves); i++) {
        g_auto(Rows) before = { 0 };
        g_auto(Rows) after = { 0 };

        read_pages(self->db, "SELECT * FROM n", moves[i], NULL, self, &before);
        g_assert_cmpint(before.result, ==, -1);
        if (moves[i] != commit) /* a reader keeps the log */
            continue;
        read_pages(self->db, "SELECT * FROM n", NULL, moves[i], self, &after);
        g_assert_cmpint(after.result, ==, -1);
    }
}

/* Its snapshot began before the first look. */
static void
test_open_transaction(Fixture *self, gconstpointer data)
{
    g_auto(Rows) rows = { 0 };

    scan_fixture_execute(self->writer, record_schema);
    scan_fixture_execute(self->db, "BEGIN; SELECT * FROM one");
    read_pages(self->db, "SELECT * FROM n", NULL, NULL, NULL, &rows);
    g_assert_cmpint(rows.result, ==, -1);
    scan_fixture_execute(self->db, "COMMIT");
}

typedef struct Committer {
    sqlite3 *db;
    gint ends;     /* atomic */
    gint n_rounds; /* atomic */
} Committer;

/* Rows become longer and shorter, pages are freed and taken, the log is written back and begins again. */
static gpointer
commit_on(gpointer data)
{
    Committer *self = data;

    for (guint i = 0; !g_atomic_int_get(&self->ends); i++) {
        g_autofree char *sql = g_strdup_printf(
            "BEGIN; UPDATE n SET d = %u || hex(randomblob(abs(random()) %% 300)) WHERE id %% 97 = %u;"
            "DELETE FROM n WHERE id %% 89 = %u; INSERT INTO n(a, d) SELECT a, d FROM n WHERE id %% 83 = %u LIMIT 60;"
            "UPDATE s SET a = zeroblob(%u) WHERE rowid %% 61 = %u; COMMIT; PRAGMA wal_checkpoint(%s)",
            i, i % 97, i % 89, i % 83, i % 9000, i % 61, i % 5 == 0 ? "RESTART" : "PASSIVE");

        (void) sqlite3_exec(self->db, sql, NULL, NULL, NULL); /* a checkpoint may be BUSY */
        (void) g_atomic_int_add(&self->n_rounds, 1);
    }
    return NULL;
}

/* The same snapshot is read by SQLite, while commits go on: its connection begins between two looks at the log that are equal. */
static void
test_commits_meanwhile(Fixture *self, gconstpointer data)
{
    static const char *const texts[] = { "SELECT * FROM n", "SELECT * FROM s" };
    sqlite3 *other = scan_fixture_open(self->path);
    Committer committer = { .db = self->writer };
    guint n_scans = 0;
    GThread *thread;

    scan_fixture_execute(self->writer, record_schema);
    (void) sqlite3_busy_timeout(self->writer, 1);
    thread = g_thread_new("commits", commit_on, &committer);
    for (guint i = 0; n_scans < N_COMMIT_ROUNDS; i++) {
        const char *sql = texts[i % G_N_ELEMENTS(texts)];
        sqlite3_stmt *wrapped;
        g_autofree QdScanProgram *program = scan_fixture_read_program(self->db, sql, &wrapped);
        QdTableScan *scan = qd_table_scan_new(self->db, program);
        gint n_rounds = g_atomic_int_get(&committer.n_rounds);
        g_auto(Rows) pages = { .bytes = g_byte_array_new() };
        g_auto(Rows) plain = { 0 };

        scan_fixture_execute(other, "BEGIN; SELECT * FROM one");
        if (scan != NULL && sqlite3_step(wrapped) == SQLITE_ROW && qd_table_scan_begin(scan)) {
            while (g_atomic_int_get(&committer.n_rounds) < n_rounds + 2)
                g_thread_yield(); /* some commit is not seen */
            read_scan(scan, &pages);
            read_plainly(other, sql, &plain);
            g_assert_cmpint(pages.result, ==, SQLITE_DONE);
            g_assert_cmpmem(plain.bytes->data, plain.bytes->len, pages.bytes->data, pages.bytes->len);
            n_scans++;
        }
        qd_table_scan_free(scan);
        (void) sqlite3_finalize(wrapped);
        scan_fixture_execute(other, "COMMIT");
    }
    g_atomic_int_set(&committer.ends, TRUE);
    (void) g_thread_join(thread);
    g_assert_cmpint(sqlite3_close(other), ==, SQLITE_OK);
}

/* Ends ----------------------------------------------------------------------------------------------------------------------- */

static gboolean
end_after_some(void *data)
{
    return ++*(guint *) data > 10;
}

static void
test_interrupt(Fixture *self, gconstpointer data)
{
    guint n_looks = 0;
    QdInterrupt interrupt = { .is_always_due = TRUE, .look = end_after_some, .data = &n_looks };
    g_auto(Rows) rows = { 0 };

    scan_fixture_execute(self->writer, record_schema);
    qd_interrupt_begin(&interrupt);
    read_pages(self->db, "SELECT * FROM n", NULL, NULL, NULL, &rows);
    qd_interrupt_end(&interrupt);
    g_assert_cmpint(rows.result, ==, SQLITE_INTERRUPT);
    g_assert_cmpuint(n_looks, ==, 11);
}

/* Damage --------------------------------------------------------------------------------------------------------------------- */

static void
damage(GRand *random, guint8 *bytes, gsize n_bytes)
{
    for (gint i = g_rand_int_range(random, 1, 12); i > 0; i--) {
        /* headers of pages and of the first cells more often than the middle of a text */
        gsize page = (gsize) g_rand_int_range(random, 0, (gint) (n_bytes / 512)) * 512;
        gsize at = page + (gsize) g_rand_int_range(random, 0, g_rand_boolean(random) ? 16 : 512);

        if (at >= 100)
            bytes[at] = (guint8) (g_rand_boolean(random) ? g_rand_int(random) : bytes[at] ^ (1u << g_rand_int_range(random, 0, 8)));
    }
}

/* Ends with the rows that SQLite gives, or with an error; never outside of the pages (under ASan and on a mapping's end). */
static void
test_damaged_files(Fixture *self, gconstpointer data)
{
    g_autofree guint8 *bytes = NULL;
    g_autofree char *copy = g_build_filename(self->dir, "damaged.db", NULL);
    GRand *random = g_rand_new_with_seed(7);
    guint n_damaged = g_test_thorough() ? N_DAMAGED : N_DAMAGED / 10;
    guint n_ends[2] = { 0 };
    gsize n_bytes;

    scan_fixture_execute(self->writer,
                         "CREATE TABLE s(a, b, c);" COUNT(120) "INSERT INTO s SELECT i, hex(zeroblob(i)), zeroblob(i * 9) FROM k");
    scan_fixture_execute(self->writer, "PRAGMA wal_checkpoint(TRUNCATE)");
    g_assert_true(g_file_get_contents(self->path, (char **) &bytes, &n_bytes, NULL));
    for (guint i = 0; i < n_damaged; i++) {
        g_autofree guint8 *damaged = g_memdup2(bytes, n_bytes);
        sqlite3 *db;
        g_auto(Rows) plain = { 0 };
        g_auto(Rows) pages = { 0 };

        damage(random, damaged, n_bytes);
        g_assert_true(g_file_set_contents(copy, (const char *) damaged, (gssize) n_bytes, NULL));
        db = scan_fixture_open(copy);
        scan_fixture_execute(db, i % 2 == 0 ? "PRAGMA mmap_size=10000000" : "PRAGMA mmap_size=0");
        read_plainly(db, "SELECT * FROM s", &plain);
        if (plain.result != SQLITE_ERROR)
            read_pages(db, "SELECT * FROM s", NULL, NULL, NULL, &pages);
        if (plain.result == SQLITE_DONE && pages.result == SQLITE_DONE)
            g_assert_cmpmem(plain.bytes->data, plain.bytes->len, pages.bytes->data, pages.bytes->len);
        n_ends[pages.result == SQLITE_DONE]++;
        g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
    }
    g_assert_cmpuint(n_ends[0], >, 0);
    g_assert_cmpuint(n_ends[1], >, 0);
    g_rand_free(random);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, data, func) g_test_add("/read/table-scan/" path, Fixture, data, set_up, func, tear_down)
    ADD("programs", NULL, test_programs);
    ADD("records", NULL, test_records);
    ADD("records-of-small-pages", "PRAGMA page_size=512", test_records);
    ADD("records-of-large-pages", "PRAGMA page_size=65536", test_records);
    ADD("records-of-vacuumed-pages", "PRAGMA page_size=1024; PRAGMA auto_vacuum=FULL", test_records);
    ADD("other-encoding", "PRAGMA encoding='UTF-16'", test_other_encoding);
    ADD("large-value", NULL, test_large_value);
    ADD("commit-at-begin", NULL, test_commit_at_begin);
    ADD("open-transaction", NULL, test_open_transaction);
    ADD("commits-meanwhile", NULL, test_commits_meanwhile);
    ADD("interrupt", NULL, test_interrupt);
    ADD("damaged-files", "PRAGMA page_size=512", test_damaged_files);
    return g_test_run();
}
