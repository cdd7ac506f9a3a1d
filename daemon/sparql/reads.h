/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which quads a query may look at: those with the predicates, in the graphs, that it names.
 *
 * Place: room sparql, on the AST as the parser made it. Invariant: never too few; what is not known is all.
 */
#pragma once

#include "daemon/base/name-set.h"
#include "daemon/sparql/plan-parts.h"

/**
 * qd_sparql_reads_collect:
 * @ast: of a query, not yet turned into algebra
 * @predicates: IRIs are added; all for a variable, a negated path, one of length zero, DESCRIBE, and a graph that has only to be
 * there
 * @graphs: IRIs are added, "" for the default graph; all for GRAPH with a variable
 */
void qd_sparql_reads_collect(const QdAst *ast, QdNameSet *predicates, QdNameSet *graphs);
