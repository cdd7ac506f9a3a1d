/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A walk over patterns and expressions with the graph that is active there.
 */
#include "daemon/sparql/reads.h"

#include "daemon/rdf/term.h"
#include "daemon/sparql/ast.h"

typedef struct Walk {
    const QdDatasetClause *dataset; /* (nullable) */
    QdNameSet *predicates;
    QdNameSet *graphs;
} Walk;

static void visit_pattern(const Walk *self, const QdPattern *pattern, const QdNode *graph);

static void
add_term(QdNameSet *names, const QdTerm *term)
{
    qd_name_set_add(names, term->lexical, term->n_lexical);
}

static void
add_terms(QdNameSet *names, const QdTerm **terms, guint n_terms)
{
    for (guint i = 0; i < n_terms; i++)
        add_term(names, terms[i]);
}

/* The graphs that @graph, the node of the innermost GRAPH, stands for. */
static void
add_graph(const Walk *self, const QdNode *graph)
{
    switch (graph->kind) {
    case QD_NODE_NONE:
        if (self->dataset != NULL && self->dataset->is_union)
            qd_name_set_make_all(self->graphs);
        if (self->dataset != NULL)
            add_terms(self->graphs, self->dataset->graphs, self->dataset->n_graphs);
        if (self->dataset == NULL || self->dataset->has_default)
            qd_name_set_add(self->graphs, "", 0);
        return;
    case QD_NODE_TERM:
        add_term(self->graphs, graph->term);
        return;
    case QD_NODE_VARIABLE:
        if (self->dataset != NULL && !self->dataset->names_all)
            add_terms(self->graphs, self->dataset->named, self->dataset->n_named);
        else
            qd_name_set_make_all(self->graphs);
        return;
    }
}

static void
visit_path(const Walk *self, const QdPath *path)
{
    switch (path->kind) {
    case QD_PATH_LINK:
        add_term(self->predicates, path->iri);
        return;
    case QD_PATH_ZERO_OR_MORE:
    case QD_PATH_ZERO_OR_ONE:
    case QD_PATH_NEGATED:
        /* of length zero it finds every node there is */
        qd_name_set_make_all(self->predicates);
        return;
    case QD_PATH_INVERSE:
    case QD_PATH_SEQUENCE:
    case QD_PATH_ALTERNATIVE:
    case QD_PATH_ONE_OR_MORE:
        for (guint i = 0; i < path->n_children; i++)
            visit_path(self, path->children[i]);
        return;
    }
}

static void
visit_triple(const Walk *self, const QdTriple *triple, const QdNode *graph)
{
    add_graph(self, graph);
    if (triple->path != NULL)
        visit_path(self, triple->path);
    else if (triple->p.kind == QD_NODE_TERM)
        add_term(self->predicates, triple->p.term);
    else
        qd_name_set_make_all(self->predicates);
}

static void
visit_match(const Walk *self, const QdMatch *match, const QdNode *graph)
{
    add_graph(self, graph);
    if (match->n_predicates > 0)
        add_terms(self->predicates, match->predicates, match->n_predicates);
    else
        qd_name_set_make_all(self->predicates);
}

static void
visit_expression(const Walk *self, const QdExpression *expression, const QdNode *graph)
{
    if (expression == NULL)
        return;
    if (expression->kind == QD_EXPRESSION_KIND_EXISTS)
        visit_pattern(self, expression->pattern, graph);
    for (guint i = 0; i < expression->n_children; i++)
        visit_expression(self, expression->children[i], graph);
}

static void
visit_select(const Walk *self, const QdSelect *select, const QdNode *graph)
{
    if (select->where != NULL)
        visit_pattern(self, select->where, graph);
    for (guint i = 0; i < select->n_items; i++)
        visit_expression(self, select->items[i].expression, graph);
    for (guint i = 0; i < select->n_groups; i++)
        visit_expression(self, select->groups[i].expression, graph);
    for (guint i = 0; i < select->n_having; i++)
        visit_expression(self, select->having[i], graph);
    for (guint i = 0; i < select->n_orders; i++)
        visit_expression(self, select->orders[i].expression, graph);
}

/* Whether a solution needs a triple of the active graph, and not just that the graph is there. */
static gboolean
needs_triple(const QdPattern *pattern)
{
    if (pattern->kind == QD_PATTERN_TRIPLES)
        return pattern->n_triples + pattern->n_matches > 0;
    for (guint i = 0; pattern->kind == QD_PATTERN_GROUP && i < pattern->n_children; i++)
        if (needs_triple(pattern->children[i]))
            return TRUE;
    return FALSE;
}

static void
visit_pattern(const Walk *self, const QdPattern *pattern, const QdNode *graph)
{
    switch (pattern->kind) {
    case QD_PATTERN_TRIPLES:
        for (guint i = 0; i < pattern->n_triples; i++)
            visit_triple(self, &pattern->triples[i], graph);
        for (guint i = 0; i < pattern->n_matches; i++)
            visit_match(self, pattern->matches[i], graph);
        return;
    case QD_PATTERN_GRAPH:
        add_graph(self, &pattern->node);
        if (!needs_triple(pattern->children[0]))
            qd_name_set_make_all(self->predicates);
        visit_pattern(self, pattern->children[0], &pattern->node);
        return;
    case QD_PATTERN_FILTER:
    case QD_PATTERN_BIND:
        visit_expression(self, pattern->expression, graph);
        return;
    case QD_PATTERN_SELECT:
        visit_select(self, pattern->select, graph);
        return;
    case QD_PATTERN_GROUP:
    case QD_PATTERN_OPTIONAL:
    case QD_PATTERN_UNION:
    case QD_PATTERN_MINUS:
        for (guint i = 0; i < pattern->n_children; i++)
            visit_pattern(self, pattern->children[i], graph);
        return;
    case QD_PATTERN_SERVICE:
    case QD_PATTERN_VALUES:
        return;
    }
}

void
qd_sparql_reads_collect(const QdAst *ast, QdNameSet *predicates, QdNameSet *graphs)
{
    const Walk walk = { ast->dataset, predicates, graphs };
    const QdNode default_graph = { .kind = QD_NODE_NONE };

    visit_select(&walk, ast->select, &default_graph);
    if (ast->form == QD_FORM_DESCRIBE) {
        add_graph(&walk, &default_graph);
        qd_name_set_make_all(predicates);
    }
}
