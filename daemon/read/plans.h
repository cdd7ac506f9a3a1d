/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compiled SPARQL of one connection, least recently used out first.
 *
 * Place: room read. A plan is found again by its text and by which parameters have values. Another text of the same fingerprint
 * (sparql/fingerprint.h) finds it, too; its constants are then written into it. It is compiled again when its join orders may
 * be wrong: the store, or what the constants match, has grown or shrunk so much (docs/decisions/plan-cache.md).
 */
#pragma once

#include "daemon/base/limits.h"
#include "daemon/read/parameters.h"

typedef struct QdAccess QdAccess;
typedef struct QdConnection QdConnection;
typedef struct QdSparqlPlan QdSparqlPlan;

typedef struct QdPlanText {
    const char *text;
    gsize n_bytes;
    const char *base;    /* (nullable): an absolute IRI */
    const char *dataset; /* (nullable): FROM clauses instead of those of the text */
    gboolean is_update;
    gboolean is_second;     /* QdSparqlOptions.is_second */
    const QdAccess *access; /* (nullable): what the client was granted */
} QdPlanText;

/* What has happened, of all connections together; atomics. */
typedef struct QdPlanCounters {
    guint64 n_found;
    guint64 n_made;
    guint64 made_usec; /* time for those */
} QdPlanCounters;

/* @counters: outlive the connection. */
void qd_plans_set_counters(QdConnection *connection, QdPlanCounters *counters);

/**
 * qd_plans_get:
 * @parameters: (nullable): names (without sigil) → QdTerm of those that have a value
 *
 * Call it outside of a statement under way. A transaction is begun for it where there is none.
 *
 * Returns: (transfer none) (nullable): the plan with the constants of @what, valid until the next call for this connection
 */
const QdSparqlPlan *qd_plans_get(QdConnection *connection, const QdPlanText *what, GHashTable *parameters, const QdLimits *limits,
                                 GError **error);

/* What the plans of @connection take, which counts as memory of SQLite's does (sqlite/memory.h). */
gsize qd_plans_get_size(QdConnection *connection);
/* All of them go. */
void qd_plans_trim(QdConnection *connection);

/* (transfer full): an empty table for qd_plans_add_parameter(). */
GHashTable *qd_plans_new_parameters(void);

/* @name has the sigil "$" or "?". NULL is no value. BAD_PARAMETER: the value is no term. */
gboolean qd_plans_add_parameter(GHashTable *parameters, const char *name, const QwValue *value, GError **error);
