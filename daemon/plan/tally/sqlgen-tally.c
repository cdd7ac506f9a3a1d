/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Groups that need of a pattern only how often each value of one variable, or each combination of a few, occurs in it.
 *
 * A tally (daemon/tally/tally.h) makes no rows for them. A group of another form, or of a small pattern, is generated as before.
 */
#include "daemon/plan/tally/sqlgen-tally.h"

#include <string.h>

/* So many times as many pairs may be in the columns as a join would look at quads. A quad takes 250 ns and more, a stored pair 20
 * once, then 5 each time. From a few values on only what they lead to is looked at. */
#define PATIENCE 24
#define PATIENCE_OF_FEW 128
#define STEPS_OF_FEW \
    16 /* a step of a walk that begins with few values takes as long as so many pairs, which are gone through in order */

/* --- groups ----------------------------------------------------------------------------------------------------------- */

#define SMALL_TABLE_ROWS 1000
#define NUMBERS_MAX 8 /* COUNTs that have a program each */

/* From the variable that has fewer values to the other one. */
static gboolean
write_pairs(QdTallyDraft *self, QdTallyNeed *need, GPtrArray *conditions)
{
    gboolean is_turned = qd_tally_estimate_values(self->generator, need->pattern, need->roots[1]) <
                         qd_tally_estimate_values(self->generator, need->pattern, need->roots[0]);
    const guint roots[] = { need->roots[is_turned ? 1 : 0], need->roots[is_turned ? 0 : 1] };

    self->begins_with_few = qd_tally_estimate_values(self->generator, need->pattern, roots[0]) < G_MAXDOUBLE;
    need->columns[is_turned ? 1 : 0] = "value";
    need->columns[is_turned ? 0 : 1] = "other";
    return qd_tally_write_pairs(self, need->pattern, roots, conditions);
}

/* A program whose values are in the first columns. */
static gboolean
write_short(QdTallyDraft *self, QdTallyNeed *need, GPtrArray *conditions)
{
    need->columns[0] = "value";
    if (need->n_roots > 2 || !qd_tally_need_is_bound(need))
        return FALSE;
    return need->n_roots == 1 ? qd_tally_write(self, need->pattern, need->roots[0], conditions)
                              : write_pairs(self, need, conditions);
}

/* @is_number: none of the variables is asked for. */
static gboolean
write_walk(QdTallyDraft *self, QdTallyNeed *need, gboolean is_number, GPtrArray *conditions)
{
    need->is_walk = TRUE;
    need->is_number = is_number;
    return qd_tally_write_walk(self, need->pattern, need->roots, is_number ? 0 : need->n_roots, conditions, need->columns,
                               need->open);
}

static gboolean
write_all_predicates(QdTallyDraft *self, QdTallyNeed *need)
{
    const gsize begin = self->program->len;
    guint root;

    if (need->n_roots > 1)
        return FALSE;
    if (qd_tally_write_predicates(self, need->pattern, &root) && (need->n_roots == 0 || need->roots[0] == root)) {
        need->roots[0] = root;
        need->n_roots = 1;
        need->columns[0] = "value";
        return TRUE;
    }
    g_string_truncate(self->program, begin);
    return FALSE;
}

gboolean
qd_tally_is_worth_while(const QdTallyDraft *self, double effort)
{
    const QdLimits *limits = self->generator->limits;
    double least = (double) qd_limits_get(limits, QD_LIMIT_TALLY_ROWS);

    if (self->n_bytes > (double) qd_limits_get(limits, QD_LIMIT_TALLY_CACHE_BYTES) / 2)
        return FALSE;
    if (self->begins_with_few)
        return least == 0 || (effort >= least && self->n_read <= PATIENCE_OF_FEW * effort);
    return least == 0 || (effort >= least && self->n_pairs <= PATIENCE * effort);
}

/* The first letter of the program. */
static char
get_result(const QdTallyNeed *need, gboolean is_number)
{
    if (need->is_walk)
        return is_number ? '%' : '@';
    if (need->n_roots > 1)
        return ':';
    return !is_number ? '=' : need->only_solutions ? '#' : '$';
}

/* A walk, if that is worth while because it begins with few values. */
static gboolean
write_walk_of_few(QdTallyDraft *self, QdTallyNeed *need, GPtrArray *conditions, double effort)
{
    return write_walk(self, need, FALSE, conditions) && self->begins_with_few && qd_tally_is_worth_while(self, effort);
}

