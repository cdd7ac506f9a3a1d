/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What every SQL function of ours does around its work.
 *
 * Place: room functions, internal to functions.
 */
#pragma once

#include "daemon/functions/value.h"

/* qd_sql_fail: the error that ended the query becomes the function's. TRUE when there was one. */
gboolean qd_sql_fail(QdEvaluation *ev, sqlite3_context *result);

/* qd_sql_end: the last of a call: the same, and what the evaluation has taken much memory for is gone. */
void qd_sql_end(QdEvaluation *ev, sqlite3_context *result);

/* qd_sql_fail_argument: an argument is not what the function takes: BAD_PARAMETER. */
void qd_sql_fail_argument(sqlite3_context *result, const char *message);

/* qd_sql_is_interrupted: asked between the pieces of long work: TRUE when the statement shall end; the function has failed then. */
gboolean qd_sql_is_interrupted(sqlite3_context *result);

/* qd_sql_create_error: for a function that could not be registered. */
void qd_sql_create_error(GError **error, const char *name, int code);
