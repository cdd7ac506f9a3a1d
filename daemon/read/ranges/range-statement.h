/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The packed form of a statement (read/packing.h) for a range of rowids of the one table that it scans.
 *
 *     WITH queryd_rows(c0, c1) AS (the statement),
 *          "t"("id", "a") AS (SELECT "id", "a" FROM main."t" WHERE rowid BETWEEN ?1 AND ?2)
 *     SELECT queryd_pack(c0, c1) FROM queryd_rows
 *
 * Place: room read, for scans by several threads (scan-ranges.h).
 * Invariant: SQLite's program for it is that of the packed statement with other numbers of registers. Only in place of Rewind there
 * are a seek and a comparison of the rowid. So a row gives the same as there, and each row is in one range.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

#include "client-lib/wire/wire-page-reader.h"
#include "daemon/sqlite/connection.h"

/* The two bounds of a range are the parameters after the statement's own. */
#define QD_RANGE_N_PARAMETERS 2

/* What the packed statement scans, if it is one scan with functions that give the same anywhere. */
typedef struct QdRangeProof {
    GPtrArray *operations; /* (owned) of the packed statement */
    guint32 root;
    guint32 schema_version;
} QdRangeProof;

/* range-proof.c: @explain: EXPLAIN of the packed statement, whose function is @function. FALSE: it is not such a scan. */
gboolean qd_range_proof_init(QdRangeProof *self, sqlite3_stmt *explain, const char *function);
void qd_range_proof_clear(QdRangeProof *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(QdRangeProof, qd_range_proof_clear)
/* @explain: EXPLAIN of the statement with a range, which is given by @first_parameter and the next. TRUE: it is the same. */
gboolean qd_range_proof_holds(const QdRangeProof *self, sqlite3_stmt *explain, int first_parameter);

/**
 * qd_range_statement_find:
 * @compiled: a query of @connection; it may be running
 *
 * Compiles the form with a range, once.
 *
 * Returns: (transfer none) (nullable): NULL: SQLite makes another program of it, or it is no such scan
 */
const QdRanged *qd_range_statement_find(QdConnection *connection, QdCompiled *compiled, const QdLimits *limits);

/* With these values, too; see qd_packing_holds(). A transaction is open. */
gboolean qd_range_statement_holds(QdConnection *connection, const QdCompiled *compiled, const QdLimits *limits,
                                  const QwPageReader *values);
