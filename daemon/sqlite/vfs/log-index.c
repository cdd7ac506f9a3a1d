/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The header stands there twice. A commit writes the second copy, then the first.
 *
 * A connection that restarts a log says so in the index before it cuts the file. So a file that seems too short is compared with
 * two readings of the index, before and after. If they are equal, another program has cut it.
 */
#include "daemon/sqlite/vfs/log-index.h"

#include <string.h>

#define HEADER_WORDS 12
#define INDEX_VERSION 3007000u
#define AT_VERSION 0
#define AT_SIZES 3 /* bytes: is it filled, of which order are checksums; 16 bits: bytes of a page */
#define AT_N_FRAMES 4
#define AT_N_PAGES 5
#define AT_N_COPIED (2 * HEADER_WORDS)

bool
qd_log_index_read(const void *index, QdLogIndex *ret_index)
{
    const uint32_t *words = index;
    uint32_t n_copied = __atomic_load_n(&words[AT_N_COPIED], __ATOMIC_ACQUIRE);
    uint32_t header[HEADER_WORDS];
    bool equal = true;
    uint16_t size;

    for (int i = 0; i < HEADER_WORDS; i++)
        header[i] = __atomic_load_n(&words[i], __ATOMIC_ACQUIRE);
    for (int i = 0; i < HEADER_WORDS; i++)
        equal = equal && header[i] == __atomic_load_n(&words[HEADER_WORDS + i], __ATOMIC_ACQUIRE);
    if (!equal || header[AT_VERSION] != INDEX_VERSION || *(const uint8_t *) &header[AT_SIZES] != 1)
        return false;

    memcpy(&size, (const uint8_t *) &header[AT_SIZES] + 2, sizeof size);
    *ret_index = (QdLogIndex){
        .n_frames = header[AT_N_FRAMES],
        .n_copied = n_copied,
        .n_pages = header[AT_N_PAGES],
        .n_page_bytes = (size & 0xfe00u) | ((size & 1u) << 16), /* 64 KiB do not fit into 16 bits */
    };
    return true;
}

sqlite3_int64
qd_log_index_get_log_bytes(const QdLogIndex *self)
{
    return self->n_frames == 0
               ? 0
               : QD_LOG_HEADER_BYTES + self->n_frames * (QD_LOG_FRAME_HEADER_BYTES + (sqlite3_int64) self->n_page_bytes);
}

sqlite3_int64
qd_log_index_get_database_bytes(const QdLogIndex *self)
{
    return self->n_copied < self->n_frames ? 0 : self->n_pages * (sqlite3_int64) self->n_page_bytes;
}

bool
qd_log_index_is_same(const void *index, const QdLogIndex *self)
{
    QdLogIndex now;

    return qd_log_index_read(index, &now) && memcmp(&now, self, sizeof now) == 0;
}
