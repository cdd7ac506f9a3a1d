/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * queryd_memo(v1, …, v4): one row, which remembers what a costly condition was for these values while the statement runs.
 *
 *     SELECT … FROM … CROSS JOIN queryd_memo(a, b) AS m WHERE ifnull(m.value, queryd_memo_put(m.entry, EXISTS(…)))
 *
 * SQLite evaluates a correlated EXISTS for each row. Here it is evaluated once for each combination of values, without a table of
 * all rows. Values are ids or NULL; with any other nothing is remembered. The memory is SQLite's, which counts for the query.
 *
 * Place: room functions, internal to functions. queryd_memo_put(entry, value) returns @value.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

/* Creates the table and the function in @db. Returns: FALSE with INTERNAL when SQLite refuses. */
gboolean qd_memo_register(sqlite3 *db, GError **error);
