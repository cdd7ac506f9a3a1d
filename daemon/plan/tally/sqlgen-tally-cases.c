/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Patterns that are tallied instead of a pattern. These are its cases, by the arms of a UNION that binds what is asked for. Or they
 * are its solutions that bind a variable.
 */
#include "daemon/plan/tally/sqlgen-tally.h"

/* --- cases: the solutions of a join with a UNION are those of the joins with each of its arms --------------------------- */

/* Whether @node binds one of @roots that no other child of @join does. */
static gboolean
binds_root(const QdAlgebra *join, const QdAlgebra *node, const guint *roots, guint n_roots)
{
    for (guint i = 0; i < n_roots; i++) {
        gboolean is_alone = qd_variable_set_has(&node->possible, roots[i]);

        for (guint k = 0; k < join->n_children && is_alone; k++)
            is_alone = join->children[k] == node || !qd_variable_set_has(&join->children[k]->possible, roots[i]);
        if (is_alone)
            return TRUE;
    }
    return FALSE;
}

/* @join with @arm instead of its child @index. */
static QdAlgebra *
put_arm(QdGenerator *self, const QdAlgebra *join, guint index, QdAlgebra *arm)
{
    const gboolean is_join = arm->kind == QD_ALGEBRA_JOIN;
    const guint n_own = is_join ? arm->n_children : 1;
    QdAlgebra **parts = qd_arena_array0(self->arena, QdAlgebra *, join->n_children + n_own);
    guint n = 0;

    for (guint i = 0; i < join->n_children; i++) {
        if (i != index)
            parts[n++] = join->children[i];
    }
    for (guint i = 0; i < n_own; i++)
        parts[n++] = is_join ? arm->children[i] : arm;
    return qd_algebra_new_parent(self->ast, QD_ALGEBRA_JOIN, parts, n);
}

QdAlgebra **
qd_tally_split(QdGenerator *self, const QdAlgebra *pattern, const guint *roots, guint n_roots, guint *ret_n)
{
    const QdAlgebra *join = pattern->kind == QD_ALGEBRA_FILTER ? pattern->children[0] : pattern;
    const QdAlgebra *found = NULL;
    QdAlgebra **arms;
    guint index = 0;

    for (guint i = 0; join->kind == QD_ALGEBRA_JOIN && i < join->n_children && found == NULL; i++) {
        if (join->children[i]->kind == QD_ALGEBRA_UNION && binds_root(join, join->children[i], roots, n_roots)) {
            found = join->children[i];
            index = i;
        }
    }
    if (found == NULL || found->n_children > QD_TALLY_ARMS_MAX)
        return NULL;
    arms = qd_arena_array0(self->arena, QdAlgebra *, found->n_children);
    for (guint i = 0; i < found->n_children; i++) {
        QdAlgebra *arm = put_arm(self, join, index, found->children[i]);

        arms[i] = arm;
        if (join == pattern)
            continue;
        arms[i] = qd_algebra_put_on(self, pattern, arm);
        arms[i]->possible = arm->possible;
    }
    *ret_n = found->n_children;
    return arms;
}

/* --- patterns of what is bound ---------------------------------------------------------------------------------------- */

/* @node with child @index as its solutions with @variable are. */
static QdAlgebra *
require_of_child(QdGenerator *self, const QdAlgebra *node, guint index, guint variable)
{
    QdAlgebra *child = qd_tally_require(self, node->children[index], variable);
    QdAlgebra *copy;

    if (child == NULL)
        return NULL;
    copy = qd_algebra_put_on(self, node, node->children[0]);
    copy->children[index] = child;
    return copy;
}

QdAlgebra *
qd_tally_require(QdGenerator *self, const QdAlgebra *node, guint variable)
{
    guint found = G_MAXUINT;
    QdAlgebra *whole;

    if (qd_algebra_binds(node, variable))
        return (QdAlgebra *) node;
    for (guint i = 0; i < node->n_children; i++) {
        if (qd_variable_set_has(&node->children[i]->possible, variable)) {
            if (found != G_MAXUINT)
                return NULL;
            found = i;
        }
    }
    if (found == G_MAXUINT)
        return NULL;
    if (node->kind == QD_ALGEBRA_JOIN || ((node->kind == QD_ALGEBRA_LEFT_JOIN || node->kind == QD_ALGEBRA_MINUS) && found == 0))
        return require_of_child(self, node, found, variable);
    if (node->kind != QD_ALGEBRA_LEFT_JOIN || node->n_expressions > 0)
        return NULL;
    whole = require_of_child(self, node, found, variable);
    if (whole != NULL)
        whole->kind = QD_ALGEBRA_JOIN;
    return whole;
}
