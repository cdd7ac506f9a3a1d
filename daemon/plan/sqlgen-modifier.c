/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables of values, and the solution modifiers.
 */
#include "daemon/plan/sqlgen-private.h"

/* --- values --------------------------------------------------------------------------------------------------------- */

static QdColumn
make_cell(QdGenerator *self, guint variable, const QdTerm *term)
{
    return (QdColumn){ .variable = variable,
                       .sql = term != NULL ? qd_generator_put_term(self, term) : qd_sql_text("NULL"),
                       .certain = term != NULL,
                       .interned = TRUE };
}

static QdSql
write_rows(QdGenerator *self, const QdValues *values, QdRelation *shape)
{
    g_auto(QdSqlBuilder) text = qd_sql_builder_new(self->arena);

    for (guint row = 0; row < values->n_rows; row++) {
        qd_sql_append_text(&text, row > 0 ? ",(" : "VALUES (");
        for (guint i = 0; i < values->n_variables; i++) {
            QdColumn cell = make_cell(self, values->variables[i], values->cells[row * values->n_variables + i]);

            qd_sql_append_text(&text, i > 0 ? "," : "");
            qd_sql_append(&text, cell.sql);
            shape->columns[i].certain &= cell.certain;
        }
        qd_sql_append_text(&text, values->n_variables == 0 ? "1)" : ")");
    }
    text.depth = QD_DEPTH_GROUP;
    return qd_sql_finish(&text);
}

QdRelation *
qd_generate_values(QdGenerator *self, const QdValues *values)
{
    QdRelation *relation = qd_relation_new(self);

    for (guint i = 0; i < values->n_variables; i++) {
        QdColumn *column = qd_relation_find(relation, values->variables[i]);

        if (column != NULL) {
            qd_generator_fail(self, QW_ERROR_SYNTAX, "VALUES names ?%s twice",
                              qd_ast_get_variable_name(self->ast, values->variables[i]));
            return relation;
        }
        column = qd_relation_add(self, relation, values->variables[i], qd_sql_text("NULL"));
        column->certain = column->interned = TRUE;
        if (values->n_rows == 1)
            *column = make_cell(self, values->variables[i], values->cells[i]);
    }
    if (values->n_rows == 0)
        qd_relation_add_where(self, relation, qd_sql_text("0"));
    if (values->n_rows > 1)
        relation = qd_relation_seal_text(self, relation, write_rows(self, values, relation), QD_SEAL_PLAIN);
    for (guint i = 0; i < relation->n_columns; i++) {
        QdSql parameter = qd_generator_find_value(self, relation->columns[i].variable);

        if (parameter.text != NULL)
            qd_relation_add_where(self, relation, qd_sql_equate(self->arena, relation->columns[i].sql, "=", parameter));
    }
    return relation;
}

/* --- order, distinct, slice ------------------------------------------------------------------------------------------- */

/* The modifiers that lie upon each other, from the outermost. */
typedef struct Modifiers {
    guint64 limit, offset;
    gboolean distinct;
    const QdAlgebra *project; /* nullable */
    const QdAlgebra *order;   /* nullable */
    const QdAlgebra *pattern;
} Modifiers;

/* @node, a SELECT's modifiers, with fewer solutions to be made of distinct ones. */
static const QdAlgebra *
simplify(QdGenerator *self, const QdAlgebra *node)
{
    QdAlgebra *distinct = node->kind == QD_ALGEBRA_SLICE ? node->children[0] : (QdAlgebra *) node;
    QdAlgebra *simpler = qd_rewrite_distinct(self, distinct);
    QdAlgebra *slice;

    if (node == distinct)
        return simpler;
    if (simpler == distinct)
        return node;
    slice = qd_arena_new0(self->arena, QdAlgebra);
    *slice = *node;
    slice->children = qd_arena_new0(self->arena, QdAlgebra *);
    slice->children[0] = simpler;
    return slice;
}

static Modifiers
split_modifiers(const QdAlgebra *node)
{
    Modifiers modifiers = { .limit = QD_NO_LIMIT };

    if (node->kind == QD_ALGEBRA_SLICE) {
        modifiers.limit = node->limit;
        modifiers.offset = node->offset;
        node = node->children[0];
    }
    if (node->kind == QD_ALGEBRA_DISTINCT) {
        modifiers.distinct = TRUE;
        node = node->children[0];
    }
    if (node->kind == QD_ALGEBRA_PROJECT) {
        modifiers.project = node;
        node = node->children[0];
    }
    if (node->kind == QD_ALGEBRA_ORDER) {
        modifiers.order = node;
        node = node->children[0];
    }
    modifiers.pattern = node;
    return modifiers;
}

