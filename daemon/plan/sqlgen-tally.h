/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the two files of tallies share: the program under way.
 *
 * Place: private to sqlgen-tally.c, which decides, and sqlgen-tally-parts.c, which writes the program of a pattern.
 */
#pragma once

#include "daemon/plan/sqlgen-private.h"

#define QD_TALLY_IDS_MAX 40 /* of a program */

typedef struct QdTallyDraft {
    QdGenerator *generator;
    GString *program;
    const QdTerm *terms[QD_TALLY_IDS_MAX];
    guint n_terms;
    double n_pairs, n_bytes; /* of the columns */
    guint n_levels;
} QdTallyDraft;

/*
 * Appends the program of @node, of whose solutions the values of @root are asked for. Conditions that no part is made of are
 * added to @conditions, to be tested of these values. FALSE: it is no tree of parts.
 */
gboolean qd_tally_write(QdTallyDraft *self, const QdAlgebra *node, guint root, GPtrArray *conditions);

/* The same of the pairs of two variables, @roots, which triples lead between. */
gboolean qd_tally_write_pairs(QdTallyDraft *self, const QdAlgebra *node, const guint *roots, GPtrArray *conditions);

/* Whether @node leaves of an OPTIONAL the solutions that have none: FILTER(!BOUND(?x)), which its right side alone binds. */
gboolean qd_tally_is_absence(const QdAlgebra *node);

/* Whether @expression is ?s = ?o or ?s != ?o of each triple of @node, one or a UNION: a condition that parts are made of. */
gboolean qd_tally_compares_ends(const QdExpression *expression, const QdAlgebra *node);

/* The solutions of @node that bind @variable: its OPTIONAL becomes a join. NULL: there is no pattern for them. */
QdAlgebra *qd_tally_require(QdGenerator *self, const QdAlgebra *node, guint variable);

gboolean qd_node_is_variable(const QdNode *node, guint variable);
