/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of one table, from the pages of its tree straight into pages of the wire.
 *
 * Place: room read, the third form of a row source (row-source.h). It is for a packed statement whose program only gives columns
 * of each row of a table. It may have a simple condition (scan-filter.h). Without a condition SQLite has stepped
 * it once and stands on its first row: it has checked the schema, and it holds the snapshot. The rows after that are read here.
 * With one SQLite would read up to the first row that passes, which may be none. So all rows are read here, and the caller has
 * checked the schema's version and holds the snapshot.
 * Invariant: the rows are those that SQLite would give, in its order. Nothing outside of a page is read, regardless of its content.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

#include "client-lib/wire/wire-page-writer.h"
#include "client-lib/wire/wire-value.h"
#include "daemon/read/scan-filter.h"

/* A step's result: only SQLite knows whether a row passes. */
#define QD_TABLE_SCAN_UNSURE (-1)

/* What of a row is given, proven from the program. One block: g_free(). */
typedef struct QdScanColumn {
    gint32 field;     /* of the record; -1: the rowid */
    gboolean is_real; /* an integer becomes a floating-point number */
} QdScanColumn;

typedef struct QdScanProgram {
    guint32 root; /* page */
    guint32 schema_version;
    guint32 n_fields; /* of the columns */
    guint32 n_columns;
    const QdScanColumn *columns;
    guint32 n_filter_fields; /* that the condition reads */
    guint32 n_steps;         /* 0: there is no condition */
    const QdScanStep *steps;
    guint32 n_constants;
    const QdScanConstant *constants;
} QdScanProgram;

/**
 * qd_scan_program_read:
 * @explain: EXPLAIN of the packed statement, whose function is @function
 * @n_columns: that it gives
 *
 * Returns: (transfer full) (nullable): NULL: it is not such a program
 */
QdScanProgram *qd_scan_program_read(sqlite3_stmt *explain, const char *function, guint n_columns);

typedef struct QdTableScan QdTableScan;

/* Before the transaction reads anything. @program outlives the scan. NULL: it is for SQLite alone. */
QdTableScan *qd_table_scan_new(sqlite3 *db, const QdScanProgram *program);
/* The value of a parameter that the program names, before qd_table_scan_begin(). @value is copied. FALSE: it is too large. */
gboolean qd_table_scan_set_constant(QdTableScan *self, const QdScanConstant *constant, const QwValue *value);
/* Before the transaction ends. */
QdTableScan *qd_table_scan_free(QdTableScan *self);

/* The transaction has begun. Without a condition SQLite's first step has given the first row, which is passed over here. FALSE:
 * SQLite has to give the others, too. */
gboolean qd_table_scan_begin(QdTableScan *self);
/* Whether it has a condition: it gives the first row, too. */
gboolean qd_table_scan_filters(const QdTableScan *self);
/* Returns: as sqlite3_step(); INTERRUPT when qd_interrupt_poll() says so; QD_TABLE_SCAN_UNSURE: SQLite has to begin again */
int qd_table_scan_step(QdTableScan *self);
/* How many rows the steps have given, and how many of the table they have seen. */
guint64 qd_table_scan_get_n_rows(const QdTableScan *self);
guint64 qd_table_scan_get_n_seen(const QdTableScan *self);
/* The row on which it stands. Returns: 0; -ENOBUFS: there is no room */
int qd_table_scan_put_row(const QdTableScan *self, QwPageWriter *writer);
/* What a page for the row alone takes. */
size_t qd_table_scan_get_row_size(const QdTableScan *self);
