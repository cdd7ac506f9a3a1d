/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite's locks in the index of the log (-shm), which say which connections read and write, as locks of the open file
 * description.
 *
 * Place: room sqlite, below all connections of the daemon; not in an application that reads the file itself, whose locks are its
 * own.
 * Invariant: no descriptor that this process closes takes one of these locks with it but SQLite's own.
 */
#pragma once

#include <glib.h>

/**
 * qd_index_locks_init:
 * @error: (nullable): location for an error
 *
 * A client may pass us a descriptor of the file. When a process closes any descriptor of a file, the kernel drops all POSIX
 * locks that the process has on it. Other programs then would write beside our writer, reset a log that our readers need, and
 * cut off memory that is mapped here. From here on the default VFS asks for locks that belong to its one descriptor. To other
 * programs they look the same.
 *
 * Thread: any, before SQLite is used. Again: nothing happens.
 * Errors: INTERNAL when SQLite's VFS cannot be changed.
 *
 * Returns: false on error
 */
gboolean qd_index_locks_init(GError **error);

/* A lock is kept now that was not. On the thread that uses SQLite, under a mutex: it may only wake a thread. */
typedef void (*QdIndexLocksKeptFunc)(void *data);

/**
 * qd_index_locks_keep:
 * @func: (nullable): NULL: none is kept any more
 *
 * From here on the lock of a snapshot that has ended stays until qd_index_locks_release(), which @func has called within a second.
 * Meanwhile other programs can neither restart the log nor copy all of it, as beside a reader.
 *
 * Thread: any.
 */
void qd_index_locks_keep(QdIndexLocksKeptFunc func, void *data);
/* Thread: any. */
void qd_index_locks_release(void);
