/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Quads of the active graph. Inside GRAPH ?g every relation carries a column for the graph's name, under a variable of ours. ?g
 * itself is bound only outside (its use inside is a join like any other).
 */
#include "daemon/plan/sqlgen-private.h"

#define SKEW 4 /* values that occur often are looked up often: their quads are more than the average */

/* ?1,?2,… */
static QdSql
write_list(QdGenerator *self, const QdTerm **terms, guint n_terms)
{
    QdSql *list = qd_arena_array0(self->arena, QdSql, n_terms);

    for (guint i = 0; i < n_terms; i++)
        list[i] = qd_generator_put_term(self, terms[i]);
    return qd_sql_list(self->arena, list, n_terms);
}

/* The graphs that are the default graph together. */
static QdSql
write_default_list(QdGenerator *self)
{
    const QdDatasetClause *clause = self->dataset->clause;
    QdSql list = write_list(self, clause->graphs, clause->n_graphs);

    return clause->has_default ? qd_sql_make(self->arena, "@,0", list) : list;
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

/* All graphs: of a triple that stands in several the quad of the first one. Most stand in the default graph, or in one. */
static QdSql
union_condition(QdGenerator *self, const QdTableName *table, QdSql g)
{
    return qd_sql_make(
        self->arena, "(@=0 OR NOT @)", g,
        qd_sql_exists(self->arena, QD_SQL_NONE,
                      qd_sql_make(self->arena, "SELECT 1 FROM queryd_quad AS d WHERE d.s=@ AND d.p=@ AND d.o=@ AND d.g<@",
                                  qd_sql_column(self->arena, table, "s", QD_SQL_NODE),
                                  qd_sql_column(self->arena, table, "p", QD_SQL_PREDICATE),
                                  qd_sql_column(self->arena, table, "o", QD_SQL_NODE), g)));
}

/* Several FROM: a triple that stands in two graphs is one triple. */
static QdSql
default_condition(QdGenerator *self, const QdTableName *table, QdSql g)
{
    const QdDatasetClause *clause = self->dataset->clause;
    QdSql list;

    if (clause == NULL && self->dataset->with == NULL)
        return qd_sql_equate(self->arena, g, "=", qd_sql_text("0"));
    if (clause != NULL && clause->is_union)
        return union_condition(self, table, g);
    if (clause != NULL && clause->has_default && clause->n_graphs == 0)
        return qd_sql_equate(self->arena, g, "=", qd_sql_text("0"));
    if (clause == NULL || (clause->n_graphs == 1 && !clause->has_default))
        return qd_sql_equate(self->arena, g, "=",
                             qd_generator_put_term(self, clause == NULL ? self->dataset->with : clause->graphs[0]));
    if (clause->n_graphs == 0)
        return qd_sql_text("0");
    list = write_default_list(self);
    return qd_sql_make(
        self->arena, "@ IN (@) AND NOT @", g, list,
        qd_sql_exists(self->arena, QD_SQL_NONE,
                      qd_sql_make(self->arena,
                                  "SELECT 1 FROM queryd_quad AS d WHERE d.s=@ AND d.p=@ AND d.o=@ AND d.g IN (@) AND d.g<@",
                                  qd_sql_column(self->arena, table, "s", QD_SQL_NODE),
                                  qd_sql_column(self->arena, table, "p", QD_SQL_PREDICATE),
                                  qd_sql_column(self->arena, table, "o", QD_SQL_NODE), list, g)));
}

/* @is_apart: what says that a graph is a named one does not lead to the index of these. */
static QdSql
write_graph_condition(QdGenerator *self, const QdTableName *table, gboolean is_apart)
{
    const QdDatasetClause *clause = self->dataset->clause;
    QdSql g = qd_sql_column(self->arena, table, "g", QD_SQL_COLUMN);
    QdSql is_named;

    if (self->graph.kind == QD_NODE_NONE)
        return default_condition(self, table, g);
    is_named = qd_sql_make(self->arena, is_apart ? "+@<>0" : "@<>0", g);
    switch (self->graph.kind) {
    case QD_NODE_NONE:
        break;
    case QD_NODE_TERM:
        if (clause != NULL && !clause->names_all && !has_named(clause, self->graph.term))
            return qd_sql_text("0");
        return qd_sql_make(self->arena, "@=@ AND @", g, qd_generator_put_term(self, self->graph.term), is_named);
    case QD_NODE_VARIABLE:
        if (clause != NULL && !clause->names_all)
            return qd_sql_make(self->arena, "@ IN (@) AND @", g, write_list(self, clause->named, clause->n_named), is_named);
        return is_named;
    }
    return qd_sql_text("1");
}

QdSql
qd_generate_graph_condition(QdGenerator *self, const QdTableName *table)
{
    return write_graph_condition(self, table, FALSE);
}

QdSql
qd_generate_graph_condition_apart(QdGenerator *self, const QdTableName *table)
{
    return write_graph_condition(self, table, TRUE);
}

/* A quad of the active graph as a relation of one table. */
static QdRelation *
generate_quad(QdGenerator *self)
{
    QdRelation *relation = qd_relation_new(self);
    QdTable table = qd_generator_make_table(self, 'q');

    table.from = qd_sql_make(self->arena, "queryd_quad AS @", table.from);
    table.is_base = TRUE;
    table.sure = "g";
    qd_relation_add_table(self, relation, &table);
    if (self->graph.kind == QD_NODE_VARIABLE)
        (void) qd_relation_add_stored(self, relation, self->graph.variable, qd_table_write_witness(self, &table));
    return relation;
}

static void
match_node(QdGenerator *self, QdRelation *relation, QdSql sql, const QdNode *node)
{
    const QdColumn *column;
    QdSql value = QD_SQL_NONE;

    switch (node->kind) {
    case QD_NODE_NONE:
        return;
    case QD_NODE_TERM:
        value = qd_generator_put_term(self, node->term);
        break;
    case QD_NODE_VARIABLE:
        value = qd_generator_find_value(self, node->variable);
        column = value.text == NULL ? qd_relation_find(relation, node->variable) : NULL;
        if (column != NULL)
            value = column->sql;
        break;
    }
    if (value.text != NULL)
        qd_relation_add_where(self, relation, qd_sql_equate(self->arena, sql, "=", value));
    else
        (void) qd_relation_add_stored(self, relation, node->variable, sql);
}

/* --- which index ------------------------------------------------------------------------------------------------------ */

/* About how many quads of all graphs are read for a value of the object, or for all of them. */
static guint64
estimate_read(QdGenerator *self, const QdTriple *triple, gboolean knows_object, guint64 cap)
{
    const QdTerm *predicate = triple->p.kind == QD_NODE_TERM ? triple->p.term : NULL;
    QdPredicateStatistics statistics = { 0 };

    if (triple->o.kind == QD_NODE_TERM)
        return self->catalog->count_quads(self->catalog->data, NULL, predicate, triple->o.term, cap);
    if (predicate == NULL)
        return knows_object ? 1 : cap;
    (void) self->catalog->get_predicate(self->catalog->data, predicate, &statistics);
    return knows_object ? statistics.n_quads / MAX(1, statistics.n_objects) : statistics.n_quads;
}

/* Whether another index than that of named graphs is better read. SQLite believes of the latter that it is small. */
static gboolean
reads_across_graphs(QdGenerator *self, const QdTriple *triple, const QdVariableSet *bound)
{
    gboolean knows_object = qd_node_is_bound(self, &triple->o, bound);
    guint64 n_in_graph;

    if (self->graph.kind == QD_NODE_NONE || qd_node_is_bound(self, &triple->s, bound))
        return FALSE;
    if (!qd_node_is_bound(self, &self->graph, bound))
        return knows_object || qd_node_is_bound(self, &triple->p, bound);
    if (self->catalog == NULL || self->catalog->count_graph == NULL)
        return FALSE;
    n_in_graph = self->catalog->count_graph(self->catalog->data, self->graph.kind == QD_NODE_TERM ? self->graph.term : NULL);
    return SKEW * estimate_read(self, triple, knows_object, n_in_graph + 1) <= n_in_graph;
}

QdRelation *
qd_generate_triple(QdGenerator *self, const QdTriple *triple, const QdVariableSet *bound)
{
    QdRelation *relation = generate_quad(self);
    const QdTableName *table = &relation->tables[0].name;
    gboolean is_apart = reads_across_graphs(self, triple, bound);
    QdSql condition;
    QdSqlLookup *lookup;

    match_node(self, relation, qd_sql_column(self->arena, table, "s", QD_SQL_SUBJECT), &triple->s);
    match_node(self, relation, qd_sql_column(self->arena, table, "p", QD_SQL_PREDICATE), &triple->p);
    match_node(self, relation, qd_sql_column(self->arena, table, "o", QD_SQL_NODE), &triple->o);
    condition = write_graph_condition(self, table, is_apart);
    if (!is_apart && self->graph.kind != QD_NODE_NONE) {
        condition.lookup = lookup = qd_arena_new0(self->arena, QdSqlLookup);
        *lookup = (QdSqlLookup){ .table = table->set->numbers[0], .apart = write_graph_condition(self, table, TRUE) };
    }
    qd_relation_add_where(self, relation, condition);
    qd_outer_close(self, relation);
    return relation;
}

/* The named graphs of the dataset, one row each. */
static QdRelation *
generate_graphs(QdGenerator *self, guint variable)
{
    const QdDatasetClause *clause = self->dataset->clause;
    QdRelation *relation = qd_relation_new(self);
    QdTable table = qd_generator_make_table(self, 'g');
    QdSql id = qd_sql_column(self->arena, &table.name, "id", QD_SQL_COLUMN);

    if (clause == NULL || clause->names_all) {
        table.from = qd_sql_make(self->arena, "queryd_graph AS @", table.from);
        qd_relation_add_where(self, relation,
                              qd_sql_make(self->arena, "@<>0 AND (@>0 OR @)", id,
                                          qd_sql_column(self->arena, &table.name, "n_quads", QD_SQL_COLUMN),
                                          qd_sql_column(self->arena, &table.name, "explicit", QD_SQL_COLUMN)));
    } else {
        g_auto(QdSqlBuilder) rows = qd_sql_builder_new(self->arena);

        for (guint i = 0; i < clause->n_named; i++)
            qd_sql_append_after(&rows, " UNION ",
                                qd_sql_make(self->arena, "SELECT @ AS id", qd_generator_put_term(self, clause->named[i])));
        if (clause->n_named == 0)
            qd_sql_append_text(&rows, "SELECT NULL AS id WHERE 0");
        table.from = qd_sql_make(self->arena, "(@) AS @", qd_sql_finish(&rows), table.from);
    }
    (void) qd_relation_add_stored(self, relation, variable, id);
    qd_relation_add_table(self, relation, &table);
    return relation;
}

/* That the active graph, a constant, is there: GRAPH <iri> {} has a solution only then. */
static QdSql
existence_condition(QdGenerator *self)
{
    const QdDatasetClause *clause = self->dataset->clause;

    if (clause != NULL && !clause->names_all)
        return has_named(clause, self->graph.term) ? QD_SQL_NONE : qd_sql_text("0");
    return qd_sql_exists(self->arena, QD_SQL_NONE,
                         qd_sql_make(self->arena,
                                     "SELECT 1 FROM queryd_graph AS g WHERE g.id=@ AND g.id<>0 AND (g.n_quads>0 OR g.explicit)",
                                     qd_generator_put_term(self, self->graph.term)));
}

QdRelation *
qd_generate_in_graph(QdGenerator *self, QdRelation *relation)
{
    return self->graph.kind == QD_NODE_VARIABLE ? qd_relation_join(self, relation, generate_graphs(self, self->graph.variable))
                                                : relation;
}

QdRelation *
qd_generate_unit(QdGenerator *self)
{
    return qd_generate_in_graph(self, qd_relation_new(self));
}

/* Our column for the graph becomes the query's variable, which has to agree with what the pattern itself binds it to. Both are
 * columns of the same rows, which no join may seal apart from either. */
static QdRelation *
name_graph(QdGenerator *self, const QdRelation *inner, guint hidden, guint variable)
{
    QdRelation *name = qd_relation_new(self);
    QdSql parameter = qd_generator_find_value(self, variable);
    const QdColumn *bound = qd_relation_find(inner, variable);
    QdNode active = self->graph;
    QdRelation *rest;

    if (bound != NULL && !bound->interned) /* as a value, not as its long text twice */
        inner = qd_relation_seal(self, inner, QD_SEAL_STREAM);
    rest = qd_relation_drop_column(self, inner, hidden);
    if (qd_relation_find(inner, hidden) == NULL) /* after an error */
        return rest;
    (void) qd_relation_add_column(self, name, qd_relation_find(inner, hidden));
    name->columns[0].variable = variable;
    if (parameter.text != NULL) { /* which needs no column */
        qd_relation_add_where(self, rest, qd_sql_equate(self->arena, name->columns[0].sql, "=", parameter));
        return rest;
    }
    self->graph = (QdNode){ 0 };
    rest = qd_relation_merge(self, rest, name);
    self->graph = active;
    return rest;
}

/* Whether a solution of @node needs a quad of the active graph, which is there then. */
static gboolean
needs_quad(const QdAlgebra *node)
{
    switch (node->kind) {
    case QD_ALGEBRA_TRIPLE:
        return TRUE;
    case QD_ALGEBRA_JOIN:
        for (guint i = 0; i < node->n_children; i++) {
            if (needs_quad(node->children[i]))
                return TRUE;
        }
        return FALSE;
    case QD_ALGEBRA_LEFT_JOIN:
    case QD_ALGEBRA_MINUS:
    case QD_ALGEBRA_FILTER:
    case QD_ALGEBRA_EXTEND:
    case QD_ALGEBRA_PROJECT:
    case QD_ALGEBRA_DISTINCT:
        return needs_quad(node->children[0]);
    default:
        return FALSE;
    }
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
    if (node->node.kind == QD_NODE_TERM && !needs_quad(node->children[0])) {
        relation = qd_relation_copy(self, relation);
        qd_relation_add_where(self, relation, existence_condition(self));
    }
    if (node->node.kind == QD_NODE_VARIABLE)
        relation = name_graph(self, relation, self->graph.variable, node->node.variable);
    self->graph = active;
    return qd_generate_in_graph(self, relation);
}
