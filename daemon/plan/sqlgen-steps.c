/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Groups with paths as one join. Its OPTIONALs, MINUSes and filters are parts of it that follow others. join-search.c places them
 * by what they multiply or leave: before a path that multiplies, after one that leaves little.
 */
#include "daemon/plan/sqlgen-private.h"

#define PARTS_MAX 60       /* of a group: each is compared with all others */
#define KEPT_MAX 50000     /* rows of it that are kept otherwise */
#define TWICE_MAX 6        /* tables of the left of an OPTIONAL that is not kept, but read twice */
#define MEMO_KEYS_MAX 4    /* of queryd_memo() */
#define MEMO_LEFT_MIN 1000 /* rows whose EXISTS is remembered, if it looks at so many solutions */
#define MEMO_LOOKED_AT_MIN 3
#define MEMO_LEFT_LARGE 20000 /* rows whose EXISTS is remembered anyway: a few of them may look at most */
#define ENDS_LEFT_MIN 2000    /* values of a path's other end, below which it is searched from these */
#define TABLE_LEFT_MIN 20000  /* solutions for which a MINUS is made once, as a table, rather than searched from each */

/* --- parts ------------------------------------------------------------------------------------------------------------ */

static gboolean
has_path(QdGenerator *self, const QdAlgebra *node)
{
    if (node->kind == QD_ALGEBRA_PATH)
        return TRUE;
    for (guint i = 0; i < node->n_expressions; i++) {
        if (node->expressions[i]->kind == QD_EXPRESSION_KIND_EXISTS &&
            has_path(self, qd_rewrite_get_exists(self, node->expressions[i])))
            return TRUE;
    }
    for (guint i = 0; i < node->n_children; i++) {
        if (has_path(self, node->children[i]))
            return TRUE;
    }
    return FALSE;
}

void
qd_part_add_named(QdGenerator *self, const QdAlgebra *part, QdVariableSet *named)
{
    qd_variable_set_add_all(named, self->arena, &part->possible);
    if (!part->follows)
        return;
    if (part->n_children > 1)
        qd_variable_set_add_all(named, self->arena, &part->children[1]->possible);
    for (guint i = 0; i < part->n_expressions; i++)
        qd_expression_add_all_variables(part->expressions[i], self->arena, named);
}

static gboolean
is_conditional(const QdAlgebra *node)
{
    return node->kind == QD_ALGEBRA_LEFT_JOIN || node->kind == QD_ALGEBRA_MINUS || node->kind == QD_ALGEBRA_FILTER;
}

QdAlgebra *
qd_part_detach(QdGenerator *self, const QdAlgebra *node)
{
    QdAlgebra *part = qd_algebra_put_on(self, node, qd_arena_new0(self->arena, QdAlgebra)); /* the unit */

    part->follows = TRUE;
    part->possible = node->kind == QD_ALGEBRA_LEFT_JOIN ? node->children[1]->possible : (QdVariableSet){ 0 };
    return part;
}

/* Each condition of @filter by itself; an EXISTS that is better joined is. */
static void
add_conditions(QdGenerator *self, const QdAlgebra *filter, GPtrArray *parts)
{
    for (guint i = 0; i < filter->n_expressions; i++) {
        QdAlgebra *semijoin = qd_rewrite_semijoin(self, filter, filter->expressions[i]);
        QdAlgebra *part;

        if (semijoin != NULL) {
            g_ptr_array_add(parts, semijoin);
            continue;
        }
        part = qd_part_detach(self, filter);
        part->expressions = qd_arena_new0(self->arena, QdExpression *);
        part->expressions[0] = qd_rewrite_simplify_exists(self, filter->children[0], filter->expressions[i]);
        part->n_expressions = 1;
        g_ptr_array_add(parts, part);
    }
}

/* Whether all that follows other parts of @node may also follow these when they have been joined with @others. */
static gboolean
may_follow(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *others)
{
    QdVariableSet named = { 0 };

    if (is_conditional(node))
        qd_part_add_named(self, qd_part_detach(self, node), &named);
    QD_VARIABLE_SET_FOREACH(&named, variable)
    {
        if (qd_variable_set_has(others, variable) && !qd_algebra_binds(node->children[0], variable))
            return FALSE;
    }
    for (guint i = 0; i < (is_conditional(node) ? 1 : node->kind == QD_ALGEBRA_JOIN ? node->n_children : 0); i++) {
        if (!may_follow(self, node->children[i], others))
            return FALSE;
    }
    return TRUE;
}

