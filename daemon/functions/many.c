/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of one row that is taken for many.
 */
#include "daemon/functions/many.h"

#include "daemon/functions/sql-call.h"

#define STATED_ROWS (1 << 20)

typedef struct Cursor {
    sqlite3_vtab_cursor base;
    gboolean is_at_end;
} Cursor;

static int
connect_table(sqlite3 *db, void *data, int n_args, const char *const *args, sqlite3_vtab **ret_table, char **ret_message)
{
    int r = sqlite3_declare_vtab(db, "CREATE TABLE x(n INTEGER)");

    if (r == SQLITE_OK)
        *ret_table = g_new0(sqlite3_vtab, 1);
    return r;
}

static int
disconnect_table(sqlite3_vtab *table)
{
    g_free(table);
    return SQLITE_OK;
}

static int
plan_table(sqlite3_vtab *table, sqlite3_index_info *info)
{
    info->estimatedCost = 1;
    info->estimatedRows = STATED_ROWS;
    return SQLITE_OK;
}

static int
open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **ret_cursor)
{
    Cursor *self = g_new0(Cursor, 1);

    *ret_cursor = &self->base;
    return SQLITE_OK;
}

static int
close_cursor(sqlite3_vtab_cursor *cursor)
{
    g_free(cursor);
    return SQLITE_OK;
}

static int
filter(sqlite3_vtab_cursor *cursor, int index, const char *index_text, int n_args, sqlite3_value **args)
{
    ((Cursor *) cursor)->is_at_end = FALSE;
    return SQLITE_OK;
}

static int
next(sqlite3_vtab_cursor *cursor)
{
    ((Cursor *) cursor)->is_at_end = TRUE;
    return SQLITE_OK;
}

static int
is_at_end(sqlite3_vtab_cursor *cursor)
{
    return ((const Cursor *) cursor)->is_at_end;
}

static int
get_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    sqlite3_result_int(context, 1);
    return SQLITE_OK;
}

static int
get_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret_rowid)
{
    *ret_rowid = 1;
    return SQLITE_OK;
}

gboolean
qd_many_register(sqlite3 *db, GError **error)
{
    static const sqlite3_module module = {
        .xConnect = connect_table,
        .xDisconnect = disconnect_table,
        .xBestIndex = plan_table,
        .xOpen = open_cursor,
        .xClose = close_cursor,
        .xFilter = filter,
        .xNext = next,
        .xEof = is_at_end,
        .xColumn = get_column,
        .xRowid = get_rowid,
    };
    int r = sqlite3_create_module_v2(db, "queryd_many", &module, NULL, NULL);

    if (r != SQLITE_OK)
        qd_sql_create_error(error, "queryd_many", r);
    return r == SQLITE_OK;
}
