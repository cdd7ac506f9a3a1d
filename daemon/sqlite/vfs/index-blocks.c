/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite lets an index grow by one byte in each 4 KiB. Where blocks are smaller the others are holes. The kernel fills them when
 * the page is first written to, and on a full disk it cannot. So each page is made writable as soon as it is mapped, once for each
 * connection and 4,000 pages of the log. A connection that only reads writes to the first page alone, its marks. The others stay
 * as they are: to make one writable may wait for the file system's journal, and other threads for this process's memory.
 */
#include "daemon/sqlite/vfs/index-blocks.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE /* glibc before 2.35 */
#define MADV_POPULATE_WRITE 23
#endif

#define READER_BYTES 4096

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const sqlite3_io_methods *below_methods; /* (nullable): of database files */
static sqlite3_io_methods index_methods;        /* the same, but for the mapping */

/* Linux before 5.14 does not say. */
static bool
has_blocks(void *block, int n_bytes)
{
    return madvise(block, (size_t) n_bytes, MADV_POPULATE_WRITE) == 0 || errno != EFAULT;
}

int
qd_index_blocks_map(const sqlite3_io_methods *methods, sqlite3_file *file, int i, int n_bytes, int extends,
                    void volatile **ret_block)
{
    int r;

    errno = 0;
    r = methods->xShmMap(file, i, n_bytes, extends, ret_block);
    if (r == SQLITE_IOERR_SHMSIZE && (errno == ENOSPC || errno == EDQUOT))
        return SQLITE_FULL;
    if (r != SQLITE_OK || *ret_block == NULL)
        return r;
    if (!extends)
        n_bytes = i == 0 ? READER_BYTES : 0;
    if (n_bytes == 0 || has_blocks((void *) *ret_block, n_bytes))
        return r;
    *ret_block = NULL;
    return SQLITE_FULL;
}

static int
index_shm_map(sqlite3_file *file, int i, int n_bytes, int extends, void volatile **ret_block)
{
    return qd_index_blocks_map(below_methods, file, i, n_bytes, extends, ret_block);
}

void
qd_index_blocks_watch(sqlite3_file *file)
{
    pthread_mutex_lock(&mutex);
    if (below_methods == NULL && file->pMethods->iVersion >= 2) {
        index_methods = *file->pMethods;
        index_methods.xShmMap = index_shm_map;
        below_methods = file->pMethods;
    }
    if (file->pMethods == below_methods)
        file->pMethods = &index_methods;
    pthread_mutex_unlock(&mutex);
}
