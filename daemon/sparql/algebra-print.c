/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The algebra as text, for Explain and golden files.
 */

#include "daemon/sparql/algebra.h"

static void print_expression(GString *out, const QdAst *ast, const QdExpression *expression);

static void
print_variable(GString *out, const QdAst *ast, guint variable)
{
    const char *name = qd_ast_get_variable_name(ast, variable);

    if (name != NULL)
        g_string_append_printf(out, "?%s", name);
    else
        g_string_append_printf(out, "?%u", variable);
}

static void
print_term(GString *out, const QdTerm *term)
{
    switch (term->kind) {
    case QD_TERM_IRI:
        g_string_append_printf(out, "<%.*s>", (int) term->n_lexical, term->lexical);
        return;
    case QD_TERM_STRING:
        g_string_append_printf(out, "\"%.*s\"", (int) term->n_lexical, term->lexical);
        return;
    case QD_TERM_LANG_STRING:
        g_string_append_printf(out, "\"%.*s\"@%s", (int) term->n_lexical, term->lexical, term->qualifier);
        return;
    case QD_TERM_TYPED:
        g_string_append_printf(out, "\"%.*s\"^^<%s>", (int) term->n_lexical, term->lexical, term->qualifier);
        return;
    case QD_TERM_BNODE:
        g_string_append_printf(out, "_:%s", term->lexical);
        return;
    }
}

static void
print_node(GString *out, const QdAst *ast, const QdNode *node)
{
    g_string_append_c(out, ' ');
    if (node->kind == QD_NODE_VARIABLE)
        print_variable(out, ast, node->variable);
    else if (node->kind == QD_NODE_TERM)
        print_term(out, node->term);
}

static void
print_path(GString *out, const QdPath *path)
{
    static const char *const names[] = { "",   "inverse", "sequence", "alternative", "zero-or-more", "one-or-more", "zero-or-one",
                                         "not" };

    if (path->kind == QD_PATH_LINK) {
        print_term(out, path->iri);
        return;
    }
    g_string_append_printf(out, "(%s", names[path->kind]);
    for (guint i = 0; i < path->n_children; i++) {
        g_string_append_c(out, ' ');
        print_path(out, path->children[i]);
    }
    g_string_append_c(out, ')');
}

static void
print_call(GString *out, const QdAst *ast, const QdExpression *expression)
{
    static const char *const operators[QD_N_EXPRESSION_OPS] = {
        [QD_EXPRESSION_OR] = "or",      [QD_EXPRESSION_AND] = "and",       [QD_EXPRESSION_NOT] = "not",
        [QD_EXPRESSION_EQ] = "=",       [QD_EXPRESSION_NE] = "!=",         [QD_EXPRESSION_LT] = "<",
        [QD_EXPRESSION_LE] = "<=",      [QD_EXPRESSION_GT] = ">",          [QD_EXPRESSION_GE] = ">=",
        [QD_EXPRESSION_IN] = "in",      [QD_EXPRESSION_NOT_IN] = "not-in", [QD_EXPRESSION_ADD] = "+",
        [QD_EXPRESSION_SUB] = "-",      [QD_EXPRESSION_MUL] = "*",         [QD_EXPRESSION_DIV] = "/",
        [QD_EXPRESSION_NEG] = "negate", [QD_EXPRESSION_PLUS] = "plus",
    };
    const char *name = operators[expression->op] != NULL ? operators[expression->op]
                                                         : qd_expression_op_get_info(expression->op)->name;

    g_string_append_printf(out, "(%s", name != NULL ? name : "?");
    for (guint i = 0; i < expression->n_children; i++) {
        g_string_append_c(out, ' ');
        print_expression(out, ast, expression->children[i]);
    }
    g_string_append_c(out, ')');
}

