/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a group needs of its pattern. A subselect that is joined with other parts is no part of the tally. It is a table, joined
 * with the tally's rows. So the tally is asked for what both have.
 */
#include "daemon/plan/tally/sqlgen-tally.h"

/* --- variables -------------------------------------------------------------------------------------------------------- */

static gboolean
is_of_tables(const QdTallyNeed *need, guint variable)
{
    gboolean found = FALSE;

    for (guint i = 0; i < need->n_tables; i++)
        found = found || qd_variable_set_has(&need->tables[i]->possible, variable);
    return found && !qd_variable_set_has(&need->pattern->possible, variable);
}

static gboolean
need_variable(QdTallyNeed *need, guint variable)
{
    if (is_of_tables(need, variable))
        return TRUE;
    for (guint i = 0; i < need->n_roots; i++) {
        if (need->roots[i] == variable)
            return TRUE;
    }
    if (need->n_roots == QD_TALLY_ROOTS_MAX)
        return FALSE;
    need->roots[need->n_roots++] = variable;
    return TRUE;
}

gboolean
qd_tally_need_add(QdGenerator *self, const QdExpression *expression, gboolean own, QdTallyNeed *need)
{
    QdVariableSet named = { 0 };

    if (qd_expression_is_volatile(expression) || qd_expression_needs_serial(expression))
        return FALSE;
    qd_expression_add_all_variables(expression, self->arena, &named);
    QD_VARIABLE_SET_FOREACH(&named, variable)
    {
        gboolean is_computed = qd_variable_set_has(&need->computed, variable);

        if (is_computed ? own : !need_variable(need, variable))
            return FALSE;
    }
    return TRUE;
}

/* --- tables ----------------------------------------------------------------------------------------------------------- */

/* Groups, distinct rows, slices and VALUES: what is more than a pattern. */
static gboolean
is_table(const QdAlgebra *node, gboolean has_paths)
{
    if (node->kind == QD_ALGEBRA_VALUES || (node->kind == QD_ALGEBRA_PATH && has_paths))
        return TRUE;
    if (node->kind != QD_ALGEBRA_PROJECT && node->kind != QD_ALGEBRA_DISTINCT && node->kind != QD_ALGEBRA_SLICE)
        return FALSE;
    while (node->kind == QD_ALGEBRA_PROJECT || node->kind == QD_ALGEBRA_EXTEND || node->kind == QD_ALGEBRA_FILTER ||
           node->kind == QD_ALGEBRA_ORDER)
        node = node->children[0];
    return node->kind == QD_ALGEBRA_GROUP || node->kind == QD_ALGEBRA_DISTINCT || node->kind == QD_ALGEBRA_SLICE;
}

static gboolean
has_exists(const QdExpression *expression)
{
    gboolean found = expression->kind == QD_EXPRESSION_KIND_EXISTS;

    for (guint i = 0; i < expression->n_children && !found; i++)
        found = has_exists(expression->children[i]);
    return found;
}

/* Whether @condition can be tested of the solutions of @own alone, which are joined with tables. */
static gboolean
is_of_pattern(QdGenerator *self, const QdTallyNeed *need, const QdAlgebra *own, const QdExpression *condition)
{
    QdVariableSet named = { 0 };

    qd_expression_add_all_variables(condition, self->arena, &named);
    QD_VARIABLE_SET_FOREACH(&named, variable)
    {
        for (guint i = 0; i < need->n_tables; i++) {
            if (qd_variable_set_has(&need->tables[i]->possible, variable) && !qd_algebra_binds(own, variable))
                return FALSE;
        }
    }
    return TRUE;
}

/* @own below those of the @filter's conditions that are its own; the others are tested afterwards. */
static gboolean
set_conditions_apart(QdGenerator *self, const QdAlgebra *filter, QdAlgebra *own, QdTallyNeed *need)
{
    QdExpression **before = qd_arena_array0(self->arena, QdExpression *, filter->n_expressions);
    guint n_before = 0;
    QdAlgebra *filtered;

    need->after = qd_arena_array0(self->arena, QdExpression *, filter->n_expressions);
    for (guint i = 0; i < filter->n_expressions; i++) {
        if (is_of_pattern(self, need, own, filter->expressions[i]))
            before[n_before++] = filter->expressions[i];
        else if (!has_exists(filter->expressions[i]))
            need->after[need->n_after++] = filter->expressions[i];
        else
            return FALSE;
    }
    need->pattern = own;
    if (n_before == 0)
        return TRUE;
    filtered = qd_algebra_put_on(self, filter, own);
    filtered->possible = own->possible;
    filtered->expressions = before;
    filtered->n_expressions = n_before;
    need->pattern = filtered;
    return TRUE;
}

