/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The methods of database files, over those of SQLite's VFS.
 *
 * Of a mapped database each page is first touched by SQLite's single reads, and each waits for memory. So a page that follows the
 * last one has the next one fetched into the cache. A scan takes 0.85 of the time. Any other page is fetched itself, whole, unless
 * it was asked for a short time ago. It is searched for a row then, by reads that each wait for the one before
 * (docs/decisions/sqlite-settings.md).
 */
#include "daemon/sqlite/vfs/database-file.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#define CACHE_LINE_BYTES 64
#define FILE_ALIGNMENT 8
/* Pages of 4 KiB that a core's own cache holds. */
#define N_RECENT 256
#define MAX_SEARCHED_BYTES 4096

typedef struct Pages {
    sqlite3_int64 last;        /* where the last page that was asked for lies */
    uint32_t recent[N_RECENT]; /* pages out of sequence, each at its number modulo N_RECENT */
} Pages;

_Static_assert(sizeof(Pages) + FILE_ALIGNMENT <= QD_DATABASE_FILE_BYTES, "it is after the file of the VFS below");

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const sqlite3_io_methods *below_methods; /* (nullable): of database files */
static sqlite3_io_methods database_methods;     /* the same, with a fetch of ours */
static int n_file_bytes;

/* After the file of the VFS below. */
static Pages *
get_state(sqlite3_file *file)
{
    return (Pages *) ((char *) file + n_file_bytes);
}

/* No access: the page may not be there. */
static void
prefetch(const char *page, int n_bytes)
{
    for (int i = 0; i < n_bytes; i += CACHE_LINE_BYTES)
        __builtin_prefetch(page + i, 0, 2);
}

/* FALSE: it is likely to be in the cache. */
static int
note_page(Pages *self, sqlite3_int64 offset, int n_bytes)
{
    uint32_t number = (uint32_t) (offset / n_bytes);
    uint32_t *slot = &self->recent[number % N_RECENT];
    int is_new = *slot != number;

    *slot = number;
    return is_new;
}

static int
database_fetch(sqlite3_file *file, sqlite3_int64 offset, int n_bytes, void **ret_data)
{
    Pages *self = get_state(file);
    int r = below_methods->xFetch(file, offset, n_bytes, ret_data);

    if (r != SQLITE_OK || *ret_data == NULL)
        return r;
    if (offset - self->last == n_bytes)
        prefetch((const char *) *ret_data + n_bytes, n_bytes);
    else if (n_bytes <= MAX_SEARCHED_BYTES && note_page(self, offset, n_bytes))
        prefetch(*ret_data, n_bytes);
    self->last = offset;
    return SQLITE_OK;
}

/*
 * A mapping may be longer than the file, which another connection's checkpoint has cut since. SQLite may read a page after the
 * end: one that was made and given up, and never written. Of a mapping that read is SIGBUS; of the file it is a short one.
 */
static int
database_read(sqlite3_file *file, void *data, int n_bytes, sqlite3_int64 offset)
{
    sqlite3_int64 size = 0;
    int n = n_bytes;
    int r = below_methods->xFileSize(file, &size);

    if (r != SQLITE_OK)
        return r;
    if (offset + n_bytes > size)
        n = size > offset ? (int) (size - offset) : 0;
    r = n > 0 ? below_methods->xRead(file, data, n, offset) : SQLITE_OK;
    if (r != SQLITE_OK || n == n_bytes)
        return r;
    memset((char *) data + n, 0, (size_t) (n_bytes - n));
    return SQLITE_IOERR_SHORT_READ;
}

void
qd_database_file_watch(sqlite3_file *file, int n_bytes)
{
    pthread_mutex_lock(&mutex);
    if (below_methods == NULL && file->pMethods->iVersion >= 3) {
        n_file_bytes = (n_bytes + FILE_ALIGNMENT - 1) / FILE_ALIGNMENT * FILE_ALIGNMENT;
        database_methods = *file->pMethods;
        database_methods.xFetch = database_fetch;
        database_methods.xRead = database_read;
        below_methods = file->pMethods;
    }
    if (file->pMethods == below_methods) {
        memset(get_state(file), 0, sizeof(Pages));
        file->pMethods = &database_methods;
    }
    pthread_mutex_unlock(&mutex);
}
