/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Loads any number of quads in bounded memory, in two passes.
 *
 * Pass 1 (add) has no lock: terms get provisional ids, new ones go to a spool, quads to sorted runs. Pass 2 (commit), in one
 * transaction of the writer: terms are appended, quads merged into the table, indexes rebuilt if the load is large.
 *
 * Place: room quads, over dictionary and quads. Invariants: nothing is changed before commit; blank nodes are fresh for each load.
 */
#pragma once

#include "daemon/base/limits.h"
#include "daemon/rdf/term.h"
#include "daemon/sqlite/connection.h"

typedef struct QdBulkLoad QdBulkLoad;

/**
 * qd_bulk_load_new:
 * @reader: for looking terms up; used by this load alone meanwhile; must outlive @self
 * @directory: for temporary files
 * @graph: (nullable): IRI of the graph of quads that name none; copied
 * @limits: for import_memory_bytes
 */
QdBulkLoad *qd_bulk_load_new(QdConnection *reader, const char *directory, const char *graph, const QdLimits *limits,
                             GError **error);
QdBulkLoad *qd_bulk_load_free(QdBulkLoad *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdBulkLoad, qd_bulk_load_free)

/* A QdQuadFunc, with @self as data. */
gboolean qd_bulk_load_add(const QdTerm *s, const QdTerm *p, const QdTerm *o, const QdTerm *g, gpointer self, GError **error);
/* A QdPrefixFunc, with @self as data: kept if neither prefix nor namespace is in use. */
gboolean qd_bulk_load_add_prefix(const char *prefix, gsize n_prefix, const char *iri, gsize n_iri, gpointer self, GError **error);

/* Roughly what commit adds to the database file. */
guint64 qd_bulk_load_get_estimated_bytes(const QdBulkLoad *self);

/* What goes before the load comes, in the same transaction: nothing, the graph that was given to qd_bulk_load_new() (or the
 * default graph), or all graphs. */
typedef enum QdBulkReplace {
    QD_BULK_REPLACE_NOTHING,
    QD_BULK_REPLACE_GRAPH,
    QD_BULK_REPLACE_ALL,
} QdBulkReplace;

/* @writer: in a transaction. @ret_n_inserted: (out): quads that were not there before. After it nothing can be added. */
gboolean qd_bulk_load_commit(QdBulkLoad *self, QdConnection *writer, QdBulkReplace replace, guint64 *ret_n_inserted,
                             GError **error);
