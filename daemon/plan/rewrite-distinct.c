/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Patterns under DISTINCT. A part of which only some ends are named elsewhere is a condition on these: that it has a solution. A
 * path that repeats has one where its first step has, and one of no length has one at each node.
 */
#include "daemon/plan/sqlgen-private.h"

/* Variables that are of interest beside a part: those that are projected, and those of all other parts. */
static QdVariableSet
list_named(QdGenerator *self, const QdAlgebra *join, guint without, const QdVariableSet *projected)
{
    QdVariableSet named = { 0 };

    qd_variable_set_add_all(&named, self->arena, projected);
    for (guint i = 0; i < join->n_children; i++) {
        if (i != without)
            qd_variable_set_add_all(&named, self->arena, &join->children[i]->possible);
    }
    return named;
}

/* Whether @node is a variable that nothing else names. */
static gboolean
is_own(QdGenerator *self, const QdNode *node, const QdVariableSet *named)
{
    return node->kind == QD_NODE_VARIABLE && !qd_variable_set_has(named, node->variable) &&
           qd_generator_find_parameter(self, node->variable).text == NULL;
}

/* Whether @triple, a path, leads from what is named to a variable of its own, or from one. */
static gboolean
leads_nowhere(QdGenerator *self, const QdTriple *triple, const QdVariableSet *named)
{
    return is_own(self, &triple->s, named) != is_own(self, &triple->o, named);
}

/* @node with one step for each path that repeats and leads nowhere; @node itself where there is none. */
static QdAlgebra *
shorten(QdGenerator *self, QdAlgebra *node, const QdVariableSet *named)
{
    g_autoptr(GPtrArray) arms = NULL;
    gboolean changed = FALSE;

    if (node->kind == QD_ALGEBRA_PATH && node->triple->path->kind == QD_PATH_ONE_OR_MORE &&
        leads_nowhere(self, node->triple, named))
        return qd_algebra_from_path(self->ast, &node->triple->s, node->triple->path->children[0], &node->triple->o);
    if (node->kind != QD_ALGEBRA_UNION)
        return node;
    arms = g_ptr_array_new();
    for (guint i = 0; i < node->n_children; i++) {
        QdAlgebra *arm = shorten(self, node->children[i], named);

        changed = changed || arm != node->children[i];
        g_ptr_array_add(arms, arm);
    }
    return changed ? qd_algebra_new_parent(self->ast, QD_ALGEBRA_UNION, (QdAlgebra **) arms->pdata, arms->len) : node;
}

static gboolean
is_variable(const QdNode *node, guint variable)
{
    return node->kind == QD_NODE_VARIABLE && node->variable == variable;
}

/* Whether another part of @join, not @dropped, binds @variable to nodes of the graph alone. A predicate need not be one. */
static gboolean
is_node(const QdAlgebra *join, guint without, const gboolean *dropped, guint variable)
{
    for (guint i = 0; i < join->n_children; i++) {
        const QdTriple *triple = i != without && !dropped[i] ? join->children[i]->triple : NULL;

        if (triple == NULL || !(is_variable(&triple->s, variable) || is_variable(&triple->o, variable)))
            continue;
        if (triple->path == NULL || (triple->s.kind == QD_NODE_VARIABLE && triple->o.kind == QD_NODE_VARIABLE))
            return TRUE;
    }
    return FALSE;
}

/* Whether the part @index of @join, a path that may have no length, has a solution wherever those not @dropped have one. */
static gboolean
is_superfluous(QdGenerator *self, const QdAlgebra *join, guint index, const gboolean *dropped, const QdVariableSet *named)
{
    const QdTriple *triple = join->children[index]->triple;
    const QdNode *end;

    if (join->children[index]->kind != QD_ALGEBRA_PATH || !leads_nowhere(self, triple, named) ||
        (triple->path->kind != QD_PATH_ZERO_OR_MORE && triple->path->kind != QD_PATH_ZERO_OR_ONE))
        return FALSE;
    end = is_own(self, &triple->s, named) ? &triple->o : &triple->s;
    return end->kind == QD_NODE_VARIABLE && qd_generator_find_parameter(self, end->variable).text == NULL &&
           is_node(join, index, dropped, end->variable);
}