/* The part @child of a join, of which @others are the variables of all others. */
static void
add_child(QdGenerator *self, const QdAlgebra *child, const QdVariableSet *others, GPtrArray *parts)
{
    QdAlgebra *opened = qd_rewrite_open_subselect(self, child, others);

    if (opened != NULL)
        qd_parts_add(self, opened, parts);
    else if (!may_follow(self, child, others))
        g_ptr_array_add(parts, (gpointer) child);
    else
        qd_parts_add(self, child, parts);
}

static void
add_join(QdGenerator *self, const QdAlgebra *node, GPtrArray *parts)
{
    guint first = 0;

    /* what follows the first of all parts follows no others */
    while (first < node->n_children && !is_conditional(node->children[first]))
        first++;
    if (first < node->n_children)
        qd_parts_add(self, node->children[first], parts);
    for (guint i = 0; i < node->n_children; i++) {
        QdVariableSet others = { 0 };

        for (guint j = 0; j < node->n_children; j++) {
            if (j != i)
                qd_variable_set_add_all(&others, self->arena, &node->children[j]->possible);
        }
        if (i != first)
            add_child(self, node->children[i], &others, parts);
    }
}

void
qd_parts_add(QdGenerator *self, const QdAlgebra *node, GPtrArray *parts)
{
    switch (node->kind) {
    case QD_ALGEBRA_JOIN:
        add_join(self, node, parts);
        break;
    case QD_ALGEBRA_LEFT_JOIN:
    case QD_ALGEBRA_MINUS:
        qd_parts_add(self, node->children[0], parts);
        g_ptr_array_add(parts, qd_part_detach(self, node));
        break;
    case QD_ALGEBRA_FILTER:
        qd_parts_add(self, node->children[0], parts);
        add_conditions(self, node, parts);
        break;
    case QD_ALGEBRA_UNIT:
        break;
    case QD_ALGEBRA_DISTINCT:
        g_ptr_array_add(parts, qd_rewrite_distinct(self, (QdAlgebra *) node));
        break;
    default:
        g_ptr_array_add(parts, (gpointer) node);
    }
}

/* Whether @part is a path with one link at least from a variable to another. */
static gboolean
is_free_path(const QdAlgebra *part)
{
    const QdTriple *triple = part->triple;

    return part->kind == QD_ALGEBRA_PATH && triple->path->kind == QD_PATH_ONE_OR_MORE && triple->s.kind == QD_NODE_VARIABLE &&
           triple->o.kind == QD_NODE_VARIABLE && triple->s.variable != triple->o.variable;
}

/* Whether a part that is no such path binds @variable. */
static gboolean
is_bound_beside(const GPtrArray *parts, guint variable)
{
    for (guint i = 0; i < parts->len; i++) {
        const QdAlgebra *part = parts->pdata[i];

        if (qd_variable_set_has(&part->possible, variable) && !is_free_path(part))
            return TRUE;
    }
    return FALSE;
}

/* Whether few values of @node, the other end of @path, are bound by another part, from which it is better searched. */
static gboolean
begins_from_few(QdGenerator *self, const GPtrArray *parts, const QdAlgebra *path, const QdNode *node)
{
    for (guint i = 0; i < parts->len; i++) {
        const QdAlgebra *other = parts->pdata[i];

        if (other != path && !other->follows && qd_algebra_binds(other, node->variable) &&
            qd_estimate_rows(self, other) < ENDS_LEFT_MIN)
            return TRUE;
    }
    return FALSE;
}

/* Whether a MINUS or filter that comes after the path at @index of @parts names @variable alone of what they bind. */
static gboolean
is_tested_alone(QdGenerator *self, const GPtrArray *parts, guint index, guint variable)
{
    QdVariableSet bound = { 0 };

    for (guint i = 0; i < parts->len; i++)
        qd_variable_set_add_all(&bound, self->arena, &((const QdAlgebra *) parts->pdata[i])->possible);
    for (guint i = index + 1; i < parts->len; i++) {
        const QdAlgebra *part = parts->pdata[i];
        QdVariableSet named = { 0 };
        gboolean others = FALSE;

        if (!part->follows || part->kind == QD_ALGEBRA_LEFT_JOIN)
            continue;
        qd_part_add_named(self, part, &named);
        QD_VARIABLE_SET_FOREACH(&named, other)
        {
            others = others || (other != variable && qd_variable_set_has(&bound, other));
        }
        if (!others && qd_variable_set_has(&named, variable))
            return TRUE;
    }
    return FALSE;
}

