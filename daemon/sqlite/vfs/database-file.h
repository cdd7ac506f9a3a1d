/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How database files are read. The next page of a scan is in the processor's cache, and so is the page of a search. A read after
 * the end is a short one, also where the mapping is longer than the file.
 *
 * Place: room sqlite; the VFS of log-file.h opens database files with it.
 */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>

#define QD_DATABASE_FILE_BYTES 1096

/* Parameter of a database's URI: 1: the file was not empty when the store was opened, so an empty one is CORRUPT. SQLite takes an
 * empty file for a new database, and deletes the log beside it. */
#define QD_DATABASE_FILE_HAS_CONTENT "has_content"

/*
 * @file: a database's, which SQLite's VFS "unix" has opened
 * @path: by which it has, as long as the file is open
 * @n_bytes: the same for all files: those of the VFS take so many. QD_DATABASE_FILE_BYTES more are there
 *
 * Files of another class of calls than the first one's are left alone. Thread: any.
 */
void qd_database_file_watch(sqlite3_file *file, const char *path, int n_bytes);

/* (nullable): the first block of its log's index (log-index.h), as long as @file is open. NULL: @file is not one of this VFS, or
 * the log is not open. Thread: the connection's. */
const void *qd_database_file_get_index(const sqlite3_file *file);
/* From here on the file must not be empty, as by the parameter. Thread: the connection's. */
void qd_database_file_note_content(sqlite3_file *file);
/* FALSE: it is shorter than its log's index says, or empty and must not be: it has @ret_n_bytes. Thread: the connection's. */
bool qd_database_file_is_whole(sqlite3_file *file, sqlite3_int64 *ret_n_bytes);
