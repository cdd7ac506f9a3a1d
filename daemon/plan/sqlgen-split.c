/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A join case by case of one of its parts. The cases are the arms of a UNION, or what an OPTIONAL adds and what it leaves as it is.
 * Each has an order of its own, and may begin with what it has itself. Where a variable is unbound in one case, that case does not
 * name it.
 */
#include "daemon/plan/sqlgen-private.h"

#define ARMS_MAX 4         /* of a UNION that is joined arm by arm */
#define SPLIT_MAX 3        /* such parts of a statement */
#define SPLIT_COST_MIN 2e4 /* of a join: below, its UNIONs and OPTIONALs are not looked at */
#define SPLIT_GAIN 0.4     /* of its cost that the joins of all cases may have */

/* Whether each solution of the parts before @index binds a variable that each one of @right does. */
static gboolean
shares_sure(const GPtrArray *parts, guint index, const QdAlgebra *right)
{
    QD_VARIABLE_SET_FOREACH(&right->possible, variable)
    {
        for (guint i = 0; i < index && qd_algebra_binds(right, variable); i++) {
            const QdAlgebra *part = parts->pdata[i];

            if (!part->follows && qd_algebra_binds(part, variable))
                return TRUE;
        }
    }
    return FALSE;
}

/* Of the part at @index; 0: it is no such part. */
static guint
count_cases(const GPtrArray *parts, guint index)
{
    const QdAlgebra *part = parts->pdata[index];

    if (part->kind == QD_ALGEBRA_UNION)
        return part->n_children <= ARMS_MAX && qd_algebra_consists_of_links(part) ? part->n_children : 0;
    if (part->kind != QD_ALGEBRA_LEFT_JOIN || !part->follows || part->n_expressions > 0)
        return 0;
    return qd_algebra_consists_of_links(part->children[1]) && shares_sure(parts, index, part->children[1]) ? 2 : 0;
}

/* That the OPTIONAL at @index has nothing. Of its variables only those before it are compared. */
static QdAlgebra *
make_missing(QdGenerator *self, const GPtrArray *parts, guint index)
{
    const QdAlgebra *optional = parts->pdata[index];
    QdVariableSet before = { 0 };
    QdAlgebra *sides[2];

    for (guint i = 0; i < index; i++)
        qd_variable_set_add_all(&before, self->arena, &((const QdAlgebra *) parts->pdata[i])->possible);
    sides[0] = optional->children[0];
    sides[1] = qd_rewrite_hide(self, optional->children[1], &before);
    return qd_part_detach(self, qd_algebra_new_parent(self->ast, QD_ALGEBRA_MINUS, sides, G_N_ELEMENTS(sides)));
}

/* Whether @filter is an EXISTS of what @part may leave unbound. */
static gboolean
looks_for_open(QdGenerator *self, const QdAlgebra *filter, const QdAlgebra *part)
{
    QdVariableSet named = { 0 };

    if (filter->kind != QD_ALGEBRA_FILTER || !filter->follows || filter->expressions[0]->kind != QD_EXPRESSION_KIND_EXISTS)
        return FALSE;
    qd_part_add_named(self, filter, &named);
    QD_VARIABLE_SET_FOREACH(&named, variable)
    {
        if (qd_variable_set_has(&part->possible, variable) && !qd_algebra_binds(part, variable))
            return TRUE;
    }
    return FALSE;
}

/* @filter, which comes after @before, as a part to be joined, if that is better where all is bound. */
static const QdAlgebra *
join_exists(QdGenerator *self, const GPtrArray *before, const QdAlgebra *filter)
{
    g_autoptr(GPtrArray) left = g_ptr_array_new();
    QdAlgebra *join, *semijoin;

    for (guint i = 0; i < before->len; i++) {
        const QdAlgebra *part = before->pdata[i];

        if (!part->follows || part->kind == QD_ALGEBRA_LEFT_JOIN)
            g_ptr_array_add(left, (gpointer) part);
    }
    join = qd_algebra_new_parent(self->ast, QD_ALGEBRA_JOIN, (QdAlgebra **) left->pdata, left->len);
    semijoin = qd_rewrite_semijoin(self, qd_algebra_put_on(self, filter, join), filter->expressions[0]);
    return semijoin != NULL ? semijoin : filter;
}

/* @parts in case @number of that at @index. */
static GPtrArray *
make_case(QdGenerator *self, const GPtrArray *parts, guint index, guint number)
{
    const QdAlgebra *part = parts->pdata[index];
    GPtrArray *own = g_ptr_array_new();

    for (guint i = 0; i < parts->len; i++) {
        if (i > index && looks_for_open(self, parts->pdata[i], part))
            g_ptr_array_add(own, (gpointer) join_exists(self, own, parts->pdata[i]));
        else if (i != index)
            g_ptr_array_add(own, parts->pdata[i]);
        else if (part->kind == QD_ALGEBRA_UNION)
            qd_parts_add(self, part->children[number], own);
        else if (number == 0)
            qd_parts_add(self, part->children[1], own);
        else
            g_ptr_array_add(own, make_missing(self, parts, index));
    }
    return own;
}

