/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Relations joined on the variables that they share.
 */
#include "daemon/plan/sqlgen-private.h"

/* Of a table that SQLite takes for 2^20 rows: one. */
#define NARROW_SHARE "0.000001"

/* They are equal, or @a is unbound: as a range, which an index can serve. Ids are integers, and a term that has none is a blob.
 * An unbound one is compared with all, so the index is not praised where that may be usual. */
static QdSql
write_open_match(QdGenerator *self, const QdColumn *a, const QdColumn *b)
{
    QdSql sql = qd_column_intern(self, a);
    QdSql range = qd_sql_make(self->arena, "@ BETWEEN ifnull(@,-9223372036854775808) AND ifnull(@,x'')", qd_column_intern(self, b),
                              sql, sql);

    return a->settled ? qd_sql_make(self->arena, "likelihood(@," NARROW_SHARE ")", range) : qd_sql_make(self->arena, "(@)", range);
}

/* @condition, or one of both that may be is unbound. */
static QdSql
write_or_unbound(QdGenerator *self, QdSql condition, const QdColumn *a, const QdColumn *b)
{
    if (!a->certain)
        condition = qd_sql_make(self->arena, "@ OR @ IS NULL", condition, a->sql);
    if (!b->certain)
        condition = qd_sql_make(self->arena, "@ OR @ IS NULL", condition, b->sql);
    return qd_sql_make(self->arena, "(@)", condition);
}

QdSql
qd_relation_match(QdGenerator *self, const QdRelation *left, const QdRelation *right, QdRelation *target)
{
    QdSql shared = QD_SQL_NONE;

    for (guint i = 0; i < right->n_columns; i++) {
        const QdColumn *b = &right->columns[i];
        const QdColumn *a = qd_relation_find(left, b->variable);
        QdSql condition;

        if (a == NULL)
            continue;
        /* unary +: no transitive equalities, which cost 0.7 s to compile 24 tables; the right follows the left anyway */
        condition = qd_sql_equate(self->arena, qd_column_intern(self, b), "=+", qd_column_intern(self, a));
        if (!a->certain && a->plain && b->certain)
            condition = write_open_match(self, a, b);
        else if (!a->certain || !b->certain)
            condition = write_or_unbound(self, condition, a, b);
        qd_relation_add_where(self, target, condition);
        if (shared.kind == QD_SQL_TRUE || (self->graph.kind == QD_NODE_VARIABLE && b->variable == self->graph.variable))
            continue; /* the latter is no variable of the query's */
        if (a->certain && b->certain) {
            shared = qd_sql_text("1");
            shared.kind = QD_SQL_TRUE;
            continue;
        }
        condition = qd_sql_make(self->arena, "(@ IS NOT NULL AND @ IS NOT NULL)", a->sql, b->sql);
        shared = shared.text != NULL ? qd_sql_make(self->arena, "@ OR @", shared, condition) : condition;
    }
    return shared;
}

/* --- join ------------------------------------------------------------------------------------------------------------- */

void
qd_column_coalesce(QdGenerator *self, QdColumn *column, const QdColumn *other)
{
    column->sql = qd_sql_coalesce(self->arena, column->sql, other->sql);
    column->interned = column->interned && other->interned;
    column->plain = FALSE;
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
    qd_column_coalesce(self, a, b);
}

const QdRelation *
qd_relation_settle(QdGenerator *self, const QdRelation *side, const QdRelation *other, QdSeal seal)
{
    QdRelation *settled = NULL;

    for (guint i = 0; i < side->n_columns; i++) {
        const QdColumn *column = &side->columns[i];

        if (column->certain || column->interned || qd_relation_find(other, column->variable) == NULL)
            continue;
        if (settled == NULL)
            settled = qd_relation_copy(self, side);
        settled->columns[i].sql = qd_column_intern(self, column);
        settled->columns[i].interned = settled->columns[i].settled = TRUE;
    }
    return settled != NULL ? qd_relation_seal(self, settled, seal) : side;
}

/* The side that is sealed goes first, where the other is a single table, which an index can serve then. */
static void
settle_sides(QdGenerator *self, const QdRelation **left, const QdRelation **right)
{
    const QdRelation *first = qd_relation_settle(self, *left, *right, QD_SEAL_STREAM);
    gboolean may_turn = first == *left && first->n_tables == 1;
    const QdRelation *second = qd_relation_settle(self, *right, *left, may_turn ? QD_SEAL_STREAM : QD_SEAL_MATERIALIZED);
    gboolean turns = may_turn && second != *right;

    *left = turns ? second : first;
    *right = turns ? first : second;
}

