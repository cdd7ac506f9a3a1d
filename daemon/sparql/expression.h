/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What patterns and the algebra consist of: nodes, paths, full-text matches, expressions, sets of variables.
 *
 * Place: room sparql, for those who read the algebra and need no syntax: the tree of the text is ast.h, and opaque here. Variables
 * are numbers; a blank node of a pattern is a variable without a name.
 */
#pragma once

#include "daemon/rdf/expression-code.h"
#include "daemon/rdf/term.h"
#include "daemon/sparql/arena.h"
#include "daemon/sparql/fingerprint.h"
#include "daemon/sparql/plan-parts.h"

/* Of fts:match and the functions on it: docs/full-text.md. */
#define QD_FTS_NAMESPACE "http://queryd.org/fts#"

/* A set of variables; grows in the arena. */
typedef struct QdVariableSet {
    guint64 *words;
    guint n_words;
} QdVariableSet;

typedef enum QdNodeKind {
    QD_NODE_NONE = 0, /* no graph, "*" */
    QD_NODE_TERM,
    QD_NODE_VARIABLE,
} QdNodeKind;

typedef struct QdNode {
    QdNodeKind kind;
    guint variable;
    const QdTerm *term; /* in templates also blank nodes, by label */
} QdNode;

typedef struct QdPattern QdPattern;
typedef struct QdExpression QdExpression;
typedef struct QdSelect QdSelect;

typedef enum QdPathKind {
    QD_PATH_LINK,
    QD_PATH_INVERSE,
    QD_PATH_SEQUENCE,
    QD_PATH_ALTERNATIVE,
    QD_PATH_ZERO_OR_MORE,
    QD_PATH_ONE_OR_MORE,
    QD_PATH_ZERO_OR_ONE,
    QD_PATH_NEGATED, /* children: LINK, or INVERSE of a LINK */
} QdPathKind;

typedef struct QdPath {
    QdPathKind kind;
    const QdTerm *iri;        /* LINK */
    struct QdPath **children; /* one for INVERSE and the modifiers */
    guint n_children;
} QdPath;

/* Whether it has a modifier: then its pairs are a set (SPARQL 1.1, 18.4). */
static inline gboolean
qd_path_is_modified(const QdPath *self)
{
    return self->kind == QD_PATH_ZERO_OR_MORE || self->kind == QD_PATH_ONE_OR_MORE || self->kind == QD_PATH_ZERO_OR_ONE;
}

typedef struct QdTriple {
    QdNode s;
    QdNode p;     /* NONE when there is a path */
    QdPath *path; /* nullable */
    QdNode o;
    QdNode g; /* of quads in templates and data; NONE: the default graph, or that of WITH */
} QdTriple;

typedef enum QdMatchColumnKind { QD_MATCH_RANK, QD_MATCH_SNIPPET, QD_MATCH_OFFSETS } QdMatchColumnKind;

/* What a function asks of a match; its value is a variable of ours. */
typedef struct QdMatchColumn {
    struct QdMatchColumn *next;
    QdMatchColumnKind kind;
    guint variable;
    const QdTerm *texts[3]; /* SNIPPET: start, end, ellipsis; NULL: the default */
    guint n_tokens;         /* 0: the default */
} QdMatchColumn;

/* ?s fts:match "text": a full-text pattern. */
typedef struct QdMatch {
    QdNode subject;
    QdNode rank, literal, predicate; /* NONE: not asked for */
    gboolean per_literal;            /* a solution for each triple that matches; else for each subject */
    QdNode text;
    const QdTerm **predicates; /* none: all that are indexed */
    guint n_predicates;
    guint64 limit; /* the best so many; QD_NO_LIMIT */
    QdMatchColumn *columns;
} QdMatch;

typedef enum QdExpressionKind {
    QD_EXPRESSION_KIND_TERM,
    QD_EXPRESSION_KIND_VARIABLE,
    QD_EXPRESSION_KIND_CALL,
    QD_EXPRESSION_KIND_EXISTS,
    QD_EXPRESSION_KIND_AGGREGATE,
    QD_EXPRESSION_KIND_UNKNOWN, /* an unknown function: an error at each call */
} QdExpressionKind;