/* Where a program begins, to be written in another way. */
typedef struct Mark {
    QdTallyDraft draft;
    QdTallyNeed need;
    gsize n_bytes;
} Mark;

static Mark
get_mark(const QdTallyDraft *self, const QdTallyNeed *need)
{
    return (Mark){ *self, *need, self->program->len };
}

static void
go_back(QdTallyDraft *self, QdTallyNeed *need, GPtrArray *conditions, const Mark *mark)
{
    *self = mark->draft;
    *need = mark->need;
    g_string_truncate(self->program, mark->n_bytes);
    g_ptr_array_set_size(conditions, 0);
}

/* The program, or FALSE: nothing is written. @effort: of a join of all arms */
static gboolean
write_one(QdTallyDraft *self, QdTallyNeed *need, gboolean is_number, GPtrArray *conditions, double effort)
{
    const Mark mark = get_mark(self, need);
    gboolean is_short;

    self->begins_with_few = FALSE;
    is_short = write_short(self, need, conditions);
    if (is_short && (is_number || self->begins_with_few ||
                     self->n_pairs - mark.draft.n_pairs <= STEPS_OF_FEW * qd_tally_estimate_effort(self->generator, need->pattern)))
        return TRUE;
    go_back(self, need, conditions, &mark);
    if (is_short ? write_walk_of_few(self, need, conditions, effort) : write_walk(self, need, is_number, conditions))
        return TRUE;
    go_back(self, need, conditions, &mark);
    return is_short && write_short(self, need, conditions);
}

/* Whether @a and @b have the same conditions. */
static gboolean
are_same(const GPtrArray *a, const GPtrArray *b)
{
    gboolean same = a->len == b->len;

    for (guint i = 0; i < a->len && same; i++)
        same = a->pdata[i] == b->pdata[i];
    return same;
}

/* A program for each arm of a UNION that binds what is asked for. */
static gboolean
write_arms(QdTallyDraft *self, QdTallyNeed *need, GPtrArray *conditions)
{
    guint n_arms = 0;
    QdAlgebra **arms = qd_tally_split(self->generator, need->pattern, need->roots, need->n_roots, &n_arms);
    gboolean begin_with_few = TRUE;

    need->arms_effort = 0;
    for (guint i = 0; i < n_arms; i++)
        need->arms_effort += qd_tally_estimate_effort(self->generator, arms[i]);
    for (guint i = 0; i < n_arms; i++) {
        g_autoptr(GPtrArray) own = g_ptr_array_new();
        const gsize begin = self->program->len;
        QdTallyNeed alone = *need;

        alone.pattern = arms[i];
        if (!qd_tally_need_is_bound(&alone) || !write_one(self, &alone, FALSE, own, need->arms_effort) ||
            (i > 0 && !are_same(own, conditions)))
            return FALSE;
        g_string_insert_c(self->program, (gssize) begin, get_result(&alone, FALSE));
        need->arms[i].program = qd_arena_strndup(self->generator->arena, self->program->str + begin, self->program->len - begin);
        memcpy(need->arms[i].columns, alone.columns, sizeof alone.columns);
        g_string_append_c(self->program, '|'); /* in Explain */
        begin_with_few = begin_with_few && self->begins_with_few;
        for (guint k = 0; i == 0 && k < own->len; k++)
            g_ptr_array_add(conditions, own->pdata[k]);
    }
    self->begins_with_few = begin_with_few;
    need->n_arms = n_arms;
    return arms != NULL;
}

static gboolean
write_pattern(QdTallyDraft *self, QdTallyNeed *need, GPtrArray *conditions)
{
    gboolean is_chosen;
    guint n_roots;
    Mark mark;

    if (write_all_predicates(self, need))
        return TRUE;
    if (!qd_tally_need_add_conditions(self->generator, need->pattern, need, &is_chosen))
        return FALSE;
    n_roots = need->n_roots;
    mark = get_mark(self, need);
    if (!write_one(self, need, is_chosen && need->n_tables == 0, conditions,
                   qd_tally_estimate_effort(self->generator, need->pattern))) {
        go_back(self, need, conditions, &mark);
        if (is_chosen || !write_arms(self, need, conditions))
            return FALSE;
    }
    for (guint i = 0; i < conditions->len; i++) {
        if (!qd_tally_need_add(self->generator, conditions->pdata[i], TRUE, need) || need->n_roots > n_roots)
            return FALSE;
    }
    return TRUE;
}

