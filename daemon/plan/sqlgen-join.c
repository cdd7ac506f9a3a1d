/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Join, left join, minus.
 */
#include <string.h>

#include "daemon/plan/sqlgen-private.h"

#define CHAIN_TABLES_MAX 16  /* of an OPTIONAL */
#define CHAIN_BYTES_MAX 4000 /* of its conditions, which OPTIONALs around it say again */
#define ON_BYTES 500         /* that its text begins with room for */
#define LEFT_MAX 1e5         /* rows that are kept to begin a subselect from them */
#define SMALL_ROWS 100       /* of the right of an OPTIONAL that is evaluated by itself */
#define LARGE_ROWS 20000     /* of its left, which is not kept then */
#define APART_MAX 3          /* OPTIONALs in a row of which SQLite compiles the one before three times */

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

/* The same without what @relation may leave unbound. */
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

/* Whether the parts from @index on share nothing with those before, and have a path or a UNION. These would be searched for each
 * row of those. */
static gboolean
is_apart(QdGenerator *self, const QdAlgebra **parts, guint index, guint n_parts)
{
    QdVariableSet before = { 0 };
    gboolean has_path = FALSE;

    if (index == 0 || (index + 1 == n_parts && parts[index]->kind == QD_ALGEBRA_PATH))
        return FALSE;
    for (guint i = index; i < n_parts; i++)
        has_path = has_path || qd_algebra_begins_from_left(parts[i]) || qd_algebra_has_path(parts[i]);
    if (!has_path || self->outer != NULL || self->graph.kind == QD_NODE_VARIABLE)
        return FALSE;
    for (guint i = 0; i < index; i++)
        qd_variable_set_add_all(&before, self->arena, &parts[i]->possible);
    for (guint i = index; i < n_parts; i++) {
        if (qd_variable_set_shares(&parts[i]->possible, &before))
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
    seeds = !qd_variable_set_is_empty(&sure) ? qd_generate_seeds_of(self, order, index, &sure, order[index]) : NULL;
    return seeds != NULL ? qd_relation_seal(self, qd_generate_union_of(self, seeds, order[index], NULL), QD_SEAL_MATERIALIZED)
                         : NULL;
}

QdRelation *
qd_generate_children(QdGenerator *self, QdRelation *joined, QdAlgebra *const *children, guint n_children,
                     const QdVariableSet *bound)
{
    const QdAlgebra **order = qd_arena_array0(self->arena, const QdAlgebra *, n_children);
    const QdRelation *given = joined;
    guint n_estimates = self->estimates->len;
    double n_rows = 1;
    QdVariableSet sure;
    QdVariableSet known = joined != NULL ? add_bound(self, bound, joined) : (QdVariableSet){ 0 };

    memcpy(order, children, n_children * sizeof(const QdAlgebra *));
    sure = joined != NULL ? add_sure(self, bound, joined) : (QdVariableSet){ 0 };
    qd_join_order(self, order, n_children, joined != NULL ? &known : bound, joined != NULL ? &sure : bound);
    for (guint i = 0; i < n_children && self->error == NULL; i++) {
        double n_before = n_rows;
        QdRelation *next;

        n_rows *= g_array_index(self->estimates, double, n_estimates + i);
        if (given == NULL && is_apart(self, order, i, n_children)) {
            next = qd_generate_children(self, NULL, (QdAlgebra **) order + i, n_children - i, NULL);
            return qd_relation_join_to(self, joined, qd_relation_seal(self, next, QD_SEAL_MATERIALIZED));
        }
        if (order[i]->kind == QD_ALGEBRA_PATH) {
            next = qd_generate_path(self, order[i]->triple, &joined, bound);
        } else if (order[i]->kind == QD_ALGEBRA_MATCH) {
            next = qd_generate_match(self, order[i]->match, &joined);
        } else if (joined != NULL && order[i]->kind == QD_ALGEBRA_UNION &&
                   (next = qd_generate_union_by_row(self, joined, order[i], bound)) != NULL) {
            joined = next;
            continue;
        } else if (joined != NULL && qd_union_joins_by_arm(order[i], joined)) {
            next = given == NULL && n_before > LEFT_MAX ? begin_union_apart(self, joined, order, i) : NULL;
            if (next == NULL) {
                joined = qd_generate_union_of(self, joined, order[i], bound);
                continue;
            }
        } else {
            if (given == NULL && joined != NULL)
                joined = qd_generate_seeds(self, joined, order, i, n_before <= LEFT_MAX);
            known = joined != NULL ? add_bound(self, bound, joined) : (QdVariableSet){ 0 };
            next = qd_generator_generate(self, order[i], joined != NULL ? &known : bound);
            self->seeded = NULL; /* it may not have come to that */
        }
        if (joined == NULL)
            joined = next;
        else
            joined = joined == given ? qd_relation_join(self, joined, next) : qd_relation_join_to(self, joined, next);
    }
    return joined != NULL ? joined : qd_relation_new(self);
}

QdRelation *
qd_generate_join(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    node = qd_rewrite_join(self, node);
    if (node->kind != QD_ALGEBRA_JOIN)
        return qd_generator_generate(self, node, bound);
    return qd_generate_children(self, NULL, node->children, node->n_children, bound);
}

/* --- left join -------------------------------------------------------------------------------------------------------- */

static void
add_condition(GString *text, const char *condition)
{
    if (text->len > 0)
        g_string_append(text, " AND ");
    g_string_append(text, condition);
}

/* An OPTIONAL under way. */
typedef struct Chain {
    const QdRelation *right;
    const QdRelation *seen; /* with the conditions that decide which rows of the right match */
    int *last;              /* for each condition: the last of the right's tables that it names, or -1 */
    guint n_needed;         /* of the right's tables: those after neither add rows nor take any away */
} Chain;

static gboolean
is_inner(const QdRelation *right, int i)
{
    return i <= 0 || right->tables[i].on == NULL;
}

static Chain
make_chain(QdGenerator *self, const QdRelation *right, const QdRelation *seen)
{
    Chain chain = { right, seen, qd_arena_array0(self->arena, int, seen->n_conditions), 1 };

    for (guint i = 0; i < seen->n_conditions; i++) {
        chain.last[i] = qd_relation_find_last_table(right, seen->conditions[i]);
        chain.n_needed = MAX(chain.n_needed, (guint) (chain.last[i] + 1));
    }
    for (guint i = 1; i < right->n_tables; i++) {
        if (is_inner(right, (int) i))
            chain.n_needed = MAX(chain.n_needed, i + 1);
    }
    return chain;
}

/* That the tables after the first can complete its row. */
static const char *
write_completion(QdGenerator *self, const Chain *chain)
{
    QdRelation *rest = qd_relation_new(self);

    for (guint i = 1; i < chain->n_needed; i++)
        qd_relation_add_table(self, rest, &chain->right->tables[i]);
    for (guint i = 0; i < chain->seen->n_conditions; i++)
        qd_relation_add_where(self, rest, chain->last[i] > 0 ? chain->seen->conditions[i] : NULL);
    for (guint i = 0; i < chain->right->n_prunings; i++) {
        if (qd_relation_find_last_table(chain->right, chain->right->prunings[i]) < (int) chain->n_needed)
            qd_relation_add_where(self, rest, chain->right->prunings[i]);
    }
    return qd_arena_concat(self->arena, "EXISTS(", qd_relation_write_list(self, rest, "SELECT", "1", NULL), ")", NULL);
}

/* The table before @i that has to have a row for it. */
static guint
find_before(const QdRelation *right, guint i)
{
    do
        i--;
    while (!is_inner(right, (int) i));
    return i;
}

/*
 * ON of the right's table @i: the table before it has a row, and the conditions that are known by then. A row of the first is
 * let in only if the others can complete it, so that nothing has to be put back.
 */
static const char *
write_on(QdGenerator *self, const Chain *chain, guint i)
{
    g_autoptr(GString) on = g_string_sized_new(ON_BYTES);
    const QdTable *tables = chain->right->tables;

    if (i > 0)
        add_condition(on, qd_arena_concat(self->arena, qd_table_write_witness(self, &tables[find_before(chain->right, i)]),
                                          " IS NOT NULL", NULL));
    if (tables[i].on != NULL)
        add_condition(on, tables[i].on);
    for (guint j = 0; j < chain->seen->n_conditions; j++) {
        if (MAX(chain->last[j], 0) == (int) i && is_inner(chain->right, (int) i))
            add_condition(on, chain->seen->conditions[j]);
    }
    if (i == 0 && chain->n_needed > 1)
        add_condition(on, write_completion(self, chain));
    return on->len > 0 ? qd_arena_strndup(self->arena, on->str, on->len) : "1";
}

/*
 * Rows that begin and are not completed, where others with the same first row are. NULL: there are none, since the first table
 * is the only one, or looks at the only other.
 */
static const char *
write_pruning(QdGenerator *self, const Chain *chain)
{
    g_autoptr(GString) complete = g_string_new(NULL);
    guint last_inner = 0;

    for (guint i = 1; i < chain->n_needed; i++)
        last_inner = is_inner(chain->right, (int) i) ? i : last_inner;
    if (last_inner > 1)
        g_string_append_printf(complete, "%s IS NOT NULL", qd_table_write_witness(self, &chain->right->tables[last_inner]));
    for (guint i = 0; i < chain->seen->n_conditions; i++) {
        if (!is_inner(chain->right, chain->last[i]))
            add_condition(complete, chain->seen->conditions[i]);
    }
    if (complete->len == 0)
        return NULL;
    return qd_arena_printf(self->arena, "(%s IS NULL OR %s)", qd_table_write_witness(self, &chain->right->tables[0]),
                           complete->str);
}

/* What the right adds: NULL where it is not there, regardless of its expression. */
static void
add_optional_columns(QdGenerator *self, QdRelation *joined, const QdRelation *right)
{
    for (guint i = 0; i < right->n_columns; i++) {
        QdColumn b = right->columns[i];
        QdColumn *a = qd_relation_find(joined, b.variable);

        if (!b.plain)
            b.sql = qd_arena_printf(self->arena, "CASE WHEN %s IS NOT NULL THEN %s END",
                                    qd_table_write_witness(self, &right->tables[0]), b.sql);
        b.certain = FALSE;
        if (a == NULL) {
            *qd_relation_add(self, joined, b.variable, NULL) = b;
        } else if (!a->certain) {
            qd_column_coalesce(self, a, &b);
        }
    }
}

static QdRelation *
left_join_chain(QdGenerator *self, const QdRelation *left, const QdRelation *right, const QdAlgebra *node)
{
    QdRelation *joined = qd_relation_copy(self, left);
    QdRelation *seen = qd_relation_merge(self, left, right); /* what the conditions see */
    Chain chain;

    seen->n_conditions = 0;
    seen->conditions = NULL;
    for (guint i = 0; i < right->n_conditions; i++)
        qd_relation_add_where(self, seen, right->conditions[i]);
    (void) qd_relation_match(self, left, right, seen);
    qd_relation_filter(self, seen, node->expressions, node->n_expressions);
    chain = make_chain(self, right, seen);
    if (joined->n_tables == 0) {
        const QdTable row = { .text = "(SELECT 1)", .name = "" };

        qd_relation_add_table(self, joined, &row);
    }
    for (guint i = 0; i < right->n_tables; i++) {
        QdTable table = i > 0 ? qd_table_guard_search(self, right, i, find_before(right, i)) : right->tables[i];

        table.on = write_on(self, &chain, i);
        table.n_arms = 0; /* SQLite merges no UNION on the right of an outer join */
        qd_relation_add_table(self, joined, &table);
    }
    for (guint i = 0; i < right->n_prunings; i++)
        qd_relation_add_pruning(self, joined, right->prunings[i]);
    qd_relation_add_pruning(self, joined, write_pruning(self, &chain));
    add_optional_columns(self, joined, right);
    return joined;
}

/* A single table may be anything if nothing is computed from it. More have to be quads, or paths that are searched from a row,
 * which cost little to look at twice. */
static gboolean
can_chain(const QdRelation *right)
{
    gsize n_bytes = 0;
    gboolean plain = TRUE;

    if (right->n_tables == 0 || right->n_tables > CHAIN_TABLES_MAX || right->tables[0].on != NULL ||
        qd_relation_get_depth(right) > QD_DEPTH_FLAT)
        return FALSE;
    for (guint i = 0; i < right->n_columns; i++)
        plain = plain && right->columns[i].plain;
    for (guint i = 0; i < right->n_tables; i++) {
        if (!right->tables[i].is_base && !right->tables[i].is_search && (right->n_tables > 1 || !plain))
            return FALSE;
        n_bytes += right->tables[i].on != NULL ? strlen(right->tables[i].on) : 0;
    }
    for (guint i = 0; i < right->n_conditions; i++)
        n_bytes += strlen(right->conditions[i]);
    for (guint i = 0; i < right->n_prunings; i++)
        n_bytes += strlen(right->prunings[i]);
    return n_bytes <= CHAIN_BYTES_MAX;
}

gboolean
qd_algebra_begins_from_left(const QdAlgebra *node)
{
    switch (node->kind) {
    case QD_ALGEBRA_UNION:
        return TRUE;
    case QD_ALGEBRA_PATH:
        return node->triple->path->kind == QD_PATH_ZERO_OR_MORE || node->triple->path->kind == QD_PATH_ONE_OR_MORE ||
               node->triple->path->kind == QD_PATH_ZERO_OR_ONE;
    case QD_ALGEBRA_JOIN:
        for (guint i = 0; i < node->n_children; i++) {
            if (qd_algebra_begins_from_left(node->children[i]))
                return TRUE;
        }
        return FALSE;
    default:
        return FALSE;
    }
}

/* How many joins in @node are left_join_apart()'s. */
static guint
count_apart(const QdAlgebra *node)
{
    guint n = node->kind == QD_ALGEBRA_LEFT_JOIN && qd_algebra_begins_from_left(node->children[1]) ? 1 : 0;

    for (guint i = 0; i < node->n_children; i++)
        n += count_apart(node->children[i]);
    return n;
}

/* What the right of @node, a left join, and its conditions may take from @left. */
static QdVariableSet
list_taken(QdGenerator *self, const QdRelation *left, const QdAlgebra *node)
{
    QdVariableSet named = { 0 };
    QdVariableSet taken = { 0 };

    qd_variable_set_add_all(&named, self->arena, &node->children[1]->possible);
    for (guint i = 0; i < node->n_expressions; i++)
        qd_expression_add_all_variables(node->expressions[i], self->arena, &named);
    if (self->graph.kind == QD_NODE_VARIABLE)
        qd_variable_set_add(&named, self->arena, self->graph.variable);
    for (guint i = 0; i < left->n_columns; i++) {
        if (qd_variable_set_has(&named, left->columns[i].variable))
            qd_variable_set_add(&taken, self->arena, left->columns[i].variable);
    }
    return taken;
}

/* @left, evaluated once, with terms that are equal where they are @taken. */
static QdRelation *
keep_left(QdGenerator *self, const QdRelation *left, const QdVariableSet *taken)
{
    QdRelation *kept = qd_relation_copy(self, left);

    for (guint i = 0; i < kept->n_columns; i++) {
        QdColumn *column = &kept->columns[i];

        if (qd_variable_set_has(taken, column->variable)) {
            column->sql = qd_column_intern(self, column);
            column->interned = TRUE;
        }
    }
    return qd_relation_seal(self, kept, QD_SEAL_MATERIALIZED);
}

/* The values of @left that are @taken, each combination once. Where one may be unbound @keys has a second column of it, which a
 * pattern does not bind. */
static QdRelation *
make_seeds(QdGenerator *self, const QdRelation *left, const QdVariableSet *taken, guint *keys)
{
    QdRelation *seeds = qd_relation_new(self);

    qd_relation_take_rows(self, seeds, left);
    for (guint i = 0; i < left->n_columns; i++) {
        const QdColumn *column = &left->columns[i];
        QdColumn *key;

        if (!qd_variable_set_has(taken, column->variable))
            continue;
        *qd_relation_add(self, seeds, column->variable, NULL) = *column;
        keys[i] = column->variable;
        if (column->certain)
            continue;
        keys[i] = qd_ast_add_variable(self->ast, NULL);
        key = qd_relation_add(self, seeds, keys[i], NULL);
        *key = *column;
        key->variable = keys[i];
    }
    return qd_relation_seal_text(self, seeds, qd_relation_write(self, seeds, "SELECT DISTINCT", NULL), QD_SEAL_MATERIALIZED);
}

/* @left with the rows of @complete that have its @keys, or with none. */
static QdRelation *
left_join_by_keys(QdGenerator *self, const QdRelation *left, const QdRelation *complete, const guint *keys)
{
    QdRelation *joined = qd_relation_copy(self, left);
    QdTable table = complete->tables[0];
    g_autoptr(GString) on = g_string_sized_new(ON_BYTES);

    for (guint i = 0; i < left->n_columns; i++) {
        if (keys[i] != G_MAXUINT)
            add_condition(on, qd_arena_concat(self->arena, qd_relation_find(complete, keys[i])->sql,
                                              left->columns[i].certain ? "=+" : " IS +", left->columns[i].sql, NULL));
    }
    table.on = on->len > 0 ? qd_arena_strndup(self->arena, on->str, on->len) : "1";
    qd_relation_add_table(self, joined, &table);
    for (guint i = 0; i < complete->n_columns; i++) {
        QdColumn column = complete->columns[i];
        QdColumn *known = qd_relation_find(joined, column.variable);
        gboolean is_key = FALSE;

        for (guint j = 0; j < left->n_columns; j++)
            is_key = is_key || keys[j] == column.variable;
        if (is_key)
            continue;
        column.certain = FALSE;
        if (known == NULL)
            *qd_relation_add(self, joined, column.variable, NULL) = column;
        else if (!known->certain)
            qd_column_coalesce(self, known, &column);
    }
    return joined;
}

/* @seeds with the right of @node, a left join, and its conditions, evaluated once. */
static QdRelation *
complete_right(QdGenerator *self, QdRelation *seeds, const QdAlgebra *node, const QdVariableSet *bound)
{
    const QdAlgebra *right = node->children[1];
    gboolean is_join = right->kind == QD_ALGEBRA_JOIN;
    QdRelation *complete = qd_generate_children(self, seeds, is_join ? right->children : node->children + 1,
                                                is_join ? right->n_children : 1, bound);

    complete = qd_relation_copy(self, complete);
    qd_relation_filter(self, complete, node->expressions, node->n_expressions);
    return qd_relation_seal(self, complete, QD_SEAL_MATERIALIZED);
}

/*
 * The join of a large left, which is not kept, with a right that begins from values that a part of the left gives. NULL: the left
 * is not large, no part gives so few, or the right has more of the left than it binds itself.
 */
static QdRelation *
left_join_large(QdGenerator *self, const QdRelation *left, const QdAlgebra *node, const QdVariableSet *taken,
                const QdVariableSet *bound)
{
    const QdAlgebra *pattern = node->children[0];
    QdAlgebra *bare = qd_algebra_put_on(self, node, node->children[0]);
    QdVariableSet sure = { 0 };
    QdRelation *seeds;

    if (self->graph.kind == QD_NODE_VARIABLE || left->n_tables >= QD_TABLES_MAX || qd_relation_has_long_columns(left))
        return NULL;
    QD_VARIABLE_SET_FOREACH(taken, variable)
    {
        if (!qd_algebra_binds(node->children[1], variable))
            return NULL;
        if (qd_relation_find(left, variable)->certain)
            qd_variable_set_add(&sure, self->arena, variable);
    }
    if (qd_variable_set_is_empty(&sure) || qd_estimate_rows(self, pattern) < LARGE_ROWS)
        return NULL;
    seeds = qd_generate_seeds_of(self, &pattern, 1, &sure, node->children[1]);
    if (seeds == NULL)
        return NULL;
    bare->n_expressions = 0;
    return left_join_chain(self, left, complete_right(self, seeds, node, bound), bare);
}

/*
 * The right begins from what it takes of the left, each combination once. The left, kept in a table, is then joined with what
 * came of it, row by row.
 */
static QdRelation *
left_join_apart(QdGenerator *self, const QdRelation *left, const QdAlgebra *node, const QdVariableSet *bound)
{
    QdVariableSet taken = list_taken(self, left, node);
    guint *keys = qd_arena_array0(self->arena, guint, left->n_columns + 1);
    QdRelation *complete = left_join_large(self, left, node, &taken, bound);

    if (complete != NULL)
        return complete;
    for (guint i = 0; i < left->n_columns; i++)
        keys[i] = G_MAXUINT;
    left = keep_left(self, left, &taken);
    complete = complete_right(self, make_seeds(self, left, &taken, keys), node, bound);
    if (self->error != NULL)
        return qd_relation_new(self);
    return left_join_by_keys(self, left, complete, keys);
}

/* Whether all that @right takes from @left is bound there, and it consists of triples and paths. */
static gboolean
may_begin_by_row(const QdGenerator *self, const QdRelation *left, const QdAlgebra *right)
{
    if (self->outer != NULL || self->graph.kind == QD_NODE_VARIABLE || left->n_tables == 0 || qd_relation_has_long_columns(left) ||
        !qd_algebra_begins_from_left(right))
        return FALSE;
    for (guint i = 0; i < left->n_columns; i++) {
        if (!left->columns[i].certain && qd_variable_set_has(&right->possible, left->columns[i].variable))
            return FALSE;
    }
    if (right->kind == QD_ALGEBRA_PATH)
        return TRUE;
    for (guint i = 0; i < right->n_children; i++) {
        if (right->children[i]->kind != QD_ALGEBRA_TRIPLE && right->children[i]->kind != QD_ALGEBRA_PATH)
            return FALSE;
    }
    return right->kind == QD_ALGEBRA_JOIN;
}

/* Whether a search's finds are the result: if a later table took rows away, it would be in vain for each row of the left. */
static gboolean
suits_left_join(const QdRelation *right)
{
    gboolean searched = FALSE;

    for (guint i = 0; i < right->n_tables; i++) {
        if (right->tables[i].is_test || (searched && !right->tables[i].is_search))
            return FALSE;
        searched = searched || right->tables[i].is_search;
    }
    return can_chain(right);
}

/*
 * @right of a left join as tables that are looked up or searched from each row of @left, which is not kept then. NULL: it has
 * others, or begins better from each combination of values once.
 */
static QdRelation *
begin_right_by_row(QdGenerator *self, const QdRelation *left, const QdAlgebra *right, const QdVariableSet *bound)
{
    if (!may_begin_by_row(self, left, right))
        return NULL;
    return qd_generate_beyond(self, left, qd_relation_copy(self, left), right, bound, suits_left_join);
}

/* Whether the right of @node, with a repeated path, is better evaluated by itself than from the left, which is kept then. */
static gboolean
is_small(QdGenerator *self, const QdAlgebra *node)
{
    const QdAlgebra *right = node->children[1];

    return qd_algebra_consists_of_links(right) && qd_estimate_rows(self, node->children[0]) >= LARGE_ROWS &&
           qd_estimate_rows(self, right) <= SMALL_ROWS;
}

QdRelation *
qd_generate_left_join(QdGenerator *self, const QdAlgebra *written, const QdVariableSet *bound)
{
    const QdAlgebra *node = qd_rewrite_apart(self, written);
    QdRelation *left, *right;
    QdVariableSet known;

    if (node != written)
        return qd_generator_generate(self, node, bound);
    left = qd_generator_generate(self, node->children[0], bound);
    right = begin_right_by_row(self, left, node->children[1], bound);
    if (right != NULL)
        return left_join_chain(self, left, right, node);
    if (qd_algebra_begins_from_left(node->children[1]) && left->n_tables > 0 && count_apart(node->children[0]) < APART_MAX &&
        !is_small(self, node))
        return left_join_apart(self, left, node, bound);
    known = add_bound(self, bound, left);
    right = qd_generator_generate(self, node->children[1], &known);
    if (left->n_tables >= QD_TABLES_MAX || qd_relation_has_long_columns(left))
        left = qd_relation_seal(self, left, QD_SEAL_STREAM);
    if (!can_chain(right))
        right = qd_relation_seal(self, right, QD_SEAL_PLAIN);
    return left_join_chain(self, qd_relation_settle(self, left, right, QD_SEAL_STREAM), right, node);
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
qd_generate_minus(QdGenerator *self, const QdAlgebra *written, const QdVariableSet *bound)
{
    const QdAlgebra *node = qd_rewrite_minus(self, written);
    QdRelation *left = qd_generator_generate(self, node->children[0], bound);
    QdVariableSet known = add_bound(self, bound, left);
    QdRelation *right = qd_generator_generate(self, node->children[1], &known);
    guint only = find_only_shared(left, right);
    const QdRelation *compared;
    const char *shared;
    QdRelation *probe;

    if (qd_relation_get_depth(right) > QD_DEPTH_FLAT)
        right = qd_relation_seal(self, right, QD_SEAL_PLAIN);
    left = qd_relation_copy(self, qd_relation_settle(self, left, right, QD_SEAL_STREAM));
    compared = only != G_MAXUINT ? compare_by(self, left, only) : left;
    right = only != G_MAXUINT ? compare_by(self, right, only) : right;
    probe = qd_relation_copy(self, qd_relation_keep_apart(self, compared, right));
    shared = qd_relation_match(self, compared, qd_relation_copy(self, probe), probe);
    if (shared == NULL)
        return left; /* nothing in common: nothing is taken away */
    if (strcmp(shared, "1") != 0)
        qd_relation_add_where(self, probe, qd_arena_printf(self->arena, "(%s)", shared));
    qd_relation_add_where(self, left, qd_arena_printf(self->arena, "NOT EXISTS(%s)", qd_relation_write_probe(self, probe)));
    return left;
}
