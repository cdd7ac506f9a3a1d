/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A text of a client to which single graphs are granted: what it reads becomes a dataset of these, what it writes is checked.
 *
 * Place: room sparql, after the parser and before all else: what is planned, counted and read obeys the dataset.
 */
#pragma once

#include "daemon/sparql/plan-parts.h"

typedef struct QdAccess QdAccess;

/**
 * qd_sparql_restrict:
 * @ast: a text that was parsed
 * @access: what its client was granted
 * @has_matches: it searches the full-text index
 *
 * Without FROM the dataset is the default graph, if that is granted, and the named graphs that are. FROM ALL and FROM NAMED ALL
 * mean those that are granted.
 *
 * Errors: ACCESS_DENIED: it names a graph, or asks for what cannot be kept to the graphs that are granted.
 */
gboolean qd_sparql_restrict(QdAst *ast, const QdAccess *access, gboolean has_matches, GError **error);
