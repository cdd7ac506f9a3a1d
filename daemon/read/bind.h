/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parameters onto a compiled statement.
 *
 * Place: room read. Values are bound as views: what they point to outlives the execution.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

#include "client-lib/wire/wire-page-reader.h"
#include "client-lib/wire/wire-page-writer.h"
#include "daemon/read/parameters.h"
#include "daemon/read/shape.h"

/* Binds the current row of @row, whose n_columns must be the statement's number of parameters. BAD_PARAMETER otherwise. */
gboolean qd_bind_row(sqlite3_stmt *stmt, const QwPageReader *row, GError **error);

/* The same for a statement that has other parameters after those. */
gboolean qd_bind_first(sqlite3_stmt *stmt, const QwPageReader *row, GError **error);

/* Binds by name or index: every parameter exactly once; BAD_PARAMETER names the missing, surplus or ambiguous one. */
gboolean qd_bind_parameters(sqlite3_stmt *stmt, const QdParameters *parameters, GError **error);

/* The same as one row of the wire format (the body of a FETCH record): (transfer full), NULL with BAD_PARAMETER. */
GBytes *qd_bind_encode_row(const QdShape *shape, const QdParameters *parameters, GError **error);

/* values[i] is that of parameter i, NULL where SPARQL's has none: (transfer container), NULL with BAD_PARAMETER. */
const QwValue **qd_bind_resolve(const QdShape *shape, const QdParameters *parameters, GError **error);
