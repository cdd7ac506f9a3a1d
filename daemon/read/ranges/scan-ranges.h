/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A scan of one table that SQLite executes in ranges of rowids, so that other threads can help.
 *
 * Place: room read, the fourth form of a row source (row-source.h). The thread that has the run gives all rows, in order. Helpers
 * are threads that have nothing else to do. Each leases a connection, whose snapshot has to be that of the run.
 * Invariant: rows and errors are those of the packed statement, in its order. A range in which a helper fails is executed by the
 * run itself.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

#include "client-lib/wire/wire-page-reader.h"
#include "client-lib/wire/wire-page-writer.h"

typedef struct QdCompiled QdCompiled;
typedef struct QdLimits QdLimits;
typedef struct QdPool QdPool;
typedef struct QdReader QdReader;
typedef struct QdScanRanges QdScanRanges;
typedef struct QdScanShare QdScanShare;

/* Whether another thread can help: TRUE: it owns @share, and calls qd_scan_share_help(). Called on the run's thread. @share:
 * (nullable): NULL: it is only asked */
typedef gboolean (*QdScanHelpFunc)(void *data, QdScanShare *share);
/* Asked by a helper every few milliseconds. TRUE: others wait for the thread. */
typedef gboolean (*QdScanLeaveFunc)(void *data);

/* Who may be asked for help. */
typedef struct QdScanHelp {
    QdScanHelpFunc func; /* (nullable) */
    void *data;
} QdScanHelp;

/* What a scan in ranges is made of; all but @parameters outlive it. */
typedef struct QdScanSetup {
    QdPool *pool;
    QdReader *reader; /* of the run: it is in no transaction */
    QdCompiled *compiled;
    const QdLimits *limits;
    QdScanHelp help;
    QwPageReader parameters; /* without data: none. What it points to outlives the scan */
    GBytes *bytes;           /* (nullable): it points to these */
} QdScanSetup;

/**
 * qd_scan_ranges_new:
 *
 * Begins a transaction of the reader's connection, which the caller ends after the scan.
 *
 * Returns: (nullable): NULL: the statement is for one thread; no transaction is open
 */
QdScanRanges *qd_scan_ranges_new(const QdScanSetup *setup);
/* Waits until no helper uses anything of the run. */
QdScanRanges *qd_scan_ranges_free(QdScanRanges *self);

/* Where packed rows go: before each fill, and when a row is kept by the packer. */
void qd_scan_ranges_begin_fill(QdScanRanges *self, QwPageWriter *writer, size_t max_row_bytes);
/* Returns: as sqlite3_step() */
int qd_scan_ranges_step(QdScanRanges *self);
/* As in row-source.h. */
int qd_scan_ranges_put_row(QdScanRanges *self, QwPageWriter *writer);
size_t qd_scan_ranges_get_row_size(const QdScanRanges *self);

/*
 * Executes ranges until there are none, or @leave (with @data) says so. Consumes @share.
 *
 * Thread: any that runs no statement.
 * Returns: how many ranges it has done
 */
guint qd_scan_share_help(QdScanShare *share, QdScanLeaveFunc leave, void *data);
/* Instead of that: no thread has come. Consumes @share. */
void qd_scan_share_refuse(QdScanShare *share);
