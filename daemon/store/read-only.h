/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stores that cannot be written: how they are read, and what to do about it.
 */
#pragma once

#include <glib.h>

/**
 * qd_read_only_make_hint:
 * @directory: the store's
 * @errno_value: the error of what could not be opened or made for writing
 *
 * Returns: (transfer full): ": " and the reason, to follow a message
 */
char *qd_read_only_make_hint(const char *directory, int errno_value);

/**
 * qd_read_only_check_log:
 * @path: of the database
 * @refusal: the error of the lock: EROFS, EACCES
 * @hint: to follow the message
 * @ret_has_log: (out): there is a log that has to be read, too; untouched on failure
 * @error: (nullable): READ_ONLY if the log cannot be read, or a rollback journal has to be played back. CORRUPT if what would be
 * read is of another database
 *
 * Returns: whether the database can be read
 */
gboolean qd_read_only_check_log(const char *path, int refusal, const char *hint, gboolean *ret_has_log, GError **error);

/* Whether the folder, the database at @path and @lock can be written by now, as far as rights and mounts go. */
gboolean qd_read_only_is_over(const char *path, const char *lock);