/* What @part, which was shortened, is as a condition: each combination of the variables that are @named, if it has no path. */
static QdAlgebra *
list_ends(QdGenerator *self, QdAlgebra *part, const QdVariableSet *named)
{
    QdAlgebra *listed = qd_algebra_has_path(part) ? NULL : qd_rewrite_list_shared(self, named, named, part);

    return listed != NULL ? listed : part;
}

/* @node, of one child, with another, which binds what is of interest to it. */
static QdAlgebra *
put_on(QdGenerator *self, const QdAlgebra *node, QdAlgebra *child)
{
    QdAlgebra *copy = qd_algebra_put_on(self, node, child);

    copy->possible = node->possible;
    return copy;
}

/* Whether no solution of @node comes twice: its parts are sets in one graph, and nothing may be unbound. */
static gboolean
is_set(const QdAlgebra *node)
{
    switch (node->kind) {
    case QD_ALGEBRA_TRIPLE:
        return TRUE;
    case QD_ALGEBRA_PATH:
        return qd_path_is_modified(node->triple->path);
    case QD_ALGEBRA_JOIN:
        for (guint i = 0; i < node->n_children; i++) {
            if (!is_set(node->children[i]))
                return FALSE;
        }
        return TRUE;
    case QD_ALGEBRA_FILTER:
        return is_set(node->children[0]);
    default:
        return FALSE;
    }
}

gboolean
qd_algebra_is_distinct(const QdGenerator *self, const QdAlgebra *node)
{
    const QdAlgebra *project = node->kind == QD_ALGEBRA_DISTINCT ? node->children[0] : NULL;

    if (project == NULL || project->kind != QD_ALGEBRA_PROJECT || self->graph.kind == QD_NODE_VARIABLE ||
        self->dataset->clause != NULL || !is_set(project->children[0]))
        return FALSE;
    QD_VARIABLE_SET_FOREACH(&project->children[0]->possible, variable)
    {
        if (!qd_variable_set_has(&project->possible, variable))
            return FALSE;
    }
    return TRUE;
}

QdAlgebra *
qd_rewrite_distinct(QdGenerator *self, QdAlgebra *node)
{
    const QdAlgebra *project = node->kind == QD_ALGEBRA_DISTINCT ? node->children[0] : NULL;
    QdAlgebra *join;
    g_autoptr(GPtrArray) parts = NULL;
    g_autofree gboolean *dropped = NULL;
    gboolean changed = FALSE;
    QdAlgebra *rest;

    if (project == NULL || project->kind != QD_ALGEBRA_PROJECT || self->graph.kind == QD_NODE_VARIABLE)
        return node;
    if (qd_algebra_is_distinct(self, node))
        return node->children[0];
    join = project->children[0];
    if (join->kind == QD_ALGEBRA_PATH)
        join = qd_algebra_new_parent(self->ast, QD_ALGEBRA_JOIN, &join, 1);
    if (join->kind != QD_ALGEBRA_JOIN || !qd_algebra_consists_of_links(join) || !qd_algebra_has_path(join))
        return node;
    parts = g_ptr_array_new();
    dropped = g_new0(gboolean, join->n_children);
    for (guint i = 0; i < join->n_children; i++) {
        QdVariableSet named = list_named(self, join, i, &project->possible);
        QdAlgebra *part = shorten(self, join->children[i], &named);

        dropped[i] = part == join->children[i] && is_superfluous(self, join, i, dropped, &named);
        changed = changed || dropped[i] || part != join->children[i];
        if (!dropped[i])
            g_ptr_array_add(parts, part != join->children[i] ? list_ends(self, part, &named) : part);
    }
    if (!changed || parts->len == 0)
        return node;
    rest = parts->len == 1 ? parts->pdata[0]
                           : qd_algebra_new_parent(self->ast, QD_ALGEBRA_JOIN, (QdAlgebra **) parts->pdata, parts->len);
    return put_on(self, node, put_on(self, project, rest));
}
