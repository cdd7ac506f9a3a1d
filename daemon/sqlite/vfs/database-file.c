/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The methods of database files, over those of SQLite's VFS. That VFS maps nothing but for moments: the pages are those of a
 * mapping that all connections share (docs/decisions/shared-mapping.md).
 *
 * The kernel maps a page, and 15 around it, in the time of three reads. A scan uses all of them, a few look-ups seldom a second
 * one. So the page by which such a part is first used is read, unless it follows the page before.
 *
 * Of a mapped database each page is first touched by SQLite's single reads, and each waits for memory. So a page that follows the
 * last one has the next one fetched into the cache. A scan takes 0.85 of the time. Any other page is fetched itself, whole, unless
 * it was asked for a short time ago. It is searched for a row then, by reads that each wait for the one before
 * (docs/decisions/sqlite-settings.md).
 *
 * SQLite takes what is after the file's end for zeros. If another program has shortened the file, that is damage here.
 *
 * DELETE of a whole table and DROP TABLE read each of its pages, and are one operation to SQLite. So a page that is read in a write
 * transaction is where the statement ends. The first page of the file is not: a rollback reads it again, and must not fail.
 */
#include "daemon/sqlite/vfs/database-file.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "daemon/base/interrupt.h"
#include "daemon/sqlite/vfs/database-map.h"
#include "daemon/sqlite/vfs/index-blocks.h"
#include "daemon/sqlite/vfs/log-index.h"

#define CACHE_LINE_BYTES 64
#define FILE_ALIGNMENT 8
/* Pages of 4 KiB that a core's own cache holds. */
#define N_RECENT 256
#define MAX_SEARCHED_BYTES 4096
/* Of a page. Less is a part of the header, which is read before anything is known of the file. */
#define MIN_PAGE_BYTES 512
/* Of the locks of SQLite's index of the log (WAL_WRITE_LOCK). */
#define WRITE_LOCK 0

/* After the file of the VFS below. */
typedef struct DatabaseFile {
    const char *path;          /* (not owned): the VFS's, as long as the file is open */
    QdDatabaseMap *map;        /* (nullable) */
    const void *index;         /* (nullable): SQLite's, of the log: as long as SQLite has it mapped */
    bool has_content;          /* the file must not be empty */
    bool writes;               /* has the lock of a write transaction */
    sqlite3_int64 limit;       /* bytes that this connection may have mapped */
    bool is_known;             /* the limit, and how long the file is, for the snapshot that is read */
    sqlite3_int64 last;        /* where the last page that was asked for lies */
    uint32_t recent[N_RECENT]; /* pages out of sequence, each at its number modulo N_RECENT */
} DatabaseFile;

_Static_assert(sizeof(DatabaseFile) + FILE_ALIGNMENT <= QD_DATABASE_FILE_BYTES, "it is after the file of the VFS below");

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const sqlite3_io_methods *below_methods; /* (nullable): of database files */
static sqlite3_io_methods database_methods;     /* the same, with pages of ours */
static int n_file_bytes;

static DatabaseFile *
get_state(sqlite3_file *file)
{
    return (DatabaseFile *) ((char *) file + n_file_bytes);
}

/* No access: the page may not be there. */
static void
prefetch(const char *page, int n_bytes)
{
    for (int i = 0; i < n_bytes; i += CACHE_LINE_BYTES)
        __builtin_prefetch(page + i, 0, 2);
}

/* FALSE: it is likely to be in the cache. */
static bool
note_page(DatabaseFile *self, sqlite3_int64 offset, int n_bytes)
{
    uint32_t number = (uint32_t) (offset / n_bytes);
    uint32_t *slot = &self->recent[number % N_RECENT];
    bool is_new = *slot != number;

    *slot = number;
    return is_new;
}

/* For a snapshot that begins. */
static void
look(sqlite3_file *file, DatabaseFile *self)
{
    sqlite3_int64 size = 0;

    self->is_known = true;
    self->limit = -1; /* asks */
    if (below_methods->xFileControl(file, SQLITE_FCNTL_MMAP_SIZE, &self->limit) != SQLITE_OK)
        self->limit = 0;
    if (self->map == NULL)
        self->map = qd_database_map_get(file, below_methods, self->path, self->limit);
    if (self->map != NULL && below_methods->xFileSize(file, &size) == SQLITE_OK)
        qd_database_map_set_size(self->map, size);
}

static int
database_fetch(sqlite3_file *file, sqlite3_int64 offset, int n_bytes, void **ret_data)
{
    DatabaseFile *self = get_state(file);
    bool follows = offset - self->last == n_bytes;
    char *page = NULL;

    if (!self->is_known)
        look(file, self);
    if (self->map != NULL && offset + n_bytes <= self->limit)
        page = qd_database_map_find(self->map, offset, n_bytes);
    if (page != NULL && qd_database_map_use(self->map, offset) && !follows && n_bytes <= MAX_SEARCHED_BYTES)
        page = NULL;
    if (page != NULL && follows)
        prefetch(page + n_bytes, n_bytes);
    else if (page != NULL && n_bytes <= MAX_SEARCHED_BYTES && note_page(self, offset, n_bytes))
        prefetch(page, n_bytes);
    self->last = offset;
    *ret_data = page; /* NULL: it is read */
    return SQLITE_OK;
}

/* @data: (nullable): a page that is not used any more; NULL: another connection has committed */
static int
database_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *data)
{
    DatabaseFile *self = get_state(file);

    (void) offset;
    self->is_known = self->is_known && data != NULL;
    return SQLITE_OK;
}

