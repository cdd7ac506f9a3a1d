/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Relations: SELECTs in parts, joined on the variables that they share.
 */
#include <string.h>

#include "daemon/sparql/sqlgen-private.h"

QdRelation *
qd_relation_new(QdGenerator *self)
{
    return qd_arena_new0(self->arena, QdRelation);
}

QdRelation *
qd_relation_copy(QdGenerator *self, const QdRelation *relation)
{
    QdRelation *copy = qd_relation_new(self);

    *copy = *relation;
    copy->columns = NULL;
    copy->n_columns = 0;
    for (guint i = 0; i < relation->n_columns; i++)
        *qd_relation_add(self, copy, relation->columns[i].variable, NULL) = relation->columns[i];
    return copy;
}

QdColumn *
qd_relation_find(const QdRelation *relation, guint variable)
{
    for (guint i = 0; i < relation->n_columns; i++) {
        if (relation->columns[i].variable == variable)
            return &relation->columns[i];
    }
    return NULL;
}

/* The array grows by powers of two; the count tells when. */
QdColumn *
qd_relation_add(QdGenerator *self, QdRelation *relation, guint variable, const char *sql)
{
    guint n = relation->n_columns;
    QdColumn *column;

    if ((n & (n - 1)) == 0 || n == 0) {
        QdColumn *columns = qd_arena_array0(self->arena, QdColumn, n == 0 ? 1 : 2 * n);

        if (n > 0)
            memcpy(columns, relation->columns, n * sizeof(QdColumn));
        relation->columns = columns;
    }
    column = &relation->columns[relation->n_columns++];
    *column = (QdColumn){ .variable = variable, .sql = sql };
    return column;
}

void
qd_relation_add_where(QdGenerator *self, QdRelation *relation, const char *condition)
{
    if (condition == NULL)
        return;
    relation->where = relation->where == NULL ? condition : qd_arena_printf(self->arena, "%s AND %s", relation->where, condition);
}

const char *
qd_column_intern(QdGenerator *self, const QdColumn *column)
{
    return column->interned ? column->sql : qd_arena_printf(self->arena, "queryd_to_term(%s)", column->sql);
}

const char *
qd_relation_write_list(QdGenerator *self, const QdRelation *relation, const char *head, const char *list, const char *tail)
{
    return qd_arena_printf(self->arena, "%s %s%s%s%s%s%s%s", head, list, relation->from != NULL ? " FROM " : "",
                           relation->from != NULL ? relation->from : "", relation->where != NULL ? " WHERE " : "",
                           relation->where != NULL ? relation->where : "", tail != NULL ? " " : "", tail != NULL ? tail : "");
}

const char *
qd_relation_write(QdGenerator *self, const QdRelation *relation, const char *head, const char *tail)
{
    g_autoptr(GString) list = g_string_new(NULL);

    for (guint i = 0; i < relation->n_columns; i++)
        g_string_append_printf(list, "%s%s", i > 0 ? "," : "", relation->columns[i].sql);
    if (relation->n_columns == 0)
        g_string_append(list, "1");
    return qd_relation_write_list(self, relation, head, list->str, tail);
}

QdRelation *
qd_relation_seal_text(QdGenerator *self, const QdRelation *shape, const char *text, QdSeal seal)
{
    static const char *const hints[] = { "", "MATERIALIZED ", "NOT MATERIALIZED " };
    QdRelation *sealed = qd_relation_new(self);
    const char *name = qd_arena_printf(self->arena, "c%u", qd_generator_make_name(self));

    g_string_append_printf(self->with, "%s%s(", self->with->len > 0 ? ",\n" : "", name);
    for (guint i = 0; i < shape->n_columns; i++) {
        const QdColumn *from = &shape->columns[i];
        QdColumn *column;

        g_string_append_printf(self->with, "%sv%u", i > 0 ? "," : "", from->variable);
        column = qd_relation_add(self, sealed, from->variable, qd_arena_printf(self->arena, "%s.v%u", name, from->variable));
        column->certain = from->certain;
        column->interned = from->interned;
        column->serial = from->serial;
        column->plain = TRUE;
    }
    g_string_append_printf(self->with, "%s) AS %s(%s)", shape->n_columns == 0 ? "u" : "", hints[seal], text);
    sealed->from = name;
    sealed->n_tables = 1;
    return sealed;
}

