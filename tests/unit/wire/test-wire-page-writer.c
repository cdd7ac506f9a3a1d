/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The row writer against golden pages, and at the end of its buffer: a row that does not fit leaves no trace.
 */
#include "client-lib/wire/wire-page-writer.h"

#include <float.h>
#include <glib.h>
#include <math.h>

#include "client-lib/wire/wire-page-reader.h"
#include "tests/unit/wire/golden.h"

static void
put(QwPageWriter *page, QwType type, const char *data, size_t n_bytes, const char *tag)
{
    QwValue value = { .type = type, .data = data, .n_bytes = (uint32_t) n_bytes };

    value.tag = tag;
    value.n_tag_bytes = tag != NULL ? (uint32_t) strlen(tag) : 0;
    g_assert_cmpint(qw_row_put_value(page, &value), ==, 0);
}

static void
put_plain_row(QwPageWriter *page)
{
    g_assert_cmpint(qw_row_begin(page), ==, 0);
    qw_row_put_null(page);
    g_assert_cmpint(qw_row_put_int64(page, 42), ==, 0);
    g_assert_cmpint(qw_row_put_double(page, 1.5), ==, 0);
    g_assert_cmpint(qw_row_put_string(page, QW_TYPE_TEXT, "Grüße", strlen("Grüße")), ==, 0);
    g_assert_cmpint(qw_row_put_blob(page, "\x00\xff\x10", 3), ==, 0);
    put(page, QW_TYPE_IRI, "http://example.org/a", 20, NULL);
    put(page, QW_TYPE_BNODE, "b0", 2, NULL);
    put(page, QW_TYPE_LITERAL_LANG, "chat", 4, "fr");
    put(page, QW_TYPE_LITERAL_TYPED, "2026-01-31", 10, "http://www.w3.org/2001/XMLSchema#date");
    g_assert_cmpint(qw_row_end(page), ==, 0);
}

static void
put_edge_row(QwPageWriter *page)
{
    g_assert_cmpint(qw_row_begin(page), ==, 0);
    g_assert_cmpint(qw_row_put_value(page, &(QwValue){ .type = QW_TYPE_NULL }), ==, 0);
    g_assert_cmpint(qw_row_put_value(page, &(QwValue){ .type = QW_TYPE_INTEGER, .integer = INT64_MIN }), ==, 0);
    g_assert_cmpint(qw_row_put_value(page, &(QwValue){ .type = QW_TYPE_FLOAT, .real = -0.0 }), ==, 0);
    put(page, QW_TYPE_TEXT, NULL, 0, NULL);
    put(page, QW_TYPE_BLOB, NULL, 0, NULL);
    put(page, QW_TYPE_IRI, "", 0, NULL);
    put(page, QW_TYPE_BNODE, "", 0, NULL);
    put(page, QW_TYPE_LITERAL_LANG, NULL, 0, "en");
    put(page, QW_TYPE_LITERAL_TYPED, "a\0b", 3, "urn:t");
    g_assert_cmpint(qw_row_end(page), ==, 0);
}

static void
test_all_types(void)
{
    uint64_t buffer[64];
    QwPageWriter page;

    qw_page_writer_init(&page, (uint8_t *) buffer, sizeof buffer, 9);
    put_plain_row(&page);
    put_edge_row(&page);
    golden_assert_equal("rows-all-types", (uint8_t *) buffer, qw_page_writer_finish(&page, QW_KIND_ROWS, 1));
}

static void
test_integers(void)
{
    static const struct {
        int64_t integer;
        double real;
    } rows[] = { { INT64_MAX, DBL_MAX }, { -1, 5e-324 }, { 0, INFINITY }, { (INT64_C(1) << 53) + 1, -INFINITY } };
    uint64_t buffer[64];
    QwPageWriter page;

    qw_page_writer_init(&page, (uint8_t *) buffer, sizeof buffer, 2);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_assert_cmpint(qw_row_begin(&page), ==, 0);
        g_assert_cmpint(qw_row_put_int64(&page, rows[i].integer), ==, 0);
        g_assert_cmpint(qw_row_put_double(&page, rows[i].real), ==, 0);
        g_assert_cmpint(qw_row_end(&page), ==, 0);
    }
    golden_assert_equal("rows-integers", (uint8_t *) buffer, qw_page_writer_finish(&page, QW_KIND_ROWS, 2));
}

static void
test_texts(void)
{
    uint64_t buffer[64];
    QwPageWriter page;

    qw_page_writer_init(&page, (uint8_t *) buffer, sizeof buffer, 1);
    g_assert_cmpint(qw_row_begin(&page), ==, 0);
    g_assert_cmpint(qw_row_put_string(&page, QW_TYPE_TEXT, "a\0b", 3), ==, 0);
    g_assert_cmpint(qw_row_end(&page), ==, 0);
    g_assert_cmpint(qw_row_begin(&page), ==, 0);
    qw_row_put_null(&page);
    g_assert_cmpint(qw_row_end(&page), ==, 0);
    g_assert_cmpint(qw_row_begin(&page), ==, 0);
    g_assert_cmpint(qw_row_put_string(&page, QW_TYPE_TEXT, "", 0), ==, 0);
    g_assert_cmpint(qw_row_end(&page), ==, 0);
    golden_assert_equal("rows-text", (uint8_t *) buffer, qw_page_writer_finish(&page, QW_KIND_ROWS, 3));
}

