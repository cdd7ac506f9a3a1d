/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * UNION, and joins that become one: arm by arm of a UNION, and by whether a variable is bound.
 */
#include "daemon/plan/sqlgen-private.h"

#define MERGED_LEVELS_MAX 4 /* of EXISTS: SQLite writes what is in a condition again for each arm that it merges */
#define ARMS_MAX 100        /* SELECTs in one UNION ALL, of which SQLite takes 500 */
#define WIDE_ARMS_MAX 8     /* of which each would write NULL for the columns of all others */
#define CELLS_MAX 2000      /* columns in all SELECTs of one UNION ALL of more arms than that */
#define OPEN_MAX 3          /* variables by which a join is split: 15 SELECTs */
#define OPEN_JOINS_MAX 6    /* of one statement that are split: a chain of 40 took more memory to compile than a query may have */

/* --- union ------------------------------------------------------------------------------------------------------------ */

/* SQLite joins arm by arm only if they have the same affinity, which is that of the stored tables. */
QdRelation *
qd_relation_unite(QdGenerator *self, QdRelation **arms, guint n_arms)
{
    QdRelation *shape = qd_relation_new(self);
    gboolean merged = n_arms <= QD_MERGED_ARMS_MAX && (self->outer == NULL || self->outer->level <= MERGED_LEVELS_MAX);
    const QdSql no_integer = qd_sql_fill(self->arena, "CAST(NULL AS INTEGER)", NULL, 0);
    QdRelation *sealed;
    g_auto(QdSqlBuilder) text = qd_sql_builder_new(self->arena);

    for (guint i = 0; i < n_arms; i++) {
        for (guint j = 0; j < arms[i]->n_columns; j++) {
            if (qd_relation_find(shape, arms[i]->columns[j].variable) == NULL) {
                QdColumn *column = qd_relation_add(self, shape, arms[i]->columns[j].variable, QD_SQL_NONE);

                column->certain = column->interned = TRUE;
                column->plain = arms[i]->columns[j].plain;
                column->serial = arms[i]->columns[j].serial;
            }
        }
    }
    for (guint i = 0; i < n_arms; i++) {
        g_auto(QdSqlBuilder) list = qd_sql_builder_new(self->arena);

        for (guint j = 0; j < shape->n_columns; j++) {
            const QdColumn *column = qd_relation_find(arms[i], shape->columns[j].variable);

            if (column != NULL)
                qd_sql_append_after(&list, ",", column->sql);
            else
                qd_sql_append_after(&list, ",", merged && shape->columns[j].plain ? no_integer : qd_sql_text("NULL"));
            shape->columns[j].certain &= column != NULL && column->certain;
            shape->columns[j].interned &= column == NULL || column->interned;
        }
        qd_sql_append_after(&text, " UNION ALL ",
                            qd_relation_write_list(self, arms[i], "SELECT", qd_sql_finish(&list), QD_SQL_NONE));
    }
    /* a view: a table that reads it and is itself read twice would have it evaluated whole */
    sealed = qd_relation_seal_text(self, shape, qd_sql_finish(&text), merged ? QD_SEAL_VIEW : QD_SEAL_MATERIALIZED);
    sealed->tables[0].n_arms = merged ? n_arms : 0;
    return sealed;
}

/* How many of @arms, of which there are @n, go into one UNION ALL: not so many that it consists of NULLs. */
static guint
count_arms(QdGenerator *self, QdRelation **arms, guint n)
{
    QdVariableSet columns = { 0 };
    guint n_columns = 0;
    guint n_arms = 0;

    while (n_arms < MIN(n, ARMS_MAX)) {
        for (guint i = 0; i < arms[n_arms]->n_columns; i++) {
            guint variable = arms[n_arms]->columns[i].variable;

            n_columns += qd_variable_set_has(&columns, variable) ? 0 : 1;
            qd_variable_set_add(&columns, self->arena, variable);
        }
        n_arms++;
        if (n_arms >= WIDE_ARMS_MAX && n_arms * n_columns > CELLS_MAX)
            break;
    }
    return n_arms;
}

/* As qd_relation_unite(), of any number; @arms is overwritten. */
static QdRelation *
unite_all(QdGenerator *self, QdRelation **arms, guint n)
{
    while (n > 1) {
        guint n_next = 0;
        guint n_arms;

        for (guint i = 0; i < n; i += n_arms, n_next++) {
            n_arms = count_arms(self, arms + i, n - i);
            arms[n_next] = n_arms > 1 ? qd_relation_unite(self, arms + i, n_arms) : arms[i];
        }
        n = n_next;
    }
    return arms[0];
}

QdRelation *
qd_generate_union(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    QdRelation **arms = qd_arena_array0(self->arena, QdRelation *, node->n_children);

    for (guint i = 0; i < node->n_children; i++)
        arms[i] = qd_generator_generate(self, node->children[i], bound);
    return unite_all(self, arms, node->n_children);
}

/* --- arm by arm ------------------------------------------------------------------------------------------------------- */

gboolean
qd_union_joins_by_arm(const QdAlgebra *node, const QdRelation *left)
{
    gboolean shares = FALSE;
    gboolean gains = FALSE;

    if (node->kind != QD_ALGEBRA_UNION || left->n_tables == 0 || node->n_children > QD_MERGED_ARMS_MAX)
        return FALSE;
    for (guint i = 0; i < node->n_children; i++) {
        const QdAlgebra *arm = node->children[i];

        gains = gains || qd_algebra_begins_from_left(arm);
        for (guint j = 0; j < left->n_columns; j++) {
            guint variable = left->columns[j].variable;

            shares = shares || qd_variable_set_has(&arm->possible, variable);
            /* a column that an arm has not is unbound in the whole */
            gains = gains || (qd_variable_set_has(&node->possible, variable) && !qd_variable_set_has(&arm->possible, variable));
        }
    }
    return shares && gains;
}

