/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Predicates and graphs that a query reads, from its tree.
 *
 * Place: room sparql, for subscriptions.
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
 *
 * Which quads a query may look at. Never too few: what is not known is all.
 */
void qd_sparql_reads_collect(const QdAst *ast, QdNameSet *predicates, QdNameSet *graphs);
