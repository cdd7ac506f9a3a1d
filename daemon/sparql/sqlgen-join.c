/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Join, left join, minus, union.
 */
#include <string.h>

#include "daemon/sparql/sqlgen-private.h"

#define TABLES_MAX 24 /* SQLite joins 64; what is longer is cut where it is read once */
#define ARMS_MAX 100  /* SELECTs in one UNION ALL, of which SQLite takes 500 */

/* @bound (nullable) and what @relation binds. */
static QdVariableSet
add_bound(QdGenerator *self, const QdVariableSet *bound, const QdRelation *relation)
{
    QdVariableSet set = { 0 };

    if (bound != NULL)
        qd_variable_set_add_all(&set, self->arena, bound);
    for (guint i = 0; i < relation->n_columns; i++)
        qd_variable_set_add(&set, self->arena, relation->columns[i].variable);
    return set;
}

QdRelation *
qd_generate_join(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    const QdAlgebra **order = qd_arena_array0(self->arena, const QdAlgebra *, node->n_children);
    QdRelation *joined = NULL;

    memcpy(order, node->children, node->n_children * sizeof(const QdAlgebra *));
    qd_join_order(self, order, node->n_children, bound);
    for (guint i = 0; i < node->n_children && self->error == NULL; i++) {
        QdRelation *next;

        if (order[i]->kind == QD_ALGEBRA_PATH) {
            next = qd_generate_path(self, order[i]->triple, &joined);
        } else {
            QdVariableSet known = joined != NULL ? add_bound(self, bound, joined) : (QdVariableSet){ 0 };

            next = qd_generator_generate(self, order[i], joined != NULL ? &known : bound);
        }
        if (joined != NULL && joined->n_tables + next->n_tables > TABLES_MAX) {
            joined = qd_relation_seal(self, joined, QD_SEAL_MATERIALIZED);
            if (next->n_tables > TABLES_MAX / 2)
                next = qd_relation_seal(self, next, QD_SEAL_MATERIALIZED);
        }
        joined = joined != NULL ? qd_relation_join(self, joined, next) : next;
    }
    return joined != NULL ? joined : qd_relation_new(self);
}

/* --- left join -------------------------------------------------------------------------------------------------------- */

static const char *
conjoin(QdGenerator *self, const char *a, const char *b)
{
    if (a == NULL || b == NULL)
        return a != NULL ? a : b;
    return qd_arena_printf(self->arena, "%s AND %s", a, b);
}

/* One table whose columns are nothing but its own can be the right side of SQL's LEFT JOIN. */
static gboolean
is_single_table(const QdRelation *relation)
{
    if (relation->n_tables != 1)
        return FALSE;
    for (guint i = 0; i < relation->n_columns; i++) {
        if (!relation->columns[i].plain)
            return FALSE;
    }
    return TRUE;
}

static QdRelation *
left_join_table(QdGenerator *self, const QdRelation *left, const QdRelation *right, const QdAlgebra *node)
{
    QdRelation *joined = qd_relation_copy(self, left);
    QdRelation *inner = qd_relation_join(self, left, right); /* what the condition sees */
    QdRelation *condition = qd_relation_copy(self, inner);
    const char *on = conjoin(self, right->where, qd_relation_match(self, left, right, NULL));

    condition->where = on;
    qd_relation_filter(self, condition, node->expressions, node->n_expressions);
    joined->from = qd_arena_printf(self->arena, "%s LEFT JOIN %s ON %s", left->from != NULL ? left->from : "(SELECT 1)",
                                   right->from, condition->where != NULL ? condition->where : "1");
    joined->n_tables = MAX(left->n_tables, 1) + 1;
    for (guint i = 0; i < right->n_columns; i++) {
        const QdColumn *b = &right->columns[i];
        QdColumn *a = qd_relation_find(joined, b->variable);

        if (a == NULL) {
            a = qd_relation_add(self, joined, b->variable, b->sql);
            *a = *b;
            a->certain = FALSE;
        } else if (!a->certain) {
            a->sql = qd_arena_printf(self->arena, "coalesce(%s,%s)", a->sql, b->sql);
            a->interned = a->interned && b->interned;
            a->plain = FALSE;
        }
    }
    return joined;
}

