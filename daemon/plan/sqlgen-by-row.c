/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Patterns that are looked up or searched from each row of what is before them. They are the right of an OPTIONAL, and the arms
 * of a UNION, as tables of the same SELECT. Nothing is kept, so the first rows leave before the last solution on the left is
 * there.
 */
#include "daemon/plan/sqlgen-private.h"

#define ARM_LEVELS_MAX 3 /* of UNIONs within each other */

/* --- tables ----------------------------------------------------------------------------------------------------------- */

QdTable
qd_table_guard_search(QdGenerator *self, const QdRelation *relation, guint index, guint before)
{
    QdTable table = relation->tables[index];

    /* an outer join tests its condition on each row that is found, not before it looks */
    if (!table.is_search || qd_relation_find_last_table(relation, &table.seed) == (int) before)
        return table;
    table.seed = qd_sql_make(self->arena, "CASE WHEN @ IS NOT NULL THEN @ END",
                             qd_table_write_witness(self, &relation->tables[before]), table.seed);
    qd_table_write_search(self, &table);
    return table;
}

/* What @joined has beyond @left, with which it begins; NULL: it does not. */
static QdRelation *
take_beyond(QdGenerator *self, const QdRelation *left, const QdRelation *joined)
{
    QdRelation *beyond = qd_relation_new(self);

    if (joined->n_tables <= left->n_tables || joined->n_conditions < left->n_conditions || joined->n_prunings != left->n_prunings)
        return NULL;
    for (guint i = 0; i < joined->n_tables; i++) {
        if (i >= left->n_tables)
            qd_relation_add_table(self, beyond, &joined->tables[i]);
        else if (joined->tables[i].name.set != left->tables[i].name.set)
            return NULL;
    }
    for (guint i = left->n_conditions; i < joined->n_conditions; i++)
        qd_relation_add_where(self, beyond, joined->conditions[i]);
    for (guint i = 0; i < joined->n_columns; i++) {
        if (qd_relation_find(left, joined->columns[i].variable) == NULL)
            (void) qd_relation_add_column(self, beyond, &joined->columns[i]);
    }
    return beyond;
}

/* Where the generator was before something that may come to nothing. */
typedef struct Mark {
    gsize n_with;
    QdSqlBuilder with; /* but its text */
    guint n_estimates, n_names, n_open_joins;
} Mark;

static Mark
set_mark(const QdGenerator *self)
{
    return (Mark){ self->with->text->len, *self->with, self->plan.estimates->len, self->n_names, self->splits.n_open_joins };
}

static void
go_back(QdGenerator *self, const Mark *mark)
{
    *self->with = mark->with;
    g_string_truncate(self->with->text, mark->n_with);
    g_array_set_size(self->plan.estimates, mark->n_estimates);
    self->n_names = mark->n_names;
    self->splits.n_open_joins = mark->n_open_joins;
}

QdRelation *
qd_generate_beyond(QdGenerator *self, const QdRelation *left, QdRelation *start, const QdAlgebra *node, const QdVariableSet *bound,
                   gboolean (*suits)(const QdRelation *beyond))
{
    gboolean is_join = node->kind == QD_ALGEBRA_JOIN;
    Mark mark = set_mark(self);
    QdRelation *joined = qd_generate_children(self, start, is_join ? node->children : (QdAlgebra **) &node,
                                              is_join ? node->n_children : 1, bound);
    QdRelation *beyond = take_beyond(self, left, joined);

    if (beyond != NULL && suits(beyond))
        return beyond;
    go_back(self, &mark);
    return NULL;
}

/* --- UNION ------------------------------------------------------------------------------------------------------------ */

