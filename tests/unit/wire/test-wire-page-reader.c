/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The page reader: golden pages value by value, and every way in which a page may lie.
 */
#include "client-lib/wire/wire-page-reader.h"

#include <errno.h>
#include <float.h>
#include <glib.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client-lib/wire/wire-page-writer.h"
#include "tests/unit/wire/golden.h"

typedef struct Page {
    GByteArray *record;
    QwHeader header;
    QwPageReader reader;
} Page;

static void
load(Page *self, const char *name, uint32_t n_columns)
{
    self->record = golden_load(name);
    g_assert_cmpint(qw_header_decode(self->record->data, QW_PAGE_SIZE_DEFAULT, QW_TO_CLIENT, &self->header), ==, 0);
    g_assert_cmpuint(self->header.size, ==, self->record->len);
    g_assert_cmpint(qw_page_reader_init(&self->reader, self->record->data + QW_HEADER_SIZE, self->header.size - QW_HEADER_SIZE,
                                        self->header.count, n_columns),
                    ==, 0);
}

static void
assert_bytes(const QwPageReader *reader, uint32_t column, QwType type, const char *data, size_t n_bytes, const char *tag)
{
    QwValue value = { 0 };
    size_t n_text_bytes = SIZE_MAX;
    const char *text = qw_page_reader_get_text(reader, column, &n_text_bytes);

    qw_page_reader_get(reader, column, &value);
    g_assert_cmpint(value.type, ==, type);
    g_assert_true(text == (type == QW_TYPE_TEXT ? value.data : NULL));
    g_assert_cmpuint(n_text_bytes, ==, type == QW_TYPE_TEXT ? n_bytes : SIZE_MAX);
    g_assert_cmpmem(value.data, value.n_bytes, data, n_bytes);
    if (qw_type_has_nul(type))
        g_assert_cmpint(value.data[value.n_bytes], ==, 0);
    g_assert_cmpstr(value.tag, ==, tag);
    if (tag != NULL)
        g_assert_cmpuint(value.n_tag_bytes, ==, strlen(tag));
}

static void
assert_int64(const QwPageReader *reader, uint32_t column, int64_t expected)
{
    QwValue value = { 0 };

    qw_page_reader_get(reader, column, &value);
    g_assert_cmpint(value.type, ==, QW_TYPE_INTEGER);
    g_assert_cmpint(value.integer, ==, expected);
}

static void
assert_double(const QwPageReader *reader, uint32_t column, double expected)
{
    QwValue value = { 0 };

    qw_page_reader_get(reader, column, &value);
    g_assert_cmpint(value.type, ==, QW_TYPE_FLOAT);
    g_assert_cmpmem(&value.real, sizeof value.real, &expected, sizeof expected);
}

static void
test_all_types(void)
{
    Page page;
    QwValue value;

    load(&page, "rows-all-types", 9);
    g_assert_true(qw_page_reader_next(&page.reader));
    qw_page_reader_get(&page.reader, 0, &value);
    g_assert_cmpint(value.type, ==, QW_TYPE_NULL);
    assert_int64(&page.reader, 1, 42);
    assert_double(&page.reader, 2, 1.5);
    assert_bytes(&page.reader, 3, QW_TYPE_TEXT, "Grüße", strlen("Grüße"), NULL);
    assert_bytes(&page.reader, 4, QW_TYPE_BLOB, "\x00\xff\x10", 3, NULL);
    assert_bytes(&page.reader, 5, QW_TYPE_IRI, "http://example.org/a", 20, NULL);
    assert_bytes(&page.reader, 6, QW_TYPE_BNODE, "b0", 2, NULL);
    assert_bytes(&page.reader, 7, QW_TYPE_LITERAL_LANG, "chat", 4, "fr");
    assert_bytes(&page.reader, 8, QW_TYPE_LITERAL_TYPED, "2026-01-31", 10, "http://www.w3.org/2001/XMLSchema#date");

    g_assert_true(qw_page_reader_next(&page.reader));
    qw_page_reader_get(&page.reader, 0, &value);
    g_assert_cmpint(value.type, ==, QW_TYPE_NULL);
    assert_int64(&page.reader, 1, INT64_MIN);
    assert_double(&page.reader, 2, -0.0);
    assert_bytes(&page.reader, 3, QW_TYPE_TEXT, "", 0, NULL);
    assert_bytes(&page.reader, 4, QW_TYPE_BLOB, "", 0, NULL);
    assert_bytes(&page.reader, 5, QW_TYPE_IRI, "", 0, NULL);
    assert_bytes(&page.reader, 6, QW_TYPE_BNODE, "", 0, NULL);
    assert_bytes(&page.reader, 7, QW_TYPE_LITERAL_LANG, "", 0, "en");
    assert_bytes(&page.reader, 8, QW_TYPE_LITERAL_TYPED, "a\0b", 3, "urn:t");
    g_assert_false(qw_page_reader_next(&page.reader));
    g_assert_false(qw_page_reader_next(&page.reader));
    g_byte_array_unref(page.record);
}

