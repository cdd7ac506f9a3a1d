/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the parser makes of a SPARQL text: queries, updates, patterns, all in one arena.
 *
 * Place: room sparql, between parser and algebra. IRIs are resolved, collections and property lists are expanded into triples.
 */
#pragma once

#include "daemon/sparql/expression.h"

typedef enum QdPatternKind {
    QD_PATTERN_TRIPLES,
    QD_PATTERN_GROUP,
    QD_PATTERN_OPTIONAL, /* one child */
    QD_PATTERN_UNION,
    QD_PATTERN_MINUS,   /* one child */
    QD_PATTERN_GRAPH,   /* one child, node */
    QD_PATTERN_SERVICE, /* one child, node */
    QD_PATTERN_FILTER,
    QD_PATTERN_BIND,
    QD_PATTERN_VALUES,
    QD_PATTERN_SELECT,
} QdPatternKind;

struct QdPattern {
    QdPatternKind kind;
    guint64 offset;
    QdPattern **children;
    guint n_children;
    QdTriple *triples;
    guint n_triples;
    QdMatch **matches; /* TRIPLES */
    guint n_matches;
    QdNode node;
    gboolean silent;         /* SERVICE */
    const char *remote;      /* SERVICE: the query for the endpoint; NULL inside another one */
    QdVariableSet mentioned; /* SERVICE: variables of its expressions, too */
    QdExpression *expression;
    guint variable; /* BIND */
    QdValues *values;
    QdSelect *select;
    QdVariableSet visible; /* variables in scope outside it, §18.2.1 */
};

struct QdSelect {
    gboolean distinct;
    QdBinding *items; /* SELECT * is expanded */
    guint n_items;
    QdPattern *where;
    QdBinding *groups;
    guint n_groups;
    gboolean grouped; /* GROUP BY, or aggregates without it */
    QdExpression **having;
    guint n_having;
    QdOrder *orders;
    guint n_orders;
    guint64 limit;
    guint64 offset;
    QdValues *values; /* nullable: the VALUES clause at the end */
};

typedef struct QdUpdate {
    QdUpdateKind kind;
    guint64 offset;
    gboolean silent;
    QdGraphTarget target;     /* CLEAR, DROP */
    const QdTerm *source;     /* LOAD; ADD, MOVE, COPY: NULL is the default graph */
    const QdTerm *graph;      /* what is written; NULL is the default graph */
    const QdTerm *with;       /* MODIFY; nullable */
    QdDatasetClause *dataset; /* USING; nullable */
    QdTriple *deletes;        /* also DELETE DATA */
    guint n_deletes;
    QdTriple *inserts; /* also INSERT DATA */
    guint n_inserts;
    QdPattern *where;
} QdUpdate;

typedef struct QdVariable {
    const char *name;      /* NULL: a blank node, or ours */
    gboolean is_parameter; /* written with $ somewhere */
} QdVariable;

/* A prefix that the text uses without declaring it. */
typedef struct QdStoredPrefix {
    const char *prefix;
    const char *iri; /* of its namespace in the store, then */
} QdStoredPrefix;

struct QdAst {
    QdArena *arena;
    GArray *variables;       /* QdVariable */
    GArray *stored_prefixes; /* QdStoredPrefix */
    GPtrArray *warnings;     /* of texts "line:column: …" */
    gboolean is_update;
    gboolean is_volatile; /* it calls what gives another value each time: NOW, RAND, UUID, STRUUID, BNODE */
    gboolean has_service;
    const char *base; /* nullable: the last BASE, or the caller's */
    QdQueryForm form;
    QdSelect *select; /* of every form: where, modifiers; the items of DESCRIBE are variables */
    QdDatasetClause *dataset;
    QdTriple *template; /* CONSTRUCT */
    guint n_template;
    QdNode *described;
    guint n_described;
    QdUpdate *updates;
    guint n_updates;
    GArray *holes;          /* QdFingerprintHole: terms that another text of the same fingerprint may change */
    GHashTable *hole_terms; /* term → its number in holes + 1 */
};

/* Makes @hole, of which no other has the term. */
void qd_ast_add_hole(QdAst *self, const QdFingerprintHole *hole);
