/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite's files are opened without waiting.
 *
 * Place: room sqlite, below all connections of the daemon; not in an application, whose other databases it would touch.
 */
#pragma once

#include <glib.h>

/**
 * qd_open_files_init:
 * @error: (nullable): location for an error
 *
 * Opening a FIFO waits for another process that opens it, and no deadline ends that. From here on a FIFO in the place of a file
 * is an error.
 *
 * Thread: any, before SQLite is used. Again: nothing happens.
 * Errors: INTERNAL when SQLite's VFS cannot be changed.
 *
 * Returns: false on error
 */
gboolean qd_open_files_init(GError **error);
