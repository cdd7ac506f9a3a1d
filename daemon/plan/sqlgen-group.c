/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Groups and aggregates.
 */
#include "daemon/plan/sqlgen-private.h"

#define ARGUMENTS_MAX 100 /* of one call; SQLite takes 127 */

QdRelation *
qd_relation_fence(QdGenerator *self, QdRelation *relation)
{
    if (relation->n_tables == 1 || qd_relation_get_n_arms(relation) == 1)
        return relation;
    return qd_relation_seal(self, relation, QD_SEAL_STREAM);
}

/* COUNT(DISTINCT *): rows of the query's own variables as texts, since a row is no value of SQL. */
static QdSql
write_row(QdGenerator *self, const QdRelation *relation)
{
    g_auto(QdSqlBuilder) calls = qd_sql_builder_new(self->arena);
    g_auto(QdSqlBuilder) row = qd_sql_builder_new(self->arena);
    guint n = 0;

    for (guint i = 0; i < relation->n_columns; i++) {
        if (qd_ast_get_variable_name(self->ast, relation->columns[i].variable) == NULL)
            continue;
        if (n > 0 && n % ARGUMENTS_MAX == 0) {
            qd_sql_append_after(&calls, "||", qd_sql_make(self->arena, "json_array(@)", qd_sql_finish(&row)));
            g_string_truncate(row.text, 0);
        }
        qd_sql_append_after(&row, ",", qd_sql_make(self->arena, "quote(@)", qd_column_intern(self, &relation->columns[i])));
        n++;
    }
    qd_sql_append_after(&calls, "||", qd_sql_make(self->arena, "json_array(@)", qd_sql_finish(&row)));
    return qd_sql_finish(&calls);
}

/* @only: " FILTER (…)", or empty. */
static QdSql
write_aggregate(QdGenerator *self, const QdExpression *aggregate, const QdRelation *relation, QdSql only)
{
    static const char *const names[] = { "count",      "queryd_sum",    "queryd_min",         "queryd_max",
                                         "queryd_avg", "queryd_sample", "queryd_group_concat" };
    QdSql distinct = qd_sql_text(aggregate->distinct ? "DISTINCT " : "");
    QdSql value, separator;

    if (aggregate->n_children == 0) {
        value = aggregate->distinct ? write_row(self, relation) : qd_sql_text("1");
    } else if (!aggregate->distinct && (aggregate->aggregate == QD_AGGREGATE_SUM || aggregate->aggregate == QD_AGGREGATE_AVG)) {
        value = qd_expression_make_summand(self, aggregate->children[0], relation);
    } else {
        QdColumn column = qd_expression_make_value(self, aggregate->children[0], relation);

        value = aggregate->distinct ? qd_column_intern(self, &column) : column.sql;
    }
    if (aggregate->aggregate == QD_AGGREGATE_COUNT)
        return qd_sql_make(self->arena, "queryd_integer(count(@@)@)", distinct, value, only);
    if (aggregate->aggregate != QD_AGGREGATE_GROUP_CONCAT || aggregate->separator == NULL)
        return qd_sql_make(self->arena, "@(@@)@", qd_sql_text(names[aggregate->aggregate]), distinct, value, only);
    separator = qd_generator_put_term(self, aggregate->separator);
    if (!aggregate->distinct)
        return qd_sql_make(self->arena, "queryd_group_concat(@,@)@", value, separator, only);
    return qd_sql_make(self->arena, "queryd_list_join(queryd_group_list(DISTINCT @)@,@)", value, only, separator);
}

/*
 * Without keys a group is there even when nothing is in it. Inside GRAPH ?g it is there once for each graph, which the graphs
 * on the left of an outer join give.
 */
static QdRelation *
add_empty_groups(QdGenerator *self, const QdRelation *relation, QdSql *ret_only)
{
    QdRelation *graphs = qd_generate_unit(self);
    QdRelation *sealed = qd_relation_seal(self, relation, QD_SEAL_PLAIN);
    const QdColumn *graph = qd_relation_find(sealed, self->graph.variable);
    QdRelation *joined = qd_relation_copy(self, graphs);
    QdTable table = sealed->tables[0];

    *ret_only = qd_sql_make(self->arena, " FILTER (WHERE @ IS NOT NULL)", graph->sql);
    table.on = qd_sql_equate(self->arena, graphs->columns[0].sql, "=", graph->sql);
    qd_relation_add_table(self, joined, &table);
    for (guint i = 0; i < sealed->n_columns; i++) {
        if (sealed->columns[i].variable != self->graph.variable)
            (void) qd_relation_add_column(self, joined, &sealed->columns[i]);
    }
    return joined;
}

