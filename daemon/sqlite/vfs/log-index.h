/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long the index of the log (-shm) says that the log and the database are.
 *
 * Place: room sqlite, below log-file.h. The format: https://www.sqlite.org/walformat.html#the_wal_index_file_format
 */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/* The log: a header, then frames, which are a header and a page each. */
#define QD_LOG_HEADER_BYTES 32
#define QD_LOG_FRAME_HEADER_BYTES 24
/* So many frames are in each block of the index. The first block begins with a header, and has 34 less. */
#define QD_LOG_INDEX_BLOCK_BYTES 32768
#define QD_LOG_INDEX_BLOCK_FRAMES 4096u
#define QD_LOG_INDEX_FIRST_BLOCK_FRAMES 4062u

typedef struct QdLogIndex {
    uint32_t n_frames;     /* of the log */
    uint32_t n_copied;     /* of these: they are in the database already */
    uint32_t n_pages;      /* of the database; 0: no commit since the log was recovered */
    uint32_t n_page_bytes; /* 0: no commit since then either */
} QdLogIndex;

/* @index: its first block, mapped. FALSE: a commit is being written just now, or the format is another one. Thread: any. */
bool qd_log_index_read(const void *index, QdLogIndex *ret_index);
/* Where the log ends at least, and the database: 0 as long as it may be shorter, since pages of it are in the log. */
sqlite3_int64 qd_log_index_get_log_bytes(const QdLogIndex *self);
sqlite3_int64 qd_log_index_get_database_bytes(const QdLogIndex *self);

/* Whether the index still says what @self says. */
bool qd_log_index_is_same(const void *index, const QdLogIndex *self);
