/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A log or a rollback journal beside the database that is of another one. SQLite's do not name their database: pages of any valid
 * one replace those of the file that it lies beside.
 *
 * Place: room store, before the database is opened.
 */
#pragma once

#include <glib.h>

/**
 * qd_foreign_log_find:
 * @path: of the database. No connection of this process may be open on it
 *
 * Compares the file alone with its rollback journal, and with itself under its log. All are only read. What cannot be read, or may
 * be the file's own, is not foreign.
 *
 * Returns: (nullable): how the name of one that is of another database goes on after @path
 */
const char *qd_foreign_log_find(const char *path);
/* *@ret_asides: (transfer full): the new paths of all that was there, which were renamed. Never deletes */
gboolean qd_foreign_log_set_aside(const char *path, char ***ret_asides, GError **error);
