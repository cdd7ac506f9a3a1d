/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Validation of a page of rows. Every offset, type and terminator is checked here, once.
 */
#include "client-lib/wire/wire-page-reader.h"

#include <errno.h>

static int
check_literal(const uint8_t *value, size_t n_bytes)
{
    uint32_t n_lexical;

    if (n_bytes < 5)
        return -EBADMSG;

    n_lexical = qw_load_u32(value);
    if (n_lexical > n_bytes - 5 || value[4 + n_lexical] != 0)
        return -EBADMSG;
    if (memchr(value + 4 + n_lexical + 1, 0, n_bytes - 5 - n_lexical) != NULL)
        return -EBADMSG;

    return 0;
}

/* Returns the offset after the value, or -EBADMSG. */
static inline int64_t
check_value(const uint8_t *data, size_t data_size, size_t cursor, uint32_t slot)
{
    QwType type = (QwType) (slot >> 28);
    size_t end = slot & 0x0fffffffu;

    if (type == QW_TYPE_TEXT) {
        if (end < cursor || end >= data_size || data[end] != 0)
            return -EBADMSG;
        return (int64_t) end + 1;
    }
    if (type > QW_TYPE_LAST || end < cursor || end > data_size)
        return -EBADMSG;
    if (type == QW_TYPE_NULL)
        return end == cursor ? (int64_t) end : -EBADMSG;
    if (qw_type_is_word(type))
        return end == qw_align8(cursor) + 8 ? (int64_t) end : -EBADMSG;
    if (type == QW_TYPE_BLOB)
        return (int64_t) end;

    if (end >= data_size || data[end] != 0)
        return -EBADMSG;
    if (type >= QW_TYPE_LITERAL_LANG && check_literal(data + cursor, end - cursor) < 0)
        return -EBADMSG;
    return (int64_t) end + 1;
}

static int
check_row(const uint8_t *row, size_t row_size, uint32_t n_columns)
{
    size_t head = qw_align8(4 + 4 * (size_t) n_columns);
    const uint8_t *data = row + head;
    int64_t cursor = 0;

    for (uint32_t i = 0; i < n_columns; i++) {
        cursor = check_value(data, row_size - head, (size_t) cursor, qw_load_u32(row + 4 + 4 * (size_t) i));
        if (cursor < 0)
            return -EBADMSG;
    }

    return (size_t) cursor == row_size - head ? 0 : -EBADMSG;
}

int
qw_page_reader_init(QwPageReader *self, const uint8_t *data, size_t n_bytes, uint32_t n_rows, uint32_t n_columns)
{
    size_t offset = 0;
    size_t head;

    if (n_columns > 65536)
        return -EBADMSG;
    head = qw_align8(4 + 4 * (size_t) n_columns);

    for (uint32_t i = 0; i < n_rows; i++) {
        size_t size;

        if (n_bytes - offset < head)
            return -EBADMSG;
        size = qw_load_u32(data + offset);
        if (size < head || qw_align8(size) > n_bytes - offset)
            return -EBADMSG;
        if (check_row(data + offset, size, n_columns) < 0)
            return -EBADMSG;
        offset += qw_align8(size);
    }
    if (offset != n_bytes)
        return -EBADMSG;

    *self = (QwPageReader){ .data = data, .n_bytes = n_bytes, .n_columns = n_columns, .n_rows_left = n_rows };
    return 0;
}