void
qd_tally_add_note(const QdTallyDraft *self, double effort)
{
    QdGenerator *generator = self->generator;

    generator->plan.notes = qd_arena_concat(
        generator->arena, generator->plan.notes != NULL ? generator->plan.notes : "", "tally: ", self->program->str,
        qd_arena_printf(generator->arena, ", about %" G_GUINT64_FORMAT " pairs in columns, by a join %" G_GUINT64_FORMAT " quads\n",
                        (guint64) self->n_pairs, (guint64) MIN(effort, 1e18)),
        NULL);
}

/* How many quads a join would look at. One with tables may begin from a small one. */
static double
estimate_effort(QdGenerator *self, const QdTallyNeed *need)
{
    double effort = need->n_arms > 0 ? need->arms_effort : qd_tally_estimate_effort(self, need->pattern);

    for (guint i = 0; i < need->n_tables; i++) {
        if (qd_estimate_rows(self, need->tables[i]) < SMALL_TABLE_ROWS)
            return MIN(effort, qd_estimate_cost(self, need->join));
    }
    return effort;
}

/* --- SQL -------------------------------------------------------------------------------------------------------------- */

/* A row of @program for each value that is asked for, or combination of them. @columns: that these are in. @ret_n: how many
 * solutions it is */
static QdRelation *
make_rows_of(const QdTallyDraft *self, const QdTallyNeed *need, const char *program, const char *const *columns, QdSql *ret_n)
{
    QdGenerator *generator = self->generator;
    QdRelation *relation = qd_relation_new(generator);
    QdTable table = qd_generator_make_table(generator, 't');
    QdColumn *column;

    table.from = qd_sql_make(generator->arena, "queryd_tally(@,@) AS @",
                             qd_sql_text(qd_arena_printf(generator->arena, "'%s'", program)), qd_tally_write_ids(self), table.from);
    table.sure = "n";
    qd_relation_add_table(generator, relation, &table);
    for (guint i = 0; i < need->n_roots && !need->is_number; i++) {
        column = qd_relation_add_stored(generator, relation, need->roots[i],
                                        qd_sql_column(generator->arena, &table.name, columns[i], QD_SQL_COLUMN));
        column->certain = !need->open[i];
    }
    *ret_n = qd_sql_column(generator->arena, &table.name, "n", QD_SQL_COLUMN);
    return relation;
}

/* The rows of all arms. */
static QdRelation *
make_rows_of_arms(const QdTallyDraft *self, const QdTallyNeed *need, QdSql *ret_n)
{
    QdGenerator *generator = self->generator;
    g_auto(QdSqlBuilder) text = qd_sql_builder_new(generator->arena);
    guint number = qd_ast_add_variable(generator->ast, NULL);
    QdRelation *rows = NULL;

    for (guint i = 0; i < need->n_arms; i++) {
        QdSql n;

        rows = make_rows_of(self, need, need->arms[i].program, need->arms[i].columns, &n);
        (void) qd_relation_add_stored(generator, rows, number, n);
        qd_sql_append_after(&text, " UNION ALL ", qd_relation_write(generator, rows, "SELECT", QD_SQL_NONE));
    }
    text.depth = MAX(text.depth, QD_DEPTH_GROUP);
    rows = qd_relation_seal_text(generator, rows, qd_sql_finish(&text), QD_SEAL_PLAIN);
    *ret_n = qd_relation_find(rows, number)->sql;
    return qd_relation_drop_column(generator, rows, number);
}

static QdRelation *
make_rows(const QdTallyDraft *self, const QdTallyNeed *need, char how, QdSql *ret_n)
{
    if (need->n_arms > 0)
        return make_rows_of_arms(self, need, ret_n);
    return make_rows_of(self, need, qd_arena_printf(self->generator->arena, "%c%s", how, self->program->str), need->columns, ret_n);
}

