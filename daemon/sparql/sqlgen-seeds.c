/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Subselects that begin from a few solutions on their left. A join with the values that these bind, each once, leaves of the
 * pattern inside what the join outside would leave of the subselect's rows.
 */
#include "daemon/sparql/sqlgen-private.h"

#define GAIN_MIN 1000.0  /* solutions of a pattern that is worth it */
#define BINDER_MAX 50000 /* solutions of a part that gives the values */

/* @variables without those that @node, a subselect's modifier or group, makes of its own. */
static void
keep_listed(QdGenerator *self, const QdAlgebra *node, QdVariableSet *variables)
{
    QdVariableSet kept = { 0 };

    for (guint i = 0; i < node->n_variables; i++) {
        if (qd_variable_set_has(variables, node->variables[i]))
            qd_variable_set_add(&kept, self->arena, node->variables[i]);
    }
    *variables = kept;
}

static gboolean
makes_none(const QdAlgebra *extend, const QdVariableSet *variables)
{
    for (guint i = 0; i < extend->n_bindings; i++) {
        if (qd_variable_set_has(variables, extend->bindings[i].variable))
            return FALSE;
    }
    return TRUE;
}

/* The pattern inside @node, and in @variables those that are the same there as outside. NULL: a slice, or something else. */
static const QdAlgebra *
find_pattern(QdGenerator *self, const QdAlgebra *node, QdVariableSet *variables)
{
    for (;;) {
        switch (node->kind) {
        case QD_ALGEBRA_GROUP:
        case QD_ALGEBRA_PROJECT:
            keep_listed(self, node, variables);
            break;
        case QD_ALGEBRA_EXTEND:
            if (!makes_none(node, variables))
                return NULL;
            break;
        case QD_ALGEBRA_DISTINCT:
        case QD_ALGEBRA_ORDER:
        case QD_ALGEBRA_FILTER:
        case QD_ALGEBRA_LEFT_JOIN:
        case QD_ALGEBRA_MINUS:
            break;
        case QD_ALGEBRA_TRIPLE:
        case QD_ALGEBRA_PATH:
        case QD_ALGEBRA_JOIN:
        case QD_ALGEBRA_UNION:
            return node;
        case QD_ALGEBRA_UNIT:
        case QD_ALGEBRA_MATCH:
        case QD_ALGEBRA_GRAPH:
        case QD_ALGEBRA_SERVICE:
        case QD_ALGEBRA_VALUES:
        case QD_ALGEBRA_SLICE:
            return NULL;
        }
        node = node->children[0];
    }
}

/* Whether @node has a pattern of its own, which nothing around it reaches into. */
static gboolean
is_subselect(const QdAlgebra *node)
{
    return node->kind == QD_ALGEBRA_PROJECT || node->kind == QD_ALGEBRA_DISTINCT || node->kind == QD_ALGEBRA_ORDER;
}

/* Adds to @parts what each solution of @node extends a solution of. */
static void
add_parts(const QdAlgebra *node, GPtrArray *parts)
{
    switch (node->kind) {
    case QD_ALGEBRA_JOIN:
        for (guint i = 0; i < node->n_children; i++)
            add_parts(node->children[i], parts);
        return;
    case QD_ALGEBRA_LEFT_JOIN:
    case QD_ALGEBRA_MINUS:
    case QD_ALGEBRA_FILTER:
    case QD_ALGEBRA_EXTEND:
        add_parts(node->children[0], parts);
        return;
    default:
        g_ptr_array_add(parts, (gpointer) node);
    }
}

/* The smallest of @parts that binds one of @variables, or @all of them. */
static const QdAlgebra *
find_binder(QdGenerator *self, const QdAlgebra **parts, guint n_parts, const QdVariableSet *variables, gboolean all)
{
    const QdAlgebra *found = NULL;
    double least = BINDER_MAX;

    for (guint i = 0; i < n_parts; i++) {
        gboolean some = FALSE;
        gboolean each = TRUE;
        double n;

        QD_VARIABLE_SET_FOREACH(variables, variable)
        {
            gboolean binds = qd_algebra_binds(parts[i], variable);

            some = some || binds;
            each = each && binds;
        }
        if (!(all ? each : some) || !(qd_algebra_consists_of_links(parts[i]) || parts[i]->kind == QD_ALGEBRA_VALUES))
            continue;
        n = qd_estimate_rows(self, parts[i]);
        if (n <= least) {
            found = parts[i];
            least = n;
        }
    }
    return found;
}

/* The values of @variables in @relation, as far as each solution of @pattern binds them, each combination once. */
static QdRelation *
take_values(QdGenerator *self, const QdRelation *relation, const QdAlgebra *pattern, const QdVariableSet *variables)
{
    QdRelation *seeds = qd_relation_new(self);

    qd_relation_take_rows(self, seeds, relation);
    QD_VARIABLE_SET_FOREACH(variables, variable)
    {
        const QdColumn *known = qd_relation_find(relation, variable);

        if (known != NULL && known->certain && qd_algebra_binds(pattern, variable)) {
            QdColumn *column = qd_relation_add(self, seeds, variable, NULL);

            *column = *known;
            column->sql = qd_column_intern(self, known);
            column->interned = TRUE;
        }
    }
    if (seeds->n_columns == 0)
        return NULL;
    return qd_relation_seal_text(self, seeds, qd_relation_write(self, seeds, "SELECT DISTINCT", NULL), QD_SEAL_MATERIALIZED);
}

QdRelation *
qd_generate_seeds_of(QdGenerator *self, const QdAlgebra **parts, guint n_parts, const QdVariableSet *variables, gboolean all)
{
    g_autoptr(GPtrArray) all_parts = g_ptr_array_new();
    const QdAlgebra *binder;

    for (guint i = 0; i < n_parts; i++)
        add_parts(parts[i], all_parts);
    binder = find_binder(self, (const QdAlgebra **) all_parts->pdata, all_parts->len, variables, all);
    return binder != NULL ? take_values(self, qd_generator_generate(self, binder, NULL), binder, variables) : NULL;
}

QdRelation *
qd_generate_seeds(QdGenerator *self, QdRelation *left, const QdAlgebra **order, guint index, gboolean may_keep)
{
    const QdAlgebra *node = order[index];
    QdVariableSet shared = { 0 };
    QdVariableSet bound = { 0 };
    const QdAlgebra *pattern;

    if (!is_subselect(node) || self->outer != NULL || self->graph.kind == QD_NODE_VARIABLE || left->n_tables == 0 ||
        qd_algebra_is_volatile(node))
        return left;
    for (guint i = 0; i < left->n_columns; i++) {
        if (left->columns[i].certain)
            qd_variable_set_add(&shared, self->arena, left->columns[i].variable);
    }
    pattern = find_pattern(self, node, &shared);
    if (pattern == NULL || !qd_algebra_begins_from_left(pattern) || qd_estimate_rows(self, pattern) < GAIN_MIN)
        return left;
    QD_VARIABLE_SET_FOREACH(&shared, variable)
    {
        if (qd_algebra_binds(pattern, variable))
            qd_variable_set_add(&bound, self->arena, variable);
    }
    if (qd_variable_set_is_empty(&bound))
        return left;
    self->seeds = qd_generate_seeds_of(self, order, index, &bound, FALSE);
    if (self->seeds == NULL && may_keep) {
        left = qd_relation_seal(self, left, QD_SEAL_MATERIALIZED);
        self->seeds = take_values(self, left, pattern, &bound);
    }
    self->seeded = self->seeds != NULL ? pattern : NULL;
    return left;
}
