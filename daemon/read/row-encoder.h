/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows straight from SQLite into a page.
 *
 * Place: room read. No allocation for a row or a value.
 */
#pragma once

#include <sqlite3.h>

#include "client-lib/wire/wire-page-writer.h"

/**
 * qd_row_encode:
 * @writer: the page; @writer->n_columns is the statement's number of columns
 * @stmt: a statement that stands on a row
 *
 * Appends the row. On failure the page holds what it held before.
 *
 * Returns: 0; -ENOBUFS when the page is full; -ENOMEM when SQLite could not give a value
 */
int qd_row_encode(QwPageWriter *writer, sqlite3_stmt *stmt);
/* The same for values that are there already: as many as @writer has columns. */
int qd_row_encode_values(QwPageWriter *writer, sqlite3_value *const *values);

/* The size in bytes that the row needs in an empty page, header and padding included. */
size_t qd_row_get_size(sqlite3_stmt *stmt, uint32_t n_columns);
size_t qd_row_get_values_size(sqlite3_value *const *values, uint32_t n_columns);