gboolean
qd_relation_begins_apart(const QdRelation *left, const QdRelation *right)
{
    gboolean shares = FALSE;
    gboolean has_sealed = FALSE;

    if (right->n_tables < 2 || left->n_tables == 0)
        return FALSE;
    for (guint i = 0; i < right->n_tables; i++)
        has_sealed = has_sealed || right->tables[i].is_sealed;
    for (guint i = 0; i < right->n_columns; i++) {
        const QdColumn *column = &right->columns[i];
        const QdColumn *known = qd_relation_find(left, column->variable);

        if (known == NULL)
            continue;
        /* of what may be unbound a stored table can look for a range */
        if (qd_sql_is_column_of(&column->sql, &right->tables[0].name) && (known->certain || right->tables[0].is_base))
            return FALSE;
        shares = TRUE;
    }
    return shares && has_sealed;
}

const QdRelation *
qd_relation_keep_apart(QdGenerator *self, const QdRelation *left, const QdRelation *right)
{
    QdRelation *shared;

    if (!qd_relation_begins_apart(left, right))
        return right;
    shared = qd_relation_new(self);
    qd_relation_take_rows(self, shared, right);
    for (guint i = 0; i < right->n_columns; i++) {
        QdColumn column = right->columns[i];

        if (qd_relation_find(left, column.variable) == NULL)
            continue;
        column.sql = qd_column_intern(self, &column);
        column.interned = TRUE;
        (void) qd_relation_add_column(self, shared, &column);
    }
    return qd_relation_seal_text(self, shared, qd_relation_write(self, shared, "SELECT DISTINCT", QD_SQL_NONE),
                                 QD_SEAL_MATERIALIZED);
}

/* A side that does not fit into one SELECT with the other, or would be scanned for each of its rows, is sealed. */
static void
cut_join(QdGenerator *self, const QdRelation **left, const QdRelation **right)
{
    gboolean fits;

    settle_sides(self, left, right);
    if (qd_relation_begins_apart(*left, *right))
        *right = qd_relation_seal(self, *right, QD_SEAL_MATERIALIZED);
    fits = (*left)->n_tables + (*right)->n_tables <= QD_TABLES_MAX;
    if (!fits || qd_relation_get_n_arms(*left) * qd_relation_get_n_arms(*right) > QD_MERGED_ARMS_MAX ||
        qd_relation_has_long_columns(*left))
        *left = qd_relation_seal(self, *left, QD_SEAL_STREAM);
    if (!fits && (*right)->n_tables > QD_TABLES_MAX / 2)
        *right = qd_relation_seal(self, *right, QD_SEAL_MATERIALIZED);
}

/* Adds @right to @joined. */
static void
merge(QdGenerator *self, QdRelation *joined, const QdRelation *right)
{
    qd_relation_take_rows(self, joined, right);
    (void) qd_relation_match(self, joined, right, joined);
    for (guint i = 0; i < right->n_columns; i++) {
        QdColumn *column = qd_relation_find(joined, right->columns[i].variable);

        if (column != NULL)
            merge_column(self, column, &right->columns[i]);
        else
            (void) qd_relation_add_column(self, joined, &right->columns[i]);
    }
}

QdRelation *
qd_relation_join(QdGenerator *self, const QdRelation *left, const QdRelation *right)
{
    return qd_relation_join_to(self, qd_relation_copy(self, left), right);
}

QdRelation *
qd_relation_join_to(QdGenerator *self, QdRelation *left, const QdRelation *right)
{
    const QdRelation *cut = left;
    QdRelation *split = qd_relation_join_open(self, left, right);

    if (split != NULL)
        return split;
    cut_join(self, &cut, &right);
    if (cut != left)
        return qd_relation_merge(self, cut, right);
    merge(self, left, right);
    return left;
}

QdRelation *
qd_relation_merge(QdGenerator *self, const QdRelation *left, const QdRelation *right)
{
    QdRelation *joined = qd_relation_copy(self, left);

    merge(self, joined, right);
    return joined;
}