/* A TEXT after values of each kind, and as the first one: what is before it decides where it begins. */
static void
test_texts(void)
{
    guint8 *data = g_malloc(QW_PAGE_SIZE_DEFAULT);
    QwPageWriter writer;
    QwPageReader reader;
    size_t n_bytes;

    qw_page_writer_init(&writer, data, QW_PAGE_SIZE_DEFAULT, 8);
    for (guint i = 0; i < 2; i++) {
        g_assert_cmpint(qw_row_begin(&writer), ==, 0);
        g_assert_cmpint(qw_row_put_string(&writer, QW_TYPE_TEXT, "first", 5), ==, 0);
        g_assert_cmpint(qw_row_put_string(&writer, QW_TYPE_TEXT, "", 0), ==, 0);
        g_assert_cmpint(qw_row_put_string(&writer, QW_TYPE_TEXT, "third", 5), ==, 0);
        qw_row_put_null(&writer);
        g_assert_cmpint(qw_row_put_string(&writer, QW_TYPE_TEXT, "a\0b", 3), ==, 0);
        g_assert_cmpint(qw_row_put_int64(&writer, -1), ==, 0);
        g_assert_cmpint(qw_row_put_string(&writer, QW_TYPE_TEXT, "seventh", 7), ==, 0);
        g_assert_cmpint(qw_row_put_blob(&writer, "\xff", 1), ==, 0);
        qw_row_end(&writer);
    }
    n_bytes = qw_page_writer_finish(&writer, QW_KIND_ROWS, 1);
    g_assert_cmpint(qw_page_reader_init(&reader, data + QW_HEADER_SIZE, n_bytes - QW_HEADER_SIZE, 2, 8), ==, 0);
    while (qw_page_reader_next(&reader)) {
        assert_bytes(&reader, 0, QW_TYPE_TEXT, "first", 5, NULL);
        assert_bytes(&reader, 1, QW_TYPE_TEXT, "", 0, NULL);
        assert_bytes(&reader, 2, QW_TYPE_TEXT, "third", 5, NULL);
        assert_bytes(&reader, 4, QW_TYPE_TEXT, "a\0b", 3, NULL);
        assert_bytes(&reader, 6, QW_TYPE_TEXT, "seventh", 7, NULL);
        assert_bytes(&reader, 7, QW_TYPE_BLOB, "\xff", 1, NULL);
    }
    g_free(data);
}

static void
test_words(void)
{
    static const struct {
        int64_t integer;
        double real;
    } rows[] = { { INT64_MAX, DBL_MAX }, { -1, 5e-324 }, { 0, INFINITY }, { (INT64_C(1) << 53) + 1, -INFINITY } };
    Page page;

    load(&page, "rows-integers", 2);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_assert_true(qw_page_reader_next(&page.reader));
        assert_int64(&page.reader, 0, rows[i].integer);
        assert_double(&page.reader, 1, rows[i].real);
    }
    g_assert_false(qw_page_reader_next(&page.reader));
    g_byte_array_unref(page.record);
}

