/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A whole result in shared memory: one memory file for all clients, which the daemon has sealed and passes with a WHOLE record.
 *
 * Place: room wire. The file holds the ROWS records of the answer, one after the other. Their serials mean nothing.
 * Invariant: the file can neither be written nor change its size: what a reader has checked stays as it is.
 *
 *     WHOLE: count = 0 · body: u64 bytes of the file · u64 rows
 */
#pragma once

#include "client-lib/wire/wire-record.h"

#define QW_WHOLE_BODY_SIZE 16u

typedef struct QwWhole {
    uint64_t n_bytes; /* at least 16, a multiple of 8 */
    uint64_t n_rows;
} QwWhole;

/* @ret_body: (out caller-allocates): QW_WHOLE_BODY_SIZE bytes */
void qw_whole_encode(const QwWhole *whole, uint8_t *ret_body);

/**
 * qw_whole_decode:
 * @header: of a WHOLE record
 * @body: the bytes after it
 *
 * Returns: 0, or -EBADMSG
 */
int qw_whole_decode(const QwHeader *header, const uint8_t *body, QwWhole *ret_whole);

/**
 * qw_whole_take:
 * @file: the mapped file
 * @offset: (inout): of the next record, a multiple of 8; moved on
 * @page_size: the channel's
 *
 * Returns: 0 with the header of the next ROWS record, which lies whole in the file; or -EBADMSG
 */
int qw_whole_take(const QwWhole *whole, const uint8_t *file, uint64_t *offset, size_t page_size, QwHeader *ret_header);
