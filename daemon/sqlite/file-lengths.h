/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether another program has shortened the files of an open store, or put something else in their place.
 *
 * Place: room sqlite, beside file-watch.h, which looks at their names.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

/**
 * qd_file_lengths_check_log:
 * @db: of a connection of the daemon. Others are not looked at
 * @only_needed: a log that is in the database already does not count; a snapshot may need it all the same
 *
 * Thread: the connection's.
 * Errors: READ_ONLY: the message says what to do
 *
 * Returns: FALSE: the log is shorter than its index says
 */
gboolean qd_file_lengths_check_log(sqlite3 *db, gboolean only_needed, GError **error);
/* The same of the database. Errors: CORRUPT */
gboolean qd_file_lengths_check_database(sqlite3 *db, GError **error);
/* @path: of a database. FALSE with READ_ONLY: it, its log or the log's index is no file any more, but a FIFO, a folder or the like.
 */
gboolean qd_file_lengths_check_kinds(const char *path, GError **error);
