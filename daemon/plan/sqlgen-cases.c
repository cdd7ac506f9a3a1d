/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Groups by cases: an OPTIONAL that shares no variable with what is before it has solutions, or it has none, regardless of the
 * others. So the group is the UNION of two, one of which is empty. In the one the OPTIONAL is joined as any other pattern,
 * which binds its variables. The other is without it, and stands under the condition that it has no solutions.
 */
#include <string.h>

#include "daemon/plan/sqlgen-private.h"

#define CASES_MAX 4 /* of a group */
#define SPLIT_MAX 4 /* groups of a statement: what is in one is written again for each case */

typedef struct Case {
    QdAlgebra *node;
    QdAlgebra **absent; /* these have no solutions */
    guint n_absent;
} Case;

static gboolean
any_is_volatile(QdExpression *const *expressions, guint n)
{
    for (guint i = 0; i < n; i++) {
        if (qd_expression_is_volatile(expressions[i]))
            return TRUE;
    }
    return FALSE;
}

gboolean
qd_algebra_is_volatile(const QdAlgebra *node)
{
    if (node->kind == QD_ALGEBRA_SERVICE || any_is_volatile(node->expressions, node->n_expressions))
        return TRUE;
    for (guint i = 0; i < node->n_bindings; i++) {
        if (qd_expression_is_volatile(node->bindings[i].expression))
            return TRUE;
    }
    for (guint i = 0; i < node->n_children; i++) {
        if (qd_algebra_is_volatile(node->children[i]))
            return TRUE;
    }
    return FALSE;
}

static gboolean
right_is_volatile(const QdAlgebra *node)
{
    return qd_algebra_is_volatile(node->children[1]) || any_is_volatile(node->expressions, node->n_expressions);
}

/* Whether the right of @node, a left join, takes nothing from its left. */
static gboolean
is_apart(QdGenerator *self, const QdAlgebra *node)
{
    QdVariableSet named = { 0 };

    if (qd_variable_set_shares(&node->children[0]->possible, &node->children[1]->possible) || right_is_volatile(node))
        return FALSE;
    for (guint i = 0; i < node->n_expressions; i++)
        qd_expression_add_all_variables(node->expressions[i], self->arena, &named);
    return !qd_variable_set_shares(&node->children[0]->possible, &named);
}

/* The right of @node, a left join, with its conditions. */
static QdAlgebra *
make_right(QdGenerator *self, const QdAlgebra *node)
{
    QdAlgebra *filter;

    if (node->n_expressions == 0)
        return node->children[1];
    filter = qd_algebra_new_parent(self->ast, QD_ALGEBRA_FILTER, node->children + 1, 1);
    filter->expressions = node->expressions;
    filter->n_expressions = node->n_expressions;
    return filter;
}

/* @left joined with @right, as one join of all their parts. */
static QdAlgebra *
join(QdGenerator *self, QdAlgebra *left, QdAlgebra *right)
{
    QdAlgebra *operands[] = { left, right };
    g_autoptr(GPtrArray) parts = g_ptr_array_new();

    for (guint i = 0; i < G_N_ELEMENTS(operands); i++) {
        if (operands[i]->kind == QD_ALGEBRA_JOIN) {
            for (guint j = 0; j < operands[i]->n_children; j++)
                g_ptr_array_add(parts, operands[i]->children[j]);
        } else if (operands[i]->kind != QD_ALGEBRA_UNIT) {
            g_ptr_array_add(parts, operands[i]);
        }
    }
    if (parts->len == 0)
        return left;
    if (parts->len == 1)
        return parts->pdata[0];
    return qd_algebra_new_parent(self->ast, QD_ALGEBRA_JOIN, (QdAlgebra **) parts->pdata, parts->len);
}

QdAlgebra *
qd_algebra_put_on(QdGenerator *self, const QdAlgebra *node, QdAlgebra *first)
{
    QdAlgebra *copy = qd_arena_new0(self->arena, QdAlgebra);

    *copy = *node;
    copy->children = qd_arena_array0(self->arena, QdAlgebra *, node->n_children);
    memcpy(copy->children, node->children, node->n_children * sizeof(QdAlgebra *));
    copy->children[0] = first;
    copy->possible = (QdVariableSet){ 0 };
    qd_variable_set_add_all(&copy->possible, self->arena, &first->possible);
    qd_variable_set_add_all(&copy->possible, self->arena, &node->possible);
    return copy;
}

