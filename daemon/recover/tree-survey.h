/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A look at some pages of a tree before it is scanned: how high it is, and whether its keys are in the expected order.
 *
 * Place: room recover, for tree-scan. All leaves of a tree are at the same depth. So a leaf above that depth is of another tree,
 * and so is a page with children at it.
 * Invariant: a page that is contradicted by most of its neighbours decides nothing.
 */
#pragma once

#include "daemon/recover/tree-claims.h"
#include "daemon/recover/tree-place.h"

typedef struct QdTreeSurvey {
    gint height; /* levels below the root; -1: it is not known */
    guint n_ordered;
    guint n_disordered; /* pages: most of their keys that can be compared are in another order */
} QdTreeSurvey;

void qd_tree_survey_run(QdTreeSurvey *self, const QdTreePlace *place, const QdTreeClaims *claims, guint32 root, gboolean is_table);
/* Whether the order of the keys is the expected one: then a page in another order is of another tree. */
gboolean qd_tree_survey_is_ordered(const QdTreeSurvey *self);
