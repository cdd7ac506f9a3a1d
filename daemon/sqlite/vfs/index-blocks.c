/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite lets an index grow by one byte in each 4 KiB. Where blocks are smaller the others are holes. The kernel fills them when
 * the page is first written to, and on a full disk it cannot. So each page is made writable as soon as it is mapped. That may wait
 * for the file system's journal, and other threads meanwhile for this process's memory. So it is done once: SQLite maps a block
 * once in a process, and gives the mapping to all connections. It ends in the last one's xShmUnmap.
 */
#include "daemon/sqlite/vfs/index-blocks.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE /* glibc before 2.35 */
#define MADV_POPULATE_WRITE 23
#endif

/* 270,000 pages of one log. More are asked about again. */
#define MAX_BLOCKS 64

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const sqlite3_io_methods *below_methods;  /* (nullable): of database files */
static sqlite3_io_methods index_methods;         /* the same, but for the mapping */
static const void volatile *checked[MAX_BLOCKS]; /* mapped now, with all their blocks */
static int n_checked;

static bool
was_checked(const void volatile *block)
{
    bool found = false;

    pthread_mutex_lock(&mutex);
    for (int i = 0; i < n_checked; i++)
        found = found || checked[i] == block;
    pthread_mutex_unlock(&mutex);
    return found;
}

static void
note_checked(const void volatile *block)
{
    pthread_mutex_lock(&mutex);
    if (n_checked < MAX_BLOCKS)
        checked[n_checked++] = block;
    pthread_mutex_unlock(&mutex);
}

/* Linux before 5.14 does not say. */
static bool
has_blocks(void volatile *block, int n_bytes)
{
    if (was_checked(block))
        return true;
    if (madvise((void *) block, (size_t) n_bytes, MADV_POPULATE_WRITE) < 0 && errno == EFAULT)
        return false;
    note_checked(block);
    return true;
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
    if (r != SQLITE_OK || *ret_block == NULL || has_blocks(*ret_block, n_bytes))
        return r;
    *ret_block = NULL;
    return SQLITE_FULL;
}

int
qd_index_blocks_unmap(const sqlite3_io_methods *methods, sqlite3_file *file, int deletes)
{
    pthread_mutex_lock(&mutex);
    n_checked = 0; /* before: what another connection maps from here on stays mapped until its own xShmUnmap */
    pthread_mutex_unlock(&mutex);
    return methods->xShmUnmap(file, deletes);
}

static int
index_shm_map(sqlite3_file *file, int i, int n_bytes, int extends, void volatile **ret_block)
{
    return qd_index_blocks_map(below_methods, file, i, n_bytes, extends, ret_block);
}

static int
index_shm_unmap(sqlite3_file *file, int deletes)
{
    return qd_index_blocks_unmap(below_methods, file, deletes);
}

void
qd_index_blocks_watch(sqlite3_file *file)
{
    pthread_mutex_lock(&mutex);
    if (below_methods == NULL && file->pMethods->iVersion >= 2) {
        index_methods = *file->pMethods;
        index_methods.xShmMap = index_shm_map;
        index_methods.xShmUnmap = index_shm_unmap;
        below_methods = file->pMethods;
    }
    if (file->pMethods == below_methods)
        file->pMethods = &index_methods;
    pthread_mutex_unlock(&mutex);
}