/* @a under the condition of both. */
static Case
make_case(QdGenerator *self, QdAlgebra *node, const Case *a, const Case *b)
{
    guint n = a->n_absent + (b != NULL ? b->n_absent : 0);
    Case made = { node, qd_arena_array0(self->arena, QdAlgebra *, n), n };

    if (a->n_absent > 0)
        memcpy(made.absent, a->absent, a->n_absent * sizeof(QdAlgebra *));
    if (b != NULL && b->n_absent > 0)
        memcpy(made.absent + a->n_absent, b->absent, b->n_absent * sizeof(QdAlgebra *));
    return made;
}

static guint split(QdGenerator *self, QdAlgebra *node, gboolean whole, Case *cases);

/* @whole: the right of @node may be split off, too. */
static guint
split_left_join(QdGenerator *self, QdAlgebra *node, gboolean whole, Case *cases)
{
    Case lefts[CASES_MAX];
    guint n_lefts = split(self, node->children[0], TRUE, lefts);
    gboolean apart = whole && is_apart(self, node);
    guint n = 0;

    for (guint i = 0; i < n_lefts; i++) {
        gboolean divided = (apart || (lefts[i].node->kind == QD_ALGEBRA_UNIT && !right_is_volatile(node))) &&
                           n + n_lefts - i < CASES_MAX;
        QdAlgebra *right = divided ? make_right(self, node) : NULL;
        const Case absent = { right, &right, 1 };

        if (!divided) {
            cases[n++] = make_case(self, qd_algebra_put_on(self, node, lefts[i].node), &lefts[i], NULL);
            continue;
        }
        cases[n++] = make_case(self, join(self, lefts[i].node, right), &lefts[i], NULL);
        cases[n++] = make_case(self, lefts[i].node, &lefts[i], &absent);
    }
    return n;
}

static guint
split_join(QdGenerator *self, const QdAlgebra *node, Case *cases)
{
    guint n = 1;

    cases[0] = (Case){ qd_arena_new0(self->arena, QdAlgebra), NULL, 0 }; /* the unit */
    for (guint i = 0; i < node->n_children; i++) {
        Case parts[CASES_MAX];
        guint n_parts = split(self, node->children[i], TRUE, parts);
        guint n_before = n;

        if (n_before * n_parts > CASES_MAX) {
            parts[0] = (Case){ node->children[i], NULL, 0 };
            n_parts = 1;
        }
        for (guint j = n_parts; j-- > 0;) {
            for (guint k = 0; k < n_before; k++)
                cases[j * n_before + k] = make_case(self, join(self, cases[k].node, parts[j].node), &cases[k], &parts[j]);
        }
        n = n_before * n_parts;
    }
    return n;
}

/* The cases of @node, of which there are CASES_MAX at most. */
static guint
split(QdGenerator *self, QdAlgebra *node, gboolean whole, Case *cases)
{
    guint n;

    switch (node->kind) {
    case QD_ALGEBRA_LEFT_JOIN:
        return split_left_join(self, node, whole, cases);
    case QD_ALGEBRA_JOIN:
        return split_join(self, node, cases);
    case QD_ALGEBRA_MINUS:
    case QD_ALGEBRA_FILTER:
    case QD_ALGEBRA_EXTEND:
        n = split(self, node->children[0], TRUE, cases);
        for (guint i = 0; i < n; i++)
            cases[i].node = qd_algebra_put_on(self, node, cases[i].node);
        return n;
    default:
        cases[0] = (Case){ node, NULL, 0 };
        return 1;
    }
}

