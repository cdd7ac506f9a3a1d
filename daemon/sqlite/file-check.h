/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is checked before a database file is used: its file system, and the version of queryd that wrote it.
 *
 * Place: room sqlite. The same for the daemon and for an application that reads the file itself. Nothing is changed here.
 */
#pragma once

#include "daemon/sqlite/connection.h"

/* false with UNSUPPORTED for a network file system: SQLite can trust neither its locks nor its shared memory. */
gboolean qd_file_check_system(const char *directory, GError **error);

/**
 * qd_file_check_version:
 * @connection: open on the file
 * @path: of the file, for the message
 * @error: (nullable): location for an error
 *
 * Errors: UNSUPPORTED when a newer queryd wrote the file; CORRUPT and what else reading gives, since this reads it first.
 *
 * Returns: true for our own versions and for a file that was never a store
 */
gboolean qd_file_check_version(QdConnection *connection, const char *path, GError **error);
