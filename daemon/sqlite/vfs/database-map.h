/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One mapping of a database file for all connections of the process.
 *
 * Place: room sqlite, below database-file.h, which gives SQLite its pages.
 * Invariant: the file had each page that it gives when its size was last set.
 */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>

typedef struct QdDatabaseMap QdDatabaseMap;

/*
 * @file, @methods: of SQLite's VFS "unix", which maps nothing itself when this returns
 * @path: of @file, by which its VFS has opened it
 * @limit: bytes that are mapped at most
 *
 * Returns: (transfer full) (nullable): the mapping that other connections to the file have, or a new one. NULL: the file is empty,
 * has lost its name, or cannot be mapped. Thread: any.
 */
QdDatabaseMap *qd_database_map_get(sqlite3_file *file, const sqlite3_io_methods *methods, const char *path, sqlite3_int64 limit);
/* The file is unmapped with the last user. Thread: any. */
void qd_database_map_unref(QdDatabaseMap *self);

/* The file has so many bytes. Thread: any. */
void qd_database_map_set_size(QdDatabaseMap *self, sqlite3_int64 n_bytes);
/* (nullable): a page; NULL: it is after the end, or close to it, or is not mapped. Thread: any. */
void *qd_database_map_find(const QdDatabaseMap *self, sqlite3_int64 offset, int n_bytes);
/* Whether the part of the file at @offset, which the kernel maps at once, is used for the first time. The page at @offset is
 * mapped. Thread: any. */
bool qd_database_map_use(QdDatabaseMap *self, sqlite3_int64 offset);
