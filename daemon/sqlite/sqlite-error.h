/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite's result codes as our errors, with the place in the text where SQLite knows it.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

#include "daemon/base/error.h"
#include "daemon/base/limits.h"

/* The QwError of a result code, extended or not. */
QwError qd_sqlite_get_code(int result);

/* The result code by which a function or a virtual table of ours fails with @code. */
int qd_sqlite_from_code(QwError code);

/**
 * qd_sqlite_get_result:
 * @db: (nullable): the connection that failed just now
 *
 * What its result code means: SQLite calls it damage, too, when the disk refused to read a page (SQLITE_IOERR_CORRUPTFS), which
 * says nothing about the file.
 */
int qd_sqlite_get_result(sqlite3 *db, int result);

/**
 * qd_sqlite_set_error:
 * @error: (nullable): gets an error
 * @db: (nullable): the connection that failed just now
 * @result: its result code
 * @text: (nullable): the statement, for line and column
 * @n_bytes: its size
 * @limits: (nullable): to name the limit, where SQLite means one
 */
void qd_sqlite_set_error(GError **error, sqlite3 *db, int result, const char *text, size_t n_bytes, const QdLimits *limits);
/* The same when it failed to compile @text: then it is no error of a full-text query, which FTS5 finds when it runs. */
void qd_sqlite_set_compile_error(GError **error, sqlite3 *db, int result, const char *text, size_t n_bytes, const QdLimits *limits);

/* The same for a statement of ours that names nothing of a schema, such as BEGIN: never SYNTAX. */
void qd_sqlite_set_own_error(GError **error, sqlite3 *db, int result);

/* The same when a call of SQLite failed that is about no statement: "CALL: the reason". */
void qd_sqlite_set_call_error(GError **error, sqlite3 *db, int result, const char *format, ...) G_GNUC_PRINTF(4, 5);

/* Key of the detail that says which kind of constraint; docs/wire-format.md. */
#define QD_CONSTRAINT_KIND "kind"

/* The extended code of the constraint that the last error of @db is about, also where SQLite gives another; or its own code. */
int qd_sqlite_get_constraint(sqlite3 *db);

/**
 * qd_sqlite_get_constraint_kind:
 * @result: an extended result code of SQLite
 *
 * Returns: (transfer none) (nullable): the kind of constraint, NULL for other errors
 */
const char *qd_sqlite_get_constraint_kind(int result);
