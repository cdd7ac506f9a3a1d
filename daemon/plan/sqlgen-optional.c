/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Left joins.
 */
#include "daemon/plan/sqlgen-private.h"

#define CHAIN_TABLES_MAX 16  /* of an OPTIONAL */
#define CHAIN_BYTES_MAX 4000 /* of its conditions, which OPTIONALs around it say again */
#define SMALL_ROWS 100       /* of the right of an OPTIONAL that is evaluated by itself */
#define LARGE_ROWS 20000     /* of its left, which is not kept then */
#define MANY_ADDED 30        /* solutions of the right of an OPTIONAL for each of its left: neither is kept then */
#define APART_MAX 3          /* OPTIONALs in a row of which SQLite compiles the one before three times */

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
    return i <= 0 || right->tables[i].on.text == NULL;
}

static Chain
make_chain(QdGenerator *self, const QdRelation *right, const QdRelation *seen)
{
    Chain chain = { right, seen, qd_arena_array0(self->arena, int, seen->n_conditions), 1 };

    for (guint i = 0; i < seen->n_conditions; i++) {
        chain.last[i] = qd_relation_find_last_table(right, &seen->conditions[i]);
        chain.n_needed = MAX(chain.n_needed, (guint) (chain.last[i] + 1));
    }
    for (guint i = 1; i < right->n_tables; i++) {
        if (is_inner(right, (int) i))
            chain.n_needed = MAX(chain.n_needed, i + 1);
    }
    return chain;
}