QdRelation *
qd_relation_seal(QdGenerator *self, const QdRelation *relation, QdSeal seal)
{
    return qd_relation_seal_text(self, relation, qd_relation_write(self, relation, "SELECT", NULL), seal);
}

/* Appends @condition to the conjunction in *conditions. */
static void
conjoin(QdGenerator *self, const char **conditions, const char *condition)
{
    *conditions = *conditions == NULL ? condition : qd_arena_printf(self->arena, "%s AND %s", *conditions, condition);
}

const char *
qd_relation_match(QdGenerator *self, const QdRelation *left, const QdRelation *right, const char **ret_shared)
{
    const char *conditions = NULL;
    const char *shared = NULL;
    gboolean surely_shared = FALSE;

    for (guint i = 0; i < right->n_columns; i++) {
        const QdColumn *b = &right->columns[i];
        const QdColumn *a = qd_relation_find(left, b->variable);
        const char *condition;

        if (a == NULL)
            continue;
        condition = qd_arena_printf(self->arena, "%s=%s", qd_column_intern(self, b), qd_column_intern(self, a));
        if (!a->certain || !b->certain)
            condition = qd_arena_printf(self->arena, "(%s%s%s%s%s%s%s)", condition, a->certain ? "" : " OR ",
                                        a->certain ? "" : a->sql, a->certain ? "" : " IS NULL", b->certain ? "" : " OR ",
                                        b->certain ? "" : b->sql, b->certain ? "" : " IS NULL");
        conjoin(self, &conditions, condition);
        if (self->graph.kind == QD_NODE_VARIABLE && b->variable == self->graph.variable)
            continue; /* no variable of the query's */
        surely_shared = surely_shared || (a->certain && b->certain);
        shared = qd_arena_printf(self->arena, "%s%s(%s IS NOT NULL AND %s IS NOT NULL)", shared != NULL ? shared : "",
                                 shared != NULL ? " OR " : "", a->sql, b->sql);
    }
    if (ret_shared != NULL)
        *ret_shared = surely_shared ? "1" : shared;
    return conditions;
}

/* The column of a variable that both sides may bind. */
static void
merge_column(QdGenerator *self, QdColumn *a, const QdColumn *b)
{
    if (a->certain && (a->interned || !b->certain || !b->interned))
        return;
    if (b->certain) {
        *a = *b;
        return;
    }
    a->sql = qd_arena_printf(self->arena, "coalesce(%s,%s)", a->sql, b->sql);
    a->interned = a->interned && b->interned;
    a->plain = FALSE;
}

QdRelation *
qd_relation_join(QdGenerator *self, const QdRelation *left, const QdRelation *right)
{
    QdRelation *joined = qd_relation_copy(self, left);

    if (left->from != NULL && right->from != NULL)
        joined->from = qd_arena_printf(self->arena, "%s CROSS JOIN %s", left->from, right->from);
    else if (right->from != NULL)
        joined->from = right->from;
    joined->n_tables += right->n_tables;
    qd_relation_add_where(self, joined, right->where);
    qd_relation_add_where(self, joined, qd_relation_match(self, left, right, NULL));
    for (guint i = 0; i < right->n_columns; i++) {
        QdColumn *column = qd_relation_find(joined, right->columns[i].variable);

        if (column != NULL)
            merge_column(self, column, &right->columns[i]);
        else
            *qd_relation_add(self, joined, right->columns[i].variable, NULL) = right->columns[i];
    }
    return joined;
}
