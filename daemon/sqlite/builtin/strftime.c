/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * strftime() takes up to 370 ns for each conversion and cannot be ended: 9 s for a format of 30 MB. It cannot be a statement of
 * another connection. 'now' is the time of the statement that calls it, and an error in an index or a CHECK. So SQLite's own is
 * called with the context of our call, if the format is short. Values and modifiers have no limit: they are read in 3 ns a
 * byte, and the memory of a query bounds them.
 */
#include "daemon/sqlite/builtin/strftime.h"

#include "daemon/sqlite/builtin/builtin.h"
#include "daemon/sqlite/sqlite-error.h"

/* Of the process. NULL: not found. */
static QdSqlCall *original;

static void
fail_too_long(sqlite3_context *context, const QdLimits *limits)
{
    g_autoptr(GError) error = NULL;

    qd_limit_set_error(&error, limits, QD_LIMIT_STRFTIME_FORMAT_BYTES, "the format of strftime() is too long");
    sqlite3_result_error(context, error->message, -1);
    sqlite3_result_error_code(context, qd_sqlite_from_code(qd_error_get_code(error)));
}

/* https://www.sqlite.org/lang_datefunc.html */
static void
function_strftime(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    const QdLimits *limits = sqlite3_user_data(context);

    if (n_args > 0 && (guint64) sqlite3_value_bytes(args[0]) > limits->values[QD_LIMIT_STRFTIME_FORMAT_BYTES])
        fail_too_long(context, limits);
    else
        original(context, n_args, args);
}

static gpointer
find_original(gpointer data)
{
    original = qd_builtin_find("strftime");
    return NULL;
}

gboolean
qd_strftime_register(sqlite3 *db, const QdLimits *limits, GError **error)
{
    static GOnce once = G_ONCE_INIT;
    int r = SQLITE_OK;

    (void) g_once(&once, find_original, NULL);
    if (original != NULL)
        r = sqlite3_create_function_v2(db, "strftime", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, (void *) limits,
                                       function_strftime, NULL, NULL, NULL);
    if (r == SQLITE_OK)
        return TRUE;

    qd_sqlite_set_call_error(error, db, r, "cannot register function 'strftime'");
    return FALSE;
}
