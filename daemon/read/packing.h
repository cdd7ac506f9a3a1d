/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packing: a statement with a wrapper around it, in which an SQL function writes each row into the page.
 *
 *     WITH queryd_rows(c0, c1) AS (the statement) SELECT queryd_pack(c0, c1) FROM queryd_rows
 *
 * Place: room read. A run uses it for large results: the function gets a row's values at once, where a statement's columns are
 * asked for one by one.
 * Invariant: the wrapped statement is used only if SQLite's program for it differs just by a call of the function right before
 * each result row. It gives the same rows in the same order, and the function has seen each of them once.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

#include "client-lib/wire/wire-page-reader.h"
#include "client-lib/wire/wire-page-writer.h"
#include "daemon/sqlite/connection.h"

#define QD_PACKING_FUNCTION "queryd_pack"

/* The function's side of a connection; belongs to it. */
typedef struct QdPacker QdPacker;

/**
 * qd_packer_register:
 * @db: a connection that is opened
 *
 * Returns: (transfer none): lives as long as @db; NULL with an error
 */
QdPacker *qd_packer_register(sqlite3 *db, GError **error);

/**
 * qd_packing_find:
 * @compiled: a query of @connection; it may be running
 *
 * Compiles the wrapped statement, once: that takes three times as long as the plain one. @compiled->wrapped.stmt is to be stepped
 * between qd_packer_begin() and qd_packer_end(). @compiled->wrapped.scan is what it scans, if it does nothing else.
 *
 * Returns: FALSE when SQLite does not make the same of it
 */
gboolean qd_packing_find(QdConnection *connection, QdCompiled *compiled, const QdLimits *limits);

/**
 * qd_packing_holds:
 * @values: a row with those of the parameters
 *
 * SQLite compiles a statement with LIKE of a parameter again for each value, which may give it an index. The guard is set for
 * packing.
 *
 * Returns: whether it makes the same of both statements with @values, too, by the schema of this moment
 */
gboolean qd_packing_holds(QdConnection *connection, const QdCompiled *compiled, const QdLimits *limits, const QwPageReader *values);

/* (transfer full): the text of the packed statement. @tables: other common table expressions, or "" */
char *qd_packing_write_text(const QdCompiled *compiled, const char *tables);

/* Where the rows of the next steps go. A row above @max_row_bytes is not kept. */
void qd_packer_begin(QdPacker *self, QwPageWriter *writer, size_t max_row_bytes);
void qd_packer_end(QdPacker *self);

/**
 * qd_packer_take_row:
 *
 * After a step that gave a row, and again for each page until it fits: makes sure that the row is in @writer.
 *
 * Returns: 0; -ENOBUFS when there is no room: it is kept
 */
int qd_packer_take_row(QdPacker *self, QwPageWriter *writer);

/* Forgets the row that did not fit. */
void qd_packer_drop_row(QdPacker *self);

/* The size in bytes that the row which did not fit needs in an empty page; 0: there is none. */
size_t qd_packer_get_row_size(const QdPacker *self);