/* What is fetched ahead may not be there: after the page nothing can be read. */
static void
test_ahead(void)
{
    const size_t n_map = 2 * (size_t) sysconf(_SC_PAGESIZE);
    uint8_t *map = mmap(NULL, n_map, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    g_autoptr(GByteArray) record = golden_load("rows-integers");
    const size_t n_body = record->len - QW_HEADER_SIZE;
    uint8_t *body = map + n_map / 2 - n_body;
    QwPageReader reader;
    uint32_t n_rows = 0;

    g_assert_true(map != MAP_FAILED);
    memcpy(body, record->data + QW_HEADER_SIZE, n_body);
    g_assert_cmpint(mprotect(map + n_map / 2, n_map / 2, PROT_NONE), ==, 0);
    g_assert_cmpint(qw_page_reader_init(&reader, body, n_body, 4, 2), ==, 0);
    reader.n_bytes_ahead = (uint32_t) n_body;
    while (qw_page_reader_next(&reader))
        n_rows++;
    g_assert_cmpuint(n_rows, ==, 4);
    g_assert_cmpint(munmap(map, n_map), ==, 0);
}

static void
test_alignment(void)
{
    Page page;

    load(&page, "rows-alignment", 6);
    g_assert_true(qw_page_reader_next(&page.reader));
    assert_bytes(&page.reader, 0, QW_TYPE_TEXT, "x", 1, NULL);
    assert_int64(&page.reader, 1, 1);
    assert_bytes(&page.reader, 2, QW_TYPE_BLOB, "yyy", 3, NULL);
    assert_double(&page.reader, 4, 2.0);
    assert_bytes(&page.reader, 5, QW_TYPE_TEXT, "zz", 2, NULL);
    g_byte_array_unref(page.record);
}

static void
test_zero_columns(void)
{
    Page page;
    int n_rows = 0;

    load(&page, "rows-zero-columns", 0);
    while (qw_page_reader_next(&page.reader))
        n_rows++;
    g_assert_cmpint(n_rows, ==, 3);
    g_byte_array_unref(page.record);
}

static void
test_no_rows(void)
{
    static const uint64_t nothing = 0;
    QwPageReader reader;

    g_assert_cmpint(qw_page_reader_init(&reader, (const uint8_t *) &nothing, 0, 0, 5), ==, 0);
    g_assert_false(qw_page_reader_next(&reader));
    g_assert_cmpint(qw_page_reader_init(&reader, (const uint8_t *) &nothing, 8, 0, 0), ==, -EBADMSG);
}

/* One word changed in the first row of rows-all-types: u32 size at 0, slots at 4…36, data from 40. */
typedef struct BadCase {
    const char *name;
    unsigned offset;
    uint32_t value;
} BadCase;

#define SLOT(i) (4 + 4 * (i))
#define DATA(i) (40 + (i))

static const BadCase bad_words[] = {
    { "size-zero", 0, 0 },
    { "size-below-head", 0, 39 },
    { "size-above-page", 0, 0x1000 },
    { "size-huge", 0, 0xffffffff },
    { "size-too-small", 0, 155 },
    { "size-too-large", 0, 157 },
    { "null-with-bytes", SLOT(0), 0x00000008 },
    { "type-9", SLOT(0), 0x90000000 },
    { "type-15", SLOT(0), 0xf0000000 },
    { "integer-short", SLOT(1), 0x10000007 },
    { "integer-behind", SLOT(1), 0x10000010 },
    { "float-backwards", SLOT(2), 0x20000000 },
    { "text-backwards", SLOT(3), 0x3000000f },
    { "text-without-nul", SLOT(3), 0x30000016 },
    { "text-outside", SLOT(3), 0x3fffffff },
    { "text-at-end", SLOT(3), 0x30000074 },
    { "blob-backwards", SLOT(4), 0x40000017 },
    { "blob-outside", SLOT(4), 0x40000075 },
    { "blob-takes-all", SLOT(4), 0x40000074 },
    { "iri-without-nul", SLOT(5), 0x5000002e },
    { "iri-outside", SLOT(5), 0x50000074 },
    { "bnode-without-nul", SLOT(6), 0x60000031 },
    { "literal-length-huge", DATA(51), 0xffffffff },
    { "literal-length-long", DATA(51), 7 },
    { "literal-length-short", DATA(51), 3 },
    { "literal-without-nul", SLOT(7), 0x7000003d },
    { "literal-too-short", SLOT(7), 0x70000036 },
    { "typed-nul-in-datatype", DATA(90), 0 },
    { "last-slot-short", SLOT(8), 0x80000072 },
};

static void
test_bad_word(gconstpointer data)
{
    const BadCase *c = data;
    g_autoptr(GByteArray) record = golden_load("rows-all-types");
    uint8_t *body = record->data + QW_HEADER_SIZE;
    QwPageReader reader = { .n_columns = 77 };

    g_assert_cmphex(qw_load_u32(body + c->offset), !=, c->value);
    qw_store_u32(body + c->offset, c->value);
    g_assert_cmpint(qw_page_reader_init(&reader, body, record->len - QW_HEADER_SIZE, 2, 9), ==, -EBADMSG);
    g_assert_cmpuint(reader.n_columns, ==, 77);
}

static void
test_bad_counts(void)
{
    g_autoptr(GByteArray) record = golden_load("rows-all-types");
    const uint8_t *body = record->data + QW_HEADER_SIZE;
    size_t n_bytes = record->len - QW_HEADER_SIZE;
    QwPageReader reader;

    g_assert_cmpint(qw_page_reader_init(&reader, body, n_bytes, 1, 9), ==, -EBADMSG);
    g_assert_cmpint(qw_page_reader_init(&reader, body, n_bytes, 3, 9), ==, -EBADMSG);
    g_assert_cmpint(qw_page_reader_init(&reader, body, n_bytes, UINT32_MAX, 9), ==, -EBADMSG);
    g_assert_cmpint(qw_page_reader_init(&reader, body, n_bytes, 2, 8), ==, -EBADMSG);
    g_assert_cmpint(qw_page_reader_init(&reader, body, n_bytes, 2, 10), ==, -EBADMSG);
    g_assert_cmpint(qw_page_reader_init(&reader, body, n_bytes, 2, UINT32_MAX), ==, -EBADMSG);
}

static void
test_truncated(void)
{
    g_autoptr(GByteArray) record = golden_load("rows-all-types");
    size_t n_bytes = record->len - QW_HEADER_SIZE;

    for (size_t n = 0; n < n_bytes; n++) {
        g_autofree uint8_t *copy = g_malloc(n > 0 ? n : 1); /* ASan sees a read beyond it */
        QwPageReader reader;

        memcpy(copy, record->data + QW_HEADER_SIZE, n);
        g_assert_cmpint(qw_page_reader_init(&reader, copy, n, 2, 9), ==, -EBADMSG);
    }
}

static uint64_t
touch(const QwPageReader *reader, uint32_t n_columns)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < n_columns; i++) {
        QwValue value;

        qw_page_reader_get(reader, i, &value);
        if (value.type == QW_TYPE_NULL || qw_type_is_word(value.type))
            continue;
        for (uint32_t k = 0; k < value.n_bytes; k++)
            sum += (uint8_t) value.data[k];
        sum += value.tag != NULL ? strlen(value.tag) : 0;
    }
    return sum;
}

