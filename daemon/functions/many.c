/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of one row that is taken for many.
 */
#include "daemon/functions/many.h"

#include "daemon/functions/sql-call.h"
#include "daemon/sqlite/virtual-table.h"

#define STATED_ROWS (1 << 20)

static int
connect_table(sqlite3 *db, void *data, int n_args, const char *const *args, sqlite3_vtab **ret_table, char **ret_message)
{
    return qd_virtual_table_connect(db, "CREATE TABLE x(n INTEGER)", data, ret_table);
}

static int
plan_table(sqlite3_vtab *table, sqlite3_index_info *info)
{
    info->estimatedCost = 1;
    info->estimatedRows = STATED_ROWS;
    return SQLITE_OK;
}

static int
filter(sqlite3_vtab_cursor *cursor, int index, const char *index_text, int n_args, sqlite3_value **args)
{
    QdVirtualCursor *self = (QdVirtualCursor *) cursor;

    self->row = 1;
    self->is_at_end = FALSE;
    return SQLITE_OK;
}

static int
get_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    sqlite3_result_int(context, 1);
    return SQLITE_OK;
}

gboolean
qd_many_register(sqlite3 *db, GError **error)
{
    static const sqlite3_module module = {
        .xConnect = connect_table,
        .xDisconnect = qd_virtual_table_disconnect,
        .xBestIndex = plan_table,
        .xOpen = qd_virtual_cursor_open,
        .xClose = qd_virtual_cursor_close,
        .xFilter = filter,
        .xNext = qd_virtual_cursor_end,
        .xEof = qd_virtual_cursor_is_at_end,
        .xColumn = get_column,
        .xRowid = qd_virtual_cursor_get_rowid,
    };
    int r = sqlite3_create_module_v2(db, "queryd_many", &module, NULL, NULL);

    if (r != SQLITE_OK)
        qd_sql_create_error(error, "queryd_many", r);
    return r == SQLITE_OK;
}