/* What the tally is to be asked for beside what the group needs. */
static gboolean
need_of_tables(QdGenerator *self, QdTallyNeed *need)
{
    for (guint i = 0; i < need->n_tables; i++) {
        QD_VARIABLE_SET_FOREACH(&need->tables[i]->possible, variable)
        {
            if (qd_variable_set_has(&need->pattern->possible, variable) && !need_variable(need, variable))
                return FALSE;
        }
    }
    for (guint i = 0; i < need->n_after; i++) {
        if (!qd_tally_need_add(self, need->after[i], TRUE, need))
            return FALSE;
    }
    return TRUE;
}

/* Whether a path follows the rows of a tally: it is searched once for all solutions with one value. Other rewrites know better what
 * makes distinct rows, and where the solutions of a path are only counted. */
static gboolean
takes_paths(QdGenerator *self, const QdAlgebra *group)
{
    return group->n_bindings > 0 && qd_rewrite_count(self, group) == group;
}

/* Whether each path has an end in the pattern. */
static gboolean
paths_follow(const QdTallyNeed *need)
{
    for (guint i = 0; i < need->n_tables; i++) {
        if (need->tables[i]->kind == QD_ALGEBRA_PATH &&
            !qd_variable_set_shares(&need->tables[i]->possible, &need->pattern->possible))
            return FALSE;
    }
    return TRUE;
}

/* The tables among the parts of the pattern. FALSE: it cannot be split so. */
static gboolean
set_tables_apart(QdGenerator *self, const QdAlgebra *group, QdTallyNeed *need)
{
    const gboolean has_paths = qd_algebra_has_path(need->whole) && takes_paths(self, group);
    static const QdAlgebra none = { .kind = QD_ALGEBRA_FILTER };
    const QdAlgebra *filter = need->whole->kind == QD_ALGEBRA_FILTER ? need->whole : &none;
    const QdAlgebra *join = filter != &none ? filter->children[0] : need->whole;
    QdAlgebra **parts;
    guint n_parts = 0;

    if (join->kind != QD_ALGEBRA_JOIN)
        return TRUE;
    parts = qd_arena_array0(self->arena, QdAlgebra *, join->n_children);
    need->tables = qd_arena_array0(self->arena, QdAlgebra *, join->n_children);
    for (guint i = 0; i < join->n_children; i++) {
        if (is_table(join->children[i], has_paths))
            need->tables[need->n_tables++] = join->children[i];
        else
            parts[n_parts++] = join->children[i];
    }
    if (need->n_tables == 0 || n_parts == 0)
        return need->n_tables == 0;
    need->join = join;
    return set_conditions_apart(
               self, filter, n_parts == 1 ? parts[0] : qd_algebra_new_parent(self->ast, QD_ALGEBRA_JOIN, parts, n_parts), need) &&
           paths_follow(need) && need_of_tables(self, need);
}

/* --- the group -------------------------------------------------------------------------------------------------------- */

static gboolean
binds(const QdTallyNeed *need, guint variable)
{
    gboolean found = qd_algebra_binds(need->pattern, variable);

    for (guint i = 0; i < need->n_tables && !found; i++)
        found = qd_algebra_binds(need->tables[i], variable);
    return found;
}

static gboolean
is_bound_variable(const QdTallyNeed *need, const QdExpression *expression)
{
    return expression->kind == QD_EXPRESSION_KIND_VARIABLE && binds(need, expression->variable);
}

/* COUNT of solutions: of all, or of what each binds. */
gboolean
qd_tally_need_counts_solutions(const QdTallyNeed *need, const QdExpression *aggregate)
{
    return aggregate->aggregate == QD_AGGREGATE_COUNT && !aggregate->distinct &&
           (aggregate->n_children == 0 || is_bound_variable(need, aggregate->children[0]));
}

static gboolean
counts_values(const QdTallyNeed *need, const QdExpression *aggregate)
{
    return aggregate->aggregate == QD_AGGREGATE_COUNT && aggregate->distinct && aggregate->n_children == 1 &&
           is_bound_variable(need, aggregate->children[0]);
}

static gboolean
need_aggregate(QdGenerator *self, const QdExpression *aggregate, QdTallyNeed *need)
{
    if (aggregate->kind != QD_EXPRESSION_KIND_AGGREGATE)
        return FALSE;
    need->only_values = need->only_values && counts_values(need, aggregate);
    if (qd_tally_need_counts_solutions(need, aggregate))
        return TRUE;
    need->only_solutions = FALSE;
    if (aggregate->n_children == 0)
        return FALSE;
    switch (aggregate->aggregate) {
    case QD_AGGREGATE_COUNT:
    case QD_AGGREGATE_SUM:
    case QD_AGGREGATE_AVG:
    case QD_AGGREGATE_MIN:
    case QD_AGGREGATE_MAX:
        return qd_tally_need_add(self, aggregate->children[0], FALSE, need);
    default:
        return FALSE;
    }
}

