/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Columns, lists and counts of the file, by one connection, in its snapshot.
 *
 * Place: room tally. A column comes from the cache, or from an earlier one and what has changed since. Else it is read: as it is
 * stored in the file (tally-file.h), or from the index posg.
 */
#pragma once

#include <sqlite3.h>

#include "daemon/tally/tally-column.h"

/* Reads columns by one connection, in its snapshot; statements are compiled at first use. */
typedef struct QdTallyReader QdTallyReader;

/* What the function that takes a column's pairs adds to; NULL while none is read. */
typedef struct QdTallyTaking QdTallyTaking;

/* Once for a connection: @taking outlives it. Returns: SQLITE_OK, or an error of SQLite */
int qd_tally_reader_register(sqlite3 *db, QdTallyTaking **taking);

/**
 * qd_tally_reader_new:
 * @db: outlives the reader
 * @taking: that of qd_tally_reader_register()
 * @cache_bytes: of the columns that the process keeps; with those in use all take at most twice as much
 *
 * Thread: as all functions of a reader the one that uses the connection.
 *
 * Returns: (transfer full)
 */
QdTallyReader *qd_tally_reader_new(sqlite3 *db, guint64 cache_bytes, QdTallyTaking **taking);
QdTallyReader *qd_tally_reader_free(QdTallyReader *self);

/* What was given so far counts no more for the bytes in use: a new execution. */
void qd_tally_reader_reset(QdTallyReader *self);

/**
 * qd_tally_reader_get:
 * @predicate: an id; one that is not stored has an empty column
 * @ret_column: (out) (transfer full): unset on failure
 *
 * Returns: SQLITE_OK, SQLITE_INTERRUPT, SQLITE_NOMEM (too large), or another error of SQLite
 */
int qd_tally_reader_get(QdTallyReader *self, gint64 predicate, QdTallyOrder order, QdTallyColumn **ret_column);

/* The column by object as the index has it, regardless of what is cached or stored; and that which is stored, (nullable). Neither
 * is cached. Returns: as above */
int qd_tally_reader_get_indexed(QdTallyReader *self, gint64 predicate, QdTallyColumn **ret_column);
/* A column by object the other way round. */
int qd_tally_reader_transpose(const QdTallyReader *self, const QdTallyColumn *by_object, QdTallyColumn **ret_by_subject);
int qd_tally_reader_get_stored(QdTallyReader *self, gint64 predicate, QdTallyOrder order, QdTallyColumn **ret_column);

/* The sorted ids of subjects (of @predicate and @other, an object), or of objects (of @predicate and @other, a subject). @ret_ids:
 * (out) (array) (transfer full): sqlite3_free() */
int qd_tally_reader_list(QdTallyReader *self, gint64 predicate, gint64 other, QdTallyOrder order, gint64 **ret_ids, gsize *ret_n);

/* Columns that this process has read from the index, and those that were stored in the file. Thread: any */
guint64 qd_tally_reader_get_n_indexed(void);
guint64 qd_tally_reader_get_n_stored(void);

typedef struct QdTallyStatistics {
    gint64 n_quads, n_subjects, n_objects;
} QdTallyStatistics;

/* Exact numbers of @predicate in the default graph. *@ret_known is FALSE where other graphs have quads, too. */
int qd_tally_reader_count(QdTallyReader *self, gint64 predicate, QdTallyStatistics *ret_statistics, gboolean *ret_known);

/* Which objects count. */
typedef enum QdTallyObjects {
    QD_TALLY_OBJECTS_ALL,
    QD_TALLY_OBJECTS_LITERAL,
    QD_TALLY_OBJECTS_IRI,
    QD_TALLY_OBJECTS_BLANK,
    QD_TALLY_N_OBJECTS,
} QdTallyObjects;

/* The predicates of the default graph, sorted, and how many of its quads with such @objects each has, if any. Both arrays (transfer
 * full): sqlite3_free() */
int qd_tally_reader_list_predicates(QdTallyReader *self, QdTallyObjects objects, gint64 **ret_ids, guint64 **ret_counts,
                                    gsize *ret_n);
