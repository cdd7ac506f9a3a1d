/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The write-ahead log: frames that follow each other go to the file together, and are read through a mapping of it.
 *
 * Place: room sqlite. A VFS of SQLite above the default one, for connections of the daemon; all their files but the log are the
 * other's. Invariant: when SQLite learns that the last frame of a commit is written, all of them are in the file.
 */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>

/* Parameter of a database's URI: so much of the log is mapped at most, 0 by default. A file cut short by a stranger is then a
 * SIGBUS. */
#define QD_LOG_FILE_MAP_BYTES "log_map_bytes"

/* qd_log_file_get_vfs: (nullable): the name of the VFS; NULL, which means the default one, without memory. Thread: any. */
const char *qd_log_file_get_vfs(void);

/* For a reader of pages beside SQLite (sqlite/snapshot.h). Whether @file is a log of this VFS that is open: */
bool qd_log_file_is_log(const sqlite3_file *file);
/* FALSE: @log, which is one, has @ret_n_bytes, and @ret_n_expected by its index. @only_needed: TRUE also when all of it is in the
 * database. Thread: the connection's. */
bool qd_log_file_is_whole(sqlite3_file *log, bool only_needed, sqlite3_int64 *ret_n_bytes, sqlite3_int64 *ret_n_expected);
/* (nullable): bytes of the log, as long as it is open; NULL: they are not mapped. Thread: the connection's. */
const void *qd_log_file_get_mapped(sqlite3_file *log, sqlite3_int64 offset, int n_bytes);
/* Whether the call above has given @data. */
bool qd_log_file_is_mapped(const sqlite3_file *log, const void *data);