/* Adds to *@n_tables about how many tables @node takes. FALSE: it is more than triples, paths and UNIONs of these. */
static gboolean
consists_of_links(const QdAlgebra *node, guint n_levels, guint *n_tables, gboolean *has_path)
{
    switch (node->kind) {
    case QD_ALGEBRA_PATH:
        *has_path = TRUE;
        (*n_tables)++;
        return TRUE;
    case QD_ALGEBRA_TRIPLE:
        (*n_tables)++;
        return TRUE;
    case QD_ALGEBRA_UNION:
        if (n_levels == 0)
            return FALSE;
        (*n_tables)++;
        n_levels--;
        break;
    case QD_ALGEBRA_JOIN:
        break;
    default:
        return FALSE;
    }
    for (guint i = 0; i < node->n_children; i++) {
        if (!consists_of_links(node->children[i], n_levels, n_tables, has_path))
            return FALSE;
    }
    return TRUE;
}

/* Whether all that @node, a UNION, takes from @left is bound there, and a path is searched in one of them, or @beside them. */
static gboolean
may_unite_by_row(const QdGenerator *self, const QdRelation *left, const QdAlgebra *node, gboolean beside,
                 const QdVariableSet *bound)
{
    guint n_tables = left->n_tables;
    gboolean searches = beside;

    if (self->outer != NULL || self->is_beside || (bound != NULL && !qd_variable_set_is_empty(bound)) ||
        self->graph.kind == QD_NODE_VARIABLE || left->n_tables == 0 || left->n_prunings > 0 || qd_relation_has_long_columns(left) ||
        !consists_of_links(node, ARM_LEVELS_MAX, &n_tables, &searches))
        return FALSE;
    for (guint i = 0; i < left->n_columns; i++) {
        if (!left->columns[i].certain && qd_variable_set_has(&node->possible, left->columns[i].variable))
            return FALSE;
    }
    for (guint i = 0; i < left->n_tables; i++)
        searches = searches || left->tables[i].is_search;
    return searches && n_tables <= QD_TABLES_MAX;
}

/* Whether an outer join of each of the arm's tables tells that it has found nothing. */
static gboolean
suits_arm(const QdRelation *arm)
{
    for (guint i = 0; i < arm->n_tables; i++) {
        if (arm->tables[i].on.text == NULL && arm->tables[i].sure == NULL)
            return FALSE;
    }
    return TRUE;
}

static QdSql
put_number(QdGenerator *self, guint number)
{
    return qd_sql_text(qd_arena_printf(self->arena, "%u", number));
}

/* @left, whose columns have values for the arm @number alone, as far as @arm names them. */
static QdRelation *
guard(QdGenerator *self, const QdRelation *left, const QdTable *numbers, guint number, const QdAlgebra *arm)
{
    QdRelation *guarded = qd_relation_copy(self, left);

    for (guint i = 0; i < guarded->n_columns; i++) {
        QdColumn *column = &guarded->columns[i];

        if (!qd_variable_set_has(&arm->possible, column->variable))
            continue;
        column->sql = qd_sql_make(self->arena, "CASE @ WHEN @ THEN @ END", qd_table_write_witness(self, numbers),
                                  put_number(self, number), column->sql);
        column->plain = FALSE;
    }
    return guarded;
}

/* Adds the tables of @arm, each after the one before it, to @joined. Returns what holds where it has found something. */
static QdSql
add_arm(QdGenerator *self, QdRelation *joined, const QdTable *numbers, guint number, const QdRelation *arm)
{
    const QdTable *before = NULL;
    guint n_before = 0; /* its index */
    g_auto(QdSqlBuilder) found = qd_sql_builder_new(self->arena);

    for (guint i = 0; i < arm->n_tables; i++) {
        QdTable table = before != NULL ? qd_table_guard_search(self, arm, i, n_before) : arm->tables[i];

        if (table.on.text == NULL) {
            g_auto(QdSqlBuilder) on = qd_sql_builder_new(self->arena);

            qd_sql_append(&on, before != NULL ? qd_sql_is_bound(self->arena, qd_table_write_witness(self, before))
                                              : qd_sql_make(self->arena, "@=@", qd_table_write_witness(self, numbers),
                                                            put_number(self, number)));
            for (guint j = 0; j < arm->n_conditions; j++) {
                if (MAX(qd_relation_find_last_table(arm, &arm->conditions[j]), 0) == (int) i)
                    qd_sql_append_after(&on, " AND ", arm->conditions[j]);
            }
            table.on = qd_sql_finish(&on);
            before = &arm->tables[i];
            n_before = i;
        }
        qd_relation_add_table(self, joined, &table);
    }
    qd_sql_append(&found, qd_sql_is_bound(self->arena, qd_table_write_witness(self, before)));
    for (guint i = 0; i < arm->n_conditions; i++) {
        int last = qd_relation_find_last_table(arm, &arm->conditions[i]);

        if (last > 0 && arm->tables[last].on.text != NULL)
            qd_sql_append_after(&found, " AND ", arm->conditions[i]);
    }
    return qd_sql_finish(&found);
}

