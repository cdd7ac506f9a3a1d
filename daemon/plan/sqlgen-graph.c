/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Quads of the active graph. Inside GRAPH ?g every relation carries a column for the graph's name, under a variable of ours. ?g
 * itself is bound only outside (its use inside is a join like any other).
 */
#include "daemon/plan/sqlgen-private.h"

/* ?1,?2,… */
static const char *
write_list(QdGenerator *self, const QdTerm **terms, guint n_terms)
{
    g_autoptr(GString) list = g_string_new(NULL);

    for (guint i = 0; i < n_terms; i++)
        g_string_append_printf(list, "%s%s", i > 0 ? "," : "", qd_generator_put_term(self, terms[i]));
    return qd_arena_strndup(self->arena, list->str, list->len);
}

static gboolean
has_named(const QdDatasetClause *clause, const QdTerm *graph)
{
    for (guint i = 0; i < clause->n_named; i++) {
        if (qd_term_equal(clause->named[i], graph))
            return TRUE;
    }
    return FALSE;
}

/* Several FROM: a triple that stands in two graphs is one triple. */
static const char *
default_condition(QdGenerator *self, const char *alias)
{
    const QdDatasetClause *clause = self->dataset->clause;
    const char *list;

    if (clause == NULL && self->dataset->with == NULL)
        return qd_arena_concat(self->arena, alias, ".g=0", NULL);
    if (clause == NULL || clause->n_graphs == 1)
        return qd_arena_printf(self->arena, "%s.g=%s", alias,
                               qd_generator_put_term(self, clause == NULL ? self->dataset->with : clause->graphs[0]));
    if (clause->n_graphs == 0)
        return "0";
    list = write_list(self, clause->graphs, clause->n_graphs);
    return qd_arena_printf(
        self->arena,
        "%s.g IN (%s) AND NOT EXISTS(SELECT 1 FROM queryd_quad AS d WHERE d.s=%s.s AND d.p=%s.p AND d.o=%s.o AND "
        "d.g IN (%s) AND d.g<%s.g)",
        alias, list, alias, alias, alias, list, alias);
}

const char *
qd_generate_graph_condition(QdGenerator *self, const char *alias)
{
    const QdDatasetClause *clause = self->dataset->clause;

    switch (self->graph.kind) {
    case QD_NODE_NONE:
        return default_condition(self, alias);
    case QD_NODE_TERM:
        if (clause != NULL && !has_named(clause, self->graph.term))
            return "0";
        return qd_arena_printf(self->arena, "%s.g=%s AND %s.g<>0", alias, qd_generator_put_term(self, self->graph.term), alias);
    case QD_NODE_VARIABLE:
        if (clause != NULL)
            return qd_arena_printf(self->arena, "%s.g IN (%s) AND %s.g<>0", alias, write_list(self, clause->named, clause->n_named),
                                   alias);
        return qd_arena_printf(self->arena, "%s.g<>0", alias);
    }
    return NULL;
}

QdRelation *
qd_generate_quad(QdGenerator *self, const char **ret_alias)
{
    const char *alias = qd_arena_printf(self->arena, "q%u", qd_generator_make_name(self));
    QdRelation *relation = qd_relation_new(self);
    QdTable table = { .is_base = TRUE, .sure = "g" };

    table.text = qd_arena_concat(self->arena, "queryd_quad AS ", alias, NULL);
    table.name = alias;
    qd_relation_add_table(self, relation, &table);
    if (self->graph.kind == QD_NODE_VARIABLE) {
        QdColumn *column = qd_relation_add(self, relation, self->graph.variable, qd_arena_concat(self->arena, alias, ".g", NULL));

        column->certain = column->interned = column->plain = TRUE;
    }
    *ret_alias = alias;
    return relation;
}

static void
match_node(QdGenerator *self, QdRelation *relation, const char *sql, const QdNode *node)
{
    const char *parameter;
    QdColumn *column;

    switch (node->kind) {
    case QD_NODE_NONE:
        return;
    case QD_NODE_TERM:
        qd_relation_add_where(self, relation,
                              qd_arena_concat(self->arena, sql, "=", qd_generator_put_term(self, node->term), NULL));
        return;
    case QD_NODE_VARIABLE:
        parameter = qd_generator_find_parameter(self, node->variable);
        if (parameter != NULL) {
            qd_relation_add_where(self, relation, qd_arena_concat(self->arena, sql, "=", parameter, NULL));
            return;
        }
        column = qd_relation_find(relation, node->variable);
        if (column != NULL) {
            qd_relation_add_where(self, relation, qd_arena_concat(self->arena, sql, "=", column->sql, NULL));
            return;
        }
        column = qd_relation_add(self, relation, node->variable, sql);
        column->certain = column->interned = column->plain = TRUE;
        return;
    }
}

