/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows that pass a condition, evaluated on the pages of a table, against those that SQLite gives. All kinds of values are compared
 * with all kinds of constants. Each row is the same, or the scan is unsure before it.
 */
#include "daemon/read/scan-filter.h"

#include <string.h>

#include "daemon/base/interrupt.h"
#include "daemon/read/row-encoder.h"
#include "daemon/read/table-scan.h"
#include "tests/unit/read/scan-fixture.h"
#include "tests/unit/store/store-fixture.h"

#define PAGE_BYTES (1 << 21)
#define COUNT(n) "WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < " #n ") "

typedef struct Fixture {
    char *dir;
    sqlite3 *db;
    guint8 *page;
    GByteArray *plain;
    GByteArray *scanned;
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    g_autofree char *path = NULL;

    self->dir = g_dir_make_tmp("queryd-filter-XXXXXX", NULL);
    path = g_build_filename(self->dir, "filter.db", NULL);
    self->db = scan_fixture_open(path);
    scan_fixture_execute(self->db, "PRAGMA journal_mode=WAL; PRAGMA mmap_size=100000000");
    self->page = g_malloc(PAGE_BYTES);
    self->plain = g_byte_array_new();
    self->scanned = g_byte_array_new();
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    g_assert_cmpint(sqlite3_close(self->db), ==, SQLITE_OK);
    store_remove_folder(self->dir);
    g_free(self->dir);
    g_free(self->page);
    g_byte_array_unref(self->plain);
    g_byte_array_unref(self->scanned);
}

/* @value: (nullable): of the parameter */
static void
read_plainly(Fixture *self, const char *sql, const QwValue *value)
{
    sqlite3_stmt *stmt = scan_fixture_prepare(self->db, sql);
    int r;

    g_byte_array_set_size(self->plain, 0);
    if (value != NULL && value->type == QW_TYPE_TEXT)
        (void) sqlite3_bind_text(stmt, 1, value->data, (int) value->n_bytes, SQLITE_STATIC);
    else if (value != NULL && value->type == QW_TYPE_FLOAT)
        (void) sqlite3_bind_double(stmt, 1, value->real);
    else if (value != NULL && value->type == QW_TYPE_INTEGER)
        (void) sqlite3_bind_int64(stmt, 1, value->integer);
    while ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
        QwPageWriter page;

        qw_page_writer_init(&page, self->page, PAGE_BYTES, (guint32) sqlite3_column_count(stmt));
        g_assert_cmpint(qd_row_encode(&page, stmt), ==, 0);
        g_byte_array_append(self->plain, self->page + QW_HEADER_SIZE, (guint) (page.used - QW_HEADER_SIZE));
    }
    g_assert_cmpint(r, ==, SQLITE_DONE);
    (void) sqlite3_finalize(stmt);
}

/* Returns: of the last step */
static int
read_pages(Fixture *self, const QdScanProgram *program, const QwValue *value)
{
    QdTableScan *scan = qd_table_scan_new(self->db, program);
    guint n_rows = 0;
    int r;

    g_byte_array_set_size(self->scanned, 0);
    for (guint i = 0; i < program->n_constants; i++)
        if (program->constants[i].parameter > 0)
            g_assert_true(qd_table_scan_set_constant(scan, &program->constants[i], value));
    scan_fixture_execute(self->db, "BEGIN; PRAGMA schema_version");
    g_assert_true(qd_table_scan_begin(scan));
    while ((r = qd_table_scan_step(scan)) == SQLITE_ROW) {
        QwPageWriter page;

        qw_page_writer_init(&page, self->page, PAGE_BYTES, 0);
        g_assert_cmpint(qd_table_scan_put_row(scan, &page), ==, 0);
        g_byte_array_append(self->scanned, self->page + QW_HEADER_SIZE, (guint) (page.used - QW_HEADER_SIZE));
        g_assert_cmpuint(qd_table_scan_get_n_rows(scan), ==, ++n_rows);
    }
    qd_table_scan_free(scan);
    scan_fixture_execute(self->db, "COMMIT");
    return r;
}