/* Of values that each stand for @n solutions; where the @need is a number alone, @n is that. */
static QdSql
write_aggregate(QdGenerator *self, const QdTallyNeed *need, const QdExpression *aggregate, const QdRelation *rows, QdSql n)
{
    static const char *const names[] = { [QD_AGGREGATE_SUM] = "queryd_sum",
                                         [QD_AGGREGATE_MIN] = "queryd_min",
                                         [QD_AGGREGATE_MAX] = "queryd_max",
                                         [QD_AGGREGATE_AVG] = "queryd_avg" };
    QdColumn value;

    if (qd_tally_need_counts_solutions(need, aggregate))
        return qd_sql_make(self->arena, "queryd_integer(ifnull(sum(@),0))", n);
    value = qd_expression_make_value(self, aggregate->children[0], rows);
    if (aggregate->distinct) {
        QdSql interned = qd_column_intern(self, &value);

        if (aggregate->aggregate == QD_AGGREGATE_COUNT)
            return qd_sql_make(self->arena, "queryd_integer(count(DISTINCT @))", interned);
        return qd_sql_make(self->arena, "@(DISTINCT @)", qd_sql_text(names[aggregate->aggregate]), interned);
    }
    if (aggregate->aggregate == QD_AGGREGATE_COUNT)
        return qd_sql_make(self->arena, "queryd_integer(ifnull(sum(iif(@ IS NULL,0,@)),0))", value.sql, n);
    if (aggregate->aggregate == QD_AGGREGATE_MIN || aggregate->aggregate == QD_AGGREGATE_MAX)
        return qd_sql_make(self->arena, "@(@)", qd_sql_text(names[aggregate->aggregate]), value.sql);
    return qd_sql_make(self->arena, "@(@,@)", qd_sql_text(names[aggregate->aggregate]),
                       qd_expression_make_summand(self, aggregate->children[0], rows), n);
}

/* @rows with the BINDs that lie upon the pattern, those of @node last. */
static void
add_computed(QdGenerator *self, const QdAlgebra *node, const QdAlgebra *pattern, QdRelation *rows)
{
    if (node == pattern)
        return;
    add_computed(self, node->children[0], pattern, rows);
    for (guint i = 0; i < node->n_bindings; i++) {
        QdColumn column = qd_expression_make_value(self, node->bindings[i].expression, rows);

        column.variable = node->bindings[i].variable;
        column.plain = FALSE;
        (void) qd_relation_add_column(self, rows, &column);
    }
}

/* Whether each row is a group. */
static gboolean
has_rows_for_groups(const QdAlgebra *group, const QdTallyNeed *need)
{
    if (group->children[0] != need->pattern || group->n_variables != need->n_roots || !need->only_solutions || need->is_walk ||
        need->n_arms > 0)
        return FALSE;
    for (guint i = 0; i < group->n_variables; i++) {
        if (!qd_tally_has_variable(need->roots, need->n_roots, group->variables[i]))
            return FALSE;
        for (guint k = 0; k < i; k++) {
            if (group->variables[k] == group->variables[i])
                return FALSE;
        }
    }
    return TRUE;
}

/* Keys of @shape. Returns: GROUP BY … */
static QdSql
add_keys(QdGenerator *self, const QdAlgebra *group, const QdRelation *rows, QdRelation *shape)
{
    g_auto(QdSqlBuilder) keys = qd_sql_builder_new(self->arena);

    for (guint i = 0; i < group->n_variables; i++) {
        const QdColumn *from = qd_relation_find(rows, group->variables[i]);
        QdColumn *key;

        if (from == NULL || qd_relation_find(shape, group->variables[i]) != NULL)
            continue;
        key = qd_relation_add(self, shape, group->variables[i], qd_column_intern(self, from));
        key->certain = from->certain;
        key->interned = TRUE;
        qd_sql_append_text(&keys, shape->n_columns > 1 ? "," : "GROUP BY ");
        qd_sql_append_text(&keys, qd_arena_printf(self->arena, "%u", shape->n_columns));
    }
    if (group->n_variables > 0 && shape->n_columns == 0)
        qd_sql_append_text(&keys, "GROUP BY NULL"); /* of nothing that is bound: one group, if there are rows */
    return qd_sql_finish(&keys);
}

/* Groups of @rows by computed keys as these come: to find the ids of their terms for each row takes longer. @n: how many solutions
 * each row is, then each group. */
static QdRelation *
group_computed(QdGenerator *self, const QdAlgebra *group, const QdRelation *rows, QdSql *n)
{
    g_auto(QdSqlBuilder) keys = qd_sql_builder_new(self->arena);
    QdRelation *shape = qd_relation_new(self);
    guint number = qd_ast_add_variable(self->ast, NULL);

    for (guint i = 0; i < group->n_variables; i++) {
        const QdColumn *from = qd_relation_find(rows, group->variables[i]);

        if (from == NULL || qd_relation_find(shape, group->variables[i]) != NULL)
            continue;
        (void) qd_relation_add_column(self, shape, from);
        qd_sql_append_text(&keys, qd_arena_printf(self->arena, "%s%u", shape->n_columns > 1 ? "," : "GROUP BY ", shape->n_columns));
    }
    (void) qd_relation_add_stored(self, shape, number, qd_sql_make(self->arena, "sum(@)", *n));
    qd_relation_take_rows(self, shape, rows);
    shape = qd_relation_seal_text(self, shape, qd_relation_write(self, shape, "SELECT", qd_sql_finish(&keys)), QD_SEAL_TABLE);
    *n = qd_relation_find(shape, number)->sql;
    return shape;
}

