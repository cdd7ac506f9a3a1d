/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How database files are read. The next page of a scan is in the processor's cache, and so is the page of a search. A read after
 * the end is a short one, also where the mapping is longer than the file.
 *
 * Place: room sqlite; the VFS of log-file.h opens database files with it.
 */
#pragma once

#include <sqlite3.h>

#define QD_DATABASE_FILE_BYTES 1080

/*
 * @file: a database's, which SQLite's VFS "unix" has opened
 * @path: by which it has, as long as the file is open
 * @n_bytes: the same for all files: those of the VFS take so many. QD_DATABASE_FILE_BYTES more are there
 *
 * Files of another class of calls than the first one's are left alone. Thread: any.
 */
void qd_database_file_watch(sqlite3_file *file, const char *path, int n_bytes);