/* Returns: whether the scan was sure to its end */
static gboolean
compare(Fixture *self, const char *sql, const QwValue *value)
{
    g_autofree QdScanProgram *program = scan_fixture_read_program(self->db, sql, NULL);
    int r;

    if (program == NULL || program->n_steps == 0)
        g_error("'%s' is no scan", sql);
    read_plainly(self, sql, value);
    r = read_pages(self, program, value);
    if (r != SQLITE_DONE && r != QD_TABLE_SCAN_UNSURE)
        g_error("'%s': %d", sql, r);
    if (r == SQLITE_DONE ? self->plain->len != self->scanned->len : self->plain->len < self->scanned->len)
        g_error("'%s' gives %u bytes, and %u by SQLite", sql, self->scanned->len, self->plain->len);
    if (self->scanned->len > 0 && memcmp(self->plain->data, self->scanned->data, self->scanned->len) != 0)
        g_error("'%s' gives other rows", sql);
    return r == SQLITE_DONE;
}

/* Values beside constants ----------------------------------------------------------------------------------------------------- */

static const char *const values[] = {
    "NULL",
    "0",
    "1",
    "-1",
    "2.5",
    "2.4999999999999996",
    "1e300",
    "-9e999",
    "9007199254740993",
    "9007199254740992.0",
    "9223372036854775807",
    "9223372036854775808.0",
    "-9223372036854775807",
    "''",
    "'a'",
    "'A'",
    "'ab'",
    "'aB%'",
    "'2.5'",
    "'1'",
    "'ä'",
    "'Ä'",
    "'z'",
    "'a' || char(0) || 'b'",
    "X''",
    "X'61'",
    "X'6162'",
    "CAST(X'ff61fe' AS TEXT)",
    "CAST(X'c3' AS TEXT)",
};

static const char *const constants[] = {
    "0",  "1",   "-1",  "2",    "2.5",   "0.1", "1e300", "9e999", "9007199254740992", "9223372036854775807",
    "''", "'a'", "'A'", "'ab'", "'2.5'",
};

static const char *const conditions[] = {
    "%s = %s",
    "%s <> %s",
    "%s < %s",
    "%s <= %s",
    "%s > %s",
    "%s >= %s",
    "%s IS %s",
    "%s IS NOT %s",
    "NOT %s = %s",
    "%s = %s COLLATE nocase",
    "%s < %s COLLATE nocase",
    "%s LIKE %s",
    "%s NOT LIKE %s",
    "%s GLOB %s",
    "length(%s) > %s",
    "%s BETWEEN %s AND 'b'",
};

static const char *const columns[] = { "a", "b", "i", "t", "r", "n" };

/* One row in each table: nothing before it makes the scan unsure. */
static void
test_comparisons(Fixture *self, gconstpointer data)
{
    guint n_sure = 0;
    guint n = 0;

    scan_fixture_execute(self->db, "CREATE TABLE v(a, b BLOB, i INTEGER, t TEXT COLLATE nocase, r REAL, n NUMERIC)");
    for (gsize v = 0; v < G_N_ELEMENTS(values); v++) {
        g_autofree char *insert = g_strdup_printf("DELETE FROM v; INSERT INTO v VALUES(%s, %s, %s, %s, %s, %s)", values[v],
                                                  values[v], values[v], values[v], values[v], values[v]);

        scan_fixture_execute(self->db, insert);
        for (gsize i = 0; i < G_N_ELEMENTS(columns) * G_N_ELEMENTS(conditions) * G_N_ELEMENTS(constants); i++) {
            const char *column = columns[i % G_N_ELEMENTS(columns)];
            const char *condition = conditions[i / G_N_ELEMENTS(columns) % G_N_ELEMENTS(conditions)];
            const char *constant = constants[i / G_N_ELEMENTS(columns) / G_N_ELEMENTS(conditions)];
            g_autoptr(GString) sql = g_string_new("SELECT * FROM v WHERE ");

            if (v % 4 != 0 && i % 7 != v % 7 && !g_test_thorough())
                continue;
            g_string_append(sql, condition);
            (void) g_string_replace(sql, "%s", column, 1);
            (void) g_string_replace(sql, "%s", constant, 1);
            n_sure += compare(self, sql->str, NULL) ? 1 : 0;
            n++;
        }
    }
    g_assert_cmpuint(n_sure, >, n / 3);
    g_assert_cmpuint(n_sure, <, n);
}

