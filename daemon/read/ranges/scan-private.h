/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the runner of a scan in ranges and its helpers share.
 *
 * Place: private to scan-ranges.c and scan-helper.c.
 */
#pragma once

#include "daemon/read/ranges/range-ring.h"
#include "daemon/read/ranges/scan-ranges.h"
#include "daemon/sqlite/snapshot.h"

typedef struct QdAccess QdAccess;
typedef struct QdClient QdClient;

/* Never changes but for the ring. Of what is not its own a helper uses nothing after it has left the ring. */
struct QdScanShare {
    gint ref_count;
    QdRangeRing *ring; /* (owned) */
    QdPool *pool;
    QdClient *client;       /* (owned) */
    const QdAccess *access; /* (nullable) */
    const QdLimits *limits;
    char *text; /* (owned) */
    gsize n_text_bytes;
    QdSnapshot snapshot; /* of the run: to be compared */
    QwPageReader parameters;
};

void qd_scan_share_unref(QdScanShare *self);

/* A connection that executes ranges. */
typedef struct QdRangeWorker {
    QdReader *reader;
    const QdCompiled *compiled;
    const QdLimits *limits;
    const QwPageReader *values; /* of the statement's parameters, or with data NULL: it has none */
    sqlite3_stmt *stmt;         /* of @compiled, for a range */
} QdRangeWorker;

/*
 * Binds @values to the statement that qd_range_statement_find() gave for @reader, in a transaction. FALSE: they do not fit, or it
 * is not proven with them.
 */
gboolean qd_range_worker_init(QdRangeWorker *self, QdReader *reader, const QdCompiled *compiled, const QdLimits *limits,
                              const QwPageReader *values);

/* Binds the bounds of @range. */
gboolean qd_range_worker_begin(const QdRangeWorker *self, const QdRange *range);
/* All rows of @range go to its own page. Returns: DONE; FULL: there are too many; an error. The statement is reset. */
int qd_range_worker_run(const QdRangeWorker *self, QdRange *range);
