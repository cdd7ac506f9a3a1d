/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzz target: records as a receiver takes them in: headers, chains of CHUNKs, bodies, pages of rows.
 *
 * The first byte chooses direction and page size, the second the columns until a SCHEMA says otherwise; the rest is the
 * stream. Each body is copied to a buffer of its exact size, so that a sanitizer sees every byte that is read beyond it. What is
 * accepted is read to its last value and written again: the copy must read the same.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <glib.h>

#include "client-lib/wire/wire-message.h"
#include "client-lib/wire/wire-page-reader.h"
#include "client-lib/wire/wire-page-writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHAIN_BYTES_MAX (1024u * 1024u)

typedef struct Receiver {
    QwDirection direction;
    size_t page_size;
    uint32_t n_columns;
    QwChunks chunks;
    uint8_t *chain; /* (owned) */
} Receiver;

/* Values ---------------------------------------------------------------------------------------------------------------- */

/* Reads every byte that a value promises. */
static void
touch_value(const QwValue *value)
{
    uint8_t sum = 0;

    g_assert_cmpint(value->type, <=, QW_TYPE_LAST);
    if (qw_type_is_word(value->type))
        return;
    if (value->type == QW_TYPE_NULL)
        g_assert_cmpuint(value->n_bytes, ==, 0);
    for (uint32_t i = 0; i < value->n_bytes; i++)
        sum ^= (uint8_t) value->data[i];
    if (qw_type_has_nul(value->type))
        g_assert_cmpint(value->data[value->n_bytes], ==, 0);
    if (value->tag != NULL)
        g_assert_cmpuint(strlen(value->tag), ==, value->n_tag_bytes);
    g_assert_cmpuint(sum, <=, 255);
}

static void
assert_same(const QwValue *a, const QwValue *b)
{
    g_assert_cmpint(a->type, ==, b->type);
    if (qw_type_is_word(a->type)) {
        g_assert_cmpint(memcmp(&a->integer, &b->integer, sizeof a->integer), ==, 0);
        return;
    }
    g_assert_cmpmem(a->data, a->n_bytes, b->data, b->n_bytes);
    if (a->tag != NULL)
        g_assert_cmpmem(a->tag, a->n_tag_bytes, b->tag, b->n_tag_bytes);
}

/* The current row of @page, written and read again. A row takes no more bytes than it took on the way in. */
static void
check_row(const QwPageReader *page, size_t page_bytes)
{
    size_t capacity = QW_HEADER_SIZE + page_bytes;
    g_autofree uint8_t *data = g_malloc0(capacity);
    QwPageWriter writer;
    QwPageReader again;

    qw_page_writer_init(&writer, data, capacity, page->n_columns);
    g_assert_cmpint(qw_row_begin(&writer), ==, 0);
    for (uint32_t i = 0; i < page->n_columns; i++) {
        QwValue value;

        qw_page_reader_get(page, i, &value);
        touch_value(&value);
        g_assert_cmpint(qw_row_put_value(&writer, &value), ==, 0);
    }
    g_assert_cmpint(qw_row_end(&writer), ==, 0);
    g_assert_cmpint(qw_page_reader_init(&again, data + QW_HEADER_SIZE, writer.used - QW_HEADER_SIZE, 1, page->n_columns), ==, 0);
    g_assert_true(qw_page_reader_next(&again));
    for (uint32_t i = 0; i < page->n_columns; i++) {
        QwValue a;
        QwValue b;

        qw_page_reader_get(page, i, &a);
        qw_page_reader_get(&again, i, &b);
        assert_same(&a, &b);
    }
}

static void
read_rows(const uint8_t *body, size_t n_bytes, uint32_t n_rows, uint32_t n_columns)
{
    QwPageReader page;
    uint32_t n = 0;

    if (qw_page_reader_init(&page, body, n_bytes, n_rows, n_columns) < 0)
        return;
    while (qw_page_reader_next(&page)) {
        check_row(&page, n_bytes - page.row);
        n++;
    }
    g_assert_cmpuint(n, ==, n_rows);
}

/* Bodies ---------------------------------------------------------------------------------------------------------------- */

static gboolean
read_string(QwBodyReader *reader)
{
    const char *text = NULL;
    uint32_t n_bytes = 0;

    if (qw_body_get_string(reader, &text, &n_bytes) < 0)
        return FALSE;
    g_assert_cmpint(text[n_bytes], ==, 0);
    g_assert_cmpuint(strlen(text), <=, n_bytes);
    return TRUE;
}

