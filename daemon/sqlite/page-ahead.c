/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Of a mapped database each page is first touched by SQLite's single reads, and each waits for memory. So a page that follows the
 * last one has the next one fetched into the cache. A scan takes 0.85 of the time (docs/decisions/sqlite-settings.md).
 */
#include "daemon/sqlite/page-ahead.h"

#include <pthread.h>
#include <string.h>

#define CACHE_LINE_BYTES 64

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const sqlite3_io_methods *below_methods; /* (nullable): of database files */
static sqlite3_io_methods database_methods;     /* the same, with a fetch of ours */
static int n_file_bytes;

/* Where the last page that was asked for lies: after the file of the VFS below. */
static char *
get_last(sqlite3_file *file)
{
    return (char *) file + n_file_bytes;
}

static int
database_fetch(sqlite3_file *file, sqlite3_int64 offset, int n_bytes, void **ret_data)
{
    int r = below_methods->xFetch(file, offset, n_bytes, ret_data);
    sqlite3_int64 last;

    memcpy(&last, get_last(file), sizeof last);
    if (r == SQLITE_OK && *ret_data != NULL && offset - last == n_bytes)
        for (int i = 0; i < n_bytes; i += CACHE_LINE_BYTES) /* no access: the next page may not be there */
            __builtin_prefetch((const char *) *ret_data + n_bytes + i, 0, 2);
    memcpy(get_last(file), &offset, sizeof offset);
    return r;
}

void
qd_page_ahead_watch(sqlite3_file *file, int n_bytes)
{
    pthread_mutex_lock(&mutex);
    if (below_methods == NULL && file->pMethods->iVersion >= 3) {
        n_file_bytes = n_bytes;
        database_methods = *file->pMethods;
        database_methods.xFetch = database_fetch;
        below_methods = file->pMethods;
    }
    if (file->pMethods == below_methods) {
        memset(get_last(file), 0, sizeof(sqlite3_int64));
        file->pMethods = &database_methods;
    }
    pthread_mutex_unlock(&mutex);
}
