/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables of one row by which generated SQL says what SQLite does not find by itself.
 *
 * queryd_many is taken for 2^20 rows by SQLite's planner.
 *
 *     WITH c(v) AS MATERIALIZED (SELECT … UNION ALL SELECT NULL FROM queryd_many WHERE 0) …
 *     EXISTS(SELECT 1 FROM queryd_many CROSS JOIN c WHERE c.v=outer.v)
 *
 * SQLite makes an automatic index of a table that it has evaluated only if it expects many rows of it, and many look-ups. Without
 * statistics it guesses one or ten. So generated SQL states the number (docs/decisions/joins.md).
 *
 * queryd_memo(v1, …, v4) remembers what a costly condition was for these values while the statement runs (daemon/functions/memo.c).
 *
 *     SELECT … FROM … CROSS JOIN queryd_memo(a, b) AS m WHERE ifnull(m.value, queryd_memo_put(m.entry, EXISTS(…)))
 *
 * SQLite evaluates a correlated EXISTS for each row. Here it is evaluated once for each combination of values, without a table of
 * all rows. Values are ids or NULL; with any other nothing is remembered. The memory is SQLite's, which counts for the query.
 * queryd_memo_put(entry, value) returns the value.
 *
 * Place: room functions, internal to functions.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

/* Creates the table in @db. Returns: FALSE with INTERNAL when SQLite refuses. */
gboolean qd_many_register(sqlite3 *db, GError **error);
/* The same for the other, and its function. */
gboolean qd_memo_register(sqlite3 *db, GError **error);
