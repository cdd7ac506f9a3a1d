/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which tables the program of a statement opens, as EXPLAIN shows it.
 *
 * Place: room sqlite. The authorizer hears nothing of a table of which only USING, NATURAL or FULL JOIN names columns, nor of one
 * that INSERT … SELECT * copies whole. The program opens each tree that it reads. Thread: the one that runs the connection.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

/* Page where it begins → name of the table, also of its indices. NULL: SQLite's error is in @db. */
GHashTable *qd_opened_tables_list_roots(sqlite3 *db);

/* Whether @text may have a join that hides names from the authorizer. */
gboolean qd_opened_tables_are_hidden(const char *text);

/*
 * Adds to @tables (of char *) those that the program of @text opens, and QD_OPENED_ANY for a virtual table that may be hidden.
 * @text: is no EXPLAIN and no PRAGMA, which EXPLAIN may execute. SQLite's code: not SQLITE_OK: its error is in @db.
 */
int qd_opened_tables_add(sqlite3 *db, const char *text, GPtrArray *tables);

#define QD_OPENED_ANY "sqlite_schema" /* a read set with this name meets each change */