QdRelation *
qd_generate_triple(QdGenerator *self, const QdTriple *triple)
{
    const char *alias;
    QdRelation *relation = qd_generate_quad(self, &alias);

    match_node(self, relation, qd_arena_concat(self->arena, alias, ".s", NULL), &triple->s);
    match_node(self, relation, qd_arena_concat(self->arena, alias, ".p", NULL), &triple->p);
    match_node(self, relation, qd_arena_concat(self->arena, alias, ".o", NULL), &triple->o);
    qd_relation_add_where(self, relation, qd_generate_graph_condition(self, alias));
    return relation;
}

/* The named graphs of the dataset, one row each. */
static QdRelation *
generate_graphs(QdGenerator *self, guint variable)
{
    const QdDatasetClause *clause = self->dataset->clause;
    const char *alias = qd_arena_printf(self->arena, "g%u", qd_generator_make_name(self));
    QdRelation *relation = qd_relation_new(self);
    QdTable table = { .name = alias };
    QdColumn *column;

    if (clause == NULL) {
        table.text = qd_arena_printf(self->arena, "queryd_graph AS %s", alias);
        qd_relation_add_where(self, relation,
                              qd_arena_printf(self->arena, "%s.id<>0 AND (%s.n_quads>0 OR %s.explicit)", alias, alias, alias));
        column = qd_relation_add(self, relation, variable, qd_arena_printf(self->arena, "%s.id", alias));
    } else {
        g_autoptr(GString) rows = g_string_new(NULL);

        for (guint i = 0; i < clause->n_named; i++)
            g_string_append_printf(rows, "%sSELECT %s AS id", i > 0 ? " UNION " : "",
                                   qd_generator_put_term(self, clause->named[i]));
        if (clause->n_named == 0)
            g_string_append(rows, "SELECT NULL AS id WHERE 0");
        table.text = qd_arena_printf(self->arena, "(%s) AS %s", rows->str, alias);
        column = qd_relation_add(self, relation, variable, qd_arena_printf(self->arena, "%s.id", alias));
    }
    column->certain = column->interned = column->plain = TRUE;
    qd_relation_add_table(self, relation, &table);
    return relation;
}

/* That the active graph, a constant, is there: GRAPH <iri> {} has a solution only then. */
static const char *
existence_condition(QdGenerator *self)
{
    const QdDatasetClause *clause = self->dataset->clause;

    if (clause != NULL)
        return has_named(clause, self->graph.term) ? NULL : "0";
    return qd_arena_printf(self->arena,
                           "EXISTS(SELECT 1 FROM queryd_graph AS g WHERE g.id=%s AND g.id<>0 AND (g.n_quads>0 OR g.explicit))",
                           qd_generator_put_term(self, self->graph.term));
}

QdRelation *
qd_generate_in_graph(QdGenerator *self, QdRelation *relation)
{
    if (self->graph.kind == QD_NODE_VARIABLE)
        return qd_relation_join(self, relation, generate_graphs(self, self->graph.variable));
    if (self->graph.kind == QD_NODE_TERM) {
        relation = qd_relation_copy(self, relation);
        qd_relation_add_where(self, relation, existence_condition(self));
    }
    return relation;
}

QdRelation *
qd_generate_unit(QdGenerator *self)
{
    return qd_generate_in_graph(self, qd_relation_new(self));
}

/* Our column for the graph becomes the query's variable, joined with what the pattern itself binds it to. */
static QdRelation *
name_graph(QdGenerator *self, const QdRelation *inner, guint hidden, guint variable)
{
    QdRelation *name = qd_relation_new(self);
    QdRelation *rest = qd_relation_new(self);
    QdNode no_graph = { 0 };
    QdNode active = self->graph;
    const char *parameter;
    QdRelation *joined;

    qd_relation_take_rows(self, rest, inner);
    for (guint i = 0; i < inner->n_columns; i++) {
        if (inner->columns[i].variable != hidden)
            *qd_relation_add(self, rest, inner->columns[i].variable, NULL) = inner->columns[i];
        else
            *qd_relation_add(self, name, variable, NULL) = inner->columns[i];
    }
    if (name->n_columns == 0) /* after an error */
        return rest;
    name->columns[0].variable = variable;
    parameter = qd_generator_find_parameter(self, variable);
    if (parameter != NULL) { /* which needs no column */
        qd_relation_add_where(self, rest, qd_arena_printf(self->arena, "%s=%s", name->columns[0].sql, parameter));
        return rest;
    }
    self->graph = no_graph;
    joined = qd_relation_join(self, rest, name);
    self->graph = active;
    return joined;
}

QdRelation *
qd_generate_graph(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    QdNode active = self->graph;
    QdRelation *relation;

    self->graph = node->node;
    if (node->node.kind == QD_NODE_VARIABLE)
        self->graph.variable = qd_ast_add_variable(self->ast, NULL);
    relation = qd_generator_generate(self, node->children[0], bound);
    if (node->node.kind == QD_NODE_VARIABLE)
        relation = name_graph(self, relation, self->graph.variable, node->node.variable);
    self->graph = active;
    return qd_generate_in_graph(self, relation);
}