/* Whether @variable is a number of solutions that @node counts: an id in line, in the order of the numbers. */
static gboolean
is_count(const QdAlgebra *node, guint variable)
{
    const QdBinding *binding = NULL;

    for (guint i = 0; i < node->n_bindings; i++) {
        if (node->bindings[i].variable == variable)
            binding = &node->bindings[i];
    }
    if (node->kind == QD_ALGEBRA_GROUP)
        return binding != NULL && binding->expression->kind == QD_EXPRESSION_KIND_AGGREGATE &&
               binding->expression->aggregate == QD_AGGREGATE_COUNT;
    if (binding != NULL && (binding->expression == NULL || binding->expression->kind != QD_EXPRESSION_KIND_VARIABLE))
        return FALSE;
    return (node->kind == QD_ALGEBRA_EXTEND || node->kind == QD_ALGEBRA_FILTER) &&
           is_count(node->children[0], binding != NULL ? binding->expression->variable : variable);
}

/* ORDER BY …; none where there is no order. A key of each direction is the argument of a call where @ascending and @descending
 * name one. */
static QdSql
write_order(QdGenerator *self, const Modifiers *modifiers, const QdRelation *relation, const char *ascending,
            const char *descending)
{
    g_auto(QdSqlBuilder) text = qd_sql_builder_new(self->arena);

    for (guint i = 0; modifiers->order != NULL && i < modifiers->order->n_orders; i++) {
        const QdOrder *order = &modifiers->order->orders[i];
        QdColumn value = qd_expression_make_value(self, order->expression, relation);
        gboolean is_plain = order->expression->kind == QD_EXPRESSION_KIND_VARIABLE &&
                            is_count(modifiers->pattern, order->expression->variable);
        QdSql key = is_plain ? value.sql : qd_sql_make(self->arena, "queryd_sort_key(@)", value.sql);

        qd_sql_append_text(&text, i > 0 ? "," : "ORDER BY ");
        qd_sql_append(&text, qd_sql_make(self->arena, "@(@)@", qd_sql_text(order->descending ? descending : ascending), key,
                                         qd_sql_text(order->descending ? " DESC" : "")));
    }
    return qd_sql_finish(&text);
}

/* @tail with the slice's LIMIT. */
static QdSql
add_slice(QdGenerator *self, const Modifiers *modifiers, QdSql tail)
{
    const char *slice;

    if (modifiers->limit == QD_NO_LIMIT && modifiers->offset == 0)
        return tail;
    slice = qd_arena_printf(self->arena, " LIMIT %" G_GINT64_FORMAT " OFFSET %" G_GUINT64_FORMAT,
                            modifiers->limit == QD_NO_LIMIT ? (gint64) -1 : (gint64) modifiers->limit, modifiers->offset);
    return qd_sql_make(self->arena, "@@", tail, qd_sql_text(slice));
}

/* The projected columns, and the graph's. Missing ones are unbound. */
static QdRelation *
project(QdGenerator *self, const QdRelation *relation, const guint *variables, guint n_variables, gboolean intern)
{
    QdRelation *projected = qd_relation_new(self);

    qd_relation_take_rows(self, projected, relation);
    for (guint i = 0; i < n_variables + (self->graph.kind == QD_NODE_VARIABLE ? 1 : 0); i++) {
        guint variable = i < n_variables ? variables[i] : self->graph.variable;
        const QdColumn *column = qd_relation_find(relation, variable);
        QdColumn *added;

        if (column == NULL || qd_relation_find(projected, variable) != NULL)
            continue;
        added = qd_relation_add_column(self, projected, column);
        added->variable = variable;
        added->serial = FALSE;
        if (intern && !column->interned) {
            added->sql = qd_column_intern(self, column);
            added->interned = TRUE;
            added->plain = FALSE;
        }
    }
    return projected;
}

static gboolean
orders_by_projected(QdGenerator *self, const Modifiers *modifiers)
{
    QdVariableSet used = { 0 };

    for (guint i = 0; i < modifiers->order->n_orders; i++)
        qd_expression_add_variables(modifiers->order->orders[i].expression, self->arena, TRUE, &used);
    QD_VARIABLE_SET_FOREACH(&used, variable)
    {
        if (!qd_variable_set_has(&modifiers->project->possible, variable))
            return FALSE;
    }
    return TRUE;
}

/*
 * DISTINCT upon an order: if only projected variables order, distinct rows are ordered; else equal rows stand where the first
 * of them would.
 */
