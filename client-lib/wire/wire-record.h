/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records: the unit of everything that travels over a descriptor, in both directions.
 *
 * Place: room wire. No I/O and no allocation: callers own every buffer.
 * Invariant: what qw_header_decode() accepted is safe to use as lengths. The decoders of wire-message.h and wire-page-reader.h
 * check a body before a byte of it is believed.
 *
 *     u32 size · u8 kind · u8 flags · u16 zero · u32 count · u32 serial        little-endian
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define QW_PROTOCOL_VERSION 1u
#define QW_HEADER_SIZE 16u
#define QW_PAGE_SIZE_DEFAULT (64u * 1024u)
#define QW_PAGE_SIZE_MIN (4u * 1024u)
#define QW_PAGE_SIZE_MAX (1024u * 1024u)
#define QW_ROWS_SIZE_MAX ((256u * 1024u * 1024u) - 1024u)
#define QW_REQUEST_SLACK_BYTES (64u * 1024u * 1024u)
#define QW_PIPELINE_MAX_REQUESTS 16u
#define QW_PIPELINE_MAX_BYTES (1024u * 1024u)
/* Of the FETCH that the option fetch of Prepare stands for; the client goes on from there. */
#define QW_PREPARE_FETCH_SERIAL 1u
/* The fixed first part of the first CHUNK's body. */
#define QW_CHUNK_PREFIX_SIZE 16u

typedef enum QwKind {
    /* daemon → client */
    QW_KIND_SCHEMA = 'S',
    QW_KIND_ROWS = 'R',
    QW_KIND_END = 'E',
    QW_KIND_ERROR = 'X',
    QW_KIND_RING = 'G', /* wire-ring.h */
    QW_KIND_PAGE = 'A',
    QW_KIND_WHOLE = 'W', /* wire-whole.h */
    /* both directions */
    QW_KIND_CHUNK = 'K',
    /* client → daemon */
    QW_KIND_PREPARE = 'P',
    QW_KIND_FETCH = 'F',
    QW_KIND_CANCEL = 'C',
    QW_KIND_BEGIN = 'B',
    QW_KIND_COMMIT = 'M',
    QW_KIND_ROLLBACK = 'L',
    QW_KIND_BATCH = 'T',
} QwKind;

typedef enum QwDirection {
    QW_TO_CLIENT,
    QW_TO_DAEMON,
} QwDirection;

/* The only flags there are; every other bit, and these on other kinds, is -EBADMSG. */
#define QW_CHUNK_LAST 0x01u
#define QW_CHUNK_FIRST 0x02u

typedef struct QwHeader {
    uint32_t size; /* header, body and padding, in bytes */
    uint8_t kind;
    uint8_t flags;
    uint32_t count;
    uint32_t serial;
} QwHeader;

/* What a chain of CHUNK records adds up to. */
typedef struct QwChunks {
    bool active;
    uint8_t inner_kind;
    uint32_t inner_count;
    uint32_t serial;
    uint64_t total_bytes;    /* of the inner record's body */
    uint64_t received_bytes; /* so far */
} QwChunks;

static inline size_t
qw_align8(size_t n)
{
    return (n + 7u) & ~(size_t) 7u;
}

/* A power of two from QW_PAGE_SIZE_MIN to QW_PAGE_SIZE_MAX. */
static inline bool
qw_page_size_is_valid(uint32_t n_bytes)
{
    return n_bytes >= QW_PAGE_SIZE_MIN && n_bytes <= QW_PAGE_SIZE_MAX && (n_bytes & (n_bytes - 1)) == 0;
}

static inline void
qw_store_u32(uint8_t *p, uint32_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap32(v);
#endif
    memcpy(p, &v, sizeof v);
}

static inline uint32_t
qw_load_u32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap32(v);
#endif
    return v;
}

static inline void
qw_store_u64(uint8_t *p, uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    memcpy(p, &v, sizeof v);
}

static inline uint64_t
qw_load_u64(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

/**
 * qw_header_encode:
 * @header: what to write; @header->size is a multiple of 8
 * @ret: (out caller-allocates): QW_HEADER_SIZE bytes
 */
void qw_header_encode(const QwHeader *header, uint8_t *ret);

/**
 * qw_header_find_fault:
 * @data: at least QW_HEADER_SIZE bytes
 * @page_size: the channel's page size in bytes, the largest record allowed
 * @direction: the side that sent it, which decides the kinds that may occur
 *
 * Returns: (nullable): why @data is no header, for the end of an error's text; NULL if it is one
 */
const char *qw_header_find_fault(const uint8_t *data, size_t page_size, QwDirection direction);

/**
 * qw_header_decode:
 * @data: at least QW_HEADER_SIZE bytes
 * @page_size: the channel's page size in bytes, the largest record allowed
 * @direction: the side that sent it, which decides the kinds that may occur
 * @ret_header: (out caller-allocates): the header; untouched on failure
 *
 * Returns: 0, or -EBADMSG for an unknown kind or flag, a non-zero reserved field or a lying size
 */
int qw_header_decode(const uint8_t *data, size_t page_size, QwDirection direction, QwHeader *ret_header);

/**
 * qw_chunks_accept:
 * @chunks: the state of the chain, zeroed before the first record
 * @header: a decoded header of kind CHUNK
 * @body: the @header->size - QW_HEADER_SIZE bytes after it
 * @direction: the side that sent it
 * @limit_bytes: the largest total that the receiver takes
 * @ret_data: (out) (transfer none): the piece's bytes, a view into @body
 * @ret_n_bytes: (out): their number
 *
 * Checks one piece against the chain. The total is known, and checked, after the first piece: allocate then.
 * The chain is complete when @chunks->active is false after a successful call.
 *
 * Returns: 0; -EBADMSG for pieces that do not fit together; -EMSGSIZE when the total is above
 * @limit_bytes (then @chunks holds the total)
 */
int qw_chunks_accept(QwChunks *chunks, const QwHeader *header, const uint8_t *body, QwDirection direction, uint64_t limit_bytes,
                     const uint8_t **ret_data, size_t *ret_n_bytes);

/**
 * qw_chunk_encode:
 * @ret: (out caller-allocates): room for a whole record of @page_size bytes
 * @page_size: the channel's page size in bytes
 * @inner: kind, count and serial of the record that is cut into pieces
 * @data: the inner record's body
 * @n_bytes: its size
 * @offset: (inout): how much of @data is already sent; advanced by this piece
 *
 * Writes the next piece of a record that is larger than a page.
 *
 * Returns: the size in bytes of the CHUNK record written
 */
size_t qw_chunk_encode(uint8_t *ret, size_t page_size, const QwHeader *inner, const uint8_t *data, size_t n_bytes, size_t *offset);