/*
 * Adds to @parts the nodes where a free path begins or ends if a condition tests these alone. So it is tested for each of them, and
 * before the path is searched, not for each pair. They take the place of the path: what was written before it does not see them.
 */
static void
add_tested_ends(QdGenerator *self, GPtrArray *parts)
{
    guint n = parts->len;

    for (guint i = 0; i < n; i++) {
        const QdAlgebra *part = parts->pdata[i];
        const QdNode *ends[2];

        if (!is_free_path(part))
            continue;
        ends[0] = &part->triple->s;
        ends[1] = &part->triple->o;
        for (guint j = 0; j < G_N_ELEMENTS(ends); j++) {
            guint variable = ends[j]->variable;
            QdAlgebra *values = is_bound_beside(parts, variable) || !is_tested_alone(self, parts, i, variable) ||
                                        begins_from_few(self, parts, part, ends[1 - j])
                                    ? NULL
                                    : qd_rewrite_list_ends(self, part->triple, variable);

            if (values == NULL)
                continue;
            g_ptr_array_insert(parts, (gint) i, values);
            return;
        }
    }
}

/* The solutions from which the pattern of @node is to begin (nullable). */
static QdRelation *
take_seeds(QdGenerator *self, const QdAlgebra *node)
{
    while (is_conditional(node))
        node = node->children[0];
    if (node != self->seeded.node)
        return NULL;
    self->seeded.node = NULL;
    return g_steal_pointer(&self->seeded.values);
}

QdRelation *
qd_generate_by_parts(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    g_autoptr(GPtrArray) parts = NULL;
    QdRelation *seeds;

    /* inside an EXISTS a pattern is looked up for each solution around it */
    if (self->outer != NULL || !has_path(self, node) || qd_algebra_is_volatile(node))
        return NULL;
    parts = g_ptr_array_new();
    qd_parts_add(self, node, parts);
    if (parts->len == 0 || parts->len > PARTS_MAX)
        return NULL;
    add_tested_ends(self, parts);
    seeds = take_seeds(self, node);
    if (seeds != NULL)
        return qd_generate_children(self, seeds, (QdAlgebra **) parts->pdata, parts->len, bound);
    return qd_generate_split(self, parts, bound);
}

/* --- what follows ----------------------------------------------------------------------------------------------------- */

static gboolean
suits_probe(const QdRelation *beyond)
{
    return beyond->n_tables > 0;
}

/* @left without the columns that @inner names and that may be unbound. */
static QdRelation *
drop_open(QdGenerator *self, const QdRelation *left, const QdAlgebra *inner)
{
    QdRelation *sure = qd_relation_copy(self, left);

    for (guint i = 0; i < left->n_columns; i++) {
        if (!left->columns[i].certain && qd_variable_set_has(&inner->possible, left->columns[i].variable))
            sure = qd_relation_drop_column(self, sure, left->columns[i].variable);
    }
    return sure;
}

QdRelation *
qd_generate_right_by_row(QdGenerator *self, const QdRelation *left, const QdAlgebra *right, const QdVariableSet *bound,
                         gboolean (*suits)(const QdRelation *beyond))
{
    QdRelation *sure = drop_open(self, left, right);
    gboolean shares = FALSE;

    for (guint i = 0; i < sure->n_columns; i++)
        shares = shares || qd_algebra_binds(right, sure->columns[i].variable);
    for (guint i = 0; i < left->n_columns; i++) {
        guint variable = left->columns[i].variable;

        if (qd_variable_set_has(&right->possible, variable) && !qd_algebra_binds(right, variable))
            return NULL;
    }
    return shares ? qd_generate_beyond(self, sure, qd_relation_copy(self, sure), right, bound, suits) : NULL;
}

/* That @found, looked up or searched from a row of @left, has a row that agrees with it. */
static QdSql
write_exists_of(QdGenerator *self, const QdRelation *left, const QdRelation *found)
{
    QdRelation *probe = qd_relation_copy(self, found);

    (void) qd_relation_match(self, left, found, probe);
    return qd_sql_exists(self->arena, QD_SQL_NONE, qd_relation_write_probe(self, probe));
}

