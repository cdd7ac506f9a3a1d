/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite's VFS maps the file for each connection, and unmaps it there when another one has committed. Each page then costs a fault
 * again. This mapping is longer than the file, and stays until the last connection is closed.
 *
 * SQLite makes one by its own descriptor for a moment, and mremap() with an old size of 0 makes this one of it. Another descriptor
 * of the file would drop the process's locks on it when it is closed. docs/decisions/shared-mapping.md
 */
#include "daemon/sqlite/vfs/database-map.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* A page that is damaged may have SQLite read a little more than the page (unixFetch() in os_unix.c). */
#define GUARD_BYTES 256
/* The kernel maps so much around a page that is read, if it is in memory ("fault around"). */
#define PART_BYTES 65536
#define PARTS_IN_WORD 32

struct QdDatabaseMap {
    QdDatabaseMap *next;
    dev_t device;
    ino_t inode;
    int n_users;
    char *start;
    sqlite3_int64 n_bytes;
    sqlite3_int64 n_file_bytes; /* atomic: of the file; at most n_bytes */
    uint32_t used[];            /* atomic, each: parts that were used */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static QdDatabaseMap *maps; /* (nullable) */

/* FALSE: the name has come to another file, or to none, or the system does not say. */
static bool
has_name(sqlite3_file *file, const sqlite3_io_methods *methods)
{
    int has_moved = 1;

    return methods->xFileControl(file, SQLITE_FCNTL_HAS_MOVED, &has_moved) == SQLITE_OK && !has_moved;
}

/* Which file it is. FALSE: its name does not lead to it any more. */
static bool
identify(sqlite3_file *file, const sqlite3_io_methods *methods, const char *path, struct stat *ret_st)
{
    return has_name(file, methods) && stat(path, ret_st) == 0 && has_name(file, methods);
}

/* (nullable) */
static char *
map_file(sqlite3_file *file, const sqlite3_io_methods *methods, sqlite3_int64 n_bytes)
{
    void *first = NULL;
    void *start;

    if (methods->xFetch(file, 0, 1, &first) != SQLITE_OK || first == NULL)
        return NULL;
    start = mremap(first, 0, (size_t) n_bytes, MREMAP_MAYMOVE);
    (void) methods->xUnfetch(file, 0, first);
    (void) methods->xUnfetch(file, 0, NULL);
    return start != MAP_FAILED ? start : NULL;
}

/* Under the mutex. (nullable) */
static QdDatabaseMap *
find_map(const struct stat *st)
{
    QdDatabaseMap *map = maps;

    while (map != NULL && (map->device != st->st_dev || map->inode != st->st_ino))
        map = map->next;
    return map;
}

/* Under the mutex. (nullable) */
static QdDatabaseMap *
make_map(sqlite3_file *file, const sqlite3_io_methods *methods, const struct stat *st, sqlite3_int64 n_bytes)
{
    size_t n_words = (size_t) n_bytes / PART_BYTES / PARTS_IN_WORD + 1;
    QdDatabaseMap *self = calloc(1, sizeof *self + n_words * sizeof self->used[0]);

    if (self == NULL)
        return NULL;
    self->start = map_file(file, methods, n_bytes);
    if (self->start == NULL) {
        free(self);
        return NULL;
    }
    self->n_bytes = n_bytes;
    self->device = st->st_dev;
    self->inode = st->st_ino;
    self->next = maps;
    maps = self;
    return self;
}

QdDatabaseMap *
qd_database_map_get(sqlite3_file *file, const sqlite3_io_methods *methods, const char *path, sqlite3_int64 limit)
{
    QdDatabaseMap *self;
    struct stat st;

    if (limit <= 0 || !identify(file, methods, path, &st))
        return NULL;

    pthread_mutex_lock(&mutex);
    self = find_map(&st);
    if (self == NULL)
        self = make_map(file, methods, &st, limit);
    if (self != NULL)
        self->n_users++;
    pthread_mutex_unlock(&mutex);
    return self;
}

void
qd_database_map_unref(QdDatabaseMap *self)
{
    QdDatabaseMap **link = &maps;
    bool is_last;

    pthread_mutex_lock(&mutex);
    is_last = --self->n_users == 0;
    while (is_last && *link != self)
        link = &(*link)->next;
    if (is_last)
        *link = self->next;
    pthread_mutex_unlock(&mutex);
    if (!is_last)
        return;

    (void) munmap(self->start, (size_t) self->n_bytes);
    free(self);
}

void
qd_database_map_set_size(QdDatabaseMap *self, sqlite3_int64 n_bytes)
{
    __atomic_store_n(&self->n_file_bytes, n_bytes < self->n_bytes ? n_bytes : self->n_bytes, __ATOMIC_RELAXED);
}

void *
qd_database_map_find(const QdDatabaseMap *self, sqlite3_int64 offset, int n_bytes)
{
    sqlite3_int64 n_file_bytes = __atomic_load_n(&self->n_file_bytes, __ATOMIC_RELAXED);

    return offset + n_bytes + GUARD_BYTES <= n_file_bytes ? self->start + offset : NULL;
}

bool
qd_database_map_use(QdDatabaseMap *self, sqlite3_int64 offset)
{
    uint32_t *word = &self->used[offset / PART_BYTES / PARTS_IN_WORD];
    uint32_t bit = (uint32_t) 1 << (offset / PART_BYTES % PARTS_IN_WORD);

    return (__atomic_load_n(word, __ATOMIC_RELAXED) & bit) == 0 && (__atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit) == 0;
}
