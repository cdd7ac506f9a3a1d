/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All rows of a b-tree that can still be had from a damaged file.
 *
 * Place: room recover, for salvage, over page-file and page-cells. A page that is damaged loses what is on it and nothing else:
 * its children are found again as pages without a reference.
 * Invariant: a row is given only if its page says that it has its place there. Rowids are within the bounds that the pages
 * above name and in order, the payload is whole, no page is taken twice. A page with keys of another place is a loss.
 */
#pragma once

#include "daemon/recover/page-file.h"
#include "daemon/recover/tree-place.h"

typedef struct QdTreeScan QdTreeScan;

typedef struct QdTreeRow {
    gint64 rowid;       /* of a table */
    const guint8 *data; /* (borrowed until the function returns) a record */
    guint64 n_bytes;
} QdTreeRow;

/* FALSE with an error ends the scan; @ret_good: whether the row made sense */
typedef gboolean (*QdTreeRowFunc)(const QdTreeRow *row, gboolean *ret_good, gpointer data, GError **error);

/* A page that could not be used. */
typedef struct QdTreeLoss {
    guint32 page;
    gint64 first_rowid; /* of a table: what could have been there or below */
    gint64 last_rowid;
} QdTreeLoss;

typedef struct QdTreeResult {
    guint64 n_rows;          /* given, and found good */
    guint64 n_doubtful_rows; /* of them: nothing decides whether their page is of this tree */
    guint64 n_lost_rows;     /* cells of readable pages that were no good */
    GArray *losses;          /* of QdTreeLoss */
} QdTreeResult;

void qd_tree_result_init(QdTreeResult *self);
void qd_tree_result_clear(QdTreeResult *self);

/* @file: outlives the scan. @max_row_bytes: longer payloads are no rows */
QdTreeScan *qd_tree_scan_new(QdPageFile *file, guint64 max_row_bytes);
QdTreeScan *qd_tree_scan_free(QdTreeScan *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdTreeScan, qd_tree_scan_free)

/* First of all for each tree: notes which pages are referred to, so that double references are known. */
void qd_tree_scan_count(QdTreeScan *self, guint32 root);
/* For the next tree that is no table: the order of its keys. Without it no key is looked at. */
void qd_tree_scan_compare_by(QdTreeScan *self, QdTreeCompareFunc func, gpointer data);
/* Whether some pages have been counted twice. Then what follows is of use, for each tree, with the order of its keys. */
gboolean qd_tree_scan_is_disputed(const QdTreeScan *self);
/* Takes back what pages that are of another tree refer to. */
void qd_tree_scan_settle(QdTreeScan *self, guint32 root, gboolean is_table);
/* Whether the tree, which is no table, has its keys in that order. */
gboolean qd_tree_scan_is_in_order(QdTreeScan *self, guint32 root);
gboolean qd_tree_scan_run(QdTreeScan *self, guint32 root, gboolean is_table, QdTreeResult *result, QdTreeRowFunc func,
                          gpointer data, GError **error);

/* As if no page had been given out yet; what is done from then on can be forgotten at its own cost, again and again. */
void qd_tree_scan_forget(QdTreeScan *self);

/* A page of rows that no page refers to. */
typedef struct QdOrphan {
    guint32 page;
    gint64 first_rowid;
    gint64 last_rowid;
    guint n_fields; /* of its first record; 0: not known */
} QdOrphan;

/* Whether a page that nothing has taken yet is a whole leaf of a table. */
gboolean qd_tree_scan_is_leaf(QdTreeScan *self, guint32 page);

/* After all trees have been scanned. (transfer full): of QdOrphan, of tables only; empty when the list of free pages is not
 * whole, since old rows stand on free pages. *@ret_n_keyed: such pages of indexes and tables WITHOUT ROWID */
GArray *qd_tree_scan_find_orphans(QdTreeScan *self, guint *ret_n_keyed);
gboolean qd_tree_scan_run_orphan(QdTreeScan *self, const QdOrphan *orphan, QdTreeResult *result, QdTreeRowFunc func, gpointer data,
                                 GError **error);
