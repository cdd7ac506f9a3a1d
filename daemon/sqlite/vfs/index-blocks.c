/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite lets an index grow by one byte in each 4 KiB. Where blocks are smaller the others are holes. The kernel fills them when
 * the page is first written to, and on a full disk it cannot. So each page is made writable as soon as it is mapped. That may wait
 * for the file system's journal, and other threads meanwhile for this process's memory. So it is done once: SQLite maps a block
 * once in a process, and gives the mapping to all connections. It ends in the last one's xShmUnmap.
 *
 * A file system that copies on write takes a new block whenever a page that it has written to the disk is changed. So there the
 * pages are made writable before each change. SQLite has locked the index for it, or writes frames that are listed then. Or it has
 * synced the database, and notes how far its checkpoint is. A reader that cannot note its snapshot shares an older note.
 */
#include "daemon/sqlite/vfs/index-blocks.h"

#include <errno.h>
#include <glib.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include "daemon/base/interrupt.h"
#include "daemon/sqlite/vfs/log-index.h"

#ifndef MADV_POPULATE_WRITE /* glibc before 2.35 */
#define MADV_POPULATE_WRITE 23
#endif

/* Not in magic.h. */
#define F2FS_MAGIC 0xf2f52010
#define XFS_MAGIC 0x58465342
/* The first of SQLite's locks by which readers note their snapshots (WAL_READ_LOCK). */
#define FIRST_READER 3
/* Of a log, 270,000 pages. The blocks after them are made writable when they are mapped. */
#define MAX_BLOCKS 64
/* For another program that has the index for itself, and between two questions. */
#define MAX_WAIT_USEC (G_USEC_PER_SEC / 10)
#define MAX_PAUSE_USEC G_USEC_PER_SEC

typedef struct Block {
    const sqlite3_file *file; /* whose connection has mapped it */
    void volatile *data;
} Block;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const sqlite3_io_methods *below_methods; /* (nullable): of database files */
static sqlite3_io_methods index_methods;        /* the same, but for the index */
static GArray *blocks;                          /* (nullable): of Block: mapped now, and all their pages are there */
static int copies_on_write;                     /* a file system of this process's databases does, or is not known */

static gboolean
was_checked(const void volatile *data)
{
    gboolean found = FALSE;

    pthread_mutex_lock(&mutex);
    for (guint i = 0; blocks != NULL && i < blocks->len; i++)
        found = found || g_array_index(blocks, Block, i).data == data;
    pthread_mutex_unlock(&mutex);
    return found;
}

static void
note_checked(const sqlite3_file *file, void volatile *data)
{
    const Block block = { file, data };

    pthread_mutex_lock(&mutex);
    if (blocks == NULL)
        blocks = g_array_new(FALSE, FALSE, sizeof(Block));
    g_array_append_val(blocks, block);
    pthread_mutex_unlock(&mutex);
}

int
qd_index_blocks_populate(void *data, gsize n_bytes)
{
    return madvise(data, n_bytes, MADV_POPULATE_WRITE) == 0 ? 0 : errno;
}

static gboolean
make_writable(void volatile *data)
{
    return qd_index_blocks_populate((void *) data, QD_LOG_INDEX_BLOCK_BYTES) != EFAULT;
}

/* SQLite waits for 10 s, since usually a program has the index for itself for moments. */
static gboolean
waits_too_long(void)
{
    static __thread gint64 first_usec;
    static __thread gint64 last_usec;
    gint64 now = g_get_monotonic_time();

    if (now > last_usec + MAX_PAUSE_USEC)
        first_usec = now;
    last_usec = now;
    return now > first_usec + MAX_WAIT_USEC;
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
    if (r == SQLITE_BUSY)
        return qd_interrupt_poll() ? SQLITE_INTERRUPT : waits_too_long() ? SQLITE_BUSY_TIMEOUT : r;
    if (r != SQLITE_OK || *ret_block == NULL)
        return r;
    if (!g_atomic_int_get(&copies_on_write) && !was_checked(*ret_block) && !make_writable(*ret_block)) {
        *ret_block = NULL;
        return SQLITE_FULL;
    }
    note_checked(file, *ret_block);
    return SQLITE_OK;
}

int
qd_index_blocks_unmap(const sqlite3_io_methods *methods, sqlite3_file *file, int deletes)
{
    pthread_mutex_lock(&mutex);
    for (guint i = blocks != NULL ? blocks->len : 0; i > 0; i--)
        if (g_array_index(blocks, Block, i - 1).file == file)
            g_array_remove_index_fast(blocks, i - 1);
    pthread_mutex_unlock(&mutex);
    return methods->xShmUnmap(file, deletes);
}

/* Its blocks stay mapped: only its own connection's thread ends that. */
gboolean
qd_index_blocks_can_write(const sqlite3_file *file)
{
    void volatile *own[MAX_BLOCKS];
    guint n = 0;
    gboolean ok = TRUE;

    if (!g_atomic_int_get(&copies_on_write))
        return TRUE;

    pthread_mutex_lock(&mutex);
    for (guint i = 0; blocks != NULL && i < blocks->len && n < MAX_BLOCKS; i++)
        if (g_array_index(blocks, Block, i).file == file)
            own[n++] = g_array_index(blocks, Block, i).data;
    pthread_mutex_unlock(&mutex);
    for (guint i = 0; ok && i < n; i++)
        ok = make_writable(own[i]);
    return ok;
}

int
qd_index_blocks_lock(const sqlite3_io_methods *methods, sqlite3_file *file, int first, int n, int flags)
{
    int r = methods->xShmLock(file, first, n, flags);

    if (r != SQLITE_OK || flags != (SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE) || qd_index_blocks_can_write(file))
        return r;
    (void) methods->xShmLock(file, first, n, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
    return first >= FIRST_READER ? SQLITE_BUSY : SQLITE_FULL;
}

void
qd_index_blocks_note_system(const char *path)
{
    struct statfs fs;

    if (statfs(path, &fs) < 0)
        return;
    switch ((guint32) fs.f_type) {
    case EXT4_SUPER_MAGIC:
    case F2FS_MAGIC:
    case TMPFS_MAGIC:
    case XFS_MAGIC:
        return;
    default:
        g_atomic_int_set(&copies_on_write, TRUE);
    }
}

static int
index_shm_map(sqlite3_file *file, int i, int n_bytes, int extends, void volatile **ret_block)
{
    return qd_index_blocks_map(below_methods, file, i, n_bytes, extends, ret_block);
}

static int
index_shm_lock(sqlite3_file *file, int first, int n, int flags)
{
    return qd_index_blocks_lock(below_methods, file, first, n, flags);
}

static int
index_shm_unmap(sqlite3_file *file, int deletes)
{
    return qd_index_blocks_unmap(below_methods, file, deletes);
}

void
qd_index_blocks_watch(sqlite3_file *file, const char *path)
{
    qd_index_blocks_note_system(path);
    pthread_mutex_lock(&mutex);
    if (below_methods == NULL && file->pMethods->iVersion >= 2) {
        index_methods = *file->pMethods;
        index_methods.xShmMap = index_shm_map;
        index_methods.xShmLock = index_shm_lock;
        index_methods.xShmUnmap = index_shm_unmap;
        below_methods = file->pMethods;
    }
    if (file->pMethods == below_methods)
        file->pMethods = &index_methods;
    pthread_mutex_unlock(&mutex);
}
