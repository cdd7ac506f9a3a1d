/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the rows of a run come from: a statement of SQL, plain or packed (packing.h), or one of SPARQL and its encoder. If a packed
 * statement is a scan of a table, the rows after the first one come from the table's pages. With a condition all of them do
 * (table-scan.h). A long scan with another condition, or with expressions, is executed in ranges (ranges/scan-ranges.h).
 *
 * Place: room read, the lower half of a run. run.h steps it and knows when that has to end; here is what a step gives.
 * Invariant: a result begins again in another form only while none of its rows has left.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

#include "client-lib/wire/wire-page-reader.h"
#include "client-lib/wire/wire-page-writer.h"
#include "daemon/read/ranges/scan-ranges.h"
#include "daemon/read/table-scan.h"
#include "daemon/sqlite/guard/policy.h"

typedef struct QdCompiled QdCompiled;
typedef struct QdLimits QdLimits;
typedef struct QdParameters QdParameters;
typedef struct QdRdfEncoder QdRdfEncoder;
typedef struct QdReader QdReader;
typedef struct QdRunText QdRunText;
typedef struct QdSparqlPlan QdSparqlPlan;

typedef struct QdRowSource {
    QdReader *reader; /* (not owned) */
    const QdLimits *limits;
    QdCompiled *compiled;     /* (not owned) NULL: an update in SPARQL */
    sqlite3_stmt *stmt;       /* of compiled: as it is, or packed */
    const QdSparqlPlan *plan; /* (not owned) (nullable) SPARQL */
    QdRdfEncoder *encoder;    /* (not owned) (nullable) SPARQL; the connection's */
    gboolean may_pack;
    QdPool *pool;         /* (not owned) (nullable) */
    QdScanHelp help;      /* of other threads, if they may */
    QdScanRanges *ranges; /* (owned) (nullable): gives all rows of a packed statement */
    gboolean stepped;
    QdTableScan *scan;    /* (owned) (nullable): gives the rows after the first one of a packed statement */
    gboolean scans;       /* stands on a row of @scan, or at its end */
    gboolean holds;       /* the transaction of @scan, of @ranges or of the schema, until the end */
    QwPageWriter *writer; /* (not owned) of the fill */
    size_t kept_bytes;    /* of the page, while rows that were given are passed over */

    /* what was bound, for another form of the statement: one of these, or neither */
    const QdParameters *parameters; /* (not owned) (nullable) */
    QwPageReader row;               /* without data: none */
} QdRowSource;

/* @compiled: (nullable): it is compiled, also for the second time. Returns: whether there is one */
gboolean qd_row_source_set_compiled(QdRowSource *self, QdCompiled *compiled);

/* SQL, or what SPARQL has become. After a change the schema is read again; a query that is executed runs in the same snapshot, so
 * that this is done once. FALSE: the errors of qd_connection_compile() */
gboolean qd_row_source_compile(QdRowSource *self, const QdRunText *what, QdPolicy policy, GError **error);

/* SQL: values for one execution; NULL: none. What they refer to stays until qd_row_source_end(). BAD_PARAMETER. */
gboolean qd_row_source_bind_row(QdRowSource *self, const QwPageReader *row, GError **error);
gboolean qd_row_source_bind_parameters(QdRowSource *self, const QdParameters *parameters, GError **error);

/* Before the steps whose rows go to @writer; before the first of all it takes the form that has paid before. */
void qd_row_source_begin_fill(QdRowSource *self, QwPageWriter *writer);
/* @self->scan is unsure: SQLite steps in its place from here on. Returns: as sqlite3_step() */
int qd_row_source_leave_scan(QdRowSource *self);
/* The first step, by the schema that the file has now. Returns: as sqlite3_step() */
int qd_row_source_step_first(QdRowSource *self);
/* Inline: it is called for each row. Returns: as sqlite3_step() */
static inline int
qd_row_source_step(QdRowSource *self)
{
    gboolean first = !self->stepped;
    int r;

    self->stepped = TRUE;
    if (self->ranges != NULL)
        return qd_scan_ranges_step(self->ranges);
    self->scans = self->scan != NULL && (!first || qd_table_scan_filters(self->scan));
    if (!self->scans)
        return sqlite3_step(self->stmt);
    r = qd_table_scan_step(self->scan);
    return G_LIKELY(r != QD_TABLE_SCAN_UNSURE) ? r : qd_row_source_leave_scan(self);
}

/* The first step has given @r. From the second step on a scan of a table gives the rows, if it can. */
void qd_row_source_begin_scan(QdRowSource *self, int r);

/*
 * The first step has given @r, and not because the run shall end. TRUE: it went wrong since it was packed. @writer is as it was
 * with @used_before bytes, and the plain statement is to be stepped.
 */
gboolean qd_row_source_give_up_packing(QdRowSource *self, int r, QwPageWriter *writer, size_t used_before);
/* After the first step: whether the columns are other ones than those that it was compiled with. */
gboolean qd_row_source_has_new_columns(QdRowSource *self);

/* The row on which the statement stands. Returns: 0; -ENOBUFS: there is no room; -ENOMEM; -EIO with @error */
int qd_row_source_put_row(QdRowSource *self, QwPageWriter *writer, GError **error);
/* Within a step the rows of the page have been sent, and it was emptied. */
void qd_row_source_note_emptied(QdRowSource *self, const QwPageWriter *writer);
/* A row of the page that is not to count after all. */
void qd_row_source_drop_row(QdRowSource *self, QwPageWriter *writer, size_t used_before);
/* After -ENOBUFS: what a page for the row alone takes. */
size_t qd_row_source_get_row_size(QdRowSource *self);

/* The first page is full, of @n_rows of the result. TRUE: it pays to begin again, packed, and @writer is empty. */
gboolean qd_row_source_start_packing(QdRowSource *self, QwPageWriter *writer, uint64_t n_rows);

/* The statement is free for its next use, which begins in the form that pays after this one. It was used for @usec. */
void qd_row_source_end(QdRowSource *self, uint64_t n_rows, uint64_t n_bytes, uint64_t usec);
