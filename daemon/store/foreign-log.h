/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A log beside the database that is of another one. SQLite's log does not name its database: pages of any valid log replace those
 * of the file that it lies beside.
 *
 * Place: room store, before the database is opened.
 */
#pragma once

#include "daemon/sqlite/connection.h"

/**
 * qd_foreign_log_check:
 * @info: of the database, with its log
 * @limits: of the connections that read
 * @error: (nullable): location for an error
 *
 * Reads the file alone, and the file with its log. Neither is changed. A log that cannot be read, or that may be the file's own, is
 * not foreign.
 *
 * Errors: CORRUPT: the log is of another database
 */
gboolean qd_foreign_log_check(const QdConnectionInfo *info, const QdLimits *limits, GError **error);

/**
 * qd_foreign_log_set_aside:
 * @path: of the database. It is open nowhere
 * @limits: as above
 * @ret_aside: (out) (optional) (nullable) (transfer full): the new path of a log that was foreign
 * @error: (nullable): location for an error
 *
 * Renames a foreign log to "PATH-wal.foreign-TIME", which is never deleted.
 *
 * Returns: FALSE: a foreign log is still there
 */
gboolean qd_foreign_log_set_aside(const char *path, const QdLimits *limits, char **ret_aside, GError **error);
