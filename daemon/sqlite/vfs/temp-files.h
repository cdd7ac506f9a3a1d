/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite's temporary files: what sorting and hashing put on disk when it exceeds the cache.
 *
 * Place: room sqlite; the VFS of connections opens such files with it. SQLite deletes them as soon as they are open, so only this
 * process can see how large they are.
 * Invariant: what they grow by is counted in the statement that runs on the thread (QdMemoryUse), and in all.
 */
#pragma once

#include <sqlite3.h>

#include "daemon/base/limits.h"

typedef struct QdMemoryUse QdMemoryUse;

#define QD_TEMP_FILE_BYTES 16

/*
 * @file: a temporary one, which its VFS has opened
 * @n_bytes: those of the VFS take so many. QD_TEMP_FILE_BYTES more are there
 *
 * Files of another class of calls than the first one's, or of another size, are left alone. Thread: any.
 */
void qd_temp_file_watch(sqlite3_file *file, int n_bytes);

/* (nullable): the name of a VFS that does this to the files of the default one; NULL, which means the default one, without memory.
 * Thread: any. */
const char *qd_temp_files_get_vfs(void);

/* All of them. Thread: any. */
uint64_t qd_temp_files_get_bytes(void);

/*
 * FALSE: the statement has to end. It has some, and its client more than QD_LIMIT_SHARE times what stays free below the limit
 * temp_file_bytes. Errors: DISK_FULL
 */
gboolean qd_temp_files_check(const QdLimits *limits, const QdMemoryUse *use, GError **error);
