/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A log beside the database that is of another one. SQLite's log does not name its database: pages of any valid log replace those
 * of the file that it lies beside.
 *
 * Place: room store, before the database is opened.
 */
#pragma once

#include <glib.h>

/**
 * qd_foreign_log_is_there:
 * @path: of the database. No connection of this process may be open on it
 *
 * Compares the file alone with the file under its log. Both are only read. A log that cannot be read, or that may be the file's
 * own, is not foreign.
 *
 * Returns: whether the log is of another database
 */
gboolean qd_foreign_log_is_there(const char *path);
