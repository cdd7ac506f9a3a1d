/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of the founding report, id and 30 texts of 20 random letters, and the two ways to read it whole.
 *
 * Place: shared by the demo and the benchmarks.
 * Both ways copy every value into the same kind of buffer, so that nothing is measured that the other one spares.
 */
#pragma once

#include <query-client.h>

#define FOUNDING_TEXTS 30

typedef enum ReadStyle {
    READ_COPY,     /* every value is copied into a buffer that the next row uses again */
    READ_KEEP,     /* every value is copied and kept until the end */
    READ_CHECKSUM, /* as COPY, and a checksum over all values */
} ReadStyle;

typedef struct ReadResult {
    guint64 n_rows;
    guint64 n_bytes;
    guint64 checksum;
    double msec;                 /* call to end of the last row */
    double first_row_msec;       /* call to first row */
    double first_row_after_msec; /* return of the call to first row */
} ReadResult;

/* Creates @table and fills it through the daemon. Returns the milliseconds that the daemon took. */
double founding_table_create(QueryConnection *connection, const char *table, guint n_rows);

/* SELECT * through libquery-client. */
ReadResult founding_table_read(QueryConnection *connection, const char *table, ReadStyle style);

/* The same by SQLite in this process, from the file that the daemon owns, opened anew read-only; opening counts. */
ReadResult founding_table_read_directly(const char *path, const char *table, ReadStyle style);