static QdRelation *
make_distinct(QdGenerator *self, const Modifiers *modifiers, const QdRelation *relation, QdSql *ret_tail)
{
    QdRelation *projected = project(self, relation, modifiers->project->variables, modifiers->project->n_variables, TRUE);
    g_auto(QdSqlBuilder) keys = qd_sql_builder_new(self->arena);
    QdSql order;

    if (modifiers->order == NULL || orders_by_projected(self, modifiers)) {
        projected = qd_relation_seal_text(self, projected, qd_relation_write(self, projected, "SELECT DISTINCT", QD_SQL_NONE),
                                          QD_SEAL_TABLE);
        *ret_tail = write_order(self, modifiers, projected, "", "");
        return projected;
    }
    for (guint i = 0; i < projected->n_columns; i++)
        qd_sql_append_after(&keys, ",", projected->columns[i].sql);
    order = write_order(self, modifiers, relation, "min", "max");
    *ret_tail = qd_sql_make(self->arena, "GROUP BY @ @", projected->n_columns > 0 ? qd_sql_finish(&keys) : qd_sql_text("NULL"),
                            order);
    return projected;
}

/* All distinct rows at once. NULL: not all are wanted, or no tally has them. */
static QdRelation *
make_distinct_by_tally(QdGenerator *self, const Modifiers *modifiers)
{
    QdAlgebra project;
    QdAlgebra *pattern = (QdAlgebra *) modifiers->pattern;

    if (!modifiers->distinct || modifiers->project == NULL || (modifiers->limit != QD_NO_LIMIT && modifiers->order == NULL) ||
        (modifiers->order != NULL && !orders_by_projected(self, modifiers)))
        return NULL;
    project = *modifiers->project;
    project.children = &pattern;
    return qd_generate_tally_distinct(self, &project);
}

/* The pattern, of which the columns that are projected, or ordered by, are of interest. */
static QdRelation *
generate_pattern(QdGenerator *self, const Modifiers *modifiers)
{
    QdVariableSet needed = { 0 };
    QdRelation *by_cases;

    if (modifiers->project == NULL || modifiers->pattern->kind != QD_ALGEBRA_EXTEND || modifiers->pattern == self->seeded.node)
        return qd_generator_generate(self, modifiers->pattern, NULL);
    by_cases = qd_generate_by_cases(self, modifiers->pattern, NULL);
    if (by_cases != NULL)
        return by_cases;
    for (guint i = 0; i < modifiers->project->n_variables; i++)
        qd_variable_set_add(&needed, self->arena, modifiers->project->variables[i]);
    for (guint i = 0; modifiers->order != NULL && i < modifiers->order->n_orders; i++)
        qd_expression_add_all_variables(modifiers->order->orders[i].expression, self->arena, &needed);
    if (self->graph.kind == QD_NODE_VARIABLE)
        qd_variable_set_add(&needed, self->arena, self->graph.variable);
    return qd_generate_extend(self, modifiers->pattern, NULL, &needed);
}

/* The pattern under the modifiers with the columns that are projected, and what SQL puts after it but the slice. */
static QdRelation *
generate_modified(QdGenerator *self, const Modifiers *modifiers, QdSql *ret_tail)
{
    QdRelation *relation = make_distinct_by_tally(self, modifiers);

    *ret_tail = QD_SQL_NONE;
    if (relation != NULL) {
        *ret_tail = write_order(self, modifiers, relation, "", "");
        return relation;
    }
    relation = generate_pattern(self, modifiers);
    if (self->error != NULL || modifiers->project == NULL)
        return relation;
    if (modifiers->distinct || modifiers->order != NULL)
        relation = qd_relation_fence(self, relation);
    if (modifiers->distinct)
        return make_distinct(self, modifiers, relation, ret_tail);
    *ret_tail = write_order(self, modifiers, relation, "", "");
    return project(self, relation, modifiers->project->variables, modifiers->project->n_variables, FALSE);
}