static void
read_schema(Receiver *self, const uint8_t *body, size_t n_bytes, uint32_t n_columns)
{
    QwBodyReader reader = { .data = body, .n_bytes = n_bytes };
    QwSchemaHead head;
    uint32_t index;

    if (qw_schema_get_head(&reader, &head) < 0)
        return;
    for (uint32_t i = 0; i < n_columns; i++)
        if (!read_string(&reader) || !read_string(&reader))
            return;
    for (uint32_t i = 0; i < head.n_parameters; i++)
        if (qw_body_get_u32(&reader, &index) < 0 || !read_string(&reader))
            return;
    if (qw_body_finish(&reader) == 0)
        self->n_columns = n_columns;
}

static void
read_prepare(const uint8_t *body, size_t n_bytes, uint32_t n_options)
{
    QwBodyReader reader = { .data = body, .n_bytes = n_bytes };
    const char *language = NULL;
    const char *text = NULL;
    uint32_t n_text_bytes = 0;

    if (qw_prepare_get_head(&reader, &language, &text, &n_text_bytes) < 0)
        return;
    g_assert_cmpint(text[n_text_bytes], ==, 0);
    g_assert_nonnull(memchr(language, 0, n_bytes));
    for (uint32_t i = 0; i < n_options; i++)
        if (!read_string(&reader) || !read_string(&reader))
            return;
    (void) qw_body_finish(&reader);
}

static void
read_body(Receiver *self, uint8_t kind, uint32_t count, const uint8_t *body, size_t n_bytes)
{
    QwEnd end;
    QwErrorBody error;

    if (kind == QW_KIND_SCHEMA)
        read_schema(self, body, n_bytes, count);
    else if (kind == QW_KIND_ROWS || kind == QW_KIND_FETCH)
        read_rows(body, n_bytes, count, self->n_columns);
    else if (kind == QW_KIND_PREPARE)
        read_prepare(body, n_bytes, count);
    else if (kind == QW_KIND_END)
        (void) qw_end_decode(body, n_bytes, &end);
    else if (kind == QW_KIND_ERROR && qw_error_decode(body, n_bytes, &error) == 0)
        g_assert_cmpuint(strlen(error.message), <=, error.n_message_bytes);
}

/* Records --------------------------------------------------------------------------------------------------------------- */

/* Returns: false when the peer is to be dropped */
static gboolean
take_chunk(Receiver *self, const QwHeader *header, const uint8_t *body)
{
    const uint8_t *piece;
    size_t n_bytes;

    if (qw_chunks_accept(&self->chunks, header, body, self->direction, CHAIN_BYTES_MAX, &piece, &n_bytes) < 0)
        return FALSE;
    g_assert_true(piece >= body && piece + n_bytes <= body + header->size - QW_HEADER_SIZE);
    g_assert_cmpuint(self->chunks.received_bytes, <=, self->chunks.total_bytes);
    if (self->chain == NULL)
        self->chain = g_malloc(self->chunks.total_bytes);
    memcpy(self->chain + self->chunks.received_bytes - n_bytes, piece, n_bytes);
    if (!self->chunks.active) {
        read_body(self, self->chunks.inner_kind, self->chunks.inner_count, self->chain, self->chunks.total_bytes);
        g_clear_pointer(&self->chain, g_free);
    }
    return TRUE;
}

static gboolean
take_record(Receiver *self, const QwHeader *header, const uint8_t *body)
{
    size_t n_bytes = header->size - QW_HEADER_SIZE;
    g_autofree uint8_t *exact = g_memdup2(body, n_bytes);

    if (header->kind == QW_KIND_CHUNK)
        return take_chunk(self, header, exact);
    if (self->chunks.active)
        return FALSE;

    read_body(self, header->kind, header->count, exact, n_bytes);
    return TRUE;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Receiver receiver = { 0 };
    QwHeader header;

    if (size < 2)
        return 0;

    receiver.direction = (data[0] & 1) != 0 ? QW_TO_DAEMON : QW_TO_CLIENT;
    receiver.page_size = (size_t) QW_PAGE_SIZE_MIN << (data[0] >> 1 & 7);
    receiver.n_columns = data[1];
    data += 2;
    size -= 2;
    while (size >= QW_HEADER_SIZE && qw_header_decode(data, receiver.page_size, receiver.direction, &header) == 0) {
        if (header.size > size || !take_record(&receiver, &header, data + QW_HEADER_SIZE))
            break;
        data += header.size;
        size -= header.size;
    }
    g_free(receiver.chain);
    return 0;
}
