/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * queryd_many: a table of one row that SQLite's planner takes for 2^20 rows.
 *
 *     WITH c(v) AS MATERIALIZED (SELECT … UNION ALL SELECT NULL FROM queryd_many WHERE 0) …
 *     EXISTS(SELECT 1 FROM queryd_many CROSS JOIN c WHERE c.v=outer.v)
 *
 * SQLite makes an automatic index of a table that it has evaluated only if it expects many rows of it, and many look-ups. Without
 * statistics it guesses one or ten. So generated SQL states the number (docs/decisions/joins.md).
 *
 * Place: room functions, internal to functions.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

/* Creates the table in @db. Returns: FALSE with INTERNAL when SQLite refuses. */
gboolean qd_many_register(sqlite3 *db, GError **error);
