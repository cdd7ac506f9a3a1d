/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Why the system refuses a file of the store, in words that say what to do.
 */
#pragma once

#include <glib.h>

/**
 * qd_file_trouble_set:
 * @error: (nullable): location for the error
 * @errno_value: the system's error
 * @format: what failed, with the file's path
 *
 * As qd_error_set_errno(), with advice after it.
 */
void qd_file_trouble_set(GError **error, int errno_value, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Whether the disk, or what is mounted, has failed or does not take anything: no fault of the call. */
gboolean qd_file_trouble_is_of_disk(int errno_value);

/**
 * qd_file_trouble_explain_read_only:
 * @path: of the database
 * @error: (nullable): set if a cause was found; READ_ONLY for what rights or the disk forbid
 *
 * SQLite opens for reading what it cannot open for writing, and says READ_ONLY at the first write, for any reason. This tries to
 * open the database, its log and the log's index for writing.
 *
 * Returns: whether the cause was found
 */
gboolean qd_file_trouble_explain_read_only(const char *path, GError **error);
