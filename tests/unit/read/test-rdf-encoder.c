/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of ids and computed terms as cells; the cache against a look-up for each cell.
 */
#include "daemon/read/rdf-encoder.h"

#include <string.h>

#include "client-lib/wire/wire-page-reader.h"
#include "daemon/rdf/term-id.h"

#define PAGE_BYTES 65536

typedef struct Store {
    char text[256];
    guint n_calls;
} Store;

/* Any id: its kind, and a text that holds its sequence; every 50th is long. */
static gboolean
get_term(gpointer data, gint64 id, QdTerm *ret_term, GError **error)
{
    Store *self = data;
    static char *large;
    guint64 sequence = qd_term_id_get_sequence(id);

    self->n_calls++;
    if (id <= 0 || sequence == 999999) {
        g_set_error_literal(error, g_quark_from_string("test"), 1, "no such term");
        return FALSE;
    }
    g_snprintf(self->text, sizeof self->text, "text-%" G_GUINT64_FORMAT, sequence);
    *ret_term = (QdTerm){ .kind = qd_term_id_get_kind(id), .lexical = self->text, .n_lexical = strlen(self->text) };
    if (sequence % 50 == 49) {
        if (large == NULL)
            large = g_strnfill(3000, 'x');
        ret_term->lexical = large;
        ret_term->n_lexical = 3000;
    }
    if (ret_term->kind == QD_TERM_LANG_STRING) {
        ret_term->qualifier = "en-GB";
        ret_term->n_qualifier = 5;
    }
    if (ret_term->kind == QD_TERM_TYPED) {
        ret_term->qualifier = "http://t/";
        ret_term->n_qualifier = 9;
    }
    return TRUE;
}