QdRelation *
qd_generate_left_join_by_cases(QdGenerator *self, QdRelation *left, const QdAlgebra *right, const QdBefore *before,
                               const QdVariableSet *bound)
{
    gboolean is_short = left->n_tables <= TWICE_MAX && qd_relation_get_n_arms(left) == 1; /* enough to be read twice */
    QdRelation *kept = is_short ? left
                                : qd_relation_seal(self, left, before->n_rows > KEPT_MAX ? QD_SEAL_TWICE : QD_SEAL_MATERIALIZED);
    const QdRelation *found = qd_generate_right_by_row(self, kept, right, bound, suits_probe);
    QdRelation *arms[2];
    QdSql exists;

    if (found == NULL)
        return NULL;
    exists = write_exists_of(self, kept, found);
    arms[0] = qd_relation_merge(self, kept, found);
    arms[1] = qd_relation_copy(self, kept);
    qd_relation_add_where(self, arms[1], qd_sql_make(self->arena, "NOT @", exists));
    /* not merged: what it is joined with would be evaluated for each arm */
    return qd_relation_seal(self, qd_relation_unite(self, arms, G_N_ELEMENTS(arms)), QD_SEAL_STREAM);
}

/* What @inner takes from many solutions on the left, as a table that is made once. NULL: they are few, or it is large. */
static QdAlgebra *
make_table(QdGenerator *self, const QdRelation *left, QdAlgebra *inner, const QdBefore *before)
{
    QdVariableSet possible = { 0 };
    QdVariableSet certain = { 0 };

    if (inner->kind != QD_ALGEBRA_JOIN || before->n_rows < TABLE_LEFT_MIN ||
        qd_estimate_cost(self, inner) > before->n_rows * before->n_looked_at)
        return NULL;
    for (guint i = 0; i < left->n_columns; i++) {
        qd_variable_set_add(&possible, self->arena, left->columns[i].variable);
        if (left->columns[i].certain)
            qd_variable_set_add(&certain, self->arena, left->columns[i].variable);
    }
    return qd_rewrite_list_shared(self, &possible, &certain, inner);
}

/* Moves to the end of @parts, from @first on, what shares no variable but those of @outside with the part there. Returns where that
 * begins. */
static guint
part_connected(QdGenerator *self, QdAlgebra **parts, guint first, guint n, const QdVariableSet *outside)
{
    QdVariableSet inside = { 0 };
    guint end = first + 1;

    for (guint done = first; done < end; done++) {
        QD_VARIABLE_SET_FOREACH(&parts[done]->possible, variable)
        {
            if (!qd_variable_set_has(outside, variable))
                qd_variable_set_add(&inside, self->arena, variable);
        }
        for (guint i = end; i < n; i++) {
            QdAlgebra *part = parts[i];

            if (qd_variable_set_shares(&part->possible, &inside)) {
                parts[i] = parts[end];
                parts[end++] = part;
            }
        }
    }
    return end;
}

/* The columns of @left that @inner names, after commas. text NULL: there are none or too many, all of them, or one is no id. */
static QdSql
list_keys(QdGenerator *self, const QdRelation *left, const QdAlgebra *inner)
{
    g_auto(QdSqlBuilder) keys = qd_sql_builder_new(self->arena);
    guint n_keys = 0;

    for (guint i = 0; i < left->n_columns; i++) {
        const QdColumn *column = &left->columns[i];

        if (!qd_variable_set_has(&inner->possible, column->variable))
            continue;
        if (!column->interned || column->fickle || ++n_keys > MEMO_KEYS_MAX)
            return QD_SQL_NONE;
        qd_sql_append_after(&keys, ",", column->sql);
    }
    return n_keys > 0 && n_keys < left->n_columns ? qd_sql_finish(&keys) : QD_SQL_NONE;
}

/* @exists for rows of @selected, which have many of the same values: it is looked for once for each combination of these. */
static QdSql
remember(QdGenerator *self, QdRelation *selected, const QdAlgebra *inner, const QdBefore *before, QdSql exists)
{
    QdSql keys = list_keys(self, selected, inner);
    QdTable table;

    if (keys.text == NULL || before->n_rows < MEMO_LEFT_MIN ||
        (before->n_rows < MEMO_LEFT_LARGE && before->n_looked_at < MEMO_LOOKED_AT_MIN) || selected->n_tables >= QD_TABLES_MAX)
        return exists;
    table = qd_generator_make_table(self, 'm');
    table.from = qd_sql_make(self->arena, "queryd_memo(@) AS @", keys, qd_sql_text(table.name.text));
    qd_relation_add_table(self, selected, &table);
    return qd_sql_make(self->arena, "ifnull(@,queryd_memo_put(@,@))",
                       qd_sql_column(self->arena, &table.name, "value", QD_SQL_COLUMN),
                       qd_sql_column(self->arena, &table.name, "entry", QD_SQL_COLUMN), exists);
}