/* @rows with the tables. @n: how many solutions each row is */
static QdRelation *
join_tables(QdGenerator *self, const QdTallyNeed *need, QdRelation *rows, QdSql *n)
{
    guint number = qd_ast_add_variable(self->ast, NULL);

    (void) qd_relation_add_stored(self, rows, number, *n);
    rows = qd_relation_copy(self, qd_generate_children(self, rows, need->tables, need->n_tables, NULL));
    *n = qd_relation_find(rows, number)->sql;
    qd_relation_filter(self, rows, need->after, need->n_after);
    return rows;
}

/* Beside other solutions the program must not run again for each of them. */
static QdSeal
get_seal(const QdGenerator *self, gboolean has_key)
{
    return self->is_beside ? QD_SEAL_MATERIALIZED : has_key ? QD_SEAL_TABLE : QD_SEAL_PLAIN;
}

/* Whether it is one number, without conditions. */
static gboolean
is_number(const QdAlgebra *group, const QdTallyNeed *need, const GPtrArray *conditions)
{
    if (group->n_variables > 0 || conditions->len > 0 || need->n_tables > 0 || need->n_arms > 0)
        return FALSE;
    return need->is_walk ? need->is_number : need->n_roots == 1 && (need->only_solutions || need->only_values);
}

static QdRelation *
make_group(const QdTallyDraft *self, const QdAlgebra *group, const QdTallyNeed *need, const GPtrArray *conditions)
{
    QdGenerator *generator = self->generator;
    gboolean has_key = group->n_variables > 0;
    gboolean is_plain = is_number(group, need, conditions) || has_rows_for_groups(group, need);
    QdSql n;
    QdRelation *rows = make_rows(self, need, get_result(need, is_number(group, need, conditions)), &n);
    QdRelation *shape = qd_relation_new(generator);
    QdSql keys = QD_SQL_NONE;

    qd_relation_filter(generator, rows, (QdExpression *const *) conditions->pdata, conditions->len);
    if (need->n_tables > 0)
        rows = join_tables(generator, need, rows, &n);
    add_computed(generator, group->children[0], need->whole, rows);
    if (has_key && need->only_solutions && group->children[0] != need->whole)
        rows = group_computed(generator, group, rows, &n);
    if (!is_plain)
        keys = add_keys(generator, group, rows, shape);
    for (guint i = 0; is_plain && i < group->n_variables; i++)
        (void) qd_relation_add_column(generator, shape, qd_relation_find(rows, group->variables[i]));
    for (guint i = 0; i < group->n_bindings; i++) {
        const QdExpression *aggregate = group->bindings[i].expression;
        QdSql value = is_plain ? qd_sql_make(generator->arena, "queryd_integer(@)", n)
                               : write_aggregate(generator, need, aggregate, rows, n);
        QdColumn *column = qd_relation_add(generator, shape, group->bindings[i].variable, value);

        column->certain = column->interned = aggregate->aggregate == QD_AGGREGATE_COUNT;
    }
    qd_relation_take_rows(generator, shape, rows);
    if (is_plain || !has_key)
        return qd_relation_seal(generator, shape, get_seal(generator, has_key));
    return qd_relation_seal_text(generator, shape, qd_relation_write(generator, shape, "SELECT", keys), get_seal(generator, TRUE));
}

gboolean
qd_tally_is_possible(const QdGenerator *self)
{
    return self->catalog != NULL && self->graph.kind == QD_NODE_NONE && self->dataset->clause == NULL &&
           self->dataset->with == NULL && self->outer == NULL && self->seeded.node == NULL &&
           (self->parameters == NULL || g_hash_table_size(self->parameters) == 0);
}

/* --- numbers apart ---------------------------------------------------------------------------------------------------- */

