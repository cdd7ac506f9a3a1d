/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log's index (-shm) on a full disk. It keeps the room that it has, and is in memory where it can have none.
 *
 * Place: room sqlite, below all connections of the daemon; not in an application, since the locks that it needs are those of
 * index-locks.h. Invariant: while the index is in memory, no other program has one, so none reads or writes the log.
 * docs/decisions/full-disk.md
 */
#pragma once

#include <glib.h>

/**
 * qd_index_file_init:
 * @error: (nullable): location for an error
 *
 * From here on SQLite gives no block of an index back when it begins a new one.
 *
 * Thread: any, before SQLite is used. Again: nothing happens.
 * Errors: INTERNAL when SQLite's VFS cannot be changed.
 *
 * Returns: false on error
 */
gboolean qd_index_file_init(GError **error);

/* What SQLite's open() gives for @fd, which it has opened by @path for reading and writing; consumes @fd. A file that is no index
 * is left alone. Thread: any. */
int qd_index_file_adopt(int fd, const char *path);
/* Before SQLite closes @fd, one of its files. Thread: any. */
void qd_index_file_forget(int fd);

/* Whether an index is in memory now. Thread: any. */
gboolean qd_index_file_is_in_memory(void);
