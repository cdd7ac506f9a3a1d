/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Circles of a path's links: the strongly connected components of what seeds lead to, by Tarjan's algorithm, in one pass for all of
 * them. They are numbered so that each leads to lower ones alone. So many questions whether one node leads to another need no
 * search.
 *
 * Place: internal to closure.
 */
#pragma once

#include "daemon/functions/closure/closure-graph.h"

typedef enum QdClosureAnswer { QD_CLOSURE_UNKNOWN, QD_CLOSURE_NO, QD_CLOSURE_YES } QdClosureAnswer;

typedef struct QdClosureMark {
    guint32 order;     /* in which it was met; 0: it was not */
    guint32 low;       /* the lowest order that it leads back to */
    guint32 component; /* 0: not known yet */
    gboolean is_on_circle;
} QdClosureMark;

typedef struct QdClosureCircles {
    QdClosureMark *marks; /* of each vertex */
    gsize n_marks;
    guint32 n_components;
    gsize n_next; /* what has to be spent before another walk, when the last one met too many */
} QdClosureCircles;

void qd_closure_circles_clear(QdClosureCircles *self);
/*
 * Whether links lead from @from to @to, one link at least. @n_spent: vertices that searches have met so far. No more of them are
 * met for the components of what @from leads to, and none while searches are cheap. Unknown: it takes a search. Returns: a code of
 * SQLite's
 */
int qd_closure_circles_ask(QdClosureCircles *self, QdClosureGraph *graph, guint32 from, guint32 to, gsize n_spent,
                           QdClosureAnswer *ret_answer);
