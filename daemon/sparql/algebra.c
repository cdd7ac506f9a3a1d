/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Patterns to algebra (§18.2.2) and solution modifiers around it (§18.2.4, §18.2.5).
 */
#include "daemon/sparql/algebra.h"

#include <string.h>

#include "daemon/sparql/ast.h"

static QdAlgebra *
new_node(QdAst *ast, QdAlgebraKind kind)
{
    QdAlgebra *node = qd_arena_new0(ast->arena, QdAlgebra);

    node->kind = kind;
    return node;
}

QdAlgebra *
qd_algebra_new_parent(QdAst *ast, QdAlgebraKind kind, QdAlgebra **children, guint n_children)
{
    QdAlgebra *node = new_node(ast, kind);

    node->children = qd_arena_array0(ast->arena, QdAlgebra *, n_children);
    node->n_children = n_children;
    for (guint i = 0; i < n_children; i++) {
        node->children[i] = children[i];
        qd_variable_set_add_all(&node->possible, ast->arena, &children[i]->possible);
    }
    return node;
}

static void
add_operand(GPtrArray *operands, QdAlgebra *node)
{
    if (node->kind == QD_ALGEBRA_JOIN) {
        for (guint i = 0; i < node->n_children; i++)
            g_ptr_array_add(operands, node->children[i]);
    } else if (node->kind != QD_ALGEBRA_UNIT) {
        g_ptr_array_add(operands, node);
    }
}

static QdAlgebra *
join_operands(QdAst *ast, const GPtrArray *operands)
{
    if (operands->len == 0)
        return new_node(ast, QD_ALGEBRA_UNIT);
    if (operands->len == 1)
        return operands->pdata[0];
    return qd_algebra_new_parent(ast, QD_ALGEBRA_JOIN, (QdAlgebra **) operands->pdata, operands->len);
}

static QdAlgebra *
join(QdAst *ast, QdAlgebra *left, QdAlgebra *right)
{
    g_autoptr(GPtrArray) operands = g_ptr_array_new();

    add_operand(operands, left);
    add_operand(operands, right);
    return join_operands(ast, operands);
}

static QdAlgebra *
filter(QdAst *ast, QdAlgebra *child, QdExpression **expressions, guint n_expressions)
{
    QdAlgebra *node = child;

    if (n_expressions > 0) {
        node = qd_algebra_new_parent(ast, QD_ALGEBRA_FILTER, &child, 1);
        node->expressions = expressions;
        node->n_expressions = n_expressions;
    }
    return node;
}

QdExpression *
qd_algebra_make_exists(QdAst *ast, QdAlgebra *algebra)
{
    QdExpression *exists = qd_arena_new0(ast->arena, QdExpression);

    exists->kind = QD_EXPRESSION_KIND_EXISTS;
    exists->algebra = algebra;
    exists->pattern = qd_arena_new0(ast->arena, QdPattern); /* of its variables alone */
    exists->pattern->kind = QD_PATTERN_TRIPLES;
    exists->pattern->visible = algebra->possible;
    return exists;
}

/* --- triples and paths ------------------------------------------------------------------------------------------------ */

QdAlgebra *
qd_algebra_from_triple(QdAst *ast, const QdTriple *triple)
{
    QdAlgebra *node = new_node(ast, triple->path != NULL ? QD_ALGEBRA_PATH : QD_ALGEBRA_TRIPLE);
    const QdNode *ends[] = { &triple->s, &triple->p, &triple->o };

    node->triple = triple;
    for (guint i = 0; i < G_N_ELEMENTS(ends); i++) {
        if (ends[i]->kind == QD_NODE_VARIABLE)
            qd_variable_set_add(&node->possible, ast->arena, ends[i]->variable);
    }
    return node;
}

static QdAlgebra *
from_sequence(QdAst *ast, const QdNode *s, const QdPath *path, const QdNode *o)
{
    g_autoptr(GPtrArray) operands = g_ptr_array_new();
    QdNode from = *s;

    for (guint i = 0; i < path->n_children; i++) {
        QdNode to = *o;

        if (i + 1 < path->n_children)
            to = (QdNode){ .kind = QD_NODE_VARIABLE, .variable = qd_ast_add_variable(ast, NULL) };
        add_operand(operands, qd_algebra_from_path(ast, &from, path->children[i], &to));
        from = to;
    }
    return join_operands(ast, operands);
}