/* The columns of all @arms, certain where all are; the arms' SELECTs with NULL for what one has not. */
static QdRelation *
union_arms(QdGenerator *self, QdRelation **arms, guint n_arms)
{
    QdRelation *shape = qd_relation_new(self);
    g_autoptr(GString) text = g_string_new(NULL);

    for (guint i = 0; i < n_arms; i++) {
        for (guint j = 0; j < arms[i]->n_columns; j++) {
            if (qd_relation_find(shape, arms[i]->columns[j].variable) == NULL) {
                QdColumn *column = qd_relation_add(self, shape, arms[i]->columns[j].variable, NULL);

                column->certain = column->interned = TRUE;
                column->serial = arms[i]->columns[j].serial;
            }
        }
    }
    for (guint i = 0; i < n_arms; i++) {
        g_autoptr(GString) list = g_string_new(NULL);

        for (guint j = 0; j < shape->n_columns; j++) {
            const QdColumn *column = qd_relation_find(arms[i], shape->columns[j].variable);

            g_string_append_printf(list, "%s%s", j > 0 ? "," : "", column != NULL ? column->sql : "NULL");
            shape->columns[j].certain &= column != NULL && column->certain;
            shape->columns[j].interned &= column == NULL || column->interned;
        }
        g_string_append_printf(text, "%s%s", i > 0 ? " UNION ALL " : "",
                               qd_relation_write_list(self, arms[i], "SELECT", list->len > 0 ? list->str : "1", NULL));
    }
    return qd_relation_seal_text(self, shape, text->str, QD_SEAL_PLAIN);
}

/* Those of the left that find partners, with them; and those that find none. */
static QdRelation *
left_join_arms(QdGenerator *self, const QdRelation *left, const QdRelation *right, const QdAlgebra *node)
{
    QdRelation *arms[2];
    QdRelation *probe;

    left = qd_relation_seal(self, left, QD_SEAL_MATERIALIZED);
    arms[0] = qd_relation_join(self, left, right);
    qd_relation_filter(self, arms[0], node->expressions, node->n_expressions);
    probe = qd_relation_copy(self, right);
    probe->where = arms[0]->where; /* of a sealed left: all that makes a partner */
    arms[1] = qd_relation_copy(self, left);
    qd_relation_add_where(self, arms[1],
                          qd_arena_printf(self->arena, "NOT EXISTS(%s)", qd_relation_write_list(self, probe, "SELECT", "1", NULL)));
    return union_arms(self, arms, 2);
}

QdRelation *
qd_generate_left_join(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    QdRelation *left = qd_generator_generate(self, node->children[0], bound);
    QdVariableSet known = add_bound(self, bound, left);
    QdRelation *right = qd_generator_generate(self, node->children[1], &known);

    if (left->n_tables >= TABLES_MAX)
        left = qd_relation_seal(self, left, QD_SEAL_MATERIALIZED);
    if (right->n_tables > TABLES_MAX)
        right = qd_relation_seal(self, right, QD_SEAL_MATERIALIZED);
    return is_single_table(right) ? left_join_table(self, left, right, node) : left_join_arms(self, left, right, node);
}

/* --- minus and union -------------------------------------------------------------------------------------------------- */

QdRelation *
qd_generate_minus(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    QdRelation *left = qd_generator_generate(self, node->children[0], bound);
    QdVariableSet known = add_bound(self, bound, left);
    QdRelation *right = qd_generator_generate(self, node->children[1], &known);
    const char *shared;
    QdRelation *probe;

    left = qd_relation_copy(self, left);
    probe = qd_relation_copy(self, right);
    probe->where = conjoin(self, right->where, qd_relation_match(self, left, right, &shared));
    if (shared == NULL)
        return left; /* nothing in common: nothing is taken away */
    if (strcmp(shared, "1") != 0)
        probe->where = conjoin(self, probe->where, qd_arena_printf(self->arena, "(%s)", shared));
    qd_relation_add_where(self, left,
                          qd_arena_printf(self->arena, "NOT EXISTS(%s)", qd_relation_write_list(self, probe, "SELECT", "1", NULL)));
    return left;
}

QdRelation *
qd_generate_union(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    guint n = node->n_children;
    QdRelation **arms = qd_arena_array0(self->arena, QdRelation *, n);

    for (guint i = 0; i < n; i++)
        arms[i] = qd_generator_generate(self, node->children[i], bound);
    while (n > 1) {
        guint n_next = 0;

        for (guint i = 0; i < n; i += ARMS_MAX, n_next++) {
            guint n_arms = MIN(ARMS_MAX, n - i);

            arms[n_next] = n_arms > 1 ? union_arms(self, arms + i, n_arms) : arms[i];
        }
        n = n_next;
    }
    return arms[0];
}