/* That the tables after the first can complete its row. */
static QdSql
write_completion(QdGenerator *self, const Chain *chain)
{
    QdRelation *rest = qd_relation_new(self);

    for (guint i = 1; i < chain->n_needed; i++)
        qd_relation_add_table(self, rest, &chain->right->tables[i]);
    for (guint i = 0; i < chain->seen->n_conditions; i++)
        qd_relation_add_where(self, rest, chain->last[i] > 0 ? chain->seen->conditions[i] : QD_SQL_NONE);
    for (guint i = 0; i < chain->right->n_prunings; i++) {
        if (qd_relation_find_last_table(chain->right, &chain->right->prunings[i]) < (int) chain->n_needed)
            qd_relation_add_where(self, rest, chain->right->prunings[i]);
    }
    return qd_sql_exists(self->arena, QD_SQL_NONE, qd_relation_write_list(self, rest, "SELECT", QD_SQL_NONE, QD_SQL_NONE));
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
static QdSql
write_on(QdGenerator *self, const Chain *chain, guint i)
{
    g_auto(QdSqlBuilder) on = qd_sql_builder_new(self->arena);
    const QdTable *tables = chain->right->tables;

    if (i > 0)
        qd_sql_append(&on, qd_sql_is_bound(self->arena, qd_table_write_witness(self, &tables[find_before(chain->right, i)])));
    if (tables[i].on.text != NULL)
        qd_sql_append_after(&on, " AND ", tables[i].on);
    for (guint j = 0; j < chain->seen->n_conditions; j++) {
        if (MAX(chain->last[j], 0) == (int) i && is_inner(chain->right, (int) i))
            qd_sql_append_after(&on, " AND ", chain->seen->conditions[j]);
    }
    if (i == 0 && chain->n_needed > 1)
        qd_sql_append_after(&on, " AND ", write_completion(self, chain));
    return on.text->len > 0 ? qd_sql_finish(&on) : qd_sql_text("1");
}

/*
 * Rows that begin and are not completed, where others with the same first row are. None: there are none, since the first table
 * is the only one, or looks at the only other.
 */
static QdSql
write_pruning(QdGenerator *self, const Chain *chain)
{
    g_auto(QdSqlBuilder) complete = qd_sql_builder_new(self->arena);
    guint last_inner = 0;

    for (guint i = 1; i < chain->n_needed; i++)
        last_inner = is_inner(chain->right, (int) i) ? i : last_inner;
    if (last_inner > 1)
        qd_sql_append(&complete, qd_sql_is_bound(self->arena, qd_table_write_witness(self, &chain->right->tables[last_inner])));
    for (guint i = 0; i < chain->seen->n_conditions; i++) {
        if (!is_inner(chain->right, chain->last[i]))
            qd_sql_append_after(&complete, " AND ", chain->seen->conditions[i]);
    }
    if (complete.text->len == 0)
        return QD_SQL_NONE;
    return qd_sql_make(self->arena, "(@ IS NULL OR @)", qd_table_write_witness(self, &chain->right->tables[0]),
                       qd_sql_finish(&complete));
}

/* What the right adds: NULL where it is not there, regardless of its expression. */
static void
add_optional_columns(QdGenerator *self, QdRelation *joined, const QdRelation *right)
{
    for (guint i = 0; i < right->n_columns; i++) {
        QdColumn b = right->columns[i];
        QdColumn *a = qd_relation_find(joined, b.variable);

        if (!b.plain)
            b.sql = qd_sql_make(self->arena, "CASE WHEN @ IS NOT NULL THEN @ END", qd_table_write_witness(self, &right->tables[0]),
                                b.sql);
        b.certain = FALSE;
        if (a == NULL) {
            (void) qd_relation_add_column(self, joined, &b);
        } else if (!a->certain) {
            qd_column_coalesce(self, a, &b);
        }
    }
}

QdRelation *
qd_left_join_see(QdGenerator *self, const QdRelation *left, const QdRelation *right, const QdAlgebra *node)
{
    QdRelation *seen = qd_relation_merge(self, left, right);

    seen->n_conditions = 0;
    seen->conditions = NULL;
    for (guint i = 0; i < right->n_conditions; i++)
        qd_relation_add_where(self, seen, right->conditions[i]);
    (void) qd_relation_match(self, left, right, seen);
    qd_relation_filter(self, seen, node->expressions, node->n_expressions);
    return seen;
}

static QdRelation *
left_join_chain(QdGenerator *self, const QdRelation *left, const QdRelation *right, const QdAlgebra *node)
{
    QdRelation *joined = qd_relation_copy(self, left);
    const Chain chain = make_chain(self, right, qd_left_join_see(self, left, right, node));

    if (joined->n_tables == 0) {
        const QdTable row = { .from = qd_relation_write_from(self, joined) };

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
    guint n_bytes = 0;
    gboolean plain = TRUE;

    if (right->n_tables == 0 || right->n_tables > CHAIN_TABLES_MAX || right->tables[0].on.text != NULL ||
        qd_relation_get_depth(right) > QD_DEPTH_FLAT)
        return FALSE;
    for (guint i = 0; i < right->n_columns; i++)
        plain = plain && right->columns[i].plain;
    for (guint i = 0; i < right->n_tables; i++) {
        if (!right->tables[i].is_base && !right->tables[i].is_search && (right->n_tables > 1 || !plain))
            return FALSE;
        n_bytes += right->tables[i].on.n_bytes;
    }
    for (guint i = 0; i < right->n_conditions; i++)
        n_bytes += right->conditions[i].n_bytes;
    for (guint i = 0; i < right->n_prunings; i++)
        n_bytes += right->prunings[i].n_bytes;
    return n_bytes <= CHAIN_BYTES_MAX;
}

gboolean
qd_algebra_begins_from_left(const QdAlgebra *node)
{
    switch (node->kind) {
    case QD_ALGEBRA_UNION:
        return TRUE;
    case QD_ALGEBRA_PATH:
        return qd_path_is_modified(node->triple->path);
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
 * pattern does not bind. G_MAXUINT: it is not taken. */
static QdRelation *
make_seeds(QdGenerator *self, const QdRelation *left, const QdVariableSet *taken, guint *keys)
{
    QdRelation *seeds = qd_relation_new(self);

    qd_relation_take_rows(self, seeds, left);
    for (guint i = 0; i < left->n_columns; i++) {
        const QdColumn *column = &left->columns[i];
        QdColumn *key;

        keys[i] = G_MAXUINT;
        if (!qd_variable_set_has(taken, column->variable))
            continue;
        (void) qd_relation_add_column(self, seeds, column);
        keys[i] = column->variable;
        if (column->certain)
            continue;
        keys[i] = qd_ast_add_variable(self->ast, NULL);
        key = qd_relation_add_column(self, seeds, column);
        key->variable = keys[i];
    }
    return qd_relation_seal_text(self, seeds, qd_relation_write(self, seeds, "SELECT DISTINCT", QD_SQL_NONE), QD_SEAL_MATERIALIZED);
}

/* @left with the rows of @complete that have its @keys, or with none. */
static QdRelation *
left_join_by_keys(QdGenerator *self, const QdRelation *left, const QdRelation *complete, const guint *keys)
{
    QdRelation *joined = qd_relation_copy(self, left);
    QdTable table = complete->tables[0];
    g_auto(QdSqlBuilder) on = qd_sql_builder_new(self->arena);

    for (guint i = 0; i < left->n_columns; i++) {
        if (keys[i] != G_MAXUINT)
            qd_sql_append_after(&on, " AND ",
                                qd_sql_make(self->arena, left->columns[i].certain ? "@=+@" : "@ IS +@",
                                            qd_relation_find(complete, keys[i])->sql, left->columns[i].sql));
    }
    table.on = on.text->len > 0 ? qd_sql_finish(&on) : qd_sql_text("1");
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
            (void) qd_relation_add_column(self, joined, &column);
        else if (!known->certain)
            qd_column_coalesce(self, known, &column);
    }
    return joined;
}

/* @complete, which has all that the conditions of @node, a left join, name, where they are true: evaluated once. */
static QdRelation *
test_conditions(QdGenerator *self, const QdRelation *complete, const QdAlgebra *node)
{
    QdRelation *tested = qd_relation_copy(self, complete);

    qd_relation_filter(self, tested, node->expressions, node->n_expressions);
    return qd_relation_seal(self, tested, QD_SEAL_MATERIALIZED);
}

/* @seeds with the right of @node, a left join, and its conditions, evaluated once. */
static QdRelation *
complete_right(QdGenerator *self, QdRelation *seeds, const QdAlgebra *node, const QdVariableSet *bound)
{
    const QdAlgebra *right = node->children[1];
    gboolean is_join = right->kind == QD_ALGEBRA_JOIN;

    return test_conditions(
        self,
        qd_generate_children(self, seeds, is_join ? right->children : node->children + 1, is_join ? right->n_children : 1, bound),
        node);
}

static double
count_before(QdGenerator *self, const QdBefore *before)
{
    return before->n_rows >= 0 ? before->n_rows : qd_estimate_rows(self, before->parts[0]);
}

/*
 * The join of a large left, which is not kept, with a right that begins from values that a part of the left gives. NULL: the left
 * is not large, no part gives so few, or the right has more of the left than it binds itself.
 */
static QdRelation *
left_join_large(QdGenerator *self, const QdRelation *left, const QdAlgebra *node, const QdVariableSet *taken,
                const QdBefore *before, const QdVariableSet *bound)
{
    QdAlgebra *bare = qd_algebra_put_on(self, node, node->children[0]);
    QdVariableSet sure = { 0 };
    QdRelation *seeds;

    if (left->n_tables >= QD_TABLES_MAX || qd_relation_has_long_columns(left))
        return NULL;
    QD_VARIABLE_SET_FOREACH(taken, variable)
    {
        if (self->graph.kind == QD_NODE_VARIABLE && variable == self->graph.variable)
            continue; /* that of the seeds */
        if (!qd_algebra_binds(node->children[1], variable))
            return NULL;
        if (qd_relation_find(left, variable)->certain)
            qd_variable_set_add(&sure, self->arena, variable);
    }
    if (qd_variable_set_is_empty(&sure) || count_before(self, before) < LARGE_ROWS)
        return NULL;
    seeds = qd_generate_seeds_of(self, before->parts, before->n_parts, &sure, node->children[1], QD_SEEDS_MAX);
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
left_join_apart(QdGenerator *self, const QdRelation *left, const QdAlgebra *node, const QdBefore *before,
                const QdVariableSet *bound)
{
    QdVariableSet taken = list_taken(self, left, node);
    guint *keys = qd_arena_array0(self->arena, guint, left->n_columns + 1);
    QdRelation *complete = left_join_large(self, left, node, &taken, before, bound);

    if (complete != NULL)
        return complete;
    left = keep_left(self, left, &taken);
    complete = complete_right(self, make_seeds(self, left, &taken, keys), node, bound);
    if (self->error != NULL)
        return qd_relation_new(self);
    return left_join_by_keys(self, left, complete, keys);
}

/* The same with a @right that begins from nothing: it is joined with the values by what is bound of them. */
static QdRelation *
left_join_open(QdGenerator *self, const QdRelation *left, const QdRelation *right, const QdAlgebra *node)
{
    QdVariableSet taken = list_taken(self, left, node);
    guint *keys = qd_arena_array0(self->arena, guint, left->n_columns + 1);
    QdRelation *seeds;

    self->splits.n_open_left_joins++;
    left = keep_left(self, left, &taken);
    seeds = make_seeds(self, left, &taken, keys);
    return left_join_by_keys(self, left, test_conditions(self, qd_relation_join_to(self, seeds, right), node), keys);
}

static gboolean
may_search(const QdGenerator *self, const QdRelation *left, const QdAlgebra *right)
{
    return self->outer == NULL && self->graph.kind != QD_NODE_VARIABLE && left->n_tables > 0 &&
           !qd_relation_has_long_columns(left) && qd_algebra_begins_from_left(right) && qd_algebra_consists_of_links(right);
}

/* Whether @right may be searched from @left, and consists of triples and paths. */
static gboolean
may_begin_by_row(const QdGenerator *self, const QdRelation *left, const QdAlgebra *right)
{
    if (!may_search(self, left, right))
        return FALSE;
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
    return qd_generate_right_by_row(self, left, right, bound, suits_left_join);
}

/* Whether the right of @node, with a repeated path, is better evaluated by itself than from the left, which is kept then. */
static gboolean
is_small(QdGenerator *self, const QdAlgebra *node, const QdBefore *before)
{
    const QdAlgebra *right = node->children[1];

    return qd_algebra_consists_of_links(right) && count_before(self, before) >= LARGE_ROWS &&
           qd_estimate_rows(self, right) <= SMALL_ROWS;
}

QdRelation *
qd_generate_left_join_of(QdGenerator *self, QdRelation *left, const QdAlgebra *node, const QdBefore *before,
                         const QdVariableSet *bound)
{
    QdRelation *right = begin_right_by_row(self, left, node->children[1], bound);
    const QdRelation *settled;
    guint n_apart = 0;
    QdVariableSet known;

    if (right != NULL)
        return left_join_chain(self, left, right, node);
    if (before->n_added >= MANY_ADDED && node->n_expressions == 0 && may_search(self, left, node->children[1])) {
        right = qd_generate_left_join_by_cases(self, left, node->children[1], before, bound);
        if (right != NULL)
            return right;
    }
    for (guint i = 0; i < before->n_parts; i++)
        n_apart += count_apart(before->parts[i]);
    if (qd_algebra_begins_from_left(node->children[1]) && left->n_tables > 0 && n_apart < APART_MAX &&
        !is_small(self, node, before))
        return left_join_apart(self, left, node, before, bound);
    if (left->n_tables >= QD_TABLES_MAX || qd_relation_has_long_columns(left))
        left = qd_relation_seal(self, left, QD_SEAL_STREAM);
    right = qd_generate_keyed_right(self, left, node);
    if (right != NULL)
        return left_join_chain(self, left, right, node);
    known = qd_relation_add_bound(self, bound, left);
    right = qd_generator_generate(self, node->children[1], &known);
    if (n_apart + self->splits.n_open_left_joins < APART_MAX && self->outer == NULL && qd_relation_is_open(self, left, right))
        return left_join_open(self, left, right, node);
    if (!can_chain(right))
        right = qd_relation_seal(self, right, QD_SEAL_PLAIN);
    settled = qd_relation_settle(self, left, right, QD_SEAL_STREAM);
    return left_join_chain(self, settled, qd_relation_settle_right(self, settled, right, QD_SEAL_MATERIALIZED), node);
}

/* The right, or a part of it, comes from an endpoint, which is given what the left binds. */
static QdRelation *
left_join_service(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    const QdRelation *left = qd_service_keep(self, qd_generator_generate(self, node->children[0], bound));
    const QdRelation *given = self->service.given;
    QdVariableSet known = qd_relation_add_bound(self, bound, left);
    QdRelation *right;

    self->service.given = left;
    right = qd_generator_generate(self, node->children[1], &known);
    self->service.given = given;
    right = qd_relation_seal(self, right, QD_SEAL_MATERIALIZED);
    return left_join_chain(self, qd_relation_settle(self, left, right, QD_SEAL_STREAM), right, node);
}

QdRelation *
qd_generate_left_join(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    const QdBefore before = { (const QdAlgebra *const *) node->children, 1, -1, -1, -1 };
    QdRelation *group = qd_generate_by_parts(self, node, bound);

    if (group != NULL)
        return group;
    if (qd_algebra_has_service(self, node->children[1]))
        return left_join_service(self, node, bound);
    return qd_generate_left_join_of(self, qd_generator_generate(self, node->children[0], bound), node, &before, bound);
}