/* p|q|… of different links is one scan: a triple has one predicate. */
static gboolean
is_set_of_links(const QdPath *path)
{
    for (guint i = 0; i < path->n_children; i++) {
        if (path->children[i]->kind != QD_PATH_LINK)
            return FALSE;
        for (guint j = 0; j < i; j++) {
            if (qd_term_equal(path->children[i]->iri, path->children[j]->iri))
                return FALSE;
        }
    }
    return path->n_children <= 100;
}

static QdAlgebra *
from_alternative(QdAst *ast, const QdNode *s, const QdPath *path, const QdNode *o)
{
    g_autoptr(GPtrArray) arms = g_ptr_array_new();

    for (guint i = 0; i < path->n_children; i++)
        g_ptr_array_add(arms, qd_algebra_from_path(ast, s, path->children[i], o));
    return qd_algebra_new_parent(ast, QD_ALGEBRA_UNION, (QdAlgebra **) arms->pdata, arms->len);
}

QdAlgebra *
qd_algebra_from_path(QdAst *ast, const QdNode *s, const QdPath *path, const QdNode *o)
{
    QdTriple *triple = qd_arena_new0(ast->arena, QdTriple);

    triple->s = *s;
    triple->o = *o;
    switch (path->kind) {
    case QD_PATH_LINK:
        triple->p = (QdNode){ .kind = QD_NODE_TERM, .term = path->iri };
        return qd_algebra_from_triple(ast, triple);
    case QD_PATH_INVERSE:
        return qd_algebra_from_path(ast, o, path->children[0], s);
    case QD_PATH_SEQUENCE:
        return from_sequence(ast, s, path, o);
    case QD_PATH_ALTERNATIVE:
        if (!is_set_of_links(path))
            return from_alternative(ast, s, path, o);
        break;
    case QD_PATH_ZERO_OR_MORE:
    case QD_PATH_ONE_OR_MORE:
    case QD_PATH_ZERO_OR_ONE:
    case QD_PATH_NEGATED:
        break;
    }
    triple->path = (QdPath *) path;
    return qd_algebra_from_triple(ast, triple);
}

static QdAlgebra *
from_match(QdAst *ast, const QdMatch *match)
{
    QdAlgebra *node = new_node(ast, QD_ALGEBRA_MATCH);
    const QdNode *nodes[] = { &match->subject, &match->rank, &match->literal, &match->predicate, &match->text };

    node->match = match;
    for (guint i = 0; i < G_N_ELEMENTS(nodes); i++) {
        if (nodes[i]->kind == QD_NODE_VARIABLE)
            qd_variable_set_add(&node->possible, ast->arena, nodes[i]->variable);
    }
    for (const QdMatchColumn *column = match->columns; column != NULL; column = column->next)
        qd_variable_set_add(&node->possible, ast->arena, column->variable);
    return node;
}

static void
add_triples(QdAst *ast, GPtrArray *operands, const QdPattern *pattern)
{
    for (guint i = 0; i < pattern->n_matches; i++)
        add_operand(operands, from_match(ast, pattern->matches[i]));
    for (guint i = 0; i < pattern->n_triples; i++) {
        const QdTriple *triple = &pattern->triples[i];

        add_operand(operands, triple->path != NULL ? qd_algebra_from_path(ast, &triple->s, triple->path, &triple->o)
                                                   : qd_algebra_from_triple(ast, triple));
    }
}

/* --- groups ----------------------------------------------------------------------------------------------------------- */

static QdAlgebra *from_group(QdAst *ast, const QdPattern *group, GArray *filters);

static QdAlgebra *
from_values(QdAst *ast, const QdValues *values)
{
    QdAlgebra *node = new_node(ast, QD_ALGEBRA_VALUES);

    node->values = values;
    for (guint i = 0; i < values->n_variables; i++)
        qd_variable_set_add(&node->possible, ast->arena, values->variables[i]);
    return node;
}

static QdAlgebra *
from_union(QdAst *ast, const QdPattern *pattern)
{
    g_autoptr(GPtrArray) arms = g_ptr_array_new();

    for (guint i = 0; i < pattern->n_children; i++)
        g_ptr_array_add(arms, qd_algebra_from_pattern(ast, pattern->children[i]));
    return qd_algebra_new_parent(ast, QD_ALGEBRA_UNION, (QdAlgebra **) arms->pdata, arms->len);
}

