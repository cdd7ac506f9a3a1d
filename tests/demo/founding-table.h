/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of the founding report, id and 30 texts of 20 random letters, and the two ways to read it whole.
 *
 * Place: shared by the demo and the benchmarks.
 * Both ways copy every value into the same kind of buffer, so that nothing is measured that the other one spares.
 */
#pragma once

#include <query-client.h>

#include "tests/demo/cell-sink.h"

#define FOUNDING_TEXTS 30

/* Creates @table and fills it through the daemon. Returns the milliseconds that the daemon took. */
double founding_table_create(QueryConnection *connection, const char *table, guint n_rows);

/* SELECT * through libquery-client. */
ReadResult founding_table_read(QueryConnection *connection, const char *table, ReadStyle style);

/* What is left of @cursor into @sink. */
void founding_table_drain(QueryCursor *cursor, CellSink *sink);

/* The same by SQLite in this process, from the file that the daemon owns, opened read-only for this; opening counts. */
ReadResult founding_table_read_directly(const char *path, const char *table, ReadStyle style);