/* What each of @arms binds: the others leave it NULL. */
static void
add_columns(QdGenerator *self, QdRelation *joined, QdRelation **arms, guint n_arms)
{
    guint n_before = joined->n_columns;

    for (guint i = 0; i < n_arms; i++) {
        for (guint j = 0; j < arms[i]->n_columns; j++) {
            QdColumn *known = qd_relation_find(joined, arms[i]->columns[j].variable);

            if (known != NULL)
                qd_column_coalesce(self, known, &arms[i]->columns[j]);
            else
                (void) qd_relation_add_column(self, joined, &arms[i]->columns[j]);
        }
    }
    for (guint i = n_before; i < joined->n_columns; i++) {
        QdColumn *column = &joined->columns[i];

        for (guint j = 0; j < n_arms; j++) {
            const QdColumn *own = qd_relation_find(arms[j], column->variable);

            column->certain = column->certain && own != NULL && own->certain;
        }
    }
}

QdRelation *
qd_generate_union_by_row(QdGenerator *self, const QdRelation *left, const QdAlgebra *node, gboolean has_path,
                         const QdVariableSet *bound)
{
    QdRelation **arms = qd_arena_array0(self->arena, QdRelation *, node->n_children);
    QdRelation *joined;
    QdTable numbers;
    Mark mark = set_mark(self);
    g_auto(QdSqlBuilder) rows = qd_sql_builder_new(self->arena);
    g_auto(QdSqlBuilder) found = qd_sql_builder_new(self->arena);

    if (!may_unite_by_row(self, left, node, has_path, bound))
        return NULL;
    for (guint i = 0; i < node->n_children; i++)
        qd_sql_append_after(&rows, " UNION ALL ", qd_sql_make(self->arena, "SELECT @", put_number(self, i + 1)));
    numbers = qd_generator_make_table(self, 'u');
    numbers.sure = "n";
    numbers.is_sealed = TRUE;
    qd_generator_define(self, qd_sql_make(self->arena, "@(n) AS MATERIALIZED", numbers.from), qd_sql_finish(&rows));
    joined = qd_relation_copy(self, left);
    qd_relation_add_table(self, joined, &numbers);
    for (guint i = 0; i < node->n_children; i++) {
        arms[i] = qd_generate_beyond(self, joined, guard(self, joined, &numbers, i + 1, node->children[i]), node->children[i],
                                     bound, suits_arm);
        if (arms[i] == NULL) {
            go_back(self, &mark);
            return NULL;
        }
    }
    for (guint i = 0; i < node->n_children; i++)
        qd_sql_append(&found, qd_sql_make(self->arena, " WHEN @ THEN @", put_number(self, i + 1),
                                          add_arm(self, joined, &numbers, i + 1, arms[i])));
    qd_relation_add_where(self, joined,
                          qd_sql_make(self->arena, "CASE @@ END", qd_table_write_witness(self, &numbers), qd_sql_finish(&found)));
    add_columns(self, joined, arms, node->n_children);
    return joined;
}
