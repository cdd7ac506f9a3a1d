/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QdShape: what a statement takes and gives, in each language.
 *
 * Place: room read. A view: valid as long as the statement or plan it was made from.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>
#include <stdint.h>

#include "daemon/base/language.h"
#include "daemon/sqlite/guard/policy.h"

typedef struct QdCompiled QdCompiled;
typedef struct QdSparqlPlan QdSparqlPlan;

typedef struct QdShape {
    sqlite3_stmt *stmt;       /* SQL */
    const QdSparqlPlan *plan; /* SPARQL */
    guint n_columns;
    guint n_parameters; /* of SPARQL: the variables written with '$'; by name any variable is one */
    gboolean writes;
    gboolean is_stable; /* its result depends on the data and the parameters alone */
    QdControl control;  /* SQL */
    uint64_t signature; /* of names and declared types of the columns, and of is_stable */
} QdShape;

QdShape qd_shape_from_stmt(sqlite3_stmt *stmt);
QdShape qd_shape_from_compiled(const QdCompiled *compiled);
QdShape qd_shape_from_plan(const QdSparqlPlan *plan);

/* FALSE with ACCESS_DENIED for BEGIN, COMMIT and ROLLBACK, where no transaction can be begun or ended by a text. */
gboolean qd_shape_check_control(const QdShape *self, GError **error);

/* Never NULL; @i from 0. Parameters have their sigil: ":a", "$x", or "". */
const char *qd_shape_get_column_name(const QdShape *self, guint i);
const char *qd_shape_get_column_type(const QdShape *self, guint i);
const char *qd_shape_get_parameter_name(const QdShape *self, guint i);

/* How many parameters there are by name: all variables of SPARQL. */
guint qd_shape_get_n_names(const QdShape *self);