/* One number, of @binding: a COUNT without conditions. FALSE: it is no such tally. @all: what the columns of all of them have */
static gboolean
add_number(QdGenerator *self, const QdAlgebra *group, const QdBinding *binding, QdRelation *shape, QdTallyDraft *all)
{
    g_autoptr(GString) program = g_string_new(NULL);
    g_autoptr(GPtrArray) conditions = g_ptr_array_new();
    QdTallyDraft tally = { .generator = self, .program = program };
    const QdExpression *counted = binding->expression->n_children == 1 ? binding->expression->children[0] : NULL;
    QdAlgebra *pattern = group->children[0];
    QdAlgebra alone = *group;
    const QdRelation *rows;
    QdBinding own = *binding;
    double effort;
    QdTallyNeed need;
    QdSql n;

    if (counted != NULL)
        pattern = counted->kind == QD_EXPRESSION_KIND_VARIABLE ? qd_tally_require(self, pattern, counted->variable) : NULL;
    if (pattern == NULL)
        return FALSE;
    alone.children = &pattern;
    alone.bindings = &own;
    alone.n_bindings = 1;
    if (!qd_tally_need_find(self, &alone, &need) || need.pattern != pattern || !write_pattern(&tally, &need, conditions) ||
        !is_number(&alone, &need, conditions))
        return FALSE;
    effort = qd_tally_estimate_effort(self, pattern);
    all->n_pairs += tally.n_pairs;
    all->n_bytes += tally.n_bytes;
    qd_tally_add_note(&tally, effort);
    rows = make_rows(&tally, &need, get_result(&need, TRUE), &n);
    qd_relation_take_rows(self, shape, rows);
    qd_relation_add_stored(self, shape, binding->variable, qd_sql_make(self->arena, "queryd_integer(@)", n))->plain = FALSE;
    return TRUE;
}

/* COUNTs of several variables, or of what an OPTIONAL may bind: each by a program of its own. */
static QdRelation *
make_numbers(QdGenerator *self, const QdAlgebra *group)
{
    QdTallyDraft all = { .generator = self };
    QdRelation *shape = qd_relation_new(self);
    const char *notes = self->plan.notes;

    if (group->n_variables > 0 || group->n_bindings == 0 || group->n_bindings > NUMBERS_MAX)
        return NULL;
    for (guint i = 0; i < group->n_bindings; i++) {
        const QdExpression *aggregate = group->bindings[i].expression;

        if (aggregate->kind != QD_EXPRESSION_KIND_AGGREGATE || aggregate->aggregate != QD_AGGREGATE_COUNT ||
            (aggregate->distinct && aggregate->n_children == 0) || !add_number(self, group, &group->bindings[i], shape, &all)) {
            self->plan.notes = notes;
            return NULL;
        }
    }
    if (qd_tally_is_worth_while(&all, qd_tally_estimate_effort(self, group->children[0])))
        return qd_relation_seal(self, shape, get_seal(self, FALSE));
    self->plan.notes = notes;
    return NULL;
}

/* --- groups and distinct rows ----------------------------------------------------------------------------------------- */

QdRelation *
qd_generate_tally(QdGenerator *self, const QdAlgebra *group)
{
    g_autoptr(GString) program = g_string_new(NULL);
    g_autoptr(GPtrArray) conditions = g_ptr_array_new();
    QdTallyDraft tally = { .generator = self, .program = program };
    gboolean is_needed;
    double effort;
    QdTallyNeed need;

    if (!qd_tally_is_possible(self))
        return NULL;
    is_needed = qd_tally_need_find(self, group, &need);
    if (!is_needed || need.n_roots > 1 || !qd_tally_need_is_bound(&need)) {
        QdRelation *numbers = make_numbers(self, group);

        if (numbers != NULL)
            return numbers;
    }
    if (!is_needed || !write_pattern(&tally, &need, conditions))
        return NULL;
    effort = estimate_effort(self, &need);
    if (!qd_tally_is_worth_while(&tally, effort))
        return NULL;
    qd_tally_add_note(&tally, effort);
    return make_group(&tally, group, &need, conditions);
}

QdRelation *
qd_generate_tally_distinct(QdGenerator *self, const QdAlgebra *project)
{
    QdAlgebra *pattern = project->children[0];
    QdAlgebra group = { .kind = QD_ALGEBRA_GROUP,
                        .children = &pattern,
                        .n_children = 1,
                        .variables = project->variables,
                        .n_variables = project->n_variables };

    return pattern->kind == QD_ALGEBRA_GROUP || project->n_variables == 0 || project->n_variables > QD_TALLY_ROOTS_MAX
               ? NULL
               : qd_generate_tally(self, &group);
}