static void
test_alignment(void)
{
    uint64_t buffer[32];
    QwPageWriter page;

    memset(buffer, 0xee, sizeof buffer);
    qw_page_writer_init(&page, (uint8_t *) buffer, sizeof buffer, 6);
    g_assert_cmpint(qw_row_begin(&page), ==, 0);
    g_assert_cmpint(qw_row_put_string(&page, QW_TYPE_TEXT, "x", 1), ==, 0);
    g_assert_cmpint(qw_row_put_int64(&page, 1), ==, 0);
    g_assert_cmpint(qw_row_put_blob(&page, "yyy", 3), ==, 0);
    qw_row_put_null(&page);
    g_assert_cmpint(qw_row_put_double(&page, 2.0), ==, 0);
    g_assert_cmpint(qw_row_put_string(&page, QW_TYPE_TEXT, "zz", 2), ==, 0);
    g_assert_cmpint(qw_row_end(&page), ==, 0);
    golden_assert_equal("rows-alignment", (uint8_t *) buffer, qw_page_writer_finish(&page, QW_KIND_ROWS, 4));
}

static void
test_zero_columns(void)
{
    uint64_t buffer[8];
    QwPageWriter page;

    qw_page_writer_init(&page, (uint8_t *) buffer, sizeof buffer, 0);
    for (int i = 0; i < 3; i++) {
        g_assert_cmpint(qw_row_begin(&page), ==, 0);
        g_assert_cmpint(qw_row_end(&page), ==, 0);
    }
    golden_assert_equal("rows-zero-columns", (uint8_t *) buffer, qw_page_writer_finish(&page, QW_KIND_ROWS, 5));
}

static void
test_fetch(void)
{
    uint64_t buffer[32];
    QwPageWriter page;

    qw_page_writer_init(&page, (uint8_t *) buffer, sizeof buffer, 0);
    golden_assert_equal("fetch-none", (uint8_t *) buffer, qw_page_writer_finish(&page, QW_KIND_FETCH, 1));

    qw_page_writer_init(&page, (uint8_t *) buffer, sizeof buffer, 2);
    g_assert_cmpint(qw_row_begin(&page), ==, 0);
    g_assert_cmpint(qw_row_put_int64(&page, 1), ==, 0);
    g_assert_cmpint(qw_row_put_string(&page, QW_TYPE_TEXT, "one", 3), ==, 0);
    g_assert_cmpint(qw_row_end(&page), ==, 0);
    g_assert_cmpint(qw_row_begin(&page), ==, 0);
    g_assert_cmpint(qw_row_put_int64(&page, 2), ==, 0);
    qw_row_put_null(&page);
    g_assert_cmpint(qw_row_end(&page), ==, 0);
    golden_assert_equal("fetch-parameters", (uint8_t *) buffer, qw_page_writer_finish(&page, QW_KIND_FETCH, 9));
}

static int
put_row(QwPageWriter *page, QwType type)
{
    QwValue value = { .type = type };

    if (qw_row_begin(page) < 0)
        return -ENOBUFS;
    if (!qw_type_is_word(type)) {
        value.data = "abcdefghijk";
        value.n_bytes = 11;
        value.tag = "en";
        value.n_tag_bytes = 2;
    }
    if (qw_row_put_value(page, &value) < 0)
        return -ENOBUFS;
    return qw_row_end(page);
}

/* With each capacity from nothing to enough: never a byte outside, and what fitted before stays whole. */
static void
test_no_room(gconstpointer data)
{
    QwType type = (QwType) GPOINTER_TO_INT(data);
    bool fitted = false;

    for (size_t capacity = QW_HEADER_SIZE; capacity <= 160; capacity++) {
        g_autofree uint8_t *buffer = g_malloc(capacity + 8);
        QwPageWriter page;
        QwPageReader reader;
        uint32_t n_rows = 0;
        size_t size;

        memset(buffer, 0xee, capacity + 8);
        qw_page_writer_init(&page, buffer, capacity, 1);
        while (put_row(&page, type) == 0)
            n_rows++;
        size = qw_page_writer_finish(&page, QW_KIND_ROWS, 1);

        g_assert_cmpuint(page.n_rows, ==, n_rows);
        g_assert_cmpuint(size, <=, capacity);
        for (size_t i = capacity; i < capacity + 8; i++)
            g_assert_cmphex(buffer[i], ==, 0xee);
        g_assert_cmpint(qw_page_reader_init(&reader, buffer + QW_HEADER_SIZE, size - QW_HEADER_SIZE, n_rows, 1), ==, 0);
        fitted = fitted || n_rows > 1;
    }
    g_assert_true(fitted);
}

static void
test_unknown_type(void)
{
    uint64_t buffer[16];
    QwPageWriter page;

    qw_page_writer_init(&page, (uint8_t *) buffer, sizeof buffer, 1);
    g_assert_cmpint(qw_row_begin(&page), ==, 0);
    g_assert_cmpint(qw_row_put_value(&page, &(QwValue){ .type = (QwType) 9 }), ==, -EINVAL);
}

int
main(int argc, char **argv)
{
    static const char *const type_names[] = { "null", "integer", "float", "text", "blob", "iri", "bnode", "lang", "typed" };

    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/wire/page-writer/all-types", test_all_types);
    g_test_add_func("/wire/page-writer/integers", test_integers);
    g_test_add_func("/wire/page-writer/texts", test_texts);
    g_test_add_func("/wire/page-writer/alignment", test_alignment);
    g_test_add_func("/wire/page-writer/zero-columns", test_zero_columns);
    g_test_add_func("/wire/page-writer/fetch", test_fetch);
    g_test_add_func("/wire/page-writer/unknown-type", test_unknown_type);
    for (int type = QW_TYPE_NULL; type <= QW_TYPE_LAST; type++) {
        g_autofree char *path = g_strconcat("/wire/page-writer/no-room/", type_names[type], NULL);

        g_test_add_data_func(path, GINT_TO_POINTER(type), test_no_room);
    }
    return g_test_run();
}
