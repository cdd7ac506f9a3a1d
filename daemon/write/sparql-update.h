/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The operations of a SPARQL update on the writer's connection.
 *
 * Place: room write, called by write-item inside its transaction or savepoint.
 * Invariant: an operation's solutions are complete, in a temporary table, before the first quad changes.
 */
#pragma once

#include "daemon/base/limits.h"

typedef struct QdChanges QdChanges;
typedef struct QdConnection QdConnection;
typedef struct QdSparqlPlan QdSparqlPlan;

/**
 * qd_sparql_update_run:
 * @plan: of an update
 * @parameters: (nullable): terms of the parameters, by name
 * @changed: graphs and predicates of what changes are added
 * @ret_changes: quads inserted and deleted
 *
 * Runs all operations; the caller rolls back when one fails. Its guard is at QD_POLICY_INTERNAL meanwhile.
 *
 * Errors: UNSUPPORTED (LOAD), CONSTRAINT (a graph that is there or is not), and SQLite's own
 */
gboolean qd_sparql_update_run(QdConnection *connection, const QdSparqlPlan *plan, const QdLimits *limits, GHashTable *parameters,
                              QdChanges *changed, guint64 *ret_changes, GError **error);
