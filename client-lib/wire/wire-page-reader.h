/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the rows of a ROWS or FETCH record's body.
 *
 * Place: room wire. Invariant: a page is validated as a whole before the first view into it is handed out. After that no access
 * can leave it, regardless of what the peer sent.
 */
#pragma once

#include <string.h>

#include "client-lib/wire/wire-record.h"
#include "client-lib/wire/wire-value.h"

typedef struct QwPageReader {
    const uint8_t *data; /* 8-aligned body, owned by the caller */
    size_t n_bytes;
    size_t row;  /* offset of the current row */
    size_t next; /* offset of the next row */
    uint32_t n_columns;
    uint32_t n_rows_left;
    uint32_t n_bytes_ahead; /* 0, or how far from each row memory lies that is read soon: it is fetched into the cache */
} QwPageReader;

/**
 * qw_page_reader_init:
 * @self: (out caller-allocates): the reader, before the first row
 * @data: the body of a record (without its header); outlives @self and all views
 * @n_bytes: its size
 * @n_rows: rows that the record's header announced
 * @n_columns: columns of each row
 *
 * Validates the whole page.
 *
 * Returns: 0, or -EBADMSG
 */
int qw_page_reader_init(QwPageReader *self, const uint8_t *data, size_t n_bytes, uint32_t n_rows, uint32_t n_columns);

/* Into the second level of caches. No access: what is not mapped does not matter. */
static inline void
qw_prefetch(const uint8_t *data, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i += 64)
        __builtin_prefetch(data + i, 0, 2);
}

/**
 * qw_page_reader_next:
 *
 * Returns: true when there is a next row, which is then the current one
 */
static inline bool
qw_page_reader_next(QwPageReader *self)
{
    if (self->n_rows_left == 0)
        return false;

    self->n_rows_left--;
    self->row = self->next;
    self->next = self->row + qw_align8(qw_load_u32(self->data + self->row));
    if (self->n_bytes_ahead > 0)
        qw_prefetch(self->data + self->row + self->n_bytes_ahead, self->next - self->row);
    return true;
}

/**
 * qw_page_reader_get:
 * @column: index from 0, below n_columns
 * @ret: (out caller-allocates): a view that lives as long as the page
 *
 * The value of the current row.
 */
static inline void
qw_page_reader_get(const QwPageReader *self, uint32_t column, QwValue *ret)
{
    const uint8_t *slots = self->data + self->row + 4;
    const uint8_t *data = self->data + self->row + qw_align8(4 + 4 * (size_t) self->n_columns);
    uint32_t slot = qw_load_u32(slots + 4 * (size_t) column);
    uint32_t before = column > 0 ? qw_load_u32(slots + 4 * (size_t) column - 4) : 0;
    uint32_t start = (before & 0x0fffffffu) + (qw_type_has_nul((QwType) (before >> 28)) ? 1 : 0);
    uint32_t end = slot & 0x0fffffffu;
    uint64_t word;

    ret->type = (QwType) (slot >> 28);
    if (qw_type_is_word(ret->type)) {
        word = qw_load_u64(data + end - 8);
        memcpy(&ret->integer, &word, sizeof word);
        return;
    }

    ret->tag = NULL;
    ret->n_tag_bytes = 0;
    if (ret->type >= QW_TYPE_LITERAL_LANG) {
        ret->n_bytes = qw_load_u32(data + start);
        ret->data = (const char *) data + start + 4;
        ret->tag = ret->data + ret->n_bytes + 1;
        ret->n_tag_bytes = end - start - 4 - ret->n_bytes - 1;
        return;
    }
    ret->data = (const char *) data + start;
    ret->n_bytes = end - start;
}

/**
 * qw_page_reader_get_text:
 * @column: index from 0, below n_columns
 * @ret_n_bytes: (out): bytes without the NUL
 *
 * The value of the current row, if it is a TEXT: this alone, in few instructions, since most values of most results are.
 *
 * Returns: (nullable): a view that lives as long as the page; NULL for a value of another type, @ret_n_bytes is untouched then
 */
static inline const char *
qw_page_reader_get_text(const QwPageReader *self, uint32_t column, size_t *ret_n_bytes)
{
    const uint8_t *row = self->data + self->row;
    const uint8_t *data = row + qw_align8(4 + 4 * (size_t) self->n_columns);
    uint32_t slot = qw_load_u32(row + 4 + 4 * (size_t) column);
    uint32_t before = qw_load_u32(row + 4 * (size_t) column); /* of the first column: the row's size */
    uint32_t start = (before & 0x0fffffffu) + (qw_type_has_nul((QwType) (before >> 28)) ? 1 : 0);

    if (slot >> 28 != QW_TYPE_TEXT)
        return NULL;
    start = column > 0 ? start : 0;
    *ret_n_bytes = (slot & 0x0fffffffu) - start;
    return (const char *) data + start;
}
