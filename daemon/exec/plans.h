/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compiled SPARQL of one connection, least recently used out first.
 *
 * Place: layer 4. A plan is found again by its text and by which parameters have values; it is compiled anew when the store has
 * grown or shrunk so much that its join orders may be wrong.
 */
#pragma once

#include "daemon/exec/parameters.h"
#include "daemon/sparql/compile.h"
#include "daemon/store/connection.h"

typedef struct QdPlanText {
    const char *text;
    gsize n_bytes;
    const char *base; /* (nullable): an absolute IRI */
    gboolean is_update;
} QdPlanText;

/**
 * qd_plans_get:
 * @parameters: (nullable): names (without sigil) → QdTerm of those that have a value
 *
 * Returns: (transfer none) (nullable): the plan, valid until the next call for this connection
 */
const QdSparqlPlan *qd_plans_get(QdConnection *connection, const QdPlanText *what, GHashTable *parameters, const QdLimits *limits,
                                 GError **error);

/* (transfer full): an empty table for qd_plans_add_parameter(). */
GHashTable *qd_plans_new_parameters(void);

/* @name has the sigil "$" or "?". NULL is no value. BAD_PARAMETER: the value is no term. */
gboolean qd_plans_add_parameter(GHashTable *parameters, const char *name, const QwValue *value, GError **error);
