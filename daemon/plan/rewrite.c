/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Joins and filters as others that mean the same, of which join-order.c has more parts to choose from. Plain subselects and
 * small EXISTS become parts of the join that they stand in. OPTIONAL and MINUS come after it where what they take is bound
 * before.
 */
#include "daemon/plan/sqlgen-private.h"

#define DELAYED_MAX 32      /* of one join: each looks at all its parts */
#define SMALL_EXISTS_MAX 50 /* solutions of an EXISTS that is joined */
#define LARGE_LEFT_MIN 1000 /* solutions that it filters */
#define SHARE_MIN 100       /* such solutions for each of an EXISTS */
#define HUGE_LEFT_MIN 20000 /* solutions that an EXISTS with a path filters, however many it has itself */
#define EXISTS_COST_MAX                                                                                      \
    4.0 /* solutions looked at for all of an EXISTS, for each that it filters: if more, each looks by itself \
         */

/* --- what is bound ---------------------------------------------------------------------------------------------------- */

static gboolean
values_bind(const QdValues *values, guint variable)
{
    for (guint i = 0; i < values->n_variables; i++) {
        if (values->variables[i] != variable)
            continue;
        for (guint row = 0; row < values->n_rows; row++) {
            if (values->cells[row * values->n_variables + i] == NULL)
                return FALSE;
        }
        return TRUE;
    }
    return FALSE;
}

static gboolean
has_key(const QdAlgebra *group, guint variable)
{
    for (guint i = 0; i < group->n_variables; i++) {
        if (group->variables[i] == variable)
            return TRUE;
    }
    return FALSE;
}

gboolean
qd_algebra_binds(const QdAlgebra *node, guint variable)
{
    if (!qd_variable_set_has(&node->possible, variable))
        return FALSE;
    switch (node->kind) {
    case QD_ALGEBRA_TRIPLE:
    case QD_ALGEBRA_PATH:
        return TRUE;
    case QD_ALGEBRA_JOIN:
        for (guint i = 0; i < node->n_children; i++) {
            if (qd_algebra_binds(node->children[i], variable))
                return TRUE;
        }
        return FALSE;
    case QD_ALGEBRA_UNION:
        for (guint i = 0; i < node->n_children; i++) {
            if (!qd_algebra_binds(node->children[i], variable))
                return FALSE;
        }
        return TRUE;
    case QD_ALGEBRA_VALUES:
        return values_bind(node->values, variable);
    case QD_ALGEBRA_GROUP:
        return has_key(node, variable) && qd_algebra_binds(node->children[0], variable);
    case QD_ALGEBRA_LEFT_JOIN:
    case QD_ALGEBRA_MINUS:
    case QD_ALGEBRA_FILTER:
    case QD_ALGEBRA_EXTEND:
    case QD_ALGEBRA_GRAPH:
    case QD_ALGEBRA_ORDER:
    case QD_ALGEBRA_PROJECT:
    case QD_ALGEBRA_DISTINCT:
    case QD_ALGEBRA_SLICE:
        return qd_algebra_binds(node->children[0], variable);
    case QD_ALGEBRA_UNIT:
    case QD_ALGEBRA_MATCH:
    case QD_ALGEBRA_SERVICE:
        return FALSE;
    }
    g_assert_not_reached();
}

gboolean
qd_algebra_consists_of_links(const QdAlgebra *node)
{
    if (node->kind == QD_ALGEBRA_TRIPLE || node->kind == QD_ALGEBRA_PATH)
        return TRUE;
    if (node->kind != QD_ALGEBRA_JOIN && node->kind != QD_ALGEBRA_UNION)
        return FALSE;
    for (guint i = 0; i < node->n_children; i++) {
        if (!qd_algebra_consists_of_links(node->children[i]))
            return FALSE;
    }
    return TRUE;
}

gboolean
qd_algebra_has_path(const QdAlgebra *node)
{
    if (node->kind == QD_ALGEBRA_PATH)
        return TRUE;
    for (guint i = 0; i < node->n_children; i++) {
        if (qd_algebra_has_path(node->children[i]))
            return TRUE;
    }
    return FALSE;
}

/* --- subselects ------------------------------------------------------------------------------------------------------- */

/* Variables that a subselect does not project, and what they are called outside of it. */
typedef struct Renaming {
    QdGenerator *generator;
    const QdVariableSet *kept;
    GArray *pairs; /* guint: from, to, from, to, … */
} Renaming;

