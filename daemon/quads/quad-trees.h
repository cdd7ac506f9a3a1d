/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The trees of queryd_quad – its primary key and its indexes – each as a table of its own, to be filled in its key's order.
 *
 * Place: room quads, for bulk-load. An INSERT into queryd_quad puts each quad into every tree, and only one of them gets it in
 * order; CREATE INDEX sorts by comparing rows. Here all trees get what was sorted elsewhere (docs/decisions/bulk-load.md).
 *
 * Invariants: nothing of this is in the file or seen by another connection. A caller that fills one tree fills all with the
 * same quads; if that fails the transaction has to be rolled back.
 */
#pragma once

#include "daemon/quads/insert-source.h"
#include "daemon/quads/sorter.h"

/* As a sorter makes them: each has a column of the one before moved to the front. */
typedef enum QdQuadTree {
    QD_QUAD_TREE_OSPG,
    QD_QUAD_TREE_POSG,
    QD_QUAD_TREE_SPOG, /* the table itself */
    QD_QUAD_TREE_GSPO, /* of named graphs only */
    QD_QUAD_N_TREES,
} QdQuadTree;

/* The columns of a tree: indexes into (s, p, o, g). */
extern const QdSorterOrder qd_quad_tree_orders[QD_QUAD_N_TREES];

typedef struct QdQuadTrees QdQuadTrees;

/* FALSE with an SQLite that has not what this needs: it is tried once, in memory. */
gboolean qd_quad_trees_are_usable(void);

/* The writer's connection, in a transaction, with its guard at QD_POLICY_INTERNAL. */
QdQuadTrees *qd_quad_trees_open(QdConnection *connection, GError **error);
/* Statements of the connection are recompiled after it. */
QdQuadTrees *qd_quad_trees_close(QdQuadTrees *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdQuadTrees, qd_quad_trees_close)

/* @insert_source: rows of four ids in the tree's order of columns; rows that are there are ignored. @ret_n_inserted: (out)
 * (optional) */
gboolean qd_quad_trees_fill(QdQuadTrees *self, QdQuadTree tree, const QdInsertSource *insert_source, guint64 *ret_n_inserted,
                            GError **error);
