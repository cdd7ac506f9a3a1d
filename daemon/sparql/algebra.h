/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The algebra of §18.2: what a pattern means, with all scope decided.
 *
 * Place: room sparql, between parser and SQL generator; lives in the AST's arena. Joins are flat lists. Graph names stay where
 * GRAPH put them; aggregates have become variables of their GROUP; EXISTS stays a pattern in its expression.
 */
#pragma once

#include "daemon/sparql/expression.h"

typedef enum QdAlgebraKind {
    QD_ALGEBRA_UNIT, /* one empty solution */
    QD_ALGEBRA_TRIPLE,
    QD_ALGEBRA_PATH,  /* a triple whose predicate is a path */
    QD_ALGEBRA_MATCH, /* full text */
    QD_ALGEBRA_JOIN,  /* two or more children */
    QD_ALGEBRA_LEFT_JOIN,
    QD_ALGEBRA_MINUS,
    QD_ALGEBRA_UNION,
    QD_ALGEBRA_FILTER,
    QD_ALGEBRA_EXTEND,
    QD_ALGEBRA_GRAPH,
    QD_ALGEBRA_SERVICE,
    QD_ALGEBRA_VALUES,
    QD_ALGEBRA_GROUP,
    QD_ALGEBRA_ORDER,
    QD_ALGEBRA_PROJECT,
    QD_ALGEBRA_DISTINCT,
    QD_ALGEBRA_SLICE,
} QdAlgebraKind;

typedef struct QdAlgebra {
    QdAlgebraKind kind;
    struct QdAlgebra **children;
    guint n_children;
    const QdTriple *triple;     /* TRIPLE, PATH */
    const QdMatch *match;       /* MATCH */
    QdNode node;                /* GRAPH, SERVICE */
    gboolean silent;            /* SERVICE */
    const char *remote;         /* SERVICE: the query for the endpoint */
    gboolean follows;           /* LEFT_JOIN, MINUS, FILTER as a part of a join: of all that is before it, not of its first child */
    QdExpression **expressions; /* FILTER, LEFT_JOIN: all must hold */
    guint n_expressions;
    QdBinding *bindings; /* EXTEND: in order; GROUP: its aggregates */
    guint n_bindings;
    guint *variables; /* PROJECT; GROUP: its keys; SERVICE: those of its expressions, too */
    guint n_variables;
    QdOrder *orders;
    guint n_orders;
    guint64 limit, offset; /* SLICE */
    const QdValues *values;
    QdVariableSet possible; /* variables that a solution may bind */
} QdAlgebra;

/* A node above @children, of which it has all variables; in the arena of @ast, as the copy of the array. */
QdAlgebra *qd_algebra_new_parent(QdAst *ast, QdAlgebraKind kind, QdAlgebra **children, guint n_children);

/* The algebra of a pattern, as §18.2.2 says. @ast owns what it makes. */
QdAlgebra *qd_algebra_from_pattern(QdAst *ast, const QdPattern *pattern);

/* A triple, or a path that is a set or repeats; @triple lives as long as the AST. */
QdAlgebra *qd_algebra_from_triple(QdAst *ast, const QdTriple *triple);

/* What a path between two nodes means: triples, unions, and PATH where it is a set or repeats. */
QdAlgebra *qd_algebra_from_path(QdAst *ast, const QdNode *s, const QdPath *path, const QdNode *o);

/* EXISTS of @algebra, which consists of triples and paths. */
QdExpression *qd_algebra_make_exists(QdAst *ast, QdAlgebra *algebra);

/* The algebra of a whole SELECT with its modifiers (§18.2.3–5). */
QdAlgebra *qd_algebra_from_select(QdAst *ast, QdSelect *select);

/* (transfer full): one line per node, indented; for Explain and golden files. */
char *qd_algebra_print(const QdAst *ast, const QdAlgebra *algebra);
