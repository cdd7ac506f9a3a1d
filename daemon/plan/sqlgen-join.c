/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Join and minus; and relations joined on the variables that they share.
 */
#include <string.h>

#include "daemon/plan/sqlgen-private.h"

/* Of a table that SQLite takes for 2^20 rows: one. */
#define NARROW_SHARE "0.000001"
#define SAMPLED_LEFT_MIN 100 /* rows for which an OPTIONAL, MINUS or EXISTS is ordered by a sample of them */
#define CHEAP_BYTES_MAX 100  /* of a call of coalesce() that is named several times */
#define APART_BEFORE_MIN 2   /* rows for each of which several parts that share nothing with them are not joined once more */

/* --- relations -------------------------------------------------------------------------------------------------------- */

/* Whether @column may be named several times. */
static gboolean
is_cheap(const QdColumn *column)
{
    return column->plain ||
           (column->interned && column->sql.n_bytes <= CHEAP_BYTES_MAX &&
            (column->sql.kind == QD_SQL_COALESCE || column->sql.kind == QD_SQL_COLUMN || qd_sql_is_node(&column->sql)));
}

/* Whether it has ids only: of a quad. Another may have a term without one, which is in no range of integers. */
static gboolean
is_stored(const QdSql *sql)
{
    return qd_sql_is_node(sql) || sql->kind == QD_SQL_PREDICATE;
}

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

/* @condition, a lookup of a predicate, and @b is equal to @a; or where @a is unbound the predicate alone. The latter is named
 * otherwise than in @condition, since SQLite looks up what both have in common, and only that. */
static QdSql
write_open_lookup(QdGenerator *self, QdSql condition, QdSql a, QdSql b)
{
    const QdSqlLookup *lookup = condition.lookup;
    QdSql *values = qd_arena_array0(self->arena, QdSql, lookup->n_values);

    for (guint i = 0; i < lookup->n_values; i++)
        values[i] = qd_sql_make(self->arena, "iif(@ IS NULL,@,NULL)", a, lookup->values[i]);
    return qd_sql_make(self->arena, "(@ AND likelihood(@," NARROW_SHARE ") OR likelihood(@," NARROW_SHARE "))", condition,
                       qd_sql_equate(self->arena, b, "=+", a),
                       qd_sql_is_among(self->arena, lookup->column, values, lookup->n_values));
}

/*
 * Adds to @target that @b is equal to @a, or @a unbound, where @b is the subject of a pattern with a constant predicate. It takes
 * the place of the condition that looks up the predicate. With that SQLite reads all of the predicate for each row, as no index has
 * first the predicate and then the subject. FALSE: @b is no such subject, or that condition is not there.
 */
