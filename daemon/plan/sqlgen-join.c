/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Join and minus.
 */
#include <string.h>

#include "daemon/plan/sqlgen-private.h"

#define LEFT_MAX 1e5 /* rows that are kept to begin a subselect from them */

QdVariableSet
qd_relation_add_bound(QdGenerator *self, const QdVariableSet *bound, const QdRelation *relation)
{
    QdVariableSet set = { 0 };

    if (bound != NULL)
        qd_variable_set_add_all(&set, self->arena, bound);
    for (guint i = 0; i < relation->n_columns; i++)
        qd_variable_set_add(&set, self->arena, relation->columns[i].variable);
    return set;
}

/* As qd_relation_add_bound(), without what @relation may leave unbound. */
static QdVariableSet
add_sure(QdGenerator *self, const QdVariableSet *bound, const QdRelation *relation)
{
    QdVariableSet set = { 0 };

    if (bound != NULL)
        qd_variable_set_add_all(&set, self->arena, bound);
    for (guint i = 0; i < relation->n_columns; i++) {
        if (relation->columns[i].certain)
            qd_variable_set_add(&set, self->arena, relation->columns[i].variable);
    }
    return set;
}

/* Whether the parts from @index on share nothing with those before, and have a path or a UNION. These would be searched for each
 * row of those. */
static gboolean
is_apart(QdGenerator *self, const QdAlgebra **parts, guint index, guint n_parts)
{
    QdVariableSet before = { 0 };
    gboolean has_path = FALSE;

    if (index == 0 || (index + 1 == n_parts && parts[index]->kind == QD_ALGEBRA_PATH))
        return FALSE;
    for (guint i = index; i < n_parts; i++)
        has_path = has_path || qd_algebra_begins_from_left(parts[i]) || qd_algebra_has_path(parts[i]);
    if (!has_path || self->outer != NULL || self->graph.kind == QD_NODE_VARIABLE)
        return FALSE;
    for (guint i = 0; i < index; i++)
        qd_variable_set_add_all(&before, self->arena, &parts[i]->possible);
    for (guint i = index; i < n_parts; i++) {
        if (qd_variable_set_shares(&parts[i]->possible, &before))
            return FALSE;
    }
    return TRUE;
}

/*
 * @order[@index], a UNION, evaluated once from values that a part before it gives, where @left would be kept for its arms, but is
 * large. NULL: no part gives so few.
 */
static QdRelation *
begin_union_apart(QdGenerator *self, const QdRelation *left, const QdAlgebra **order, guint index)
{
    QdVariableSet sure = { 0 };
    QdRelation *seeds;

    if (self->outer != NULL || self->graph.kind == QD_NODE_VARIABLE)
        return NULL;
    for (guint i = 0; i < left->n_columns; i++) {
        if (left->columns[i].certain && qd_algebra_binds(order[index], left->columns[i].variable))
            qd_variable_set_add(&sure, self->arena, left->columns[i].variable);
    }
    seeds = !qd_variable_set_is_empty(&sure) ? qd_generate_seeds_of(self, order, index, &sure, order[index]) : NULL;
    return seeds != NULL ? qd_relation_seal(self, qd_generate_union_of(self, seeds, order[index], NULL), QD_SEAL_MATERIALIZED)
                         : NULL;
}