/* LIMIT inside GRAPH ?g is one for each graph. */
static QdRelation *
slice_per_graph(QdGenerator *self, QdRelation *relation, const Modifiers *modifiers, QdSql order)
{
    guint number = qd_ast_add_variable(self->ast, NULL);
    const QdColumn *graph = qd_relation_find(relation, self->graph.variable);
    QdRelation *sliced;
    QdSql row, offset;

    if (graph == NULL)
        return relation;
    relation = qd_relation_copy(self, relation);
    (void) qd_relation_add(self, relation, number,
                           qd_sql_make(self->arena, "row_number() OVER (PARTITION BY @ @)", graph->sql, order));
    sliced = qd_relation_seal(self, relation, QD_SEAL_TABLE);
    row = qd_relation_find(sliced, number)->sql;
    offset = qd_sql_text(qd_arena_printf(self->arena, "%" G_GUINT64_FORMAT, modifiers->offset));
    qd_relation_add_where(self, sliced, qd_sql_make(self->arena, "@>@", row, offset));
    if (modifiers->limit != QD_NO_LIMIT)
        qd_relation_add_where(self, sliced,
                              qd_sql_make(self->arena, "@-@<=@", row, offset,
                                          qd_sql_text(qd_arena_printf(self->arena, "%" G_GUINT64_FORMAT, modifiers->limit))));
    return project(self, sliced, modifiers->project->variables, modifiers->project->n_variables, FALSE);
}

/* What a subselect sees of @outer: §18.6 puts values in the place of variables, of which a subselect has those that it projects. */
static const QdOuter *
project_outer(QdGenerator *self, const QdOuter *outer, const QdAlgebra *project)
{
    QdOuter *seen;
    QdRelation *columns;
    gboolean sees;

    if (outer == NULL || project == NULL)
        return NULL;
    columns = qd_relation_new(self);
    for (guint i = 0; i < project->n_variables; i++) {
        const QdColumn *column = qd_relation_find(outer->relation, project->variables[i]);

        if (column != NULL)
            (void) qd_relation_add_column(self, columns, column);
    }
    seen = qd_arena_new0(self->arena, QdOuter);
    *seen = (QdOuter){ .relation = columns, .level = outer->level, .next = project_outer(self, outer->next, project) };
    for (guint i = 0; i < project->n_variables; i++) {
        if (qd_variable_set_has(&outer->replaced, project->variables[i]))
            qd_variable_set_add(&seen->replaced, self->arena, project->variables[i]);
        if (qd_variable_set_has(&outer->open, project->variables[i]))
            qd_variable_set_add(&seen->open, self->arena, project->variables[i]);
    }
    sees = columns->n_columns > 0 || !qd_variable_set_is_empty(&seen->replaced) || !qd_variable_set_is_empty(&seen->open);
    return sees ? seen : seen->next;
}

QdRelation *
qd_generate_solution(QdGenerator *self, const QdAlgebra *node)
{
    Modifiers modifiers = split_modifiers(simplify(self, node));
    gboolean sliced = modifiers.limit != QD_NO_LIMIT || modifiers.offset > 0;
    const QdOuter *outer = self->outer;
    QdSql tail;
    QdRelation *relation;

    self->outer = project_outer(self, outer, modifiers.project);
    if (!sliced)
        modifiers.order = NULL; /* an order that nothing cuts is lost in the join */
    relation = generate_modified(self, &modifiers, &tail);
    if (sliced && self->outer != NULL) { /* what is cut is what is compatible with the solution around it */
        const QdRelation *whole = relation;

        relation = qd_relation_copy(self, whole);
        qd_expression_match_outer(self, self->outer, whole, relation);
    }
    self->outer = outer;
    if (!sliced || self->error != NULL)
        return relation;
    if (self->graph.kind == QD_NODE_VARIABLE)
        return slice_per_graph(self, relation, &modifiers, tail);
    return qd_relation_seal_text(self, relation,
                                 qd_sql_make(self->arena, "SELECT * FROM (@)",
                                             qd_relation_write(self, relation, "SELECT", add_slice(self, &modifiers, tail))),
                                 QD_SEAL_TABLE);
}

QdSql
qd_generate_final(QdGenerator *self, const QdAlgebra *node, const guint *variables, guint n_variables)
{
    Modifiers modifiers = split_modifiers(simplify(self, node));
    g_auto(QdSqlBuilder) list = qd_sql_builder_new(self->arena);
    QdSql tail;
    QdRelation *relation = generate_modified(self, &modifiers, &tail);

    for (guint i = 0; i < n_variables; i++) {
        const QdColumn *column = qd_relation_find(relation, variables[i]);
        QdSql value = column != NULL ? column->sql : qd_generator_find_parameter(self, variables[i]);

        qd_sql_append_after(&list, ",",
                            qd_sql_make(self->arena, "@ AS @", value.text != NULL ? value : qd_sql_text("NULL"),
                                        qd_sql_text(qd_arena_printf(self->arena, "v%u", variables[i]))));
    }
    return qd_relation_write_list(self, relation, "SELECT", qd_sql_finish(&list), add_slice(self, &modifiers, tail));
}
