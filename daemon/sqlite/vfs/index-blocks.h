/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log's index (-shm) is written through a mapping. A page for which the disk has no block is a SIGBUS there, and an error here.
 *
 * Place: room sqlite, below the connections of the daemon and of an application.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

/* Makes mapped pages of a file writable. Returns: 0; EFAULT: the disk has no room; or another error: Linux before 5.14 does not
 * say. Thread: any. */
int qd_index_blocks_populate(void *data, gsize n_bytes);

/* xShmMap of @methods, SQLite's own. FULL: the disk has no blocks for all of the block. Thread: the connection's. */
int qd_index_blocks_map(const sqlite3_io_methods *methods, sqlite3_file *file, int i, int n_bytes, int extends,
                        void volatile **ret_block);

/* xShmLock of @methods. An exclusive lock is for a change. Without room for that it is FULL, or BUSY where it is a reader's, which
 * uses another one then. */
int qd_index_blocks_lock(const sqlite3_io_methods *methods, sqlite3_file *file, int first, int n, int flags);

/* xShmUnmap of @methods: each connection that has called the first of these ends with it. */
int qd_index_blocks_unmap(const sqlite3_io_methods *methods, sqlite3_file *file, int deletes);

/* FALSE: the disk has no room for changes to the index of @file. Thread: the connection's. */
gboolean qd_index_blocks_can_write(const sqlite3_file *file);

/* Notes whether the file system of @path writes in place. Thread: any. */
void qd_index_blocks_note_system(const char *path);

/* @file: a database's, at @path, which SQLite's VFS "unix" has opened. Files of another class of calls than the first one's are
 * left alone. Thread: any. */
void qd_index_blocks_watch(sqlite3_file *file, const char *path);