static sqlite3_stmt *
prepare(sqlite3 **ret_db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;

    g_assert_cmpint(sqlite3_open(":memory:", ret_db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_prepare_v2(*ret_db, sql, -1, &stmt, NULL), ==, SQLITE_OK);
    return stmt;
}

static void
finish(sqlite3 *db, sqlite3_stmt *stmt)
{
    (void) sqlite3_finalize(stmt);
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

static void
assert_value(const QwPageReader *reader, uint32_t column, QwType type, const char *text, const char *tag)
{
    QwValue value = { .type = QW_TYPE_NULL };

    qw_page_reader_get(reader, column, &value);
    g_assert_cmpint(value.type, ==, type);
    if (type == QW_TYPE_NULL)
        return;
    g_assert_cmpmem(value.data, value.n_bytes, text, strlen(text));
    if (type == QW_TYPE_LITERAL_LANG || type == QW_TYPE_LITERAL_TYPED)
        g_assert_cmpstr(value.tag, ==, tag);
}

static void
test_kinds(void)
{
    Store store = { .n_calls = 0 };
    QdResolver resolver = { .get_term = get_term, .data = &store };
    g_autoptr(QdRdfEncoder) encoder = qd_rdf_encoder_new(&resolver);
    _Alignas(8) static uint8_t page[PAGE_BYTES];
    sqlite3 *db;
    g_autofree char *sql = NULL;
    sqlite3_stmt *stmt;
    QwPageWriter writer;
    QwPageReader reader;
    gint64 integer = 0;

    g_assert_true(qd_term_id_from_integer(-42, &integer));
    sql = g_strdup_printf("SELECT %d, %d, %d, %d, %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                          ", NULL, x'0202000000646561', 'plain', 1.5, x'ff'",
                          4, 5, 6, 7, qd_term_id_from_bnode(3), integer);
    stmt = prepare(&db, sql);
    g_assert_cmpint(sqlite3_step(stmt), ==, SQLITE_ROW);
    qw_page_writer_init(&writer, page, sizeof page, 11);
    for (guint i = 0; i < 2; i++)
        g_assert_cmpint(qd_rdf_encoder_put_row(encoder, &writer, stmt, NULL), ==, 0);
    g_assert_cmpuint(store.n_calls, ==, 4); /* the second row came from the cache */
    g_assert_cmpuint(qd_rdf_encoder_get_row_size(encoder, stmt, 11), >=, (writer.used - QW_HEADER_SIZE) / 2 + QW_HEADER_SIZE);

    g_assert_cmpint(qw_page_reader_init(&reader, page + QW_HEADER_SIZE, writer.used - QW_HEADER_SIZE, 2, 11), ==, 0);
    while (qw_page_reader_next(&reader)) {
        QwValue value = { .type = QW_TYPE_NULL };

        assert_value(&reader, 0, QW_TYPE_IRI, "text-1", NULL);
        assert_value(&reader, 1, QW_TYPE_TEXT, "text-1", NULL);
        assert_value(&reader, 2, QW_TYPE_LITERAL_LANG, "text-1", "en-GB");
        assert_value(&reader, 3, QW_TYPE_LITERAL_TYPED, "text-1", "http://t/");
        assert_value(&reader, 4, QW_TYPE_BNODE, "b3", NULL);
        assert_value(&reader, 5, QW_TYPE_LITERAL_TYPED, "-42", QD_XSD_NAMESPACE "integer");
        assert_value(&reader, 6, QW_TYPE_NULL, NULL, NULL);
        assert_value(&reader, 7, QW_TYPE_LITERAL_LANG, "a", "de");
        assert_value(&reader, 8, QW_TYPE_TEXT, "plain", NULL);
        qw_page_reader_get(&reader, 9, &value);
        g_assert_cmpfloat(value.real, ==, 1.5);
        qw_page_reader_get(&reader, 10, &value);
        g_assert_cmpint(value.type, ==, QW_TYPE_BLOB);
    }
    finish(db, stmt);
}

/* More ids than the cache has room for, in small pages: the same cells as without a cache. */
static void
test_many(void)
{
    Store store = { .n_calls = 0 };
    Store plain = { .n_calls = 0 };
    QdResolver resolver = { .get_term = get_term, .data = &store };
    g_autoptr(QdRdfEncoder) encoder = qd_rdf_encoder_new(&resolver);
    _Alignas(8) uint8_t page[8192];
    sqlite3 *db;
    sqlite3_stmt *stmt = prepare(&db, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 300000) "
                                      "SELECT (i * 7919 % 100000 + 1) * 4 + i % 4 FROM n");
    QwPageWriter writer;

    while (sqlite3_step(stmt) == SQLITE_ROW) {
        QwPageReader reader;
        QwValue value = { .type = QW_TYPE_NULL };
        QdTerm term;

        qw_page_writer_init(&writer, page, sizeof page, 1);
        g_assert_cmpint(qd_rdf_encoder_put_row(encoder, &writer, stmt, NULL), ==, 0);
        g_assert_cmpint(qw_page_reader_init(&reader, page + QW_HEADER_SIZE, writer.used - QW_HEADER_SIZE, 1, 1), ==, 0);
        g_assert_true(qw_page_reader_next(&reader));
        qw_page_reader_get(&reader, 0, &value);
        g_assert_true(get_term(&plain, sqlite3_column_int64(stmt, 0), &term, NULL));
        g_assert_cmpmem(value.data, value.n_bytes, term.lexical, term.n_lexical);
    }
    finish(db, stmt);
}

static void
test_failures(void)
{
    Store store = { .n_calls = 0 };
    QdResolver resolver = { .get_term = get_term, .data = &store };
    g_autoptr(QdRdfEncoder) encoder = qd_rdf_encoder_new(&resolver);
    g_autoptr(GError) error = NULL;
    _Alignas(8) uint8_t page[2048];
    sqlite3 *db;
    sqlite3_stmt *stmt = prepare(&db, "SELECT 0 UNION ALL SELECT 3999996 UNION ALL SELECT 196");
    QwPageWriter writer;

    qw_page_writer_init(&writer, page, sizeof page, 1);
    for (guint i = 0; i < 2; i++) {
        g_assert_cmpint(sqlite3_step(stmt), ==, SQLITE_ROW);
        g_assert_cmpint(qd_rdf_encoder_put_row(encoder, &writer, stmt, &error), ==, -EIO);
        g_assert_nonnull(error);
        g_clear_error(&error);
    }
    g_assert_cmpint(sqlite3_step(stmt), ==, SQLITE_ROW);
    g_assert_cmpint(qd_rdf_encoder_put_row(encoder, &writer, stmt, &error), ==, -ENOBUFS);
    g_assert_no_error(error);
    g_assert_cmpuint(writer.n_rows, ==, 0);
    g_assert_cmpuint(writer.used, ==, QW_HEADER_SIZE);
    finish(db, stmt);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/read/rdf-encoder/kinds", test_kinds);
    g_test_add_func("/read/rdf-encoder/many", test_many);
    g_test_add_func("/read/rdf-encoder/failures", test_failures);
    return g_test_run();
}
