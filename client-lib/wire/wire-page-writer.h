/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes rows into a buffer that becomes a ROWS record (results) or a FETCH record (parameters).
 *
 * Place: room wire. The hot path of the daemon: the put functions are inline and touch each byte once.
 * Invariant: the buffer always holds `n_rows` complete rows; a row that did not fit leaves no trace.
 *
 *     A row, 8-aligned:  u32 size · u32 slot[n_columns] · padding to 8 · data      size: all of it but the padding after it
 *     A slot:            bits 31..28 type, bits 27..0 end of the value within the data
 *
 * Data of column i starts where column i-1 ended (after its NUL), for INTEGER and FLOAT at the next multiple of 8.
 */
#pragma once

#include <errno.h>
#include <string.h>

#include "client-lib/wire/wire-record.h"
#include "client-lib/wire/wire-value.h"

typedef struct QwPageWriter {
    uint8_t *data; /* 8-aligned, owned by the caller */
    size_t capacity;
    size_t used; /* header and finished rows, padded */
    size_t row_data_start;
    size_t cursor;
    uint32_t n_columns;
    uint32_t column; /* the next one to put */
    uint32_t n_rows;
} QwPageWriter;

/**
 * qw_page_writer_init:
 * @self: (out caller-allocates): the writer
 * @data: an 8-aligned buffer that outlives @self
 * @capacity: its size in bytes, at least QW_HEADER_SIZE
 * @n_columns: columns of each row
 */
static inline void
qw_page_writer_init(QwPageWriter *self, uint8_t *data, size_t capacity, uint32_t n_columns)
{
    *self = (QwPageWriter){ .data = data, .capacity = capacity, .used = QW_HEADER_SIZE, .n_columns = n_columns };
}

/**
 * qw_row_begin:
 *
 * Starts a row after the last finished one. What an unfinished row left is overwritten.
 *
 * Returns: 0, or -ENOBUFS when the buffer is full
 */
static inline int
qw_row_begin(QwPageWriter *self)
{
    size_t head = qw_align8(4 + 4 * (size_t) self->n_columns);

    if (self->capacity - self->used < head)
        return -ENOBUFS;

    self->row_data_start = self->used + head;
    self->cursor = self->row_data_start;
    self->column = 0;
    if (self->n_columns % 2 == 0)
        qw_store_u32(self->data + self->row_data_start - 4, 0);
    return 0;
}

static inline void
qw_row_set_slot(QwPageWriter *self, QwType type, size_t end)
{
    qw_store_u32(self->data + self->used + 4 + 4 * (size_t) self->column,
                 ((uint32_t) type << 28) | (uint32_t) (end - self->row_data_start));
    self->column++;
}

static inline void
qw_row_put_null(QwPageWriter *self)
{
    qw_row_set_slot(self, QW_TYPE_NULL, self->cursor);
}

static inline int
qw_row_put_word(QwPageWriter *self, QwType type, uint64_t word)
{
    size_t start = qw_align8(self->cursor);

    if (start + 8 > self->capacity)
        return -ENOBUFS;

    memset(self->data + self->cursor, 0, start - self->cursor);
    qw_store_u64(self->data + start, word);
    self->cursor = start + 8;
    qw_row_set_slot(self, type, self->cursor);
    return 0;
}

static inline int
qw_row_put_int64(QwPageWriter *self, int64_t value)
{
    return qw_row_put_word(self, QW_TYPE_INTEGER, (uint64_t) value);
}

static inline int
qw_row_put_double(QwPageWriter *self, double value)
{
    uint64_t word;

    memcpy(&word, &value, sizeof word);
    return qw_row_put_word(self, QW_TYPE_FLOAT, word);
}

/* memcpy() without the call, which for a text of some letters is most of its cost. */
static inline void
qw_copy_short(uint8_t *to, const uint8_t *from, size_t n_bytes)
{
    uint64_t words[4];

    if (n_bytes > 32 || n_bytes < 8) {
        memcpy(to, from, n_bytes);
    } else if (n_bytes >= 16) { /* two halves, which overlap */
        memcpy(words, from, 16);
        memcpy(words + 2, from + n_bytes - 16, 16);
        memcpy(to, words, 16);
        memcpy(to + n_bytes - 16, words + 2, 16);
    } else {
        memcpy(words, from, 8);
        memcpy(words + 1, from + n_bytes - 8, 8);
        memcpy(to, words, 8);
        memcpy(to + n_bytes - 8, words + 1, 8);
    }
}

/* TEXT, IRI or BNODE: the bytes and a NUL. */
static inline int
qw_row_put_string(QwPageWriter *self, QwType type, const void *data, size_t n_bytes)
{
    if (n_bytes >= self->capacity - self->cursor)
        return -ENOBUFS;

    qw_copy_short(self->data + self->cursor, data, n_bytes);
    self->data[self->cursor + n_bytes] = 0;
    qw_row_set_slot(self, type, self->cursor + n_bytes);
    self->cursor += n_bytes + 1;
    return 0;
}

static inline int
qw_row_put_blob(QwPageWriter *self, const void *data, size_t n_bytes)
{
    if (n_bytes > self->capacity - self->cursor)
        return -ENOBUFS;

    if (n_bytes > 0)
        memcpy(self->data + self->cursor, data, n_bytes);
    self->cursor += n_bytes;
    qw_row_set_slot(self, QW_TYPE_BLOB, self->cursor);
    return 0;
}

/**
 * qw_row_put_value:
 *
 * Puts any value; the only way for the two kinds of typed RDF literals.
 *
 * Returns: 0, or -ENOBUFS when it does not fit: the row is then void
 */
int qw_row_put_value(QwPageWriter *self, const QwValue *value);

/**
 * qw_row_end:
 *
 * Finishes the row. All columns must have been put.
 *
 * Returns: 0, or -ENOBUFS when its padding does not fit
 */
static inline int
qw_row_end(QwPageWriter *self)
{
    size_t end = qw_align8(self->cursor);

    if (end > self->capacity)
        return -ENOBUFS;

    qw_store_u32(self->data + self->used, (uint32_t) (self->cursor - self->used));
    memset(self->data + self->cursor, 0, end - self->cursor);
    self->used = end;
    self->n_rows++;
    return 0;
}

/**
 * qw_page_put_row:
 * @row: a finished row of another page, with its padding
 *
 * Returns: 0, or -ENOBUFS
 */
static inline int
qw_page_put_row(QwPageWriter *self, const uint8_t *row, size_t n_bytes)
{
    if (n_bytes > self->capacity - self->used)
        return -ENOBUFS;

    memcpy(self->data + self->used, row, n_bytes);
    self->used += n_bytes;
    self->n_rows++;
    return 0;
}

/**
 * qw_page_writer_finish:
 * @kind: QW_KIND_ROWS or QW_KIND_FETCH
 * @serial: the request's serial
 *
 * Writes the header of the record before the rows. A record above the page size has to be sent as CHUNKs of its body.
 *
 * Returns: the record's size in bytes
 */
size_t qw_page_writer_finish(QwPageWriter *self, QwKind kind, uint32_t serial);