static int
database_file_control(sqlite3_file *file, int op, void *argument)
{
    int r = below_methods->xFileControl(file, op, argument);

    if (op == SQLITE_FCNTL_SIZE_HINT) /* has mapped the file: what is read of that mapping after the file's end is SIGBUS */
        (void) below_methods->xUnfetch(file, 0, NULL);
    return r;
}

/* How long it is at least. */
static sqlite3_int64
get_expected_bytes(const DatabaseFile *self, QdLogIndex *ret_index)
{
    sqlite3_int64 n_bytes = 0;

    *ret_index = (QdLogIndex){ 0 };
    if (self->index != NULL && qd_log_index_read(self->index, ret_index))
        n_bytes = qd_log_index_get_database_bytes(ret_index);
    return n_bytes == 0 && self->has_content ? 1 : n_bytes;
}

/* What is cut off at @ret_n_expected at the latest. */
static bool
is_whole(sqlite3_file *file, sqlite3_int64 *ret_n_bytes, sqlite3_int64 *ret_n_expected)
{
    const DatabaseFile *self = get_state(file);
    QdLogIndex index;

    *ret_n_expected = get_expected_bytes(self, &index);
    if (*ret_n_expected == 0 || below_methods->xFileSize(file, ret_n_bytes) != SQLITE_OK || *ret_n_bytes >= *ret_n_expected)
        return true;
    return index.n_pages > 0 && !qd_log_index_is_same(self->index, &index);
}

static int
database_read(sqlite3_file *file, void *data, int n_bytes, sqlite3_int64 offset)
{
    sqlite3_int64 n_file_bytes_now;
    sqlite3_int64 n_expected;
    int r;

    if (get_state(file)->writes && offset > 0 && qd_interrupt_poll())
        return SQLITE_INTERRUPT;

    r = below_methods->xRead(file, data, n_bytes, offset);

    if (r != SQLITE_IOERR_SHORT_READ || n_bytes < MIN_PAGE_BYTES || is_whole(file, &n_file_bytes_now, &n_expected))
        return r;
    return offset < n_expected ? SQLITE_CORRUPT : r;
}

static int
database_file_size(sqlite3_file *file, sqlite3_int64 *ret_size)
{
    int r = below_methods->xFileSize(file, ret_size);

    return r == SQLITE_OK && *ret_size == 0 && get_state(file)->has_content ? SQLITE_CORRUPT : r;
}

static int
database_shm_map(sqlite3_file *file, int i, int n_bytes, int extends, void volatile **ret_block)
{
    int r = qd_index_blocks_map(below_methods, file, i, n_bytes, extends, ret_block);

    if (r == SQLITE_OK && i == 0)
        get_state(file)->index = (const void *) *ret_block;
    return r;
}

static int
database_shm_lock(sqlite3_file *file, int first, int n, int flags)
{
    int r = qd_index_blocks_lock(below_methods, file, first, n, flags);

    if (r == SQLITE_OK && first == WRITE_LOCK && (flags & SQLITE_SHM_EXCLUSIVE) != 0)
        get_state(file)->writes = (flags & SQLITE_SHM_LOCK) != 0;
    return r;
}

static int
database_shm_unmap(sqlite3_file *file, int deletes)
{
    get_state(file)->index = NULL;
    return qd_index_blocks_unmap(below_methods, file, deletes);
}

/* A checkpoint's, which then notes in the index how far it has come. */
static int
database_sync(sqlite3_file *file, int flags)
{
    int r = below_methods->xSync(file, flags);

    return r != SQLITE_OK || qd_index_blocks_can_write(file) ? r : SQLITE_FULL;
}

static int
database_close(sqlite3_file *file)
{
    DatabaseFile *self = get_state(file);

    if (self->map != NULL)
        qd_database_map_unref(self->map);
    self->map = NULL;
    return below_methods->xClose(file);
}

void
qd_database_file_watch(sqlite3_file *file, const char *path, int n_bytes)
{
    qd_index_blocks_note_system(path);
    pthread_mutex_lock(&mutex);
    if (below_methods == NULL && file->pMethods->iVersion >= 3) {
        n_file_bytes = (n_bytes + FILE_ALIGNMENT - 1) / FILE_ALIGNMENT * FILE_ALIGNMENT;
        database_methods = *file->pMethods;
        database_methods.xRead = database_read;
        database_methods.xFileSize = database_file_size;
        database_methods.xSync = database_sync;
        database_methods.xShmMap = database_shm_map;
        database_methods.xShmLock = database_shm_lock;
        database_methods.xShmUnmap = database_shm_unmap;
        database_methods.xFetch = database_fetch;
        database_methods.xUnfetch = database_unfetch;
        database_methods.xFileControl = database_file_control;
        database_methods.xClose = database_close;
        below_methods = file->pMethods;
    }
    if (file->pMethods == below_methods) {
        memset(get_state(file), 0, sizeof(DatabaseFile));
        get_state(file)->path = path;
        get_state(file)->has_content = sqlite3_uri_boolean(path, QD_DATABASE_FILE_HAS_CONTENT, 0);
        file->pMethods = &database_methods;
    }
    pthread_mutex_unlock(&mutex);
}

static bool
is_watched(const sqlite3_file *file)
{
    return file != NULL && file->pMethods == &database_methods;
}

const void *
qd_database_file_get_index(const sqlite3_file *file)
{
    return is_watched(file) ? get_state((sqlite3_file *) file)->index : NULL;
}

void
qd_database_file_note_content(sqlite3_file *file)
{
    if (is_watched(file))
        get_state(file)->has_content = true;
}

bool
qd_database_file_is_whole(sqlite3_file *file, sqlite3_int64 *ret_n_bytes)
{
    sqlite3_int64 n_expected;

    return !is_watched(file) || is_whole(file, ret_n_bytes, &n_expected);
}