static QdSql
write_exists_of_all(QdGenerator *self, QdRelation *selected, const QdRelation *left, const QdAlgebra *inner, const QdBefore *before,
                    const QdVariableSet *bound)
{
    const QdRelation *found = qd_generate_right_by_row(self, left, inner, bound, suits_probe);

    return found != NULL ? remember(self, selected, inner, before, write_exists_of(self, left, found)) : QD_SQL_NONE;
}

/*
 * That @inner has a solution that agrees with a row of @left, for @selected. Parts of it that share only what is bound there are
 * looked for each by itself, and remembered by what each names. Where one has none, the others are not searched again for each of
 * its candidates. text NULL: it does not begin there.
 */
static QdSql
write_exists(QdGenerator *self, QdRelation *selected, const QdRelation *left, QdAlgebra *inner, const QdBefore *before,
             const QdVariableSet *bound)
{
    guint n_tables = selected->n_tables;
    guint n = inner->kind == QD_ALGEBRA_JOIN ? inner->n_children : 1;
    QdAlgebra **parts = qd_arena_array0(self->arena, QdAlgebra *, n);
    QdVariableSet outside = { 0 };
    QdSql all = QD_SQL_NONE;
    guint n_found = 0;

    for (guint i = 0; i < left->n_columns; i++) {
        if (left->columns[i].certain)
            qd_variable_set_add(&outside, self->arena, left->columns[i].variable);
    }
    for (guint i = 0; i < n; i++)
        parts[i] = inner->kind == QD_ALGEBRA_JOIN ? inner->children[i] : inner;
    for (guint first = 0, end; first < n; first = end) {
        const QdAlgebra *part;
        QdSql exists;

        end = part_connected(self, parts, first, n, &outside);
        part = end > first + 1 ? qd_algebra_new_parent(self->ast, QD_ALGEBRA_JOIN, parts + first, end - first) : parts[first];
        exists = write_exists_of_all(self, selected, left, part, before, bound);
        if (exists.text == NULL) { /* then all of it, unless this was that */
            selected->n_tables = n_tables;
            return end - first < n ? write_exists_of_all(self, selected, left, inner, before, bound) : QD_SQL_NONE;
        }
        n_found++;
        all = all.text != NULL ? qd_sql_make(self->arena, "@ AND @", all, exists) : exists;
    }
    return n_found > 1 ? qd_sql_make(self->arena, "(@)", all) : all;
}

/* The rows of @left for which @pattern has a solution, or, @negated, has none. NULL: they are not found from each row. */
static QdRelation *
select_by_row(QdGenerator *self, QdRelation *left, QdAlgebra *pattern, gboolean negated, const QdBefore *before,
              const QdVariableSet *bound)
{
    QdVariableSet possible = { 0 };
    QdAlgebra *inner, *table;
    QdRelation *selected;
    QdSql exists;

    for (guint i = 0; i < left->n_columns; i++)
        qd_variable_set_add(&possible, self->arena, left->columns[i].variable);
    inner = has_path(self, pattern) ? qd_rewrite_strip(self, pattern, &possible) : NULL;
    if (inner == NULL)
        return NULL;
    table = negated ? make_table(self, left, inner, before) : NULL;
    if (table != NULL)
        return qd_generate_minus_of(self, left, table, bound);
    selected = qd_relation_copy(self, left);
    exists = write_exists(self, selected, left, inner, before, bound);
    if (exists.text == NULL)
        return NULL;
    qd_relation_add_where(self, selected, negated ? qd_sql_make(self->arena, "NOT @", exists) : exists);
    return selected;
}

QdRelation *
qd_generate_following(QdGenerator *self, QdRelation *left, const QdAlgebra *part, const QdBefore *before,
                      const QdVariableSet *bound)
{
    const QdExpression *expression = part->kind == QD_ALGEBRA_FILTER ? part->expressions[0] : NULL;
    QdRelation *selected = NULL;

    if (part->kind == QD_ALGEBRA_LEFT_JOIN)
        return qd_generate_left_join_of(self, left, part, before, bound);
    if (part->kind == QD_ALGEBRA_MINUS)
        selected = select_by_row(self, left, part->children[1], TRUE, before, bound);
    else if (expression->kind == QD_EXPRESSION_KIND_EXISTS)
        selected = select_by_row(self, left, qd_rewrite_get_exists(self, part->expressions[0]), expression->negated, before, bound);
    if (selected != NULL)
        return selected;
    return part->kind == QD_ALGEBRA_MINUS ? qd_generate_minus_of(self, left, part->children[1], bound)
                                          : qd_generate_filter_of(self, left, part);
}