/* Whether nothing binds @variable, a key beside others: all groups have it unbound. */
static gboolean
is_unbound_key(const QdAlgebra *group, const QdTallyNeed *need, guint variable)
{
    gboolean has_others = FALSE;

    for (guint i = 0; i < group->n_variables; i++)
        has_others = has_others || qd_variable_set_has(&need->whole->possible, group->variables[i]) ||
                     qd_variable_set_has(&need->computed, group->variables[i]);
    return has_others && group->n_bindings > 0 && !qd_variable_set_has(&need->computed, variable) &&
           !qd_variable_set_has(&need->whole->possible, variable);
}

/* BINDs of what is asked for. */
static gboolean
need_computed(QdGenerator *self, const QdAlgebra *group, QdTallyNeed *need)
{
    for (const QdAlgebra *node = group->children[0]; node != need->whole; node = node->children[0])
        for (guint i = 0; i < node->n_bindings; i++)
            qd_variable_set_add(&need->computed, self->arena, node->bindings[i].variable);
    for (guint i = 0; i < group->n_variables; i++) {
        if (!is_unbound_key(group, need, group->variables[i]) && !qd_variable_set_has(&need->computed, group->variables[i]) &&
            !need_variable(need, group->variables[i]))
            return FALSE;
    }
    for (const QdAlgebra *node = group->children[0]; node != need->whole; node = node->children[0])
        for (guint i = 0; i < node->n_bindings; i++) {
            if (node->bindings[i].expression == NULL || !qd_tally_need_add(self, node->bindings[i].expression, TRUE, need))
                return FALSE;
        }
    return TRUE;
}

gboolean
qd_tally_need_find(QdGenerator *self, const QdAlgebra *group, QdTallyNeed *need)
{
    *need = (QdTallyNeed){ .whole = group->children[0], .only_solutions = TRUE, .only_values = TRUE };
    while (need->whole->kind == QD_ALGEBRA_EXTEND)
        need->whole = need->whole->children[0];
    need->pattern = need->whole;
    if ((group->n_bindings == 0 && group->n_variables == 0) || !set_tables_apart(self, group, need) ||
        !need_computed(self, group, need))
        return FALSE;
    for (guint i = 0; i < group->n_bindings; i++) {
        if (!need_aggregate(self, group->bindings[i].expression, need))
            return FALSE;
    }
    if (need->n_roots == 0 && !need->only_solutions) /* what is the same for all solutions, as in SUM(5), has no column */
        return FALSE;
    for (guint i = 0; i < need->n_roots; i++) {
        if (!qd_variable_set_has(&need->pattern->possible, need->roots[i]))
            return FALSE;
    }
    return TRUE;
}

/* Whether each solution has a value of all that is asked for. */
gboolean
qd_tally_need_is_bound(const QdTallyNeed *need)
{
    for (guint i = 0; i < need->n_roots; i++) {
        if (!qd_algebra_binds(need->pattern, need->roots[i]))
            return FALSE;
    }
    return TRUE;
}

/* A variable that a triple of @node has; G_MAXUINT: none is found. */
static guint
find_variable(const QdAlgebra *node)
{
    guint found = G_MAXUINT;

    if (node->kind == QD_ALGEBRA_TRIPLE) {
        if (node->triple->s.kind == QD_NODE_VARIABLE)
            return node->triple->s.variable;
        return node->triple->o.kind == QD_NODE_VARIABLE ? node->triple->o.variable : G_MAXUINT;
    }
    for (guint i = 0; i < node->n_children && found == G_MAXUINT; i++)
        found = find_variable(node->children[i]);
    return found;
}

/* One of FILTER @pattern: of a variable that is not asked for, it can be tested apart. */
static gboolean
need_condition(QdGenerator *self, const QdAlgebra *pattern, QdExpression *condition, QdTallyNeed *need)
{
    QdTallySet set;

    if (condition->kind == QD_EXPRESSION_KIND_EXISTS || qd_tally_compares_ends(condition, pattern->children[0]) ||
        qd_tally_is_absence(pattern))
        return TRUE;
    if (qd_tally_is_conjunction(condition))
        return need_condition(self, pattern, condition->children[0], need) &&
               need_condition(self, pattern, condition->children[1], need);
    if (need->n_roots > 0 && qd_tally_find_set(self, pattern->children[0], condition, &set))
        return TRUE;
    return qd_tally_need_add(self, condition, TRUE, need);
}

/* Conditions on the values that are asked for are tested once for each. @ret_chosen: it needs no variable, and has any. */
gboolean
qd_tally_need_add_conditions(QdGenerator *self, const QdAlgebra *pattern, QdTallyNeed *need, gboolean *ret_chosen)
{
    for (guint i = 0; pattern->kind == QD_ALGEBRA_FILTER && i < pattern->n_expressions; i++) {
        if (!need_condition(self, pattern, pattern->expressions[i], need))
            return FALSE;
    }
    *ret_chosen = need->n_roots == 0;
    if (need->n_roots == 0) {
        need->roots[0] = find_variable(pattern);
        need->n_roots = 1;
    }
    return need->roots[0] != G_MAXUINT;
}
