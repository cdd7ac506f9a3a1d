/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How big the schema is: what each connection reads and keeps of it. Every client waits for that after a change of the schema.
 *
 * Place: room sqlite. Used by the writer's connection, within its transaction.
 * Invariant: no update of a client makes the schema grow beyond the limit 'schema_bytes'. A file may have brought a bigger one.
 */
#pragma once

#include "daemon/sqlite/connection.h"

/*
 * The texts of sqlite_schema, the rows of sqlite_stat1 and sqlite_stat4, and what SQLite keeps of them in the memory of a
 * connection. SQLite compares the indexes of a table with each other: a quarter of the square of their number is added. With 5,000
 * tables of 6 columns all that is 3.1 MB, and is measured in 2 ms. 0: it could not be measured, for want of memory, say.
 */
uint64_t qd_schema_size_measure(QdConnection *connection);

/* After a statement that makes the schema grow. Returns: false with TOO_BIG: the caller undoes what has been done */
gboolean qd_schema_size_check(QdConnection *connection, const QdLimits *limits, GError **error);
