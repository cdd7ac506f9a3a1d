/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Groups that need of a pattern only how often each value of one variable occurs in it.
 *
 * A tally (daemon/tally/tally.h) makes no rows for them. A group of another form, or of a small pattern, is generated as before.
 */
#include "daemon/plan/sqlgen-tally.h"

#define PATIENCE 4 /* times as many pairs may be in the columns as a join would look at quads */

/* --- groups ----------------------------------------------------------------------------------------------------------- */

/* What a group needs of the pattern. */
typedef struct Need {
    guint root;                           /* the variable that it asks for; G_MAXUINT: any */
    gboolean only_solutions, only_values; /* it counts only these */
} Need;

static gboolean
need_variables(QdGenerator *self, const QdExpression *expression, Need *need)
{
    QdVariableSet named = { 0 };

    if (qd_expression_is_volatile(expression) || qd_expression_needs_serial(expression))
        return FALSE;
    qd_expression_add_all_variables(expression, self->arena, &named);
    QD_VARIABLE_SET_FOREACH(&named, variable)
    {
        if (need->root != G_MAXUINT && need->root != variable)
            return FALSE;
        need->root = variable;
    }
    return TRUE;
}

/* COUNT of solutions: of all, or of what each binds. */
static gboolean
counts_solutions(const QdAlgebra *group, const QdExpression *aggregate)
{
    if (aggregate->aggregate != QD_AGGREGATE_COUNT || aggregate->distinct)
        return FALSE;
    return aggregate->n_children == 0 || (aggregate->children[0]->kind == QD_EXPRESSION_KIND_VARIABLE &&
                                          qd_algebra_binds(group->children[0], aggregate->children[0]->variable));
}

static gboolean
counts_values(const QdAlgebra *group, const QdExpression *aggregate)
{
    return aggregate->aggregate == QD_AGGREGATE_COUNT && aggregate->distinct && aggregate->n_children == 1 &&
           aggregate->children[0]->kind == QD_EXPRESSION_KIND_VARIABLE &&
           qd_algebra_binds(group->children[0], aggregate->children[0]->variable);
}

static gboolean
need_aggregate(QdGenerator *self, const QdAlgebra *group, const QdExpression *aggregate, Need *need)
{
    if (aggregate->kind != QD_EXPRESSION_KIND_AGGREGATE)
        return FALSE;
    need->only_values = need->only_values && counts_values(group, aggregate);
    if (counts_solutions(group, aggregate))
        return TRUE;
    need->only_solutions = FALSE;
    /* a group of one value has no use for others */
    if (group->n_variables > 0 || aggregate->n_children == 0)
        return FALSE;
    switch (aggregate->aggregate) {
    case QD_AGGREGATE_COUNT:
    case QD_AGGREGATE_SUM:
    case QD_AGGREGATE_AVG:
    case QD_AGGREGATE_MIN:
    case QD_AGGREGATE_MAX:
        return need_variables(self, aggregate->children[0], need);
    default:
        return FALSE;
    }
}

static gboolean
find_need(QdGenerator *self, const QdAlgebra *group, Need *need)
{
    *need = (Need){ G_MAXUINT, TRUE, TRUE };
    if (group->n_bindings == 0 || group->n_variables > 1)
        return FALSE;
    if (group->n_variables == 1)
        need->root = group->variables[0];
    for (guint i = 0; i < group->n_bindings; i++) {
        if (!need_aggregate(self, group, group->bindings[i].expression, need))
            return FALSE;
    }
    return need->root == G_MAXUINT || qd_algebra_binds(group->children[0], need->root);
}

static gboolean
consists_of_triples(const QdAlgebra *join)
{
    for (guint i = 0; i < join->n_children; i++) {
        if (join->children[i]->kind != QD_ALGEBRA_TRIPLE)
            return FALSE;
    }
    return TRUE;
}

static guint
count_triples(QdGenerator *self, const QdAlgebra *node)
{
    guint n = node->kind == QD_ALGEBRA_TRIPLE ? 1 : 0;

    for (guint i = 0; i < node->n_children; i++)
        n += count_triples(self, node->children[i]);
    for (guint i = 0; i < node->n_expressions; i++) {
        if (node->expressions[i]->kind == QD_EXPRESSION_KIND_EXISTS)
            n += count_triples(self, qd_rewrite_get_exists(self, node->expressions[i]));
    }
    return n;
}

/* About how many quads a join looks at: OPTIONAL and the like for each row of their left. */
static double
estimate_effort(QdGenerator *self, const QdAlgebra *node)
{
    double effort = 0;

    switch (node->kind) {
    case QD_ALGEBRA_UNION:
        for (guint i = 0; i < node->n_children; i++)
            effort += estimate_effort(self, node->children[i]);
        return effort;
    case QD_ALGEBRA_JOIN:
        if (consists_of_triples(node))
            return MAX(qd_estimate_cost(self, node), qd_estimate_rows(self, node));
        effort = estimate_effort(self, node->children[0]);
        for (guint i = 1; i < node->n_children; i++)
            effort = MIN(effort, estimate_effort(self, node->children[i]));
        return effort * node->n_children;
    case QD_ALGEBRA_LEFT_JOIN:
    case QD_ALGEBRA_MINUS:
    case QD_ALGEBRA_FILTER:
        return estimate_effort(self, node->children[0]) * (1 + count_triples(self, node) - count_triples(self, node->children[0]));
    default:
        return qd_estimate_rows(self, node);
    }
}