static QdNode
rename_node(Renaming *self, const QdNode *node)
{
    QdNode renamed = *node;

    if (node->kind != QD_NODE_VARIABLE || qd_variable_set_has(self->kept, node->variable) ||
        qd_generator_find_parameter(self->generator, node->variable).text != NULL)
        return renamed;
    for (guint i = 0; i < self->pairs->len; i += 2) {
        if (g_array_index(self->pairs, guint, i) == node->variable) {
            renamed.variable = g_array_index(self->pairs, guint, i + 1);
            return renamed;
        }
    }
    renamed.variable = qd_ast_add_variable(self->generator->ast, NULL);
    g_array_append_val(self->pairs, node->variable);
    g_array_append_val(self->pairs, renamed.variable);
    return renamed;
}

/* A copy of @node, which consists of links. */
static QdAlgebra *
rename_links(Renaming *self, const QdAlgebra *node)
{
    QdAst *ast = self->generator->ast;
    g_autoptr(GPtrArray) children = NULL;

    if (node->triple != NULL) {
        QdTriple *triple = qd_arena_new0(self->generator->arena, QdTriple);

        *triple = *node->triple;
        triple->s = rename_node(self, &node->triple->s);
        triple->p = rename_node(self, &node->triple->p);
        triple->o = rename_node(self, &node->triple->o);
        return qd_algebra_from_triple(ast, triple);
    }
    children = g_ptr_array_sized_new(node->n_children);
    for (guint i = 0; i < node->n_children; i++)
        g_ptr_array_add(children, rename_links(self, node->children[i]));
    return qd_algebra_new_parent(ast, node->kind, (QdAlgebra **) children->pdata, children->len);
}

QdAlgebra *
qd_rewrite_hide(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *kept)
{
    g_autoptr(GArray) pairs = g_array_new(FALSE, FALSE, sizeof(guint));
    Renaming renaming = { self, kept, pairs };

    return rename_links(&renaming, node);
}

QdAlgebra *
qd_rewrite_rename(QdGenerator *self, const QdAlgebra *node, guint from, guint to)
{
    const QdVariableSet none = { 0 };
    g_autoptr(GArray) pairs = g_array_new(FALSE, FALSE, sizeof(guint));
    Renaming renaming = { self, &none, pairs };

    g_array_append_val(pairs, from);
    g_array_append_val(pairs, to);
    return rename_links(&renaming, node);
}

/* Whether @node is nothing but links and distinct rows. */
static gboolean
consists_of_sets(const QdAlgebra *node)
{
    if (node->kind == QD_ALGEBRA_DISTINCT)
        return TRUE;
    for (guint i = 0; node->kind == QD_ALGEBRA_JOIN && i < node->n_children; i++) {
        if (!consists_of_sets(node->children[i]))
            return FALSE;
    }
    return node->kind == QD_ALGEBRA_JOIN || qd_algebra_consists_of_links(node);
}

/* Whether @pattern, under @project, means the same among @others: it has the variables that are projected and no more. EXISTS upon
 * it name no others of theirs. */
static gboolean
is_open(QdGenerator *self, const QdAlgebra *project, const QdAlgebra *pattern, const QdVariableSet *others)
{
    const QdAlgebra *inner = pattern->kind == QD_ALGEBRA_FILTER ? pattern->children[0] : pattern;
    QdVariableSet named = { 0 };

    if (!consists_of_sets(inner))
        return FALSE;
    qd_variable_set_add_all(&named, self->arena, &inner->possible);
    for (guint i = 0; i < pattern->n_expressions; i++) {
        if (pattern->expressions[i]->kind != QD_EXPRESSION_KIND_EXISTS || pattern->expressions[i]->negated)
            return FALSE;
        qd_expression_add_all_variables(pattern->expressions[i], self->arena, &named);
    }
    QD_VARIABLE_SET_FOREACH(&named, variable)
    {
        gboolean is_inside = qd_variable_set_has(&inner->possible, variable);

        if (qd_variable_set_has(&project->possible, variable) != is_inside || (!is_inside && qd_variable_set_has(others, variable)))
            return FALSE;
    }
    return TRUE;
}