static void
print_expression(GString *out, const QdAst *ast, const QdExpression *expression)
{
    static const char *const aggregates[] = { "count", "sum", "min", "max", "avg", "sample", "group-concat" };

    switch (expression->kind) {
    case QD_EXPRESSION_KIND_TERM:
        print_term(out, expression->term);
        return;
    case QD_EXPRESSION_KIND_VARIABLE:
        print_variable(out, ast, expression->variable);
        return;
    case QD_EXPRESSION_KIND_CALL:
        print_call(out, ast, expression);
        return;
    case QD_EXPRESSION_KIND_EXISTS:
        g_string_append(out, expression->negated ? "(not-exists …)" : "(exists …)");
        return;
    case QD_EXPRESSION_KIND_AGGREGATE:
        g_string_append_printf(out, "(%s%s", aggregates[expression->aggregate], expression->distinct ? " distinct" : "");
        for (guint i = 0; i < expression->n_children; i++) {
            g_string_append_c(out, ' ');
            print_expression(out, ast, expression->children[i]);
        }
        g_string_append_c(out, ')');
        return;
    case QD_EXPRESSION_KIND_UNKNOWN:
        g_string_append(out, "(error)");
        return;
    }
}

static void
print_details(GString *out, const QdAst *ast, const QdAlgebra *node)
{
    if (node->triple != NULL) {
        print_node(out, ast, &node->triple->s);
        if (node->triple->path != NULL) {
            g_string_append_c(out, ' ');
            print_path(out, node->triple->path);
        } else {
            print_node(out, ast, &node->triple->p);
        }
        print_node(out, ast, &node->triple->o);
    }
    if (node->match != NULL) {
        print_node(out, ast, &node->match->subject);
        print_node(out, ast, &node->match->text);
    }
    if (node->node.kind != QD_NODE_NONE)
        print_node(out, ast, &node->node);
    for (guint i = 0; i < node->n_variables; i++) {
        g_string_append_c(out, ' ');
        print_variable(out, ast, node->variables[i]);
    }
    for (guint i = 0; i < node->n_expressions; i++) {
        g_string_append_c(out, ' ');
        print_expression(out, ast, node->expressions[i]);
    }
    for (guint i = 0; i < node->n_bindings; i++) {
        g_string_append(out, " (");
        print_variable(out, ast, node->bindings[i].variable);
        g_string_append_c(out, ' ');
        print_expression(out, ast, node->bindings[i].expression);
        g_string_append_c(out, ')');
    }
    for (guint i = 0; i < node->n_orders; i++) {
        g_string_append(out, node->orders[i].descending ? " desc " : " ");
        print_expression(out, ast, node->orders[i].expression);
    }
    if (node->kind == QD_ALGEBRA_SLICE && node->limit != QD_NO_LIMIT)
        g_string_append_printf(out, " limit %" G_GUINT64_FORMAT, node->limit);
    if (node->offset > 0)
        g_string_append_printf(out, " offset %" G_GUINT64_FORMAT, node->offset);
    if (node->values != NULL)
        g_string_append_printf(out, " %u rows of %u", node->values->n_rows, node->values->n_variables);
}

static void
print_node_and_children(GString *out, const QdAst *ast, const QdAlgebra *node, guint depth)
{
    static const char *const names[] = { "unit",   "triple", "path",   "match",   "join",     "left-join",
                                         "minus",  "union",  "filter", "extend",  "graph",    "service",
                                         "values", "group",  "order",  "project", "distinct", "slice" };

    g_string_append_printf(out, "%*s%s", (int) depth * 2, "", names[node->kind]);
    print_details(out, ast, node);
    g_string_append_c(out, '\n');
    for (guint i = 0; i < node->n_children; i++)
        print_node_and_children(out, ast, node->children[i], depth + 1);
}

char *
qd_algebra_print(const QdAst *ast, const QdAlgebra *algebra)
{
    g_autoptr(GString) out = g_string_new(NULL);

    print_node_and_children(out, ast, algebra, 0);
    return g_string_free(g_steal_pointer(&out), FALSE);
}
