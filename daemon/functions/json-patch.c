/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The members of both objects bound the steps; they are counted by their colons.
 */
#include "daemon/functions/json-patch.h"

#include "daemon/functions/sql-call.h"

/* A look at the clock for so many bytes. */
#define PIECE 65536
/* The subtype with which SQLite marks JSON, so that another function takes it as such and not as a text. */
#define JSON_SUBTYPE 74

typedef struct JsonPatch {
    QdEvaluation *ev;
    sqlite3 *original; /* (nullable): until the first call */
    sqlite3_stmt *stmt;
} JsonPatch;

static void
json_patch_free(gpointer data)
{
    JsonPatch *self = data;

    (void) sqlite3_finalize(self->stmt);
    (void) sqlite3_close(self->original);
    g_free(self);
}

/* Colons outside of strings. FALSE: the statement shall end, and the function has failed. */
static gboolean
count_members(sqlite3_context *context, const guchar *text, int n_bytes, guint64 *ret_n)
{
    gboolean quoted = FALSE;

    *ret_n = 0;
    for (int i = 0; i < n_bytes; i++) {
        if (i % PIECE == 0 && qd_sql_is_interrupted(context))
            return FALSE;
        if (text[i] == '"')
            quoted = !quoted;
        else if (text[i] == '\\' && quoted)
            i++;
        else if (text[i] == ':' && !quoted)
            *ret_n += 1;
    }
    return TRUE;
}

static gboolean
open_original(JsonPatch *self, sqlite3_context *context)
{
    if (self->stmt != NULL)
        return TRUE;
    if ((self->original != NULL || sqlite3_open_v2(":memory:", &self->original, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK) &&
        sqlite3_prepare_v2(self->original, "SELECT json_patch(?, ?)", -1, &self->stmt, NULL) == SQLITE_OK)
        return TRUE;
    sqlite3_result_error(context, sqlite3_errmsg(self->original), -1);
    return FALSE;
}

static void
call_original(JsonPatch *self, sqlite3_context *context, sqlite3_value **args)
{
    (void) sqlite3_limit(self->original, SQLITE_LIMIT_LENGTH,
                         sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1));
    for (int i = 0; i < 2; i++)
        (void) sqlite3_bind_value(self->stmt, i + 1, args[i]);
    if (sqlite3_step(self->stmt) == SQLITE_ROW) {
        sqlite3_result_value(context, sqlite3_column_value(self->stmt, 0));
        if (sqlite3_column_type(self->stmt, 0) == SQLITE_TEXT)
            sqlite3_result_subtype(context, JSON_SUBTYPE);
    } else {
        sqlite3_result_error(context, sqlite3_errmsg(self->original), -1);
        sqlite3_result_error_code(context, sqlite3_errcode(self->original));
    }
    (void) sqlite3_reset(self->stmt);
    (void) sqlite3_clear_bindings(self->stmt);
}

/* https://www.sqlite.org/json1.html#jpatch */
static void
function_json_patch(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    JsonPatch *self = sqlite3_user_data(context);
    guint64 n_members[2] = { 0, 0 };

    for (int i = 0; i < 2; i++) {
        const guchar *text = sqlite3_value_text(args[i]);

        if (text != NULL && !count_members(context, text, sqlite3_value_bytes(args[i]), &n_members[i]))
            return;
    }
    qd_evaluation_reset(self->ev);
    if (n_members[1] * (n_members[0] + n_members[1]) > qd_evaluation_get_limit(self->ev, QD_LIMIT_JSON_PATCH_STEPS))
        qd_evaluation_fail_limit(self->ev, QD_LIMIT_JSON_PATCH_STEPS, "json_patch() of two objects with too many members");
    if (!qd_sql_fail(self->ev, context) && open_original(self, context))
        call_original(self, context, args);
}

gboolean
qd_json_patch_register(sqlite3 *db, QdEvaluation *ev, GError **error)
{
    JsonPatch *self = g_new0(JsonPatch, 1);
    int r;

    self->ev = ev;
    r = sqlite3_create_function_v2(db, "json_patch", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, self,
                                   function_json_patch, NULL, NULL, json_patch_free);
    if (r != SQLITE_OK)
        qd_sql_create_error(error, "json_patch", r);
    return r == SQLITE_OK;
}