QdAlgebra *
qd_rewrite_open_subselect(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *others)
{
    if (self->service.is_used && qd_algebra_is_volatile(node))
        return NULL;
    if (node->kind == QD_ALGEBRA_DISTINCT)
        node = qd_rewrite_distinct(self, (QdAlgebra *) node);
    if (node->kind == QD_ALGEBRA_PROJECT && qd_variable_set_shares(&node->possible, others) &&
        is_open(self, node, node->children[0], others))
        return node->children[0];
    if (node->kind != QD_ALGEBRA_PROJECT || !qd_algebra_consists_of_links(node->children[0]) ||
        !qd_variable_set_shares(&node->possible, others))
        return NULL;
    return qd_rewrite_hide(self, node->children[0], &node->possible);
}

/* --- joins ------------------------------------------------------------------------------------------------------------ */

/* What all of @parts but the one at @index may bind. */
static QdVariableSet
list_others(QdGenerator *self, const GPtrArray *parts, guint index)
{
    QdVariableSet others = { 0 };

    for (guint i = 0; i < parts->len; i++) {
        if (i != index)
            qd_variable_set_add_all(&others, self->arena, &((const QdAlgebra *) parts->pdata[i])->possible);
    }
    return others;
}

/* Whether a condition waits for what the right of @node, a left join, binds. */
static gboolean
is_filtered(const QdGenerator *self, const QdAlgebra *node)
{
    QD_VARIABLE_SET_FOREACH(&node->children[1]->possible, variable)
    {
        if (qd_variable_set_has(&self->filtered, variable) && !qd_variable_set_has(&node->children[0]->possible, variable))
            return TRUE;
    }
    return FALSE;
}

/* Whether OPTIONAL or MINUS gives the same after the join of its left with @others, which may leave less of it. */
static gboolean
may_wait(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *others)
{
    QdVariableSet named = { 0 };

    if (qd_algebra_is_volatile(node) || is_filtered(self, node) || !qd_variable_set_shares(&node->children[0]->possible, others))
        return FALSE;
    qd_variable_set_add_all(&named, self->arena, &node->children[1]->possible);
    for (guint i = 0; i < node->n_expressions; i++)
        qd_expression_add_all_variables(node->expressions[i], self->arena, &named);
    QD_VARIABLE_SET_FOREACH(&named, variable)
    {
        if (qd_variable_set_has(others, variable) && !qd_algebra_binds(node->children[0], variable))
            return FALSE;
    }
    return TRUE;
}

/* Puts @node, or what it joins, in the place @index of @parts. */
static void
put_part(GPtrArray *parts, guint index, QdAlgebra *node)
{
    g_ptr_array_remove_index(parts, index);
    if (node->kind != QD_ALGEBRA_JOIN) {
        if (node->kind != QD_ALGEBRA_UNIT)
            g_ptr_array_insert(parts, (gint) index, node);
        return;
    }
    for (guint i = 0; i < node->n_children; i++)
        g_ptr_array_insert(parts, (gint) (index + i), node->children[i]);
}

static gboolean
is_plain(const QdAlgebra *node)
{
    for (guint i = 0; i < node->n_children; i++) {
        QdAlgebraKind kind = node->children[i]->kind;

        if (kind == QD_ALGEBRA_LEFT_JOIN || kind == QD_ALGEBRA_MINUS || kind == QD_ALGEBRA_PROJECT || kind == QD_ALGEBRA_DISTINCT)
            return FALSE;
    }
    return TRUE;
}

/* Puts what the part at @index is made of into its place, what is done with it to @delayed. FALSE: it stays. */
static gboolean
replace_part(QdGenerator *self, GPtrArray *parts, guint index, GPtrArray *delayed)
{
    QdAlgebra *part = parts->pdata[index];
    gboolean may_be_delayed = part->kind == QD_ALGEBRA_LEFT_JOIN || part->kind == QD_ALGEBRA_MINUS;
    QdVariableSet others = { 0 };
    QdAlgebra *opened;

    if ((!may_be_delayed && part->kind != QD_ALGEBRA_PROJECT && part->kind != QD_ALGEBRA_DISTINCT) || parts->len == 1 ||
        delayed->len == DELAYED_MAX)
        return FALSE;
    others = list_others(self, parts, index);
    opened = may_be_delayed ? NULL : qd_rewrite_open_subselect(self, part, &others);
    if (opened == NULL && (!may_be_delayed || !may_wait(self, part, &others)))
        return FALSE;
    if (opened == NULL)
        g_ptr_array_add(delayed, part);
    put_part(parts, index, opened != NULL ? opened : part->children[0]);
    return TRUE;
}

