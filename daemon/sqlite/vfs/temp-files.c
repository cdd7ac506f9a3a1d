/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The methods of temporary files, over those of SQLite's VFS: writes, cuts and ends change what is counted.
 */
#include "daemon/sqlite/vfs/temp-files.h"

#include <pthread.h>
#include <string.h>

#include "daemon/sqlite/memory.h"
#include "daemon/sqlite/vfs/index-blocks.h"

#define FILE_ALIGNMENT 8
#define VFS_NAME "queryd-temporary"

/* After the file of the VFS below. */
typedef struct TempFile {
    int64_t n_bytes; /* counted */
} TempFile;

_Static_assert(sizeof(TempFile) + FILE_ALIGNMENT <= QD_TEMP_FILE_BYTES, "it is after the file of the VFS below");

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const sqlite3_io_methods *below_methods; /* (nullable): of temporary files */
static sqlite3_io_methods temp_methods;
static int n_file_bytes;  /* of a file of the VFS below */
static int64_t all_bytes; /* atomic */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static sqlite3_vfs temp_vfs;

static TempFile *
get_state(sqlite3_file *file)
{
    return (TempFile *) ((char *) file + n_file_bytes);
}

static void
set_size(sqlite3_file *file, int64_t n_bytes)
{
    TempFile *self = get_state(file);
    int64_t more = n_bytes - self->n_bytes;

    self->n_bytes = n_bytes;
    __atomic_add_fetch(&all_bytes, more, __ATOMIC_RELAXED);
    qd_memory_count_file(more);
}

static int
temp_write(sqlite3_file *file, const void *data, int n_bytes, sqlite3_int64 offset)
{
    int r = below_methods->xWrite(file, data, n_bytes, offset);

    if (r == SQLITE_OK && offset + n_bytes > get_state(file)->n_bytes)
        set_size(file, offset + n_bytes);
    return r;
}

static int
temp_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int r = below_methods->xTruncate(file, size);

    if (r == SQLITE_OK && size < get_state(file)->n_bytes)
        set_size(file, size);
    return r;
}

static int
temp_close(sqlite3_file *file)
{
    set_size(file, 0);
    return below_methods->xClose(file);
}

void
qd_temp_file_watch(sqlite3_file *file, int n_bytes)
{
    n_bytes = (n_bytes + FILE_ALIGNMENT - 1) / FILE_ALIGNMENT * FILE_ALIGNMENT;
    pthread_mutex_lock(&mutex);
    if (below_methods == NULL) {
        n_file_bytes = n_bytes;
        temp_methods = *file->pMethods;
        temp_methods.xWrite = temp_write;
        temp_methods.xTruncate = temp_truncate;
        temp_methods.xClose = temp_close;
        below_methods = file->pMethods;
    }
    if (file->pMethods == below_methods && n_bytes == n_file_bytes) {
        memset(get_state(file), 0, sizeof(TempFile));
        file->pMethods = &temp_methods;
    }
    pthread_mutex_unlock(&mutex);
}

static int
temp_vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
    sqlite3_vfs *below = vfs->pAppData;
    int r = below->xOpen(below, name, file, flags, ret_flags);

    if (r == SQLITE_OK && name == NULL)
        qd_temp_file_watch(file, below->szOsFile);
    if (r == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB) != 0 && strcmp(below->zName, "unix") == 0)
        qd_index_blocks_watch(file, name);
    return r;
}

/* Of all else the functions of the VFS below serve, which look at no more of it than its copied members. */
static void
register_vfs(void)
{
    sqlite3_vfs *below = sqlite3_vfs_find(NULL);

    if (below == NULL)
        return;
    temp_vfs = *below;
    temp_vfs.pNext = NULL;
    temp_vfs.zName = VFS_NAME;
    temp_vfs.szOsFile = below->szOsFile + QD_TEMP_FILE_BYTES;
    temp_vfs.pAppData = below;
    temp_vfs.xOpen = temp_vfs_open;
    (void) sqlite3_vfs_register(&temp_vfs, 0);
}

const char *
qd_temp_files_get_vfs(void)
{
    (void) pthread_once(&once, register_vfs);
    return sqlite3_vfs_find(VFS_NAME) != NULL ? VFS_NAME : NULL;
}

uint64_t
qd_temp_files_get_bytes(void)
{
    return (uint64_t) __atomic_load_n(&all_bytes, __ATOMIC_RELAXED);
}

gboolean
qd_temp_files_check(const QdLimits *limits, const QdMemoryUse *use, GError **error)
{
    int64_t n_bytes = qd_memory_get_file_bytes(use);
    int64_t n_free = (int64_t) (qd_limits_get(limits, QD_LIMIT_TEMP_FILE_BYTES) - qd_temp_files_get_bytes());

    if (n_bytes <= 0 || n_bytes <= QD_LIMIT_SHARE * n_free)
        return TRUE;

    qd_limit_set_error(error, limits, QD_LIMIT_TEMP_FILE_BYTES,
                       "temporary files, as for sorting, are more than three times what stays free");
    return FALSE;
}
