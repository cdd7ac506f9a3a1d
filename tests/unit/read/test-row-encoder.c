/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of SQLite in a page: every type, exact sizes, a full page keeps what it held.
 */
#include "daemon/read/row-encoder.h"

#include <glib.h>

#include "client-lib/wire/wire-page-reader.h"

typedef struct Fixture {
    sqlite3 *db;
    sqlite3_stmt *stmt;
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    g_assert_cmpint(sqlite3_open(":memory:", &self->db), ==, SQLITE_OK);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    (void) sqlite3_finalize(self->stmt);
    g_assert_cmpint(sqlite3_close(self->db), ==, SQLITE_OK);
}

/* Stands on the first row. */
static void
run(Fixture *self, const char *text)
{
    (void) sqlite3_finalize(g_steal_pointer(&self->stmt));
    g_assert_cmpint(sqlite3_prepare_v2(self->db, text, -1, &self->stmt, NULL), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_step(self->stmt), ==, SQLITE_ROW);
}

static void
open_page(QwPageReader *ret_reader, const QwPageWriter *writer)
{
    g_assert_cmpint(qw_page_reader_init(ret_reader, writer->data + QW_HEADER_SIZE, writer->used - QW_HEADER_SIZE, writer->n_rows,
                                        writer->n_columns),
                    ==, 0);
}

static void
assert_bytes(const QwPageReader *reader, uint32_t column, QwType type, const char *data, uint32_t n_bytes)
{
    QwValue value = { 0 };

    qw_page_reader_get(reader, column, &value);
    g_assert_cmpint(value.type, ==, type);
    g_assert_cmpmem(value.data, value.n_bytes, data, n_bytes);
}

static void
test_types(Fixture *self, gconstpointer data)
{
    uint64_t buffer[64];
    QwPageWriter writer;
    QwPageReader reader;
    QwValue value;

    run(self, "SELECT -9223372036854775808, 9e999, NULL, '', X'', 'a' || char(0) || 'b', X'00ff', CAST(X'61ff' AS TEXT)");
    qw_page_writer_init(&writer, (uint8_t *) buffer, sizeof buffer, 8);
    g_assert_cmpint(qd_row_encode(&writer, self->stmt), ==, 0);
    open_page(&reader, &writer);
    g_assert_true(qw_page_reader_next(&reader));
    qw_page_reader_get(&reader, 0, &value);
    g_assert_cmpint(value.type, ==, QW_TYPE_INTEGER);
    g_assert_cmpint(value.integer, ==, INT64_MIN);
    qw_page_reader_get(&reader, 1, &value);
    g_assert_cmpint(value.type, ==, QW_TYPE_FLOAT);
    g_assert_true(value.real > 1e308);
    assert_bytes(&reader, 2, QW_TYPE_NULL, NULL, 0);
    assert_bytes(&reader, 3, QW_TYPE_TEXT, "", 0);
    assert_bytes(&reader, 4, QW_TYPE_BLOB, "", 0);
    assert_bytes(&reader, 5, QW_TYPE_TEXT, "a\0b", 3);
    assert_bytes(&reader, 6, QW_TYPE_BLOB, "\0\xff", 2);
    assert_bytes(&reader, 7, QW_TYPE_TEXT, "a\xff", 2);
}

/* In a page of exactly the reported size the row fits, in 8 bytes less it does not. */
static void
test_size_is_exact(Fixture *self, gconstpointer data)
{
    static const char *const rows[] = {
        "SELECT 1",
        "SELECT NULL",
        "SELECT ''",
        "SELECT 'a', 1",
        "SELECT 'abcdefg', 'x', 2.5, NULL, X'010203'",
        "SELECT X'01', 1, X'0203', 2",
        "SELECT NULL, NULL, NULL",
        "SELECT hex(zeroblob(500)), zeroblob(77)",
    };

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree uint8_t *exact = NULL;
        uint32_t n_columns;
        QwPageWriter writer;
        QwPageReader reader;
        size_t size;

        run(self, rows[i]);
        n_columns = (uint32_t) sqlite3_column_count(self->stmt);
        size = qd_row_get_size(self->stmt, n_columns);
        exact = g_malloc(size);
        qw_page_writer_init(&writer, exact, size, n_columns);
        g_assert_cmpint(qd_row_encode(&writer, self->stmt), ==, 0);
        open_page(&reader, &writer);
        g_assert_cmpuint(size - writer.used, <=, 8);

        qw_page_writer_init(&writer, exact, writer.used - 8, n_columns);
        g_assert_cmpint(qd_row_encode(&writer, self->stmt), ==, -ENOBUFS);
        g_assert_cmpuint(writer.n_rows, ==, 0);
    }
}

static void
test_full_page_keeps_its_rows(Fixture *self, gconstpointer data)
{
    uint64_t buffer[32];
    QwPageWriter writer;
    QwPageReader reader;
    uint32_t n = 0;
    size_t used;

    run(self, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x, 'text ' || x FROM c");
    qw_page_writer_init(&writer, (uint8_t *) buffer, sizeof buffer, 2);
    while (qd_row_encode(&writer, self->stmt) == 0) {
        n++;
        g_assert_cmpint(sqlite3_step(self->stmt), ==, SQLITE_ROW);
    }
    g_assert_cmpuint(n, >, 3);
    used = writer.used;
    g_assert_cmpint(qd_row_encode(&writer, self->stmt), ==, -ENOBUFS);
    g_assert_cmpuint(writer.used, ==, used);
    g_assert_cmpuint(writer.n_rows, ==, n);
    open_page(&reader, &writer);
    for (uint32_t i = 1; i <= n; i++) {
        g_autofree char *text = g_strdup_printf("text %u", i);

        g_assert_true(qw_page_reader_next(&reader));
        assert_bytes(&reader, 1, QW_TYPE_TEXT, text, (uint32_t) strlen(text));
    }
    g_assert_false(qw_page_reader_next(&reader));
}

/* A database in UTF-16 gives UTF-8 all the same, and the size is that of the UTF-8. */
static void
test_utf16(Fixture *self, gconstpointer data)
{
    uint64_t buffer[32];
    QwPageWriter writer;
    QwPageReader reader;

    g_assert_cmpint(
        sqlite3_exec(self->db, "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t(a); INSERT INTO t VALUES('日本é')", NULL, NULL, NULL),
        ==, SQLITE_OK);
    run(self, "SELECT a FROM t");
    g_assert_cmpuint(qd_row_get_size(self->stmt, 1), ==, QW_HEADER_SIZE + 8 + 16);
    qw_page_writer_init(&writer, (uint8_t *) buffer, sizeof buffer, 1);
    g_assert_cmpint(qd_row_encode(&writer, self->stmt), ==, 0);
    open_page(&reader, &writer);
    g_assert_true(qw_page_reader_next(&reader));
    assert_bytes(&reader, 0, QW_TYPE_TEXT, "日本é", 8);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) g_test_add("/read/row-encoder/" path, Fixture, NULL, set_up, func, tear_down)
    ADD("types", test_types);
    ADD("size-is-exact", test_size_is_exact);
    ADD("full-page-keeps-its-rows", test_full_page_keeps_its_rows);
    ADD("utf16", test_utf16);
    return g_test_run();
}
