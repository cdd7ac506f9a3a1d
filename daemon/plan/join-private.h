/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of join orders share: the parts of a join, and what is known of them.
 *
 * Place: room plan, of join-order.c and join-search.c; all in the AST's arena. Used by the thread that compiles.
 */
#pragma once

#include "daemon/plan/sqlgen-private.h"

#define WHOLE_PARTS_MAX 20 /* of a join there */
#define QD_JOIN_GAIN 0.4   /* of its cost that another order may have */

typedef struct QdJoinCounts {
    double n_quads, n_subjects, n_objects;
} QdJoinCounts;

/* What is bound before a part: maybe, as OPTIONAL and UNION leave it, and in each solution. */
typedef struct QdJoinKnown {
    QdVariableSet possible, sure;
    gboolean is_careful; /* triples of a join with a path are not looked up by what may be unbound, which has no index */
} QdJoinKnown;

/* What is known of a part before anything is bound; asked of the catalog once. */
typedef struct QdJoinItem {
    const QdAlgebra *node;
    QdJoinCounts counts;
    double n_probed; /* rows that match the constants; negative: not counted */
    double n_whole;  /* of a part that is evaluated by itself */
    QdSampleCount sampled;
    gboolean is_known;           /* @sampled is */
    gboolean is_sampled;         /* it was asked for */
    guint index;                 /* as it is written */
    QdVariableSet named;         /* its variables, also those of conditions */
    QdVariableSet needed, fixed; /* of what follows others: those that they bind in each solution, and not */
} QdJoinItem;

/* How far an estimate looks into what is evaluated by itself, and whether it counts there. */
typedef struct QdJoinDepth {
    guint n_levels;
    gboolean counts;
} QdJoinDepth;

/* What is known of an order that was made, (nullable) for each part. */
typedef struct QdJoinResult {
    double *rows, *looked_at; /* as of an Order */
    double cost;
} QdJoinResult;

QdJoinItem qd_join_item_make(QdGenerator *self, const QdAlgebra *node, const QdJoinKnown *known, QdJoinDepth depth);
/* Rows of @item for each that is there, by statistics alone. */
double qd_join_item_estimate(QdGenerator *self, const QdJoinItem *item, const QdJoinKnown *known);
/* What @node binds is known, too. */
void qd_join_known_add(QdGenerator *self, QdJoinKnown *known, const QdAlgebra *node);

/* Sorts @children (of @n), which come after what is known @before (nullable). Sets @result; returns how many rows there are in the
 * end. */
double qd_join_search(QdGenerator *self, const QdAlgebra **children, guint n, const QdJoinKnown *before, QdJoinDepth depth,
                      QdJoinResult *result);