/* Whether @part is found from what it names: a triple or path, or an EXISTS or MINUS. */
static gboolean
is_found(const QdAlgebra *part)
{
    return part->kind == QD_ALGEBRA_PATH || part->kind == QD_ALGEBRA_TRIPLE ||
           (part->follows && (part->kind == QD_ALGEBRA_MINUS ||
                              (part->kind == QD_ALGEBRA_FILTER && part->expressions[0]->kind == QD_EXPRESSION_KIND_EXISTS)));
}

/* Whether an arm of @parts[@index], a UNION, binds what another part is found from, and another arm does not. */
static gboolean
is_open(QdGenerator *self, const GPtrArray *parts, guint index)
{
    const QdAlgebra *part = parts->pdata[index];

    for (guint i = 0; i < parts->len; i++) {
        const QdAlgebra *other = parts->pdata[i];
        QdVariableSet named = { 0 };

        if (i == index || !is_found(other))
            continue;
        qd_part_add_named(self, other, &named);
        QD_VARIABLE_SET_FOREACH(&named, variable)
        {
            if (qd_variable_set_has(&part->possible, variable) && !qd_algebra_binds(part, variable))
                return TRUE;
        }
    }
    return FALSE;
}

/* What the join of @parts costs beside the rows in the end, of which all its orders have as many. */
static double
estimate_join(QdGenerator *self, const GPtrArray *parts)
{
    double n_rows;
    double cost = qd_estimate_cost_of(self, (const QdAlgebra *const *) parts->pdata, parts->len, &n_rows);

    return cost - n_rows;
}

/* The same if it is made case by case of that at @index, as far as it is below @cost_max. */
static double
estimate_cases(QdGenerator *self, const GPtrArray *parts, guint index, guint n_cases, double cost_max)
{
    double cost = 0;

    for (guint i = 0; i < n_cases && cost < cost_max; i++) {
        g_autoptr(GPtrArray) own = make_case(self, parts, index, i);

        cost += estimate_join(self, own);
    }
    return cost;
}

/* Whether a triple after the OPTIONAL at @index names what this may leave unbound: there is no index for it. */
static gboolean
is_needed(const GPtrArray *parts, guint index)
{
    const QdAlgebra *optional = parts->pdata[index];

    for (guint i = index + 1; i < parts->len; i++) {
        const QdAlgebra *part = parts->pdata[i];

        QD_VARIABLE_SET_FOREACH(&part->possible, variable)
        {
            gboolean is_sure = part->kind != QD_ALGEBRA_TRIPLE || !qd_variable_set_has(&optional->possible, variable);

            for (guint j = 0; j < index && !is_sure; j++)
                is_sure = qd_algebra_binds(parts->pdata[j], variable);
            if (!is_sure)
                return TRUE;
        }
    }
    return FALSE;
}

/* The part by whose cases the join is better made. G_MAXUINT: there is none. */
static guint
find_split(QdGenerator *self, const GPtrArray *parts)
{
    guint found = G_MAXUINT;
    double cost = -1;

    if (self->splits.n_groups >= SPLIT_MAX || parts->len < 2)
        return G_MAXUINT;
    for (guint i = 0; i < parts->len; i++) {
        const QdAlgebra *part = parts->pdata[i];
        guint n_cases = count_cases(parts, i);
        double of_cases;

        if (n_cases == 0)
            continue;
        if (self->splits.is_forced || (part->kind == QD_ALGEBRA_UNION ? is_open(self, parts, i) : is_needed(parts, i)))
            return i;
        if (cost < 0)
            cost = estimate_join(self, parts) * SPLIT_GAIN;
        of_cases = cost >= SPLIT_COST_MIN ? estimate_cases(self, parts, i, n_cases, cost) : cost;
        if (of_cases < cost) {
            found = i;
            cost = of_cases;
        }
    }
    self->splits.is_possible = self->splits.is_possible || cost >= SPLIT_COST_MIN;
    return found;
}

QdRelation *
qd_generate_split(QdGenerator *self, const GPtrArray *parts, const QdVariableSet *bound)
{
    guint index = find_split(self, parts);
    guint n_cases = index != G_MAXUINT ? count_cases(parts, index) : 0;
    QdRelation **cases;

    if (n_cases == 0)
        return qd_generate_children(self, NULL, (QdAlgebra **) parts->pdata, parts->len, bound);
    cases = qd_arena_array0(self->arena, QdRelation *, n_cases);
    self->splits.n_groups++;
    for (guint i = 0; i < n_cases; i++) {
        g_autoptr(GPtrArray) own = make_case(self, parts, index, i);

        cases[i] = qd_relation_copy(self, qd_generate_split(self, own, bound));
    }
    return self->error != NULL ? qd_relation_new(self) : qd_relation_unite(self, cases, n_cases);
}