/* Any flip of any bit is refused or leaves a page that can be read within its bounds (held by ASan and valgrind). */
static void
test_bit_flips(void)
{
    g_autoptr(GByteArray) record = golden_load("rows-all-types");
    size_t n_bytes = record->len - QW_HEADER_SIZE;
    g_autofree uint8_t *copy = g_malloc(n_bytes);
    int n_refused = 0;
    int n_read = 0;

    for (size_t bit = 0; bit < n_bytes * 8; bit++) {
        QwPageReader reader;

        memcpy(copy, record->data + QW_HEADER_SIZE, n_bytes);
        copy[bit / 8] ^= (uint8_t) (1u << (bit % 8));
        if (qw_page_reader_init(&reader, copy, n_bytes, 2, 9) < 0) {
            n_refused++;
            continue;
        }
        n_read++;
        while (qw_page_reader_next(&reader))
            (void) touch(&reader, 9);
    }
    g_assert_cmpint(n_refused, >, 500);
    g_assert_cmpint(n_read, >, 500);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/wire/page-reader/all-types", test_all_types);
    g_test_add_func("/wire/page-reader/texts", test_texts);
    g_test_add_func("/wire/page-reader/words", test_words);
    g_test_add_func("/wire/page-reader/ahead", test_ahead);
    g_test_add_func("/wire/page-reader/alignment", test_alignment);
    g_test_add_func("/wire/page-reader/zero-columns", test_zero_columns);
    g_test_add_func("/wire/page-reader/no-rows", test_no_rows);
    for (size_t i = 0; i < G_N_ELEMENTS(bad_words); i++) {
        g_autofree char *path = g_strconcat("/wire/page-reader/bad/", bad_words[i].name, NULL);

        g_test_add_data_func(path, &bad_words[i], test_bad_word);
    }
    g_test_add_func("/wire/page-reader/bad/counts", test_bad_counts);
    g_test_add_func("/wire/page-reader/bad/truncated", test_truncated);
    g_test_add_func("/wire/page-reader/bad/bit-flips", test_bit_flips);
    return g_test_run();
}