QdRelation *
qd_generate_union_of(QdGenerator *self, QdRelation *left, const QdAlgebra *node, const QdVariableSet *bound)
{
    QdRelation **arms = qd_arena_array0(self->arena, QdRelation *, node->n_children);

    left = qd_relation_seal(self, left, QD_SEAL_MATERIALIZED);
    for (guint i = 0; i < node->n_children; i++) {
        const QdAlgebra *arm = node->children[i];
        gboolean is_join = arm->kind == QD_ALGEBRA_JOIN;

        arms[i] = qd_generate_children(self, left, is_join ? arm->children : node->children + i, is_join ? arm->n_children : 1,
                                       bound);
    }
    return unite_all(self, arms, node->n_children);
}

/* --- by what is bound ------------------------------------------------------------------------------------------------- */

gboolean
qd_relation_is_open(const QdGenerator *self, const QdRelation *left, const QdRelation *right)
{
    gboolean all_base = TRUE;
    gboolean shares = FALSE;

    if (left->n_tables == 0 || right->n_tables == 0 || right->tables[0].is_search) /* that names the left's row */
        return FALSE;
    for (guint i = 0; i < right->n_tables; i++)
        all_base = all_base && (right->tables[i].is_base || right->tables[i].n_arms > 0);
    for (guint i = 0; i < right->n_columns; i++) {
        const QdColumn *b = &right->columns[i];
        const QdColumn *a = qd_relation_find(left, b->variable);

        if (a == NULL || (self->graph.kind == QD_NODE_VARIABLE && b->variable == self->graph.variable))
            continue;
        if (b->certain && (a->certain || all_base))
            return FALSE;
        shares = TRUE;
    }
    return shares;
}

/* The variable by which the join of both, which is open, is to be split. G_MAXUINT: there is none. */
static guint
find_open(const QdGenerator *self, const QdRelation *left, const QdRelation *right)
{
    guint found = G_MAXUINT;
    guint n_found = 0;
    gboolean is_stored = left->n_tables == 1 && left->tables[0].is_base; /* it comes second, and is looked up (settle_sides()) */

    for (guint i = 0; i < right->n_columns; i++) {
        const QdColumn *b = &right->columns[i];
        const QdColumn *a = qd_relation_find(left, b->variable);

        if (a == NULL || (self->graph.kind == QD_NODE_VARIABLE && b->variable == self->graph.variable))
            continue;
        if (a->serial || b->serial || (is_stored && a->certain && !b->interned))
            return G_MAXUINT;
        n_found++;
        if (found == G_MAXUINT || b->certain)
            found = b->variable;
    }
    return n_found <= OPEN_MAX ? found : G_MAXUINT;
}

/* Whether an index of the left, a single stored table, can look for a range of what the right may leave unbound. */
static gboolean
can_turn(const QdRelation *left, const QdRelation *right, guint variable)
{
    return left->n_tables == 1 && left->tables[0].is_base && qd_relation_find(left, variable)->certain &&
           qd_relation_find(right, variable)->plain;
}

/* @side, evaluated once, with terms that are equal where they are compared with @other's. */
static const QdRelation *
keep(QdGenerator *self, const QdRelation *side, const QdRelation *other)
{
    QdRelation *kept = qd_relation_copy(self, side);

    if (side->n_tables == 1 && side->tables[0].is_kept && side->n_prunings == 0)
        return side;
    for (guint i = 0; i < kept->n_columns; i++) {
        QdColumn *column = &kept->columns[i];

        if (!column->interned && qd_relation_find(other, column->variable) != NULL) {
            column->sql = qd_column_intern(self, column);
            column->interned = TRUE;
        }
    }
    return qd_relation_seal(self, kept, QD_SEAL_MATERIALIZED);
}

/* The solutions of @side that bind @variable. */
static QdRelation *
bind(QdGenerator *self, const QdRelation *side, guint variable)
{
    QdRelation *bound = qd_relation_copy(self, side);
    QdColumn *column = qd_relation_find(bound, variable);

    if (!column->certain)
        qd_relation_add_where(self, bound, qd_sql_is_bound(self->arena, column->sql));
    column->certain = TRUE;
    return bound;
}

/* Those that do not. */
static QdRelation *
leave_open(QdGenerator *self, const QdRelation *side, guint variable)
{
    QdRelation *open = qd_relation_drop_column(self, side, variable);

    qd_relation_add_where(self, open, qd_sql_is_null(self->arena, qd_relation_find(side, variable)->sql));
    return open;
}

QdRelation *
qd_relation_join_open(QdGenerator *self, const QdRelation *left, const QdRelation *right)
{
    guint variable = qd_relation_is_open(self, left, right) ? find_open(self, left, right) : G_MAXUINT;
    QdRelation *arms[3];
    guint n = 0;

    if (variable == G_MAXUINT)
        return NULL;
    if (can_turn(left, right, variable))
        return qd_relation_merge(self, right, left);
    if (self->splits.n_open_joins >= OPEN_JOINS_MAX)
        return NULL;
    self->splits.n_open_joins++;
    left = keep(self, left, right);
    right = keep(self, right, left);
    arms[n++] = qd_relation_join(self, bind(self, left, variable), bind(self, right, variable));
    if (!qd_relation_find(left, variable)->certain)
        arms[n++] = qd_relation_join(self, leave_open(self, left, variable), right);
    if (!qd_relation_find(right, variable)->certain)
        arms[n++] = qd_relation_join(self, leave_open(self, right, variable), bind(self, left, variable)); /* few before many */
    return qd_relation_unite(self, arms, n);
}