/* @parts joined. */
static QdAlgebra *
join_parts(QdGenerator *self, const GPtrArray *parts)
{
    return parts->len == 1 ? parts->pdata[0]
                           : qd_algebra_new_parent(self->ast, QD_ALGEBRA_JOIN, (QdAlgebra **) parts->pdata, parts->len);
}

const QdAlgebra *
qd_rewrite_join(QdGenerator *self, const QdAlgebra *node)
{
    g_autoptr(GPtrArray) parts = NULL;
    g_autoptr(GPtrArray) delayed = NULL;
    QdAlgebra *joined;

    if (is_plain(node))
        return node;
    parts = g_ptr_array_new();
    delayed = g_ptr_array_new();
    for (guint i = 0; i < node->n_children; i++)
        g_ptr_array_add(parts, node->children[i]);
    for (guint i = 0; i < parts->len;)
        i += replace_part(self, parts, i, delayed) ? 0 : 1;
    if (parts->len == 0)
        return node;
    joined = join_parts(self, parts);
    /* what was taken off last stood deepest, or leaves the others what they need */
    while (delayed->len > 0)
        joined = qd_algebra_put_on(self, g_ptr_array_steal_index(delayed, delayed->len - 1), joined);
    return joined;
}

/* --- filters ---------------------------------------------------------------------------------------------------------- */

/* @kept without what is no key of @group. */
static QdVariableSet
keep_keys(QdGenerator *self, const QdAlgebra *group, const QdVariableSet *kept)
{
    QdVariableSet keys = { 0 };

    for (guint i = 0; i < group->n_variables; i++) {
        if (qd_variable_set_has(kept, group->variables[i]))
            qd_variable_set_add(&keys, self->arena, group->variables[i]);
    }
    return keys;
}

/* Whether @links has all of the variables that are @kept, of those that @whole shares with @outside. */
static gboolean
has_shared(const QdAlgebra *links, const QdAlgebra *whole, const QdVariableSet *kept, const QdVariableSet *outside)
{
    QD_VARIABLE_SET_FOREACH(&whole->possible, variable)
    {
        if (qd_variable_set_has(outside, variable) &&
            !(qd_variable_set_has(kept, variable) && qd_variable_set_has(&links->possible, variable)))
            return FALSE;
    }
    return TRUE;
}

QdAlgebra *
qd_rewrite_strip(QdGenerator *self, QdAlgebra *inner, const QdVariableSet *outside)
{
    const QdAlgebra *whole = inner;
    QdVariableSet kept = inner->possible;

    if (inner->kind == QD_ALGEBRA_DISTINCT)
        inner = inner->children[0];
    if (inner->kind == QD_ALGEBRA_PROJECT) {
        inner = inner->children[0];
        while (inner->kind == QD_ALGEBRA_EXTEND)
            inner = inner->children[0];
        if (inner->kind == QD_ALGEBRA_GROUP && inner->n_variables > 0) {
            kept = keep_keys(self, inner, &kept);
            inner = inner->children[0];
        }
        return qd_algebra_consists_of_links(inner) && has_shared(inner, whole, &kept, outside) ? qd_rewrite_hide(self, inner, &kept)
                                                                                               : NULL;
    }
    return qd_algebra_consists_of_links(inner) ? inner : NULL;
}

QdAlgebra *
qd_rewrite_list_shared(QdGenerator *self, const QdVariableSet *left, const QdVariableSet *certain, QdAlgebra *inner)
{
    QdAlgebra *project = qd_algebra_new_parent(self->ast, QD_ALGEBRA_PROJECT, &inner, 1);

    project->possible = (QdVariableSet){ 0 };
    project->variables = qd_arena_array0(self->arena, guint, left->n_words * 64 + 1);
    QD_VARIABLE_SET_FOREACH(left, variable)
    {
        if (!qd_variable_set_has(&inner->possible, variable))
            continue;
        if (!qd_variable_set_has(certain, variable) || !qd_algebra_binds(inner, variable))
            return NULL;
        project->variables[project->n_variables++] = variable;
        qd_variable_set_add(&project->possible, self->arena, variable);
    }
    return project->n_variables > 0 ? qd_algebra_new_parent(self->ast, QD_ALGEBRA_DISTINCT, &project, 1) : NULL;
}

static QdAlgebra *
list_shared(QdGenerator *self, const QdAlgebra *left, QdAlgebra *inner)
{
    QdVariableSet certain = { 0 };

    QD_VARIABLE_SET_FOREACH(&left->possible, variable)
    {
        if (qd_algebra_binds(left, variable))
            qd_variable_set_add(&certain, self->arena, variable);
    }
    return qd_rewrite_list_shared(self, &left->possible, &certain, inner);
}