/* The digit that stands for objects of which @expression is true; '\0': there is none. */
static char
get_class(const QdExpression *expression, const QdNode *object)
{
    if (expression->kind != QD_EXPRESSION_KIND_CALL || expression->n_children != 1 ||
        expression->children[0]->kind != QD_EXPRESSION_KIND_VARIABLE ||
        !qd_node_is_variable(object, expression->children[0]->variable))
        return '\0';
    switch (expression->op) {
    case QD_EXPRESSION_IS_LITERAL:
        return '1';
    case QD_EXPRESSION_IS_IRI:
        return '2';
    case QD_EXPRESSION_IS_BLANK:
        return '3';
    default:
        return '\0';
    }
}

/* ?s ?p ?o: the statistics of the predicates have it. */
static gboolean
write_predicates(QdTallyDraft *self, const QdAlgebra *pattern, Need *need)
{
    const QdAlgebra *node = pattern->kind == QD_ALGEBRA_FILTER ? pattern->children[0] : pattern;
    const QdTriple *triple = node->kind == QD_ALGEBRA_TRIPLE ? node->triple : NULL;
    char class = '0';

    if (triple == NULL || triple->s.kind != QD_NODE_VARIABLE || triple->p.kind != QD_NODE_VARIABLE ||
        triple->o.kind != QD_NODE_VARIABLE || triple->s.variable == triple->p.variable ||
        triple->s.variable == triple->o.variable || triple->p.variable == triple->o.variable ||
        (need->root != G_MAXUINT && need->root != triple->p.variable))
        return FALSE;
    if (pattern->kind == QD_ALGEBRA_FILTER)
        class = pattern->n_expressions == 1 ? get_class(pattern->expressions[0], &triple->o) : '\0';
    need->root = triple->p.variable;
    g_string_append_printf(self->program, "p%c", class);
    return class != '\0';
}

/* A variable that a triple of @node has; G_MAXUINT: none is found. */
static guint
find_variable(const QdAlgebra *node)
{
    guint found = G_MAXUINT;

    if (node->kind == QD_ALGEBRA_TRIPLE) {
        if (node->triple->s.kind == QD_NODE_VARIABLE)
            return node->triple->s.variable;
        return node->triple->o.kind == QD_NODE_VARIABLE ? node->triple->o.variable : G_MAXUINT;
    }
    for (guint i = 0; i < node->n_children && found == G_MAXUINT; i++)
        found = find_variable(node->children[i]);
    return found;
}

/* Conditions on the values that are asked for are tested once for each. */
static gboolean
write_pattern(QdTallyDraft *self, const QdAlgebra *pattern, Need *need, GPtrArray *conditions)
{
    const gsize begin = self->program->len;
    guint root = need->root;

    if (write_predicates(self, pattern, need))
        return TRUE;
    g_string_truncate(self->program, begin);
    need->root = root;
    for (guint i = 0; pattern->kind == QD_ALGEBRA_FILTER && i < pattern->n_expressions; i++) {
        const QdExpression *condition = pattern->expressions[i];

        if (condition->kind != QD_EXPRESSION_KIND_EXISTS && !qd_tally_compares_ends(condition, pattern->children[0]) &&
            !need_variables(self->generator, condition, need))
            return FALSE;
    }
    if (need->root == G_MAXUINT)
        need->root = find_variable(pattern);
    if (need->root == G_MAXUINT)
        return FALSE;
    if (!qd_tally_write(self, pattern, need->root, conditions))
        return FALSE;
    for (guint i = 0; i < conditions->len; i++) {
        if (!need_variables(self->generator, conditions->pdata[i], need))
            return FALSE;
    }
    return TRUE;
}

static void
add_note(const QdTallyDraft *self, double effort)
{
    QdGenerator *generator = self->generator;

    generator->notes = qd_arena_concat(
        generator->arena, generator->notes != NULL ? generator->notes : "", "tally: ", self->program->str,
        qd_arena_printf(generator->arena, ", about %" G_GUINT64_FORMAT " pairs in columns, by a join %" G_GUINT64_FORMAT " quads\n",
                        (guint64) self->n_pairs, (guint64) MIN(effort, 1e18)),
        NULL);
}

