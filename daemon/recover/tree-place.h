/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether a page has its place where a page above refers to it, by the order of keys.
 *
 * Place: room recover, for tree-scan. A misdirected write leaves a page of another tree, or an old one. Its keys contradict the
 * pages above and those beside it.
 * Invariant: one wrong key in a page above makes no page foreign: those beside it say so, too. A page above whose own keys are in
 * disorder says nothing.
 */
#pragma once

#include "daemon/recover/page-file.h"
#include "daemon/sqlite/page-cells.h"

/* SQLite's own bound. */
#define QD_TREE_MAX_DEPTH 20u

/* *@ret_order: less than 0 when @a is before @b. FALSE: it is not known */
typedef gboolean (*QdTreeCompareFunc)(const QdPageCell *a, const QdPageCell *b, int *ret_order, gpointer data);

/* A page above, and through which of its children the way goes. */
typedef struct QdTreeFrame {
    const QdPageCells *cells; /* (not owned) */
    guint32 index;
    gboolean is_ordered;
} QdTreeFrame;

typedef struct QdTreePlace {
    QdPageFile *file;     /* (not owned) */
    guint8 *neighbour[2]; /* (owned) a page each */
    QdTreeFrame frames[QD_TREE_MAX_DEPTH + 1];
    QdTreeCompareFunc compare; /* (nullable): then no page is foreign */
    gpointer data;
    gboolean is_known_order; /* the tree has its keys in it: a page in another order is foreign */
} QdTreePlace;

void qd_tree_place_clear(QdTreePlace *self);

/* From here on @cells, which lives as long, is the page above all that are at a greater depth. */
void qd_tree_place_enter(QdTreePlace *self, guint depth, const QdPageCells *cells);
void qd_tree_place_go(QdTreePlace *self, guint depth, guint32 index);
/* Its keys are not of this place: they bound nothing. */
void qd_tree_place_distrust(QdTreePlace *self, guint depth);

/* Of keys beside each other, those that are not in their order. *@ret_n_pairs: that can be compared. It needs a function. */
guint qd_tree_place_count_wrong_pairs(const QdTreePlace *self, const QdPageCells *cells, guint *ret_n_pairs);
/* Whether most of the keys are in another order, or have another place. That is neither within the bounds that the pages above
 * name nor between the pages on both sides. *@ret_is_disordered: half of the keys or more are in another order. */
gboolean qd_tree_place_is_foreign(QdTreePlace *self, guint depth, const QdPageCells *cells, gboolean *ret_is_disordered);
/* The second half of it, of a page that is not within its bounds. */
gboolean qd_tree_place_is_among_others(QdTreePlace *self, guint depth, const QdPageCells *cells);