typedef enum QdAggregateKind {
    QD_AGGREGATE_COUNT,
    QD_AGGREGATE_SUM,
    QD_AGGREGATE_MIN,
    QD_AGGREGATE_MAX,
    QD_AGGREGATE_AVG,
    QD_AGGREGATE_SAMPLE,
    QD_AGGREGATE_GROUP_CONCAT,
} QdAggregateKind;

struct QdExpression {
    QdExpressionKind kind;
    QdExpressionOp op; /* CALL */
    const QdTerm *term;
    guint variable;
    QdExpression **children; /* CALL; AGGREGATE: one, or none for COUNT(*) */
    guint n_children;
    QdPattern *pattern;        /* EXISTS */
    struct QdAlgebra *algebra; /* of the pattern, once it was needed */
    gboolean negated;          /* NOT EXISTS */
    QdAggregateKind aggregate;
    gboolean distinct;
    const QdTerm *separator; /* GROUP_CONCAT; nullable */
};

typedef struct QdValues {
    guint *variables;
    guint n_variables;
    const QdTerm **cells; /* row by row; NULL is UNDEF */
    guint n_rows;
} QdValues;

typedef struct QdBinding {
    QdExpression *expression; /* NULL: the variable as it is */
    guint variable;           /* G_MAXUINT: a GROUP BY expression without a name */
} QdBinding;

typedef struct QdOrder {
    QdExpression *expression;
    gboolean descending;
} QdOrder;

typedef struct QdDatasetClause {
    const QdTerm **graphs; /* FROM, or USING */
    guint n_graphs;
    const QdTerm **named;
    guint n_named;
    gboolean has_default; /* FROM DEFAULT: the store's default graph, too */
    gboolean is_union;    /* FROM ALL: the default graph is all graphs together */
    gboolean names_all;   /* FROM NAMED ALL */
} QdDatasetClause;

#define QD_NO_LIMIT G_MAXUINT64
#define QD_FEW 16 /* elements that a list begins with room for, when it often has several */

/* The arena of all that belongs to the text. */
QdArena *qd_ast_get_arena(const QdAst *self);
/* (nullable): the last BASE, or the caller's. */
const char *qd_ast_get_base(const QdAst *self);
/* A new variable; @name (nullable, transfer none) lives in the arena or longer. */
guint qd_ast_add_variable(QdAst *self, const char *name);
const char *qd_ast_get_variable_name(const QdAst *self, guint variable);

gboolean qd_ast_has_service(const QdAst *self);
gboolean qd_ast_is_update(const QdAst *self);

/* NULL: @term is no hole. */
const QdFingerprintHole *qd_ast_find_hole(const QdAst *self, const QdTerm *term);
/* Code that decides by the text of a term that may be a hole says so: the plan then serves this value only. */
void qd_ast_pin_term(QdAst *self, const QdTerm *term);

void qd_variable_set_add(QdVariableSet *self, QdArena *arena, guint variable);
gboolean qd_variable_set_has(const QdVariableSet *self, guint variable);
void qd_variable_set_add_all(QdVariableSet *self, QdArena *arena, const QdVariableSet *other);
gboolean qd_variable_set_is_empty(const QdVariableSet *self);
/* Whether a variable is in both. */
gboolean qd_variable_set_shares(const QdVariableSet *self, const QdVariableSet *other);

/* Calls @func for each variable of @self, in order. */
#define QD_VARIABLE_SET_FOREACH(self, variable)                           \
    for (guint variable = 0; variable < (self)->n_words * 64; variable++) \
        if (qd_variable_set_has((self), variable))

/* Adds all variables that @pattern may take from outside: those that it binds, and those of its expressions. */
void qd_pattern_add_variables(const QdPattern *pattern, QdArena *arena, QdVariableSet *set);
/* Adds the variables that @expression names; those inside EXISTS too when @with_exists. */
void qd_expression_add_variables(const QdExpression *expression, QdArena *arena, gboolean with_exists, QdVariableSet *set);
/* The same with those that only expressions inside EXISTS name. */
void qd_expression_add_all_variables(const QdExpression *expression, QdArena *arena, QdVariableSet *set);
/* Whether each call gives another value, also of a function inside EXISTS. */
gboolean qd_expression_is_volatile(const QdExpression *expression);
