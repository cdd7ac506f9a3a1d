/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BIND: computed columns. One that others name is computed once for each row: it is a column of a common table expression before
 * they are. Only what is of interest afterwards is carried on.
 */
#include "daemon/plan/sqlgen-private.h"

#define INLINE_BYTES 24  /* an SQL expression of this size may be written again where its variable stands */
#define NESTED_BYTES 300 /* one of this size may be written where its variable stands, if that is the only place */
#define NESTED_DEPTH 20
#define FOLLOWED_MAX 2000 /* BINDs in a row whose variables are followed */
#define CARRIED_MAX 48    /* columns that one common table expression after the other carries on without using them */

static gboolean
any_binding(const QdAlgebra *node, gboolean (*test)(const QdExpression *))
{
    for (guint i = 0; i < node->n_bindings; i++) {
        if (test(node->bindings[i].expression))
            return TRUE;
    }
    return FALSE;
}

static gboolean
has_fickle_columns(const QdRelation *relation)
{
    for (guint i = 0; i < relation->n_columns; i++) {
        if (relation->columns[i].fickle)
            return TRUE;
    }
    return FALSE;
}

/* How often @expression names @variable, which no EXISTS in it does. */
static guint
count_uses(const QdExpression *expression, guint variable)
{
    guint n = expression->kind == QD_EXPRESSION_KIND_VARIABLE && expression->variable == variable ? 1 : 0;

    for (guint i = 0; i < expression->n_children; i++)
        n += count_uses(expression->children[i], variable);
    return n;
}

/* Whether @expression names a column that is itself computed, so that texts would grow into each other, or values differ. @later:
 * variables of which the value is of interest afterwards. */
static gboolean
uses_computed(QdGenerator *self, const QdExpression *expression, const QdRelation *relation, const QdVariableSet *later)
{
    QdVariableSet used = { 0 };

    qd_expression_add_all_variables(expression, self->arena, &used);
    for (guint i = 0; i < relation->n_columns; i++) {
        const QdColumn *column = &relation->columns[i];
        gboolean is_computed = column->fickle || (!column->plain && column->sql.n_bytes > INLINE_BYTES);

        if (!is_computed || !qd_variable_set_has(&used, column->variable))
            continue;
        if (column->fickle || later == NULL || qd_variable_set_has(later, column->variable) || column->sql.n_bytes > NESTED_BYTES ||
            column->sql.depth > NESTED_DEPTH || count_uses(expression, column->variable) != 1)
            return TRUE;
    }
    return FALSE;
}

/* For each of @node's bindings, and for the end: the variables of which the value is of interest from there on. NULL: all are. */
static QdVariableSet *
list_later(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *needed)
{
    QdVariableSet *later = needed != NULL ? qd_arena_array0(self->arena, QdVariableSet, node->n_bindings + 1) : NULL;

    for (guint i = node->n_bindings + 1; later != NULL && i-- > 0;) {
        qd_variable_set_add_all(&later[i], self->arena, i < node->n_bindings ? &later[i + 1] : needed);
        if (i < node->n_bindings)
            qd_expression_add_all_variables(node->bindings[i].expression, self->arena, &later[i]);
    }
    return later;
}

/* @relation without the columns that are not of interest. @number: a variable that is, or 0. */
static QdRelation *
drop_columns(QdGenerator *self, const QdRelation *relation, const QdVariableSet *later, guint number)
{
    QdRelation *kept = qd_relation_new(self);

    qd_relation_take_rows(self, kept, relation);
    for (guint i = 0; i < relation->n_columns; i++) {
        const QdColumn *column = &relation->columns[i];

        if (column->serial || qd_variable_set_has(later, column->variable) || (number != 0 && column->variable == number))
            (void) qd_relation_add_column(self, kept, column);
    }
    return kept;
}

/*
 * Columns of a long chain of BINDs that the rest of it does not name. They stay in a table of numbered rows, to be joined in
 * the end. Carried from each common table expression to the next they would make SQL of quadratic size, which SQLite compiles
 * in cubic time.
 */
typedef struct Aside {
    guint number; /* variable of the rows' number; 0: no table yet */
    GPtrArray *tables;
} Aside;