static void
list_mentioned(QdAst *ast, const QdPattern *pattern, QdAlgebra *node)
{
    node->variables = qd_arena_array0(ast->arena, guint, ast->variables->len);
    QD_VARIABLE_SET_FOREACH(&pattern->mentioned, variable)
    {
        node->variables[node->n_variables++] = variable;
    }
}

static QdAlgebra *
from_graph(QdAst *ast, const QdPattern *pattern, QdAlgebraKind kind)
{
    QdAlgebra *child = qd_algebra_from_pattern(ast, pattern->children[0]);
    QdAlgebra *node = qd_algebra_new_parent(ast, kind, &child, 1);

    node->node = pattern->node;
    node->silent = pattern->silent;
    node->remote = pattern->remote;
    if (kind == QD_ALGEBRA_SERVICE)
        list_mentioned(ast, pattern, node);
    if (node->node.kind == QD_NODE_VARIABLE)
        qd_variable_set_add(&node->possible, ast->arena, node->node.variable);
    return node;
}

static QdAlgebra *
from_optional(QdAst *ast, QdAlgebra *left, const QdPattern *group)
{
    g_autoptr(GArray) filters = g_array_new(FALSE, FALSE, sizeof(QdExpression *));
    QdAlgebra *right = group->kind == QD_PATTERN_GROUP ? from_group(ast, group, filters) : qd_algebra_from_pattern(ast, group);
    QdAlgebra *operands[] = { left, right };
    QdAlgebra *node = qd_algebra_new_parent(ast, QD_ALGEBRA_LEFT_JOIN, operands, 2);

    node->n_expressions = filters->len;
    node->expressions = qd_arena_array0(ast->arena, QdExpression *, filters->len);
    if (filters->len > 0)
        memcpy(node->expressions, filters->data, filters->len * sizeof(QdExpression *));
    return node;
}

static QdAlgebra *
from_minus(QdAst *ast, QdAlgebra *left, const QdPattern *group)
{
    QdAlgebra *operands[] = { left, qd_algebra_from_pattern(ast, group) };
    QdAlgebra *node;

    /* §18.5: what shares no variable takes nothing away */
    if (!qd_variable_set_shares(&left->possible, &operands[1]->possible))
        return left;
    node = qd_algebra_new_parent(ast, QD_ALGEBRA_MINUS, operands, 2);
    node->possible = left->possible;
    return node;
}

/* @child, which is used for nothing else, may become the result: a run of them is one node. */
static QdAlgebra *
extend(QdAst *ast, QdAlgebra *child, guint variable, QdExpression *expression)
{
    QdBinding binding = { expression, variable };
    QdAlgebra *node = child->kind == QD_ALGEBRA_EXTEND ? child : qd_algebra_new_parent(ast, QD_ALGEBRA_EXTEND, &child, 1);

    if ((node->n_bindings & (node->n_bindings - 1)) == 0) { /* 0 or a power of two: there is no more room */
        QdBinding *bindings = qd_arena_array0(ast->arena, QdBinding, MAX(1, 2 * node->n_bindings));

        if (node->n_bindings > 0)
            memcpy(bindings, node->bindings, node->n_bindings * sizeof(QdBinding));
        node->bindings = bindings;
    }
    node->bindings[node->n_bindings++] = binding;
    qd_variable_set_add(&node->possible, ast->arena, variable);
    return node;
}

/* A group without its filters, which go to @filters. */
static QdAlgebra *
from_group(QdAst *ast, const QdPattern *group, GArray *filters)
{
    g_autoptr(GPtrArray) operands = g_ptr_array_new(); /* to be joined with what comes next */

    for (guint i = 0; i < group->n_children; i++) {
        QdPattern *part = group->children[i];
        QdAlgebra *left = NULL;

        switch (part->kind) {
        case QD_PATTERN_FILTER:
            g_array_append_val(filters, part->expression);
            continue;
        case QD_PATTERN_TRIPLES:
            add_triples(ast, operands, part);
            continue;
        case QD_PATTERN_OPTIONAL:
            left = from_optional(ast, join_operands(ast, operands), part->children[0]);
            break;
        case QD_PATTERN_MINUS:
            left = from_minus(ast, join_operands(ast, operands), part->children[0]);
            break;
        case QD_PATTERN_BIND:
            left = extend(ast, join_operands(ast, operands), part->variable, part->expression);
            break;
        case QD_PATTERN_GROUP:
        case QD_PATTERN_UNION:
        case QD_PATTERN_GRAPH:
        case QD_PATTERN_SERVICE:
        case QD_PATTERN_VALUES:
        case QD_PATTERN_SELECT:
            add_operand(operands, qd_algebra_from_pattern(ast, part));
            continue;
        }
        g_ptr_array_set_size(operands, 0);
        add_operand(operands, left);
    }
    return join_operands(ast, operands);
}

