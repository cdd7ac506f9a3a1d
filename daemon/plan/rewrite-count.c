/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Groups that count their solutions: a path of which one end alone is needed is counted by itself.
 */
#include <string.h>

#include "daemon/plan/sqlgen-private.h"

static QdExpression *
make_aggregate(QdGenerator *self, QdAggregateKind aggregate, guint variable)
{
    QdExpression *expression = qd_arena_new0(self->arena, QdExpression);
    QdExpression *value;

    expression->kind = QD_EXPRESSION_KIND_AGGREGATE;
    expression->aggregate = aggregate;
    if (aggregate == QD_AGGREGATE_COUNT)
        return expression;
    value = qd_arena_new0(self->arena, QdExpression);
    value->kind = QD_EXPRESSION_KIND_VARIABLE;
    value->variable = variable;
    expression->n_children = 1;
    expression->children = qd_arena_new0(self->arena, QdExpression *);
    expression->children[0] = value;
    return expression;
}

/* Whether @expression is COUNT of a variable that each solution of @pattern binds. */
static gboolean
counts_bound(const QdExpression *expression, const QdAlgebra *pattern)
{
    return expression->kind == QD_EXPRESSION_KIND_AGGREGATE && expression->aggregate == QD_AGGREGATE_COUNT &&
           !expression->distinct && expression->n_children == 1 && expression->children[0]->kind == QD_EXPRESSION_KIND_VARIABLE &&
           qd_algebra_binds(pattern, expression->children[0]->variable);
}

const QdAlgebra *
qd_rewrite_count_bound(QdGenerator *self, const QdAlgebra *node)
{
    QdAlgebra *rewritten = NULL;

    for (guint i = 0; i < node->n_bindings; i++) {
        if (!counts_bound(node->bindings[i].expression, node->children[0]))
            continue;
        if (rewritten == NULL) {
            rewritten = qd_algebra_put_on(self, node, node->children[0]);
            rewritten->possible = node->possible;
            rewritten->bindings = qd_arena_array0(self->arena, QdBinding, node->n_bindings);
            memcpy(rewritten->bindings, node->bindings, node->n_bindings * sizeof(QdBinding));
        }
        rewritten->bindings[i].expression = make_aggregate(self, QD_AGGREGATE_COUNT, 0);
    }
    return rewritten != NULL ? rewritten : node;
}

gboolean
qd_rewrite_counts_solutions(const QdAlgebra *group)
{
    for (guint i = 0; i < group->n_bindings; i++) {
        const QdExpression *expression = group->bindings[i].expression;

        if (expression->kind != QD_EXPRESSION_KIND_AGGREGATE || expression->aggregate != QD_AGGREGATE_COUNT ||
            expression->n_children > 0 || expression->distinct)
            return FALSE;
    }
    return group->n_bindings > 0;
}

/* The only variable by which a path among @parts is joined with the others, or is grouped by @keys. G_MAXUINT: it has none, or none
 * of its own. */
static guint
find_joint(QdGenerator *self, const QdAlgebra *join, guint index, const QdAlgebra *group)
{
    const QdAlgebra *part = join->children[index];
    QdVariableSet others = { 0 };
    guint found = G_MAXUINT;
    guint n_shared = 0;
    guint n_own = 0;

    for (guint i = 0; i < join->n_children; i++) {
        if (i != index)
            qd_variable_set_add_all(&others, self->arena, &join->children[i]->possible);
    }
    for (guint i = 0; i < group->n_variables; i++)
        qd_variable_set_add(&others, self->arena, group->variables[i]);
    QD_VARIABLE_SET_FOREACH(&part->possible, variable)
    {
        gboolean shares = qd_variable_set_has(&others, variable);

        n_shared += shares ? 1 : 0;
        n_own += shares ? 0 : 1;
        found = shares ? variable : found;
    }
    return n_shared == 1 && n_own > 0 ? found : G_MAXUINT;
}

/* SELECT @joint (COUNT( * ) AS @count) { @part } GROUP BY @joint */
static QdAlgebra *
count_part(QdGenerator *self, QdAlgebra *part, guint joint, guint count)
{
    QdAlgebra *group = qd_algebra_new_parent(self->ast, QD_ALGEBRA_GROUP, &part, 1);
    QdAlgebra *project;

    group->variables = qd_arena_array0(self->arena, guint, 2);
    group->variables[0] = joint;
    group->variables[1] = count;
    group->n_variables = 1;
    group->bindings = qd_arena_new0(self->arena, QdBinding);
    group->bindings[0] = (QdBinding){ make_aggregate(self, QD_AGGREGATE_COUNT, 0), count };
    group->n_bindings = 1;
    group->possible = (QdVariableSet){ 0 };
    qd_variable_set_add(&group->possible, self->arena, joint);
    qd_variable_set_add(&group->possible, self->arena, count);
    project = qd_algebra_new_parent(self->ast, QD_ALGEBRA_PROJECT, &group, 1);
    project->variables = group->variables;
    project->n_variables = 2;
    return project;
}

const QdAlgebra *
qd_rewrite_count(QdGenerator *self, const QdAlgebra *node)
{
    const QdAlgebra *join = node->children[0];
    g_autoptr(GPtrArray) parts = NULL;
    QdAlgebra *rewritten;
    guint count, joint;
    guint found = G_MAXUINT;

    /* from a few values the pairs are few */
    if (join == self->seeded.node || node->n_variables == 0 || join->kind != QD_ALGEBRA_JOIN ||
        !qd_algebra_consists_of_links(join) || self->outer != NULL || self->graph.kind == QD_NODE_VARIABLE ||
        !qd_rewrite_counts_solutions(node))
        return node;
    for (guint i = 0; i < join->n_children; i++) {
        if (join->children[i]->kind == QD_ALGEBRA_PATH && find_joint(self, join, i, node) != G_MAXUINT)
            found = i;
    }
    if (found == G_MAXUINT)
        return node;
    joint = find_joint(self, join, found, node);
    count = qd_ast_add_variable(self->ast, NULL);
    parts = g_ptr_array_new();
    for (guint i = 0; i < join->n_children; i++)
        g_ptr_array_add(parts, i != found ? join->children[i] : count_part(self, join->children[i], joint, count));
    rewritten = qd_algebra_put_on(self, node,
                                  qd_algebra_new_parent(self->ast, QD_ALGEBRA_JOIN, (QdAlgebra **) parts->pdata, parts->len));
    rewritten->possible = node->possible;
    rewritten->bindings = qd_arena_array0(self->arena, QdBinding, node->n_bindings);
    for (guint i = 0; i < node->n_bindings; i++)
        rewritten->bindings[i] = (QdBinding){ make_aggregate(self, QD_AGGREGATE_SUM, count), node->bindings[i].variable };
    return rewritten;
}

gboolean
qd_rewrite_may_count(QdGenerator *self, const QdAlgebra *node)
{
    int end;

    while (node->kind != QD_ALGEBRA_GROUP && node->n_children > 0)
        node = node->children[0];
    if (node->kind != QD_ALGEBRA_GROUP)
        return FALSE;
    node = qd_rewrite_count_bound(self, node);
    return qd_rewrite_count(self, node) != node || qd_path_find_counted_end(self, node, &end);
}