/* Tables ---------------------------------------------------------------------------------------------------------------------- */

static void
make_table(Fixture *self)
{
    scan_fixture_execute(
        self->db,
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b TEXT, c REAL, long, d);" COUNT(
            3000) "INSERT INTO t SELECT i, i % 100, 'text ' || i || ' x' || (i % 97), i * 0.25, CASE WHEN i % 10 = 0 THEN "
                  "hex(zeroblob(i * 3)) END, CASE i % 5 WHEN 0 THEN NULL ELSE i END FROM k");
    scan_fixture_execute(self->db, "ALTER TABLE t ADD COLUMN later; UPDATE t SET later = 'l' WHERE id % 3 = 0");
}

static void
test_sure(Fixture *self, gconstpointer data)
{
    static const char *const texts[] = {
        "SELECT * FROM t WHERE b LIKE '%X77%'",
        "SELECT * FROM t WHERE b NOT LIKE '%x%'",
        "SELECT id, b FROM t WHERE b GLOB 'text 1*x[45]?'",
        "SELECT id FROM t WHERE a = 3 OR b = 'text 7 x7' OR NOT (c > 2.6 AND c < a)",
        "SELECT d, b, rowid FROM t WHERE (a = 2 AND d IS NULL) OR (a = 3 AND d IS NOT NULL)",
        "SELECT * FROM t WHERE length(b) BETWEEN 9 AND 11 AND a > 90",
        "SELECT c FROM t WHERE length(long) > 1000 AND c >= 600",
        "SELECT long, later, id FROM t WHERE later = 'l' AND a <> 7",
        "SELECT id FROM t WHERE later IS NULL AND d > 2000",
        "SELECT id FROM t WHERE d",
        "SELECT id FROM t WHERE NOT d",
        "SELECT id FROM t WHERE a IN (5, 6) AND d IS NOT 105",
        "SELECT * FROM t WHERE a = 1000",
        "SELECT id FROM t WHERE a + 0 = 5 AND 0",
    };

    make_table(self);
    for (gsize i = 0; i + 1 < G_N_ELEMENTS(texts); i++)
        if (!compare(self, texts[i], NULL))
            g_error("'%s' is not sure", texts[i]);
    g_assert_null(scan_fixture_read_program(self->db, texts[G_N_ELEMENTS(texts) - 1], NULL));
}

/* NOCASE looks at nothing after a NUL but the length. */
static void
test_folded_columns(Fixture *self, gconstpointer data)
{
    static const char *const operators[] = { "=", "<>", "<", "<=", ">", ">=" };

    scan_fixture_execute(
        self->db, "CREATE TABLE c(x TEXT COLLATE nocase, y TEXT);"
                  "INSERT INTO c VALUES('a' || char(0) || 'b', 'A' || char(0) || 'c'), ('a' || char(0) || 'c', 'A' || char(0)),"
                  "('ab', 'a' || char(0)), ('Z', '_'), ('z', '_'), ('É', 'é'), ('', ''), ('x', '');");
    for (gsize i = 0; i < G_N_ELEMENTS(operators); i++) {
        g_autofree char *folded = g_strdup_printf("SELECT * FROM c WHERE x %s y", operators[i]);
        g_autofree char *plain = g_strdup_printf("SELECT * FROM c WHERE y %s x", operators[i]);

        g_assert_true(compare(self, folded, NULL));
        g_assert_true(compare(self, plain, NULL));
    }
}