/* Whether @aggregate is one of qd_rewrite_count(), whose variable has no name: it is always bound. */
static gboolean
is_sum_of_counts(QdGenerator *self, const QdExpression *aggregate)
{
    return aggregate->aggregate == QD_AGGREGATE_SUM && aggregate->children[0]->kind == QD_EXPRESSION_KIND_VARIABLE &&
           qd_ast_get_variable_name(self->ast, aggregate->children[0]->variable) == NULL;
}

/*
 * @relation with all that the aggregates of @node name as columns of tables in it. SQLite takes an aggregate whose argument names
 * columns of the SELECT around alone for one of that SELECT, which is where an EXISTS is asked.
 */
static QdRelation *
own_arguments(QdGenerator *self, const QdAlgebra *node, QdRelation *relation)
{
    QdVariableSet named = { 0 };
    QdRelation *owned;
    gboolean is_foreign = FALSE;

    if (self->outer == NULL)
        return relation;
    for (guint i = 0; i < node->n_bindings; i++) {
        if (node->bindings[i].expression->n_children > 0)
            qd_expression_add_all_variables(node->bindings[i].expression->children[0], self->arena, &named);
        else if (node->bindings[i].expression->distinct)
            qd_variable_set_add_all(&named, self->arena, &node->children[0]->possible);
    }
    owned = qd_relation_copy(self, relation);
    QD_VARIABLE_SET_FOREACH(&named, variable)
    {
        const QdColumn *column = qd_expression_find_variable(self, owned, variable);

        if (column == NULL)
            continue;
        is_foreign = is_foreign || qd_relation_find_last_table(relation, &column->sql) < 0;
        if (qd_relation_find(owned, variable) == NULL)
            qd_relation_add_column(self, owned, column)->variable = variable;
    }
    return is_foreign ? qd_relation_seal(self, owned, QD_SEAL_PLAIN) : relation;
}

static QdRelation *
group_rows(QdGenerator *self, const QdAlgebra *node)
{
    QdRelation *relation = qd_generator_generate(self, node->children[0], NULL);
    QdRelation *shape = qd_relation_new(self);
    g_auto(QdSqlBuilder) keys = qd_sql_builder_new(self->arena);
    QdSql only = qd_sql_text("");
    gboolean per_graph = self->graph.kind == QD_NODE_VARIABLE;
    gboolean has_keys;

    if (self->error != NULL)
        return relation;
    relation = own_arguments(self, node, qd_relation_fence(self, relation));
    if (per_graph && node->n_variables == 0)
        relation = add_empty_groups(self, relation, &only);
    for (guint i = 0; i < node->n_variables + (per_graph ? 1 : 0); i++) {
        guint variable = i < node->n_variables ? node->variables[i] : self->graph.variable;
        QdColumn *from = qd_relation_find(relation, variable);
        QdColumn *key;

        if (from == NULL || qd_relation_find(shape, variable) != NULL)
            continue;
        key = qd_relation_add(self, shape, variable, qd_column_intern(self, from));
        key->certain = from->certain;
        key->interned = TRUE;
        qd_sql_append_text(&keys, shape->n_columns > 1 ? "," : "GROUP BY ");
        qd_sql_append_text(&keys, qd_arena_printf(self->arena, "%u", shape->n_columns));
    }
    has_keys = node->n_variables > 0 || shape->n_columns > 0;
    if (has_keys && shape->n_columns == 0)
        qd_sql_append_text(&keys, "GROUP BY NULL"); /* of nothing that is bound: one group, if there are rows */
    for (guint i = 0; i < node->n_bindings; i++) {
        const QdExpression *aggregate = node->bindings[i].expression;
        QdColumn *column = qd_relation_add(self, shape, node->bindings[i].variable,
                                           write_aggregate(self, aggregate, relation, only));

        column->interned = aggregate->aggregate == QD_AGGREGATE_COUNT;
        column->certain = column->interned || is_sum_of_counts(self, aggregate);
    }
    qd_relation_take_rows(self, shape, relation);
    if (shape->n_columns == 0)
        (void) qd_relation_add(self, shape, qd_ast_add_variable(self->ast, NULL), qd_sql_fill(self->arena, "count(*)", NULL, 0));
    relation = qd_relation_seal_text(self, shape, qd_relation_write(self, shape, "SELECT", qd_sql_finish(&keys)),
                                     has_keys ? QD_SEAL_TABLE : QD_SEAL_PLAIN);
    return relation;
}

QdRelation *
qd_generate_group(QdGenerator *self, const QdAlgebra *node)
{
    QdRelation *counted;

    node = qd_rewrite_count_bound(self, node);
    counted = qd_generate_tally(self, node);
    if (counted == NULL)
        counted = qd_generate_path_count(self, node);
    return counted != NULL ? counted : group_rows(self, qd_rewrite_count(self, node));
}
