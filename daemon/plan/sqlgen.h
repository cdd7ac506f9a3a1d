/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Algebra to SQL over the store's tables (docs/sparql.md has the rules).
 *
 * Place: room plan. The SQL is flat: every part that cannot be merged into one SELECT is a common table expression. Terms are
 * INTEGER ids or BLOBs, unbound and error are NULL, constants are numbered parameters.
 */
#pragma once

#include "daemon/base/limits.h"
#include "daemon/sparql/algebra.h"
#include "daemon/sparql/plan-parts.h"
#include "daemon/sqlite/catalog.h"

#define QD_PLAN_PROBE_CAP 256 /* rows counted for a pattern: 10 µs */

/* The graphs a query sees. Without a clause: the default graph (or @with), and all named graphs. */
typedef struct QdDataset {
    const QdDatasetClause *clause; /* nullable */
    const QdTerm *with;            /* nullable: the default graph of an update's WITH */
} QdDataset;

typedef struct QdGenerator QdGenerator;

/**
 * qd_generator_new:
 * @ast: (transfer none): outlives the generator; what is generated lives in its arena
 * @catalog: (nullable): without it join order is guessed from the shape of the patterns
 * @limits: (not nullable): outlives the generator
 *
 * Returns: (transfer full): a generator for one SQL statement
 */
QdGenerator *qd_generator_new(QdAst *ast, const QdDataset *dataset, const QdCatalog *catalog, const QdLimits *limits);
QdGenerator *qd_generator_free(QdGenerator *self);

/* Variables that get the user's values (by name; array of guint): the query runs as if the value stood in each's place. */
void qd_generator_set_parameters(QdGenerator *self, const GArray *variables);

/* Joins are made case by case of their OPTIONALs and UNIONs also where that does not seem to be cheaper. */
void qd_generator_split_all(QdGenerator *self);
/* Whether they may be made so, and one was not. */
gboolean qd_generator_may_split(const QdGenerator *self);

/**
 * qd_generator_make_select:
 * @algebra: of a whole SELECT
 * @variables: the columns, in order
 * @distinct: whether rows must differ, also where the algebra does not say so
 *
 * Returns: (transfer none) (nullable): the SQL text in the arena; NULL and an error: TOO_COMPLEX, UNSUPPORTED
 */
const char *qd_generator_make_select(QdGenerator *self, const QdAlgebra *algebra, const guint *variables, guint n_variables,
                                     GError **error);
const char *qd_generator_make_ask(QdGenerator *self, const QdAlgebra *algebra, GError **error);

/* Columns s, p, o, each triple once; those that would be no RDF are left out. */
const char *qd_generator_make_construct(QdGenerator *self, const QdAlgebra *algebra, const QdTriple *template, guint n_template,
                                        GError **error);
/* Columns s, p, o: all triples of the nodes and, through blank nodes, of what they lead to. */
const char *qd_generator_make_describe(QdGenerator *self, const QdAlgebra *algebra, const QdNode *nodes, guint n_nodes,
                                       GError **error);

/* The parameters ?1… of the SQL (of QdSqlConstant), valid as long as the generator. */
const GArray *qd_generator_get_constants(const QdGenerator *self);

/* Counts that the join orders rest on (of QdPlanProbe), valid as long as the generator. */
const GArray *qd_generator_get_probes(const QdGenerator *self);

/* (transfer none): the estimates that joins were ordered by (of double), NAN after each join; valid as long as the
 * generator. */
const GArray *qd_generator_get_estimates(const QdGenerator *self);

/* (transfer none) (nullable): lines on what is generated otherwise, for Explain; valid as long as the AST. */
const char *qd_generator_get_notes(const QdGenerator *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdGenerator, qd_generator_free)