static QdRelation *
set_aside(QdGenerator *self, Aside *aside, const QdRelation *relation, const QdBinding *rest, guint n_rest)
{
    QdRelation *numbered = qd_relation_copy(self, relation);
    QdRelation *left = qd_relation_new(self);
    QdRelation *kept = qd_relation_new(self);
    QdVariableSet used = { 0 };
    QdRelation *sealed;

    for (guint i = 0; i < n_rest; i++)
        qd_expression_add_all_variables(rest[i].expression, self->arena, &used);
    if (aside->number == 0) {
        QdColumn *column;

        aside->number = qd_ast_add_variable(self->ast, NULL);
        column = qd_relation_add(self, numbered, aside->number, qd_sql_fill(self->arena, "row_number() OVER ()", NULL, 0));
        column->certain = column->interned = TRUE;
    }
    qd_variable_set_add(&used, self->arena, aside->number);
    if (self->graph.kind == QD_NODE_VARIABLE) /* what EXISTS asks for */
        qd_variable_set_add(&used, self->arena, self->graph.variable);
    sealed = qd_relation_seal(self, numbered, QD_SEAL_MATERIALIZED);
    qd_relation_take_rows(self, left, sealed);
    qd_relation_take_rows(self, kept, sealed);
    for (guint i = 0; i < sealed->n_columns; i++) {
        const QdColumn *column = &sealed->columns[i];
        gboolean is_used = column->serial || qd_variable_set_has(&used, column->variable);

        if (is_used)
            (void) qd_relation_add_column(self, kept, column);
        if (!is_used || column->variable == aside->number)
            (void) qd_relation_add_column(self, left, column);
    }
    if (left->n_columns > 1)
        g_ptr_array_add(aside->tables, left);
    return kept;
}

/* @relation with what was set aside, and without the number. */
static QdRelation *
take_back(QdGenerator *self, const Aside *aside, QdRelation *relation)
{
    QdRelation *whole = qd_relation_new(self);

    if (aside->tables->len == 0)
        return relation;
    relation = qd_relation_seal(self, relation, QD_SEAL_MATERIALIZED);
    for (guint i = 0; i < aside->tables->len; i++)
        relation = qd_relation_join(self, relation, aside->tables->pdata[i]);
    qd_relation_take_rows(self, whole, relation);
    for (guint i = 0; i < relation->n_columns; i++) {
        if (relation->columns[i].variable != aside->number)
            (void) qd_relation_add_column(self, whole, &relation->columns[i]);
    }
    return whole;
}

/* SQLite counts about two and a half levels for each table that reads the one before. What is too deep ends here, not after a
 * second. */
static gboolean
count_level(QdGenerator *self, guint n_levels)
{
    if (self->limits == NULL || n_levels <= qd_limits_get(self->limits, QD_LIMIT_SPARQL_SQL_DEPTH) * 2 / 5)
        return TRUE;
    if (self->error == NULL)
        qd_limit_set_error(
            &self->error, self->limits, QD_LIMIT_SPARQL_SQL_DEPTH,
            "a chain of more than %u BINDs that each use the one before: write some of them as one expression, or ask in "
            "parts",
            n_levels - 1);
    return FALSE;
}

/* The variable @binding of @relation, whose other columns its expression names. */
static void
bind_value(QdGenerator *self, QdRelation *relation, const QdBinding *binding)
{
    QdColumn value = qd_expression_make_value(self, binding->expression, relation);
    QdColumn *column = qd_relation_find(relation, binding->variable);

    if (column == NULL)
        column = qd_relation_add(self, relation, binding->variable, QD_SQL_NONE);
    *column = value;
    column->variable = binding->variable;
    column->plain = FALSE;
    column->serial = FALSE;
    column->fickle = qd_expression_is_volatile(binding->expression);
}

QdRelation *
qd_generate_extend(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound, const QdVariableSet *needed)
{
    const QdVariableSet *later = list_later(self, node, node->n_bindings <= FOLLOWED_MAX ? needed : NULL);
    QdRelation *relation = qd_generator_generate(self, node->children[0], bound);
    g_autoptr(GPtrArray) tables = g_ptr_array_new();
    Aside aside = { .tables = tables };
    guint n_levels = 0;

    relation = qd_relation_copy(self, relation);
    if (any_binding(node, qd_expression_needs_serial))
        relation = qd_relation_add_serial(self, relation);
    for (guint i = 0; i < node->n_bindings; i++) {
        gboolean seals = uses_computed(self, node->bindings[i].expression, relation, later != NULL ? &later[i + 1] : NULL);

        if (seals && !count_level(self, ++n_levels))
            return relation;
        if (later != NULL)
            relation = drop_columns(self, relation, &later[i], aside.number);
        if (seals)
            relation = relation->n_columns > CARRIED_MAX && node->n_bindings - i > CARRIED_MAX
                           ? set_aside(self, &aside, relation, node->bindings + i, node->n_bindings - i)
                           : qd_relation_seal(self, relation, QD_SEAL_MATERIALIZED);
        bind_value(self, relation, &node->bindings[i]);
    }
    if (later != NULL)
        relation = drop_columns(self, relation, &later[node->n_bindings], aside.number);
    relation = take_back(self, &aside, relation);
    return has_fickle_columns(relation) ? qd_relation_seal(self, relation, QD_SEAL_MATERIALIZED) : relation;
}
