/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Columns in the file: rows of queryd_column, which docs/rdf-store.md describes.
 *
 * Place: room tally. Derived from the quads and never needed: what is missing, of another stamp or damaged is not used.
 * Invariant: a column that is read has the stamp of the predicate in the same snapshot, and every byte of it its sum. So neither a
 * crash between its parts nor a change without it can make others believe it.
 */
#pragma once

#include <sqlite3.h>

#include "daemon/tally/tally-pack.h"

/* Rows of one column, the head first. ?1: the predicate, ?2: the order */
#define QD_TALLY_FILE_READ "SELECT part, mark, body FROM queryd_column WHERE p=?1 AND ord=?2 ORDER BY part"

/* Which column. */
typedef struct QdTallyFileKey {
    gint64 predicate;
    QdTallyOrder order;
    gint64 stamp; /* of the predicate in this snapshot */
} QdTallyFileKey;

/**
 * qd_tally_file_read:
 * @stmt: QD_TALLY_FILE_READ with its arguments; to be reset by the caller
 * @room: what the statistics say at most
 * @ret_column: (out) (transfer full) (nullable): NULL: there is none that can be believed
 *
 * Returns: SQLITE_OK, SQLITE_NOMEM or SQLITE_INTERRUPT
 */
int qd_tally_file_read(sqlite3_stmt *stmt, const QdTallyFileKey *key, const QdTallyColumnRoom *room, QdTallyColumn **ret_column);

/* The writing of a column, in as many transactions as wanted. Only parts that differ are written, the head last. */
typedef struct QdTallyFileWriting QdTallyFileWriting;

/* @column: (transfer none): with the stamp that it is of. (transfer full) */
QdTallyFileWriting *qd_tally_file_writing_new(gint64 predicate, QdTallyColumn *column);
QdTallyFileWriting *qd_tally_file_writing_free(QdTallyFileWriting *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdTallyFileWriting, qd_tally_file_writing_free)

/* Of the whole column, packed. */
guint64 qd_tally_file_writing_get_n_bytes(const QdTallyFileWriting *self);

/**
 * qd_tally_file_writing_step:
 * @db: the writer's, in a transaction
 * @n_bytes: no more than about so many are compared and written
 *
 * It goes on from the last qd_tally_file_writing_keep(), so that a transaction can be tried again.
 *
 * Returns: SQLITE_DONE: it is whole; SQLITE_OK: there is more; or an error of SQLite
 */
int qd_tally_file_writing_step(QdTallyFileWriting *self, sqlite3 *db, guint64 n_bytes);
/* The transaction of the last step is committed. */
void qd_tally_file_writing_keep(QdTallyFileWriting *self);
