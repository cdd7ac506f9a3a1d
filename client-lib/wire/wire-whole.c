/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The record of a whole result, and the way through its file.
 */
#include "client-lib/wire/wire-whole.h"

#include <errno.h>

void
qw_whole_encode(const QwWhole *whole, uint8_t *ret_body)
{
    qw_store_u64(ret_body, whole->n_bytes);
    qw_store_u64(ret_body + 8, whole->n_rows);
}

int
qw_whole_decode(const QwHeader *header, const uint8_t *body, QwWhole *ret_whole)
{
    QwWhole whole;

    if (header->size != QW_HEADER_SIZE + QW_WHOLE_BODY_SIZE || header->count != 0)
        return -EBADMSG;

    whole.n_bytes = qw_load_u64(body);
    whole.n_rows = qw_load_u64(body + 8);
    if (whole.n_bytes < QW_HEADER_SIZE || whole.n_bytes % 8 != 0 || whole.n_bytes > INT64_MAX)
        return -EBADMSG;

    *ret_whole = whole;
    return 0;
}

int
qw_whole_take(const QwWhole *whole, const uint8_t *file, uint64_t *offset, size_t page_size, QwHeader *ret_header)
{
    uint64_t n_left = whole->n_bytes - *offset;
    QwHeader header;

    if (n_left < QW_HEADER_SIZE || qw_header_decode(file + *offset, page_size, QW_TO_CLIENT, &header) < 0)
        return -EBADMSG;
    if (header.kind != QW_KIND_ROWS || header.size > n_left)
        return -EBADMSG;

    *offset += header.size;
    *ret_header = header;
    return 0;
}
