/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All rows of one table, from the pages of its tree straight into pages of the wire.
 *
 * Place: room read, the third form of a row source (row-source.h). It is for a packed statement whose program only gives columns
 * of each row of a table. SQLite has stepped it once and stands on its first row: it has checked the schema, and it holds the
 * snapshot. The rows after that are read here.
 * Invariant: the rows are those that SQLite would give, in its order. Nothing outside of a page is read, regardless of its content.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

#include "client-lib/wire/wire-page-writer.h"

/* What of a row is given, proven from the program. One block: g_free(). */
typedef struct QdScanColumn {
    gint32 field;     /* of the record; -1: the rowid */
    gboolean is_real; /* an integer becomes a floating-point number */
} QdScanColumn;

typedef struct QdScanProgram {
    guint32 root; /* page */
    guint32 n_fields;
    guint32 n_columns;
    QdScanColumn columns[];
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

/* Before the statement's first step. @program outlives the scan. NULL: it is for SQLite alone. */
QdTableScan *qd_table_scan_new(sqlite3 *db, const QdScanProgram *program);
/* Before the statement is reset. */
QdTableScan *qd_table_scan_free(QdTableScan *self);

/* The first step has given a row, which is passed over here. FALSE: SQLite has to give the others, too. */
gboolean qd_table_scan_begin(QdTableScan *self);
/* Returns: as sqlite3_step(); INTERRUPT when qd_interrupt_poll() says so */
int qd_table_scan_step(QdTableScan *self);
/* The row on which it stands. Returns: 0; -ENOBUFS: there is no room */
int qd_table_scan_put_row(const QdTableScan *self, QwPageWriter *writer);
/* What a page for the row alone takes. */
size_t qd_table_scan_get_row_size(const QdTableScan *self);