QdRelation *
qd_generate_children(QdGenerator *self, QdRelation *joined, QdAlgebra *const *children, guint n_children,
                     const QdVariableSet *bound)
{
    const QdAlgebra **order = qd_arena_array0(self->arena, const QdAlgebra *, n_children);
    const QdRelation *given = joined;
    guint n_estimates = self->estimates->len;
    double n_rows = 1;
    QdVariableSet sure;
    QdVariableSet known = joined != NULL ? qd_relation_add_bound(self, bound, joined) : (QdVariableSet){ 0 };

    memcpy(order, children, n_children * sizeof(const QdAlgebra *));
    sure = joined != NULL ? add_sure(self, bound, joined) : (QdVariableSet){ 0 };
    qd_join_order(self, order, n_children, joined != NULL ? &known : bound, joined != NULL ? &sure : bound);
    for (guint i = 0; i < n_children && self->error == NULL; i++) {
        double n_before = n_rows;
        QdRelation *next;

        n_rows *= g_array_index(self->estimates, double, n_estimates + i);
        if (given == NULL && is_apart(self, order, i, n_children)) {
            next = qd_generate_children(self, NULL, (QdAlgebra **) order + i, n_children - i, NULL);
            return qd_relation_join_to(self, joined, qd_relation_seal(self, next, QD_SEAL_MATERIALIZED));
        }
        if (order[i]->kind == QD_ALGEBRA_PATH) {
            next = qd_generate_path(self, order[i]->triple, &joined, bound);
        } else if (order[i]->kind == QD_ALGEBRA_MATCH) {
            next = qd_generate_match(self, order[i]->match, &joined);
        } else if (joined != NULL && order[i]->kind == QD_ALGEBRA_UNION &&
                   (next = qd_generate_union_by_row(self, joined, order[i], bound)) != NULL) {
            joined = next;
            continue;
        } else if (joined != NULL && qd_union_joins_by_arm(order[i], joined)) {
            next = given == NULL && n_before > LEFT_MAX ? begin_union_apart(self, joined, order, i) : NULL;
            if (next == NULL) {
                joined = qd_generate_union_of(self, joined, order[i], bound);
                continue;
            }
        } else {
            if (given == NULL && joined != NULL)
                joined = qd_generate_seeds(self, joined, order, i, n_before <= LEFT_MAX);
            known = joined != NULL ? qd_relation_add_bound(self, bound, joined) : (QdVariableSet){ 0 };
            next = qd_generator_generate(self, order[i], joined != NULL ? &known : bound);
            self->seeded = NULL; /* it may not have come to that */
        }
        if (joined == NULL)
            joined = next;
        else
            joined = joined == given ? qd_relation_join(self, joined, next) : qd_relation_join_to(self, joined, next);
    }
    return joined != NULL ? joined : qd_relation_new(self);
}

QdRelation *
qd_generate_join(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    node = qd_rewrite_join(self, node);
    if (node->kind != QD_ALGEBRA_JOIN)
        return qd_generator_generate(self, node, bound);
    return qd_generate_children(self, NULL, node->children, node->n_children, bound);
}

/* --- minus --------------------------------------------------------------------------------------------------------- */

/*
 * @side for a comparison with the other side of a MINUS with which it shares the only @variable. A row that does not bind it is not
 * compared at all, so that the two kinds need no mark.
 */
static QdRelation *
compare_by(QdGenerator *self, const QdRelation *side, guint variable)
{
    QdRelation *compared = qd_relation_copy(self, side);

    qd_relation_find(compared, variable)->certain = TRUE;
    return compared;
}

/* The variable that both have, if it is one; else G_MAXUINT. */
static guint
find_only_shared(const QdRelation *left, const QdRelation *right)
{
    guint found = G_MAXUINT;

    for (guint i = 0; i < right->n_columns; i++) {
        if (qd_relation_find(left, right->columns[i].variable) == NULL)
            continue;
        if (found != G_MAXUINT)
            return G_MAXUINT;
        found = right->columns[i].variable;
    }
    return found;
}

QdRelation *
qd_generate_minus(QdGenerator *self, const QdAlgebra *written, const QdVariableSet *bound)
{
    const QdAlgebra *node = qd_rewrite_minus(self, written);
    QdRelation *left = qd_generator_generate(self, node->children[0], bound);
    QdVariableSet known = qd_relation_add_bound(self, bound, left);
    QdRelation *right = qd_generator_generate(self, node->children[1], &known);
    guint only = find_only_shared(left, right);
    const QdRelation *compared;
    QdSql shared;
    QdRelation *probe;

    if (qd_relation_get_depth(right) > QD_DEPTH_FLAT)
        right = qd_relation_seal(self, right, QD_SEAL_PLAIN);
    left = qd_relation_copy(self, qd_relation_settle(self, left, right, QD_SEAL_STREAM));
    compared = only != G_MAXUINT ? compare_by(self, left, only) : left;
    right = only != G_MAXUINT ? compare_by(self, right, only) : right;
    probe = qd_relation_copy(self, qd_relation_keep_apart(self, compared, right));
    shared = qd_relation_match(self, compared, qd_relation_copy(self, probe), probe);
    if (shared.text == NULL)
        return left; /* nothing in common: nothing is taken away */
    if (shared.kind != QD_SQL_TRUE)
        qd_relation_add_where(self, probe, qd_sql_make(self->arena, "(@)", shared));
    qd_relation_add_where(
        self, left,
        qd_sql_make(self->arena, "NOT @", qd_sql_exists(self->arena, QD_SQL_NONE, qd_relation_write_probe(self, probe))));
    return left;
}
