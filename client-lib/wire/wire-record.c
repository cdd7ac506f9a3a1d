/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Headers of records, and the chains of CHUNK records that carry what is larger than a page.
 */
#include "client-lib/wire/wire-record.h"

#include <errno.h>

static bool
kind_is_known(uint8_t kind, QwDirection direction)
{
    switch (kind) {
    case QW_KIND_SCHEMA:
    case QW_KIND_ROWS:
    case QW_KIND_END:
    case QW_KIND_ERROR:
    case QW_KIND_RING:
    case QW_KIND_PAGE:
    case QW_KIND_WHOLE:
        return direction == QW_TO_CLIENT;
    case QW_KIND_PREPARE:
    case QW_KIND_FETCH:
    case QW_KIND_CANCEL:
    case QW_KIND_BEGIN:
    case QW_KIND_COMMIT:
    case QW_KIND_ROLLBACK:
    case QW_KIND_BATCH:
        return direction == QW_TO_DAEMON;
    case QW_KIND_CHUNK:
        return true;
    default: /* a byte from the peer, not our enum */
        return false;
    }
}

void
qw_header_encode(const QwHeader *header, uint8_t *ret)
{
    qw_store_u32(ret, header->size);
    ret[4] = header->kind;
    ret[5] = header->flags;
    ret[6] = 0;
    ret[7] = 0;
    qw_store_u32(ret + 8, header->count);
    qw_store_u32(ret + 12, header->serial);
}

const char *
qw_header_find_fault(const uint8_t *data, size_t page_size, QwDirection direction)
{
    uint32_t size = qw_load_u32(data);
    uint8_t allowed_flags = data[4] == QW_KIND_CHUNK ? QW_CHUNK_FIRST | QW_CHUNK_LAST : 0;

    if (size < QW_HEADER_SIZE)
        return "its size is smaller than its header of 16 bytes";
    if (size > page_size)
        return "its size is larger than a page, send it in pieces (CHUNK)";
    if (size % 8 != 0)
        return "its size is no multiple of 8 bytes";
    if (!kind_is_known(data[4], direction))
        return "its kind is not known in this direction";
    if ((data[5] & ~allowed_flags) != 0 || data[6] != 0 || data[7] != 0)
        return "it has flags that its kind does not have, or reserved bytes that are not 0";
    return NULL;
}

int
qw_header_decode(const uint8_t *data, size_t page_size, QwDirection direction, QwHeader *ret_header)
{
    if (qw_header_find_fault(data, page_size, direction) != NULL)
        return -EBADMSG;

    *ret_header = (QwHeader){
        .size = qw_load_u32(data),
        .kind = data[4],
        .flags = data[5],
        .count = qw_load_u32(data + 8),
        .serial = qw_load_u32(data + 12),
    };
    return 0;
}

static int
chunks_begin(QwChunks *chunks, const QwHeader *header, const uint8_t *body, size_t body_size, QwDirection direction)
{
    if (chunks->active || body_size < QW_CHUNK_PREFIX_SIZE)
        return -EBADMSG;
    if (body[0] == QW_KIND_CHUNK || body[0] == QW_KIND_RING || body[0] == QW_KIND_PAGE || body[0] == QW_KIND_WHOLE ||
        !kind_is_known(body[0], direction))
        return -EBADMSG;
    if (body[1] != 0 || body[2] != 0 || body[3] != 0)
        return -EBADMSG;

    *chunks = (QwChunks){
        .active = true,
        .inner_kind = body[0],
        .inner_count = qw_load_u32(body + 4),
        .serial = header->serial,
        .total_bytes = qw_load_u64(body + 8),
    };
    return 0;
}

int
qw_chunks_accept(QwChunks *chunks, const QwHeader *header, const uint8_t *body, QwDirection direction, uint64_t limit_bytes,
                 const uint8_t **ret_data, size_t *ret_n_bytes)
{
    size_t body_size = header->size - QW_HEADER_SIZE;
    size_t n_bytes = header->count;
    int r;

    if (header->flags & QW_CHUNK_FIRST) {
        r = chunks_begin(chunks, header, body, body_size, direction);
        if (r < 0)
            return r;

        body += QW_CHUNK_PREFIX_SIZE;
        body_size -= QW_CHUNK_PREFIX_SIZE;
    }

    if (!chunks->active || header->serial != chunks->serial)
        return -EBADMSG;
    if (n_bytes == 0 || n_bytes > body_size || body_size - n_bytes >= 8)
        return -EBADMSG;
    if (n_bytes > chunks->total_bytes - chunks->received_bytes)
        return -EBADMSG;
    if (chunks->total_bytes > limit_bytes)
        return -EMSGSIZE;

    chunks->received_bytes += n_bytes;
    if (((header->flags & QW_CHUNK_LAST) != 0) != (chunks->received_bytes == chunks->total_bytes))
        return -EBADMSG;

    chunks->active = chunks->received_bytes < chunks->total_bytes;
    *ret_data = body;
    *ret_n_bytes = n_bytes;
    return 0;
}

size_t
qw_chunk_encode(uint8_t *ret, size_t page_size, const QwHeader *inner, const uint8_t *data, size_t n_bytes, size_t *offset)
{
    bool first = *offset == 0;
    size_t prefix = QW_HEADER_SIZE + (first ? QW_CHUNK_PREFIX_SIZE : 0);
    size_t piece = n_bytes - *offset;
    size_t size;

    if (piece > page_size - prefix)
        piece = page_size - prefix;
    size = qw_align8(prefix + piece);

    qw_header_encode(
        &(QwHeader){ .size = (uint32_t) size,
                     .kind = QW_KIND_CHUNK,
                     .flags = (uint8_t) ((first ? QW_CHUNK_FIRST : 0) | (*offset + piece == n_bytes ? QW_CHUNK_LAST : 0)),
                     .count = (uint32_t) piece,
                     .serial = inner->serial },
        ret);
    if (first) {
        memset(ret + QW_HEADER_SIZE, 0, 4);
        ret[QW_HEADER_SIZE] = inner->kind;
        qw_store_u32(ret + QW_HEADER_SIZE + 4, inner->count);
        qw_store_u64(ret + QW_HEADER_SIZE + 8, n_bytes);
    }
    memcpy(ret + prefix, data + *offset, piece);
    memset(ret + prefix + piece, 0, size - prefix - piece);

    *offset += piece;
    return size;
}
