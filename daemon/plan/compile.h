/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SPARQL text to a plan: what to run in SQLite, what to bind, what the rows mean.
 *
 * Place: room plan, the way into the compiler for the rooms above. Pure. A plan holds no id and no connection: its
 * constants are looked up in each execution's own snapshot.
 */
#pragma once

#include "daemon/base/limits.h"
#include "daemon/base/name-set.h"
#include "daemon/sparql/plan-parts.h"

typedef struct QdAccess QdAccess;
typedef struct QdCatalog QdCatalog;
typedef struct QdFingerprint QdFingerprint;

typedef struct QdSparqlOptions {
    const char *base;                 /* nullable: an absolute IRI */
    const QdLimits *limits;           /* not NULL */
    const char *const *parameters;    /* nullable, NULL-terminated: variables that get a value at each execution */
    const char *dataset;              /* nullable: FROM clauses instead of those of the text */
    const QdFingerprint *fingerprint; /* nullable: of the text, for a plan that serves other texts, too */
    const QdAccess *access;           /* nullable: what the client was granted */
    gboolean is_second;               /* the plan for where the first one has given no row for a while */
} QdSparqlOptions;

typedef struct QdSparqlStatement {
    const char *sql;
    const QdSqlConstant *constants; /* of ?1, ?2, … */
    guint n_constants;
    const struct QdAlgebra *algebra; /* NULL: no SQL */
} QdSparqlStatement;

/* A term, or a column of the operation's solutions, or a blank node that is new for each solution. */
typedef enum QdTemplateKind { QD_TEMPLATE_NONE, QD_TEMPLATE_TERM, QD_TEMPLATE_COLUMN, QD_TEMPLATE_BLANK_NODE } QdTemplateKind;

typedef struct QdTemplateCell {
    QdTemplateKind kind;
    const QdTerm *term;
    guint index; /* of the column, or of the blank node among those of the operation */
} QdTemplateCell;

typedef struct QdTemplateQuad {
    QdTemplateCell s, p, o, g; /* g NONE: the default graph */
} QdTemplateQuad;

typedef struct QdSparqlOperation {
    QdUpdateKind kind;
    gboolean silent;
    QdGraphTarget target;
    const QdTerm *source;    /* NULL: the default graph */
    const QdTerm *graph;     /* NULL: the default graph */
    QdSparqlStatement where; /* sql NULL: one solution without columns */
    guint n_columns;
    QdTemplateQuad *deletes;
    guint n_deletes;
    QdTemplateQuad *inserts;
    guint n_inserts;
    guint n_blank_nodes;
} QdSparqlOperation;

typedef struct QdSparqlPlan QdSparqlPlan;

struct QdSparqlPlan {
    gboolean is_update;
    gboolean is_volatile; /* another execution may give another result of the same data */
    QdQueryForm form;
    QdSparqlStatement query;
    const char *const *columns; /* names; SELECT: its variables, CONSTRUCT and DESCRIBE: subject, predicate, object, ASK: result */
    guint n_columns;
    const char *const *parameters; /* "$name": first the variables written with '$', then all others */
    guint n_parameters;            /* of the first */
    guint n_names;                 /* of both */
    gboolean has_second;           /* a query: there is a second plan (QdSparqlOptions.is_second) */
    QdSparqlOperation *operations;
    guint n_operations;
    GArray *estimates; /* double: rows of each part of a join in its order, NAN after the last */
    const char *notes; /* (nullable): lines for Explain */
    GArray *probes;    /* QdPlanProbe */
    QdAst *ast;        /* owns all else */
};

/* Whether a text that is SPARQL at all is an update request: by its first word after the prologue. @otherwise where that is
 * neither a query's nor an update's. */
gboolean qd_sparql_is_update(const char *text, gsize n_bytes, gboolean otherwise);

/**
 * qd_sparql_compile:
 * @text: UTF-8; need not outlive the call
 * @is_update: whether it is an update request; a query and an update never mix
 * @catalog: (nullable): statistics and prefixes, asked during the call only
 *
 * Errors: SYNTAX with a place, UNSUPPORTED (SERVICE), TOO_COMPLEX, TOO_BIG.
 *
 * Returns: (transfer full) (nullable): the plan
 */
QdSparqlPlan *qd_sparql_compile(const char *text, gsize n_bytes, gboolean is_update, const QdSparqlOptions *options,
                                const QdCatalog *catalog, GError **error);

/* Whether the plan serves texts in which value @i of its fingerprint is another one. */
gboolean qd_sparql_plan_takes_value(const QdSparqlPlan *self, const QdFingerprint *own, guint i);

/* Makes the plan one of @text, which has its fingerprint and differs in values that it takes. @text then has to outlive the
 * plan, or the next call. FALSE: as qd_fingerprint_fill(). */
gboolean qd_sparql_plan_fill(QdSparqlPlan *self, QdFingerprint *text);

/* Whether the counts that the join orders rest on are much the same with the values of now. */
gboolean qd_sparql_plan_fits(const QdSparqlPlan *self, const QdCatalog *catalog);

/* (transfer full): the algebra, and the estimates of its joins in their order, for Explain. */
char *qd_sparql_plan_print(const QdSparqlPlan *self);

/* Whether the prefixes that the text uses without declaring them still stand for what they stood for. */
gboolean qd_sparql_plan_has_prefixes(const QdSparqlPlan *self, const QdCatalog *catalog);

/* Bytes of memory that it takes. */
gsize qd_sparql_plan_get_size(const QdSparqlPlan *self);

/* Returns NULL; takes NULL. */
QdSparqlPlan *qd_sparql_plan_free(QdSparqlPlan *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdSparqlPlan, qd_sparql_plan_free)