QdAlgebra *
qd_rewrite_get_exists(QdGenerator *self, QdExpression *expression)
{
    if (expression->algebra == NULL)
        expression->algebra = qd_algebra_from_pattern(self->ast, expression->pattern);
    return expression->algebra;
}

/* Whether @node joins a UNION with a path: inside an EXISTS it is evaluated whole, since SQLite does not look into its arms there.
 */
static gboolean
joins_union(const QdAlgebra *node)
{
    for (guint i = 0; node->kind == QD_ALGEBRA_JOIN && i < node->n_children; i++) {
        if (node->children[i]->kind == QD_ALGEBRA_UNION && qd_algebra_has_path(node))
            return TRUE;
    }
    return FALSE;
}

QdAlgebra *
qd_rewrite_semijoin(QdGenerator *self, const QdAlgebra *filter, QdExpression *expression)
{
    const QdAlgebra *left = filter->children[0];
    QdAlgebra *inner;
    double n_left, n_inner;

    if (expression->kind != QD_EXPRESSION_KIND_EXISTS || expression->negated)
        return NULL;
    inner = qd_rewrite_strip(self, qd_rewrite_get_exists(self, expression), &left->possible);
    if (inner == NULL)
        return NULL;
    if (inner->kind == QD_ALGEBRA_PATH && inner->triple->path->kind != QD_PATH_ONE_OR_MORE)
        return NULL; /* from a node the first that is found is itself */
    if (joins_union(inner))
        return list_shared(self, left, inner);
    n_left = qd_estimate_rows(self, left);
    n_inner = qd_estimate_rows(self, inner);
    if (n_left < LARGE_LEFT_MIN)
        return NULL;
    if (n_inner > SMALL_EXISTS_MAX &&
        (n_left < HUGE_LEFT_MIN || !(qd_algebra_has_path(inner) || (qd_algebra_has_path(left) && n_inner <= n_left / SHARE_MIN)) ||
         qd_estimate_cost(self, inner) > n_left * EXISTS_COST_MAX))
        return NULL;
    return list_shared(self, left, inner);
}

QdExpression *
qd_rewrite_simplify_exists(QdGenerator *self, const QdAlgebra *left, QdExpression *expression)
{
    QdAlgebra *inner = NULL;
    QdExpression *simple;

    if (expression->kind == QD_EXPRESSION_KIND_EXISTS)
        inner = qd_rewrite_strip(self, qd_rewrite_get_exists(self, expression), &left->possible);
    if (inner == NULL || inner == expression->algebra)
        return expression;
    simple = qd_arena_new0(self->arena, QdExpression);
    *simple = *expression;
    simple->algebra = inner;
    return simple;
}

const QdAlgebra *
qd_rewrite_filter(QdGenerator *self, const QdAlgebra *node)
{
    g_autoptr(GPtrArray) parts = g_ptr_array_new();
    QdExpression **expressions = qd_arena_array0(self->arena, QdExpression *, node->n_expressions);
    guint n_expressions = 0;
    gboolean simplified = FALSE;
    QdAlgebra *joined, *rest;

    /* inside an EXISTS a pattern is looked up for each solution around it */
    if (self->outer != NULL || self->graph.kind == QD_NODE_VARIABLE)
        return node;
    g_ptr_array_add(parts, node->children[0]);
    for (guint i = 0; i < node->n_expressions; i++) {
        QdAlgebra *semijoin = qd_rewrite_semijoin(self, node, node->expressions[i]);

        if (semijoin != NULL)
            g_ptr_array_add(parts, semijoin);
        else
            expressions[n_expressions++] = qd_rewrite_simplify_exists(self, node->children[0], node->expressions[i]);
        simplified = simplified || semijoin != NULL || expressions[n_expressions - 1] != node->expressions[i];
    }
    joined = node->children[0];
    if (parts->len > 1) {
        if (joined->kind == QD_ALGEBRA_JOIN)
            put_part(parts, 0, joined);
        joined = qd_algebra_new_parent(self->ast, QD_ALGEBRA_JOIN, (QdAlgebra **) parts->pdata, parts->len);
    }
    if (joined == node->children[0] && !simplified)
        return node;
    if (n_expressions == 0)
        return joined;
    rest = qd_algebra_put_on(self, node, joined);
    rest->expressions = expressions;
    rest->n_expressions = n_expressions;
    return rest;
}
