/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The columns of a table that an import makes: their names and their declared types.
 *
 * Place: room job, pure. Types are those that are asked for, or those that hold all values of the column without a loss.
 */
#pragma once

#include <glib.h>

#include "client-lib/wire/wire-value.h"

typedef struct QdImportColumns QdImportColumns;

/**
 * qd_import_columns_new:
 * @types: (nullable): "NAME=TYPE" for each column whose type is known, ended by NULL; borrowed
 * @is_text: the values are from csv or tsv: each could have been typed without its quotes
 *
 * Returns: (transfer full): no column was seen yet
 */
QdImportColumns *qd_import_columns_new(char *const *types, gboolean is_text);
QdImportColumns *qd_import_columns_free(QdImportColumns *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdImportColumns, qd_import_columns_free)

/**
 * qd_import_columns_take:
 * @names: of the columns, at least @n_values
 * @values: of a row
 *
 * Looks at a row. Columns that are new, which stand after those that are known, are added.
 */
void qd_import_columns_take(QdImportColumns *self, const char *const *names, const QwValue *values, guint n_values);

/* (transfer none): the names of the columns that were seen, ended by NULL. */
const char *const *qd_import_columns_get_names(const QdImportColumns *self);

/**
 * qd_import_columns_put:
 * @out: gets the name, quoted, and the type, as they stand in CREATE TABLE and in ADD COLUMN
 * @name: a column, which may be one that was never seen
 */
void qd_import_columns_put(const QdImportColumns *self, GString *out, const char *name);

/**
 * qd_import_columns_check:
 * @names: of all columns that there are, @n of them
 * @error: (nullable): location for an error
 *
 * Errors: BAD_PARAMETER for a type of a column that is not there, and for one that is no type.
 *
 * Returns: FALSE on error
 */
gboolean qd_import_columns_check(const QdImportColumns *self, const char *const *names, guint n, GError **error);