QdAlgebra *
qd_algebra_from_pattern(QdAst *ast, const QdPattern *pattern)
{
    g_autoptr(GArray) filters = NULL;
    g_autoptr(GPtrArray) operands = NULL;
    QdExpression **kept;
    QdAlgebra *node;

    switch (pattern->kind) {
    case QD_PATTERN_UNION:
        return from_union(ast, pattern);
    case QD_PATTERN_GRAPH:
        return from_graph(ast, pattern, QD_ALGEBRA_GRAPH);
    case QD_PATTERN_SERVICE:
        return from_graph(ast, pattern, QD_ALGEBRA_SERVICE);
    case QD_PATTERN_VALUES:
        return from_values(ast, pattern->values);
    case QD_PATTERN_SELECT:
        return qd_algebra_from_select(ast, pattern->select);
    case QD_PATTERN_TRIPLES:
        operands = g_ptr_array_new();
        add_triples(ast, operands, pattern);
        return join_operands(ast, operands);
    case QD_PATTERN_GROUP:
        break;
    case QD_PATTERN_OPTIONAL:
    case QD_PATTERN_MINUS:
    case QD_PATTERN_FILTER:
    case QD_PATTERN_BIND:
        g_assert_not_reached(); /* only in a group */
    }

    filters = g_array_new(FALSE, FALSE, sizeof(QdExpression *));
    node = from_group(ast, pattern, filters);
    kept = qd_arena_array0(ast->arena, QdExpression *, filters->len);
    if (filters->len > 0)
        memcpy(kept, filters->data, filters->len * sizeof(QdExpression *));
    return filter(ast, node, kept, filters->len);
}

/* --- solution modifiers ----------------------------------------------------------------------------------------------- */

typedef struct Grouping {
    QdAst *ast;
    GArray *aggregates; /* QdBinding: the aggregates met so far, under new names */
    QdVariableSet keys; /* what may stand outside an aggregate as it is */
} Grouping;

static QdExpression *
name_aggregate(Grouping *self, QdExpression *aggregate)
{
    QdBinding binding = { aggregate, qd_ast_add_variable(self->ast, NULL) };
    QdExpression *name = qd_arena_new0(self->ast->arena, QdExpression);

    name->kind = QD_EXPRESSION_KIND_VARIABLE;
    name->variable = binding.variable;
    g_array_append_val(self->aggregates, binding);
    return name;
}

/* §18.2.4.1: aggregates become variables; any other variable but a key is sampled. */
static QdExpression *
replace_aggregates(Grouping *self, QdExpression *expression)
{
    QdExpression *copy;

    if (expression->kind == QD_EXPRESSION_KIND_AGGREGATE)
        return name_aggregate(self, expression);
    if (expression->kind == QD_EXPRESSION_KIND_VARIABLE && !qd_variable_set_has(&self->keys, expression->variable)) {
        QdExpression *sample = qd_arena_new0(self->ast->arena, QdExpression);

        sample->kind = QD_EXPRESSION_KIND_AGGREGATE;
        sample->aggregate = QD_AGGREGATE_SAMPLE;
        sample->n_children = 1;
        sample->children = qd_arena_new0(self->ast->arena, QdExpression *);
        sample->children[0] = expression;
        return name_aggregate(self, sample);
    }
    if (expression->n_children == 0)
        return expression;

    copy = qd_arena_new0(self->ast->arena, QdExpression);
    *copy = *expression;
    copy->children = qd_arena_array0(self->ast->arena, QdExpression *, copy->n_children);
    for (guint i = 0; i < copy->n_children; i++)
        copy->children[i] = replace_aggregates(self, expression->children[i]);
    return copy;
}