/* Whether the program, for @pattern, is worth the columns that it reads. */
static gboolean
is_worth_while(const QdTallyDraft *self, const QdAlgebra *pattern)
{
    const QdLimits *limits = self->generator->limits;
    double least = (double) qd_limits_get(limits, QD_LIMIT_TALLY_ROWS);
    double effort;

    if (self->n_bytes > (double) qd_limits_get(limits, QD_LIMIT_TALLY_CACHE_BYTES) / 2)
        return FALSE;
    effort = estimate_effort(self->generator, pattern);
    if (least > 0 && (effort < least || self->n_pairs > PATIENCE * effort))
        return FALSE;
    add_note(self, effort);
    return TRUE;
}

/* --- SQL -------------------------------------------------------------------------------------------------------------- */

static QdSql
write_ids(const QdTallyDraft *self)
{
    QdGenerator *generator = self->generator;
    g_auto(QdSqlBuilder) list = qd_sql_builder_new(generator->arena);

    for (guint i = 0; i < self->n_terms; i++)
        qd_sql_append_after(&list, ",", qd_generator_put_term(generator, self->terms[i]));
    return self->n_terms > 0 ? qd_sql_make(generator->arena, "queryd_tally_ids(@)", qd_sql_finish(&list)) : qd_sql_text("x''");
}

/* A row for each value of @root. */
static QdRelation *
make_rows(const QdTallyDraft *self, guint root, char how)
{
    QdGenerator *generator = self->generator;
    QdRelation *relation = qd_relation_new(generator);
    QdTable table = qd_generator_make_table(generator, 't');
    const char *program = qd_arena_printf(generator->arena, "'%c%s'", how, self->program->str);

    table.from = qd_sql_make(generator->arena, "queryd_tally(@,@) AS @", qd_sql_text(program), write_ids(self), table.from);
    table.sure = "n";
    qd_relation_add_table(generator, relation, &table);
    (void) qd_relation_add_stored(generator, relation, root, qd_sql_column(generator->arena, &table.name, "value", QD_SQL_COLUMN));
    return relation;
}

/* Of values that each stand for @n solutions; where the @need is a number alone, @n is that. */
static QdSql
write_aggregate(QdGenerator *self, const QdAlgebra *group, const QdExpression *aggregate, const QdRelation *rows, QdSql n)
{
    static const char *const names[] = { [QD_AGGREGATE_SUM] = "queryd_sum",
                                         [QD_AGGREGATE_MIN] = "queryd_min",
                                         [QD_AGGREGATE_MAX] = "queryd_max",
                                         [QD_AGGREGATE_AVG] = "queryd_avg" };
    QdColumn value;

    if (counts_solutions(group, aggregate))
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
    return qd_sql_make(self->arena, "@(@,@)", qd_sql_text(names[aggregate->aggregate]), value.sql, n);
}

static QdRelation *
make_group(const QdTallyDraft *self, const QdAlgebra *group, const Need *need, const GPtrArray *conditions)
{
    QdGenerator *generator = self->generator;
    gboolean has_key = group->n_variables > 0;
    gboolean is_number = !has_key && conditions->len == 0 && (need->only_solutions || need->only_values);
    QdRelation *rows = make_rows(self, need->root, !is_number ? '=' : need->only_solutions ? '#' : '$');
    QdRelation *shape = qd_relation_new(generator);
    QdSql n = qd_sql_column(generator->arena, &rows->tables[0].name, "n", QD_SQL_COLUMN);

    qd_relation_filter(generator, rows, (QdExpression *const *) conditions->pdata, conditions->len);
    if (has_key)
        (void) qd_relation_add_column(generator, shape, &rows->columns[0]);
    for (guint i = 0; i < group->n_bindings; i++) {
        const QdExpression *aggregate = group->bindings[i].expression;
        QdSql value = is_number || has_key ? qd_sql_make(generator->arena, "queryd_integer(@)", n)
                                           : write_aggregate(generator, group, aggregate, rows, n);
        QdColumn *column = qd_relation_add(generator, shape, group->bindings[i].variable, value);

        column->certain = column->interned = aggregate->aggregate == QD_AGGREGATE_COUNT;
    }
    qd_relation_take_rows(generator, shape, rows);
    return qd_relation_seal(generator, shape, has_key ? QD_SEAL_TABLE : QD_SEAL_PLAIN);
}

/* Whether it is the store's default graph, of a query by itself. */
static gboolean
is_plain(const QdGenerator *self)
{
    return self->catalog != NULL && self->graph.kind == QD_NODE_NONE && self->dataset->clause == NULL &&
           self->dataset->with == NULL && self->outer == NULL && self->seeded == NULL && !self->is_beside &&
           (self->parameters == NULL || g_hash_table_size(self->parameters) == 0);
}

QdRelation *
qd_generate_tally(QdGenerator *self, const QdAlgebra *group)
{
    g_autoptr(GString) program = g_string_new(NULL);
    g_autoptr(GPtrArray) conditions = g_ptr_array_new();
    QdTallyDraft tally = { .generator = self, .program = program };
    Need need;

    if (!is_plain(self) || !find_need(self, group, &need) || !write_pattern(&tally, group->children[0], &need, conditions) ||
        !is_worth_while(&tally, group->children[0]))
        return NULL;
    return make_group(&tally, group, &need, conditions);
}