/* Whether a left join below @node, in the group itself, takes nothing from its left. */
static gboolean
has_cases(QdGenerator *self, const QdAlgebra *node, gboolean whole)
{
    switch (node->kind) {
    case QD_ALGEBRA_LEFT_JOIN:
        return (whole && is_apart(self, node)) || has_cases(self, node->children[0], TRUE);
    case QD_ALGEBRA_JOIN:
        for (guint i = 0; i < node->n_children; i++) {
            if (has_cases(self, node->children[i], TRUE))
                return TRUE;
        }
        return FALSE;
    case QD_ALGEBRA_MINUS:
    case QD_ALGEBRA_FILTER:
    case QD_ALGEBRA_EXTEND:
        return has_cases(self, node->children[0], TRUE);
    default:
        return FALSE;
    }
}

/* Whether what is done with the group's solutions gains by what is certain in them. */
static gboolean
gains(const QdAlgebra *node)
{
    switch (node->kind) {
    case QD_ALGEBRA_JOIN:
    case QD_ALGEBRA_MINUS:
        return TRUE;
    case QD_ALGEBRA_LEFT_JOIN:
        return node->children[0]->kind != QD_ALGEBRA_LEFT_JOIN || qd_algebra_begins_from_left(node->children[1]) ||
               (qd_algebra_has_path(node) && gains(node->children[0])); /* it would become one join of all parts */
    case QD_ALGEBRA_FILTER:
        for (guint i = 0; i < node->n_expressions; i++) {
            if (node->expressions[i]->kind == QD_EXPRESSION_KIND_EXISTS)
                return TRUE;
        }
        return FALSE;
    default:
        return FALSE;
    }
}

/* That what is absent in @part has no solution; @around (nullable): in its graph. */
static QdSql
write_absent(QdGenerator *self, const Case *part, const QdRelation *around)
{
    QdSql condition = QD_SQL_NONE;

    for (guint i = 0; i < part->n_absent; i++) {
        QdRelation *absent = qd_relation_copy(self, qd_generator_generate(self, part->absent[i], NULL));
        QdSql missing;

        if (around != NULL)
            qd_relation_add_where(self, absent,
                                  qd_sql_equate(self->arena, qd_relation_find(absent, self->graph.variable)->sql, "=+",
                                                qd_relation_find(around, self->graph.variable)->sql));
        missing = qd_sql_make(self->arena, "NOT @", qd_sql_exists(self->arena, QD_SQL_NONE, qd_relation_write_probe(self, absent)));
        condition = condition.text != NULL ? qd_sql_make(self->arena, "@ AND @", condition, missing) : missing;
    }
    return condition;
}

/* @arm, the solutions of @part, where what is absent has none. It is not begun unless there may be some. */
static QdRelation *
restrict_arm(QdGenerator *self, QdRelation *arm, const Case *part)
{
    QdRelation *graphs;
    QdSql lacks;

    if (self->graph.kind != QD_NODE_VARIABLE)
        return qd_relation_seal_if(self, arm, write_absent(self, part, NULL));
    graphs = qd_relation_copy(self, qd_generate_unit(self));
    lacks = write_absent(self, part, graphs);
    qd_relation_add_where(self, graphs, lacks);
    qd_relation_add_where(self, arm, write_absent(self, part, arm));
    return qd_relation_seal_if(self, arm, qd_sql_exists(self->arena, QD_SQL_NONE, qd_relation_write_probe(self, graphs)));
}

QdRelation *
qd_generate_by_cases(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    Case cases[CASES_MAX];
    QdRelation *arms[CASES_MAX];
    guint n;

    /* in an EXISTS there is a case for each solution around it */
    if (!gains(node) || self->outer != NULL || self->splits.n_groups >= SPLIT_MAX || !has_cases(self, node, FALSE))
        return NULL;
    self->splits.n_groups++;
    n = split(self, (QdAlgebra *) node, FALSE, cases);
    for (guint i = 0; i < n && self->error == NULL; i++) {
        arms[i] = qd_relation_copy(self, qd_generator_generate(self, cases[i].node, bound));
        if (cases[i].n_absent > 0)
            arms[i] = restrict_arm(self, arms[i], &cases[i]);
    }
    if (self->error != NULL)
        return qd_relation_new(self);
    return n > 1 ? qd_relation_unite(self, arms, n) : arms[0];
}