static QdAlgebra *
add_keys(QdAst *ast, QdAlgebra *node, QdSelect *select, Grouping *grouping)
{
    for (guint i = 0; i < select->n_groups; i++) {
        QdBinding *group = &select->groups[i];

        if (group->variable == G_MAXUINT)
            group->variable = qd_ast_add_variable(ast, NULL);
        if (group->expression != NULL)
            node = extend(ast, node, group->variable, group->expression);
        qd_variable_set_add(&grouping->keys, ast->arena, group->variable);
    }
    return node;
}

static QdAlgebra *
new_group(QdAst *ast, QdAlgebra *child, const QdSelect *select, const Grouping *grouping)
{
    QdAlgebra *node = qd_algebra_new_parent(ast, QD_ALGEBRA_GROUP, &child, 1);

    node->possible = (QdVariableSet){ 0 };
    node->variables = qd_arena_array0(ast->arena, guint, select->n_groups);
    node->n_variables = select->n_groups;
    for (guint i = 0; i < select->n_groups; i++) {
        node->variables[i] = select->groups[i].variable;
        qd_variable_set_add(&node->possible, ast->arena, node->variables[i]);
    }
    node->n_bindings = grouping->aggregates->len;
    node->bindings = qd_arena_array0(ast->arena, QdBinding, node->n_bindings);
    for (guint i = 0; i < node->n_bindings; i++) {
        node->bindings[i] = g_array_index(grouping->aggregates, QdBinding, i);
        qd_variable_set_add(&node->possible, ast->arena, node->bindings[i].variable);
    }
    return node;
}

static QdAlgebra *
from_grouping(QdAst *ast, QdAlgebra *node, QdSelect *select)
{
    g_autoptr(GArray) aggregates = g_array_new(FALSE, TRUE, sizeof(QdBinding));
    Grouping grouping = { .ast = ast, .aggregates = aggregates };

    node = add_keys(ast, node, select, &grouping);
    for (guint i = 0; i < select->n_having; i++)
        select->having[i] = replace_aggregates(&grouping, select->having[i]);
    for (guint i = 0; i < select->n_items; i++) {
        QdBinding *item = &select->items[i];

        if (item->expression != NULL)
            item->expression = replace_aggregates(&grouping, item->expression);
        qd_variable_set_add(&grouping.keys, ast->arena, item->variable);
    }
    for (guint i = 0; i < select->n_orders; i++)
        select->orders[i].expression = replace_aggregates(&grouping, select->orders[i].expression);
    node = new_group(ast, node, select, &grouping);
    return filter(ast, node, select->having, select->n_having);
}

static QdAlgebra *
project(QdAst *ast, QdAlgebra *child, const QdSelect *select)
{
    QdAlgebra *node = qd_algebra_new_parent(ast, QD_ALGEBRA_PROJECT, &child, 1);

    node->possible = (QdVariableSet){ 0 };
    node->variables = qd_arena_array0(ast->arena, guint, select->n_items);
    node->n_variables = select->n_items;
    for (guint i = 0; i < select->n_items; i++) {
        node->variables[i] = select->items[i].variable;
        qd_variable_set_add(&node->possible, ast->arena, node->variables[i]);
    }
    return node;
}

QdAlgebra *
qd_algebra_from_select(QdAst *ast, QdSelect *select)
{
    QdAlgebra *node = select->where != NULL ? qd_algebra_from_pattern(ast, select->where) : new_node(ast, QD_ALGEBRA_UNIT);

    if (select->grouped)
        node = from_grouping(ast, node, select);
    else
        node = filter(ast, node, select->having, select->n_having);
    if (select->values != NULL)
        node = join(ast, node, from_values(ast, select->values));
    for (guint i = 0; i < select->n_items; i++) {
        if (select->items[i].expression != NULL)
            node = extend(ast, node, select->items[i].variable, select->items[i].expression);
    }
    if (select->n_orders > 0) {
        node = qd_algebra_new_parent(ast, QD_ALGEBRA_ORDER, &node, 1);
        node->orders = select->orders;
        node->n_orders = select->n_orders;
    }
    node = project(ast, node, select);
    if (select->distinct)
        node = qd_algebra_new_parent(ast, QD_ALGEBRA_DISTINCT, &node, 1);
    if (select->limit != QD_NO_LIMIT || select->offset > 0) {
        node = qd_algebra_new_parent(ast, QD_ALGEBRA_SLICE, &node, 1);
        node->limit = select->limit;
        node->offset = select->offset;
    }
    return node;
}
