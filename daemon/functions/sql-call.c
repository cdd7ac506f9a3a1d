/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Errors of functions as SQLite wants them.
 */
#include "daemon/functions/sql-call.h"

#include "daemon/base/error.h"
#include "daemon/base/interrupt.h"
#include "daemon/sqlite/sqlite-error.h"

gboolean
qd_sql_fail(QdEvaluation *ev, sqlite3_context *result)
{
    QwError code;

    if (ev->error == NULL)
        return FALSE;

    code = qd_error_get_code(ev->error);
    sqlite3_result_error(result, ev->error->message, -1);
    if (code == QW_ERROR_TOO_BIG)
        sqlite3_result_error_toobig(result);
    else if (code == QW_ERROR_NO_MEMORY)
        sqlite3_result_error_nomem(result);
    else
        sqlite3_result_error_code(result, qd_sqlite_from_code(code));
    return TRUE;
}

void
qd_sql_end(QdEvaluation *ev, sqlite3_context *result)
{
    (void) qd_sql_fail(ev, result);
    qd_evaluation_trim(ev);
}

void
qd_sql_fail_argument(sqlite3_context *result, const char *message)
{
    sqlite3_result_error(result, message, -1);
    sqlite3_result_error_code(result, SQLITE_RANGE);
}

gboolean
qd_sql_is_interrupted(sqlite3_context *result)
{
    if (!qd_interrupt_poll())
        return FALSE;

    sqlite3_result_error_code(result, SQLITE_INTERRUPT);
    return TRUE;
}

void
qd_sql_create_error(GError **error, const char *name, int code)
{
    qd_sqlite_set_call_error(error, NULL, code, "cannot register '%s'", name);
}