/* In the midst of a table: what was given before is right. */
static void
test_unsure(Fixture *self, gconstpointer data)
{
    make_table(self);
    scan_fixture_execute(self->db, "UPDATE t SET a = 'odd' WHERE id = 1500");
    g_assert_false(compare(self, "SELECT id FROM t WHERE a = 7", NULL));
    g_assert_cmpuint(self->scanned->len, >, 0);
    g_assert_true(compare(self, "SELECT id FROM t WHERE id <> 1500 AND a = 7", NULL));
    scan_fixture_execute(self->db, "UPDATE t SET c = 0.1 WHERE id = 2000");
    g_assert_false(compare(self, "SELECT id FROM t WHERE c = 0.1", NULL));
}

static void
test_parameters(Fixture *self, gconstpointer data)
{
    const QwValue text = { .type = QW_TYPE_TEXT, .data = "%x77", .n_bytes = 4 };
    const QwValue real = { .type = QW_TYPE_FLOAT, .real = 0.1 };
    const QwValue integer = { .type = QW_TYPE_INTEGER, .integer = 7 };
    const QwValue null = { .type = QW_TYPE_NULL };

    make_table(self);
    scan_fixture_execute(self->db, "UPDATE t SET c = 0.1 WHERE id = 2000");
    g_assert_true(compare(self, "SELECT * FROM t WHERE b LIKE ?", &text));
    g_assert_cmpuint(self->scanned->len, >, 0);
    g_assert_true(compare(self, "SELECT * FROM t WHERE c = ?", &real));
    g_assert_cmpuint(self->scanned->len, >, 0);
    g_assert_true(compare(self, "SELECT * FROM t WHERE a = ?", &integer));
    g_assert_true(compare(self, "SELECT * FROM t WHERE d IS ?", &null));
    g_assert_true(compare(self, "SELECT * FROM t WHERE d = ?", &null));
    g_assert_false(compare(self, "SELECT * FROM t WHERE b LIKE ?", &integer));
}

/* A pattern that is longer than the limit is SQLite's error. */
static void
test_long_pattern(Fixture *self, gconstpointer data)
{
    g_autofree char *pattern = g_strnfill(100, 'x');
    const QwValue value = { .type = QW_TYPE_TEXT, .data = pattern, .n_bytes = 100 };
    g_autofree QdScanProgram *program = NULL;

    make_table(self);
    (void) sqlite3_limit(self->db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 99);
    program = scan_fixture_read_program(self->db, "SELECT * FROM t WHERE b LIKE ?", NULL);
    g_assert_cmpint(read_pages(self, program, &value), ==, QD_TABLE_SCAN_UNSURE);
    (void) sqlite3_limit(self->db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100);
    g_assert_cmpint(read_pages(self, program, &value), ==, SQLITE_DONE);
}

/* Ends ------------------------------------------------------------------------------------------------------------------------ */

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
    g_autofree QdScanProgram *program = NULL;

    make_table(self);
    program = scan_fixture_read_program(self->db, "SELECT * FROM t WHERE a = -1", NULL);
    qd_interrupt_begin(&interrupt);
    g_assert_cmpint(read_pages(self, program, NULL), ==, SQLITE_INTERRUPT);
    qd_interrupt_end(&interrupt);
    g_assert_cmpuint(n_looks, ==, 11);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) g_test_add("/read/scan-filter/" path, Fixture, NULL, set_up, func, tear_down)
    ADD("comparisons", test_comparisons);
    ADD("sure", test_sure);
    ADD("folded-columns", test_folded_columns);
    ADD("unsure", test_unsure);
    ADD("parameters", test_parameters);
    ADD("long-pattern", test_long_pattern);
    ADD("interrupt", test_interrupt);
    return g_test_run();
}
