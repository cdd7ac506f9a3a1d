/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log's index (-shm) is written through a mapping. A page for which the disk has no block is a SIGBUS there, and an error here.
 *
 * Place: room sqlite, below the connections of the daemon and of an application.
 */
#pragma once

#include <sqlite3.h>

/* xShmMap of @methods, SQLite's own. FULL: the disk has no blocks for all of the block. Thread: the connection's. */
int qd_index_blocks_map(const sqlite3_io_methods *methods, sqlite3_file *file, int i, int n_bytes, int extends,
                        void volatile **ret_block);

/* xShmUnmap of @methods: each connection that has called the above ends with it. */
int qd_index_blocks_unmap(const sqlite3_io_methods *methods, sqlite3_file *file, int deletes);

/* @file: a database's, which SQLite's VFS "unix" has opened. Files of another class of calls than the first one's are left alone.
 * Thread: any. */
void qd_index_blocks_watch(sqlite3_file *file);