static gboolean
match_open_subject(QdGenerator *self, QdRelation *target, const QdColumn *a, const QdColumn *b)
{
    QdSql *conditions = target->conditions;
    guint table = b->sql.kind == QD_SQL_SUBJECT ? b->sql.tables->numbers[0] : 0;
    gboolean found = FALSE;

    for (guint i = 0; i < target->n_conditions && table > 0 && !found; i++) {
        const QdSqlLookup *lookup = conditions[i].lookup;

        found = lookup != NULL && lookup->n_values > 0 && lookup->table == table;
        if (found)
            conditions[i] = write_open_lookup(self, conditions[i], qd_column_intern(self, a), b->sql);
    }
    for (guint i = 0; i < target->n_conditions && found; i++) {
        const QdSqlLookup *lookup = conditions[i].lookup;

        if (lookup != NULL && lookup->table == table && lookup->apart.text != NULL)
            conditions[i] = lookup->apart;
    }
    return found;
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
        if (!a->certain && is_cheap(a) && b->certain && is_stored(&b->sql))
            condition = match_open_subject(self, target, a, b) ? QD_SQL_NONE : write_open_match(self, a, b);
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

/* Seals @side with ids in the columns that @other has, too, where a term is computed. @always: also one that is always bound */
static const QdRelation *
settle(QdGenerator *self, const QdRelation *side, const QdRelation *other, QdSeal seal, gboolean always)
{
    QdRelation *settled = NULL;

    for (guint i = 0; i < side->n_columns; i++) {
        const QdColumn *column = &side->columns[i];

        if (column->interned || (column->certain && !always) || qd_relation_find(other, column->variable) == NULL)
            continue;
        if (settled == NULL)
            settled = qd_relation_copy(self, side);
        settled->columns[i].sql = qd_column_intern(self, column);
        settled->columns[i].interned = settled->columns[i].settled = TRUE;
    }
    return settled != NULL ? qd_relation_seal(self, settled, seal) : side;
}

const QdRelation *
qd_relation_settle(QdGenerator *self, const QdRelation *side, const QdRelation *other, QdSeal seal)
{
    return settle(self, side, other, seal, FALSE);
}

const QdRelation *
qd_relation_settle_right(QdGenerator *self, const QdRelation *left, const QdRelation *right, QdSeal seal)
{
    return settle(self, right, left, seal, left->n_tables > 0 && right->n_tables > 0);
}

/* The side that is sealed goes first, where the other is a single table, which an index can serve then. */
static void
settle_sides(QdGenerator *self, const QdRelation **left, const QdRelation **right)
{
    const QdRelation *first = qd_relation_settle(self, *left, *right, QD_SEAL_STREAM);
    /* what is neither stored nor kept would be evaluated for each row before it */
    gboolean may_turn = first == *left && first->n_tables == 1 && (first->tables[0].is_base || first->tables[0].is_kept);
    const QdRelation *second = qd_relation_settle_right(self, *left, *right, may_turn ? QD_SEAL_STREAM : QD_SEAL_MATERIALIZED);
    gboolean turns = may_turn && second != *right;

    *left = turns ? second : first;
    *right = turns ? first : second;
}

/* Whether @right begins with a table that nothing on the left looks up, and has one that only the whole of it can have indexed. */
static gboolean
begins_apart(const QdRelation *left, const QdRelation *right)
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

    if (!begins_apart(left, right))
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
    if (begins_apart(*left, *right))
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

/* --- join ------------------------------------------------------------------------------------------------------------- */

QdVariableSet
qd_relation_add_bound(QdGenerator *self, const QdVariableSet *bound, const QdRelation *relation)
{
    QdVariableSet set = { 0 };

    if (bound != NULL)
        qd_variable_set_add_all(&set, self->arena, bound);
    for (guint i = 0; i < relation->n_columns; i++)
        qd_variable_set_add(&set, self->arena, relation->columns[i].variable);
    return set;
}

/* As qd_relation_add_bound(), without what @relation may leave unbound. */
static QdVariableSet
add_sure(QdGenerator *self, const QdVariableSet *bound, const QdRelation *relation)
{
    QdVariableSet set = { 0 };

    if (bound != NULL)
        qd_variable_set_add_all(&set, self->arena, bound);
    for (guint i = 0; i < relation->n_columns; i++) {
        if (relation->columns[i].certain)
            qd_variable_set_add(&set, self->arena, relation->columns[i].variable);
    }
    return set;
}

/*
 * Whether the parts from @index on share nothing with those before, so that they would be searched or joined for each of their
 * @n_before rows. They have a path or a UNION, or are several. Several of a join without a path have so few solutions, @n_rows,
 * that these may be kept.
 */
static gboolean
is_apart(QdGenerator *self, const QdAlgebra **parts, guint index, guint n_parts, double n_before, double n_rows)
{
    QdVariableSet before = { 0 };
    gboolean is_made = index + 1 < n_parts || parts[index]->kind == QD_ALGEBRA_FILTER;
    gboolean is_kept = is_made && n_before >= APART_BEFORE_MIN && n_rows <= QD_KEPT_LEFT_MAX;

    if (index == 0 || (index + 1 == n_parts && parts[index]->kind == QD_ALGEBRA_PATH))
        return FALSE;
    for (guint i = index + 1 < n_parts || parts[index]->n_children > 0 ? 0 : index; i < n_parts; i++)
        is_kept = is_kept || (i >= index && qd_algebra_begins_from_left(parts[i])) || qd_algebra_has_path(parts[i]);
    if (!is_kept || self->outer != NULL)
        return FALSE;
    for (guint i = 0; i < index; i++)
        qd_variable_set_add_all(&before, self->arena, &parts[i]->possible);
    for (guint i = index; i < n_parts; i++) {
        QdVariableSet named = { 0 };

        qd_part_add_named(self, parts[i], &named);
        if (qd_variable_set_shares(&named, &before))
            return FALSE;
    }
    return TRUE;
}

/*
 * @order[@index], a UNION, evaluated once from values that a part before it gives, where @left would be kept for its arms, but is
 * large. NULL: no part gives so few.
 */
static QdRelation *
begin_union_apart(QdGenerator *self, const QdRelation *left, const QdAlgebra **order, guint index)
{
    QdVariableSet sure = { 0 };
    QdRelation *seeds;

    if (self->outer != NULL || self->graph.kind == QD_NODE_VARIABLE)
        return NULL;
    for (guint i = 0; i < left->n_columns; i++) {
        if (left->columns[i].certain && qd_algebra_binds(order[index], left->columns[i].variable))
            qd_variable_set_add(&sure, self->arena, left->columns[i].variable);
    }
    seeds = !qd_variable_set_is_empty(&sure) ? qd_generate_seeds_of(self, order, index, &sure, order[index], QD_SEEDS_MAX) : NULL;
    return seeds != NULL ? qd_relation_seal(self, qd_generate_union_of(self, seeds, order[index], NULL), QD_SEAL_MATERIALIZED)
                         : NULL;
}

/* Whether @node is a path with both ends free. */
static gboolean
is_free(const QdAlgebra *node)
{
    return node->kind == QD_ALGEBRA_PATH && node->triple->s.kind == QD_NODE_VARIABLE && node->triple->o.kind == QD_NODE_VARIABLE;
}

/* Whether a MINUS or filter is among @parts. */
static gboolean
has_steps(const QdAlgebra **parts, guint n)
{
    for (guint i = 0; i < n; i++) {
        if (parts[i]->follows && parts[i]->kind != QD_ALGEBRA_LEFT_JOIN)
            return TRUE;
    }
    return FALSE;
}

/* The product of @n estimates from @first on. */
static double
multiply(const QdGenerator *self, guint first, guint n)
{
    double product = 1;

    for (guint i = first; i < first + n; i++)
        product *= g_array_index(self->plan.estimates, double, i);
    return product;
}

/* The product of @joined with @parts (of @n), which share nothing with it. The smaller is kept and read again for each row of the
 * other, which comes as it is found. Where it has none the other is not begun. */
static QdRelation *
join_apart(QdGenerator *self, QdRelation *joined, const QdAlgebra **parts, guint n, gboolean is_larger)
{
    QdRelation *apart = qd_generate_children(self, NULL, (QdAlgebra **) parts, n, NULL);
    QdRelation *kept = qd_relation_seal(self, is_larger ? joined : apart, QD_SEAL_MATERIALIZED);
    QdSql is_there = qd_sql_make(self->arena, "EXISTS(SELECT 1 FROM @)", kept->tables[0].from);

    return qd_relation_join_to(self, qd_relation_seal_if(self, is_larger ? apart : joined, is_there), kept);
}

/* A path, which may know what the other parts ask of its end. */
static QdRelation *
generate_path_part(QdGenerator *self, const QdSiblings *siblings, QdRelation **joined)
{
    QdRelation *next;

    self->siblings = siblings;
    next = qd_generate_path(self, siblings->parts[siblings->index]->triple, joined, siblings->bound);
    self->siblings = NULL;
    return next;
}

static gboolean
any_has_path(QdAlgebra *const *nodes, guint n)
{
    for (guint i = 0; i < n; i++) {
        if (qd_algebra_has_path(nodes[i]))
            return TRUE;
    }
    return FALSE;
}

QdRelation *
qd_generate_children(QdGenerator *self, QdRelation *joined, QdAlgebra *const *children, guint n_children,
                     const QdVariableSet *bound)
{
    const QdAlgebra **order = qd_arena_array0(self->arena, const QdAlgebra *, n_children);
    double *looked_at = qd_arena_array0(self->arena, double, n_children);
    const QdRelation *given = joined;
    guint n_estimates = self->plan.estimates->len;
    gboolean has_path = any_has_path(children, n_children);
    double n_rows = 1;
    QdVariableSet sure;
    QdVariableSet known = joined != NULL ? qd_relation_add_bound(self, bound, joined) : (QdVariableSet){ 0 };

    memcpy(order, children, n_children * sizeof(const QdAlgebra *));
    sure = joined != NULL ? add_sure(self, bound, joined) : (QdVariableSet){ 0 };
    qd_join_order(self, order, n_children, joined != NULL ? &known : bound, joined != NULL ? &sure : bound, looked_at);
    for (guint i = 0; i < n_children && self->error == NULL; i++) {
        double n_before = n_rows;
        double n_apart = multiply(self, n_estimates + i, n_children - i);
        QdRelation *next;

        n_rows *= g_array_index(self->plan.estimates, double, n_estimates + i);
        if (order[i]->follows) {
            const QdBefore before = { order, i, n_before, looked_at[i], n_rows / n_before };
            QdSample *outer = given == NULL && n_before >= SAMPLED_LEFT_MIN ? qd_sample_enter(self, order, i) : NULL;

            joined = qd_generate_following(self, joined != NULL ? joined : qd_generate_unit(self), order[i], &before, bound);
            qd_sample_leave(self, outer);
            continue;
        }
        if (given == NULL && is_apart(self, order, i, n_children, n_before, n_apart))
            return join_apart(self, joined, order + i, n_children - i, n_apart > n_before);
        if (order[i]->kind == QD_ALGEBRA_PATH) {
            const QdSiblings siblings = { order, n_children, i, given, bound };

            next = generate_path_part(self, &siblings, &joined);
        } else if (order[i]->kind == QD_ALGEBRA_MATCH) {
            next = qd_generate_match(self, order[i]->match, &joined);
        } else if (joined != NULL && order[i]->kind == QD_ALGEBRA_UNION &&
                   (next = qd_generate_union_by_row(self, joined, order[i], has_path, bound)) != NULL) {
            joined = next;
            continue;
        } else if (joined != NULL && qd_union_joins_by_arm(order[i], joined)) {
            next = given == NULL && n_before > QD_KEPT_LEFT_MAX ? begin_union_apart(self, joined, order, i) : NULL;
            if (next == NULL) {
                joined = qd_generate_union_of(self, joined, order[i], bound);
                continue;
            }
        } else {
            if (given == NULL && joined != NULL)
                joined = qd_generate_seeds(self, joined, order, i, n_before);
            known = joined != NULL ? qd_relation_add_bound(self, bound, joined) : (QdVariableSet){ 0 };
            next = qd_generator_generate(self, order[i], joined != NULL ? &known : bound);
            self->seeded.node = NULL; /* it may not have come to that */
        }
        if (joined == NULL) /* a condition on where a path begins is not tested for each node */
            joined = is_free(order[i]) && has_steps(order, n_children) ? qd_relation_seal(self, next, QD_SEAL_STREAM) : next;
        else
            joined = joined == given ? qd_relation_join(self, joined, next) : qd_relation_join_to(self, joined, next);
    }
    return joined != NULL ? joined : qd_generate_unit(self);
}

QdRelation *
qd_generate_join(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    QdRelation *parts = qd_generate_by_parts(self, node, bound);

    if (parts != NULL)
        return parts;
    if (qd_algebra_has_service(self, node))
        return qd_generate_service_join(self, node, bound);
    node = qd_rewrite_join(self, node);
    if (node->kind != QD_ALGEBRA_JOIN)
        return qd_generator_generate(self, node, bound);
    return qd_generate_children(self, NULL, node->children, node->n_children, bound);
}

/* --- minus --------------------------------------------------------------------------------------------------------- */

/*
 * @side for a comparison with the other side of a MINUS with which it shares the only @variable. A row that does not bind it is not
 * compared at all, so that the two kinds need no mark.
 */
static QdRelation *
compare_by(QdGenerator *self, const QdRelation *side, guint variable)
{
    QdRelation *compared = qd_relation_copy(self, side);

    qd_relation_find(compared, variable)->certain = TRUE;
    return compared;
}

/* The variable that both have, if it is one; else G_MAXUINT. */
static guint
find_only_shared(const QdRelation *left, const QdRelation *right)
{
    guint found = G_MAXUINT;

    for (guint i = 0; i < right->n_columns; i++) {
        if (qd_relation_find(left, right->columns[i].variable) == NULL)
            continue;
        if (found != G_MAXUINT)
            return G_MAXUINT;
        found = right->columns[i].variable;
    }
    return found;
}

QdRelation *
qd_generate_minus_of(QdGenerator *self, const QdRelation *whole, const QdAlgebra *taken, const QdVariableSet *bound)
{
    QdVariableSet known = qd_relation_add_bound(self, bound, whole);
    const QdRelation *given = self->service.given;
    const QdRelation *compared;
    QdRelation *right, *probe, *left;
    QdSql shared;
    guint only;

    self->service.given = NULL;
    right = qd_generator_generate(self, taken, &known);
    self->service.given = given;
    only = find_only_shared(whole, right);
    if (qd_relation_get_depth(right) > QD_DEPTH_FLAT)
        right = qd_relation_seal(self, right, QD_SEAL_PLAIN);
    left = qd_relation_copy(self, qd_relation_settle(self, whole, right, QD_SEAL_STREAM));
    right = qd_relation_copy(self, qd_relation_settle_right(self, left, right, QD_SEAL_MATERIALIZED));
    compared = only != G_MAXUINT ? compare_by(self, left, only) : left;
    right = only != G_MAXUINT ? compare_by(self, right, only) : right;
    probe = qd_relation_copy(self, qd_relation_keep_apart(self, compared, right));
    shared = qd_relation_match(self, compared, qd_relation_copy(self, probe), probe);
    if (shared.text == NULL)
        return left; /* nothing in common: nothing is taken away */
    if (shared.kind != QD_SQL_TRUE)
        qd_relation_add_where(self, probe, qd_sql_make(self->arena, "(@)", shared));
    qd_relation_add_where(
        self, left,
        qd_sql_make(self->arena, "NOT @", qd_sql_exists(self->arena, QD_SQL_NONE, qd_relation_write_probe(self, probe))));
    return left;
}

QdRelation *
qd_generate_minus(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    QdRelation *parts = qd_generate_by_parts(self, node, bound);

    if (parts != NULL)
        return parts;
    return qd_generate_minus_of(self, qd_generator_generate(self, node->children[0], bound), node->children[1], bound);
}
