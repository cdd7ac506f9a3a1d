/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The module is there for one statement, which scans it once from its first row to its last.
 */
#include "daemon/quads/insert-source.h"

#include "daemon/sqlite/sqlite-error.h"
#include "daemon/sqlite/virtual-table.h"

#define MODULE_NAME "queryd_source"

typedef struct Source {
    const QdInsertSource *insert_source;
    GError *error;
} Source;

static int
connect_table(sqlite3 *db, void *data, int n_arguments, const char *const *arguments, sqlite3_vtab **ret_table, char **ret_error)
{
    return qd_virtual_table_connect(db, "CREATE TABLE queryd_source(a, b, c, d)", data, ret_table);
}

static int
go_on(sqlite3_vtab_cursor *cursor)
{
    Source *source = qd_virtual_cursor_get_data(cursor);
    gboolean more = FALSE;

    if (!source->insert_source->next(source->insert_source->data, &more, &source->error))
        return SQLITE_ERROR;
    ((QdVirtualCursor *) cursor)->is_at_end = !more;
    return SQLITE_OK;
}

static int
filter(sqlite3_vtab_cursor *cursor, int index, const char *name, int n_values, sqlite3_value **values)
{
    return go_on(cursor);
}

static int
get_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    const QdInsertSource *insert_source = ((const Source *) qd_virtual_cursor_get_data(cursor))->insert_source;

    insert_source->get(insert_source->data, context, column);
    return SQLITE_OK;
}

/* Without xCreate it has no name but its own. */
static const sqlite3_module module = {
    .xConnect = connect_table,
    .xBestIndex = qd_virtual_table_plan,
    .xDisconnect = qd_virtual_table_disconnect,
    .xOpen = qd_virtual_cursor_open,
    .xClose = qd_virtual_cursor_close,
    .xFilter = filter,
    .xNext = go_on,
    .xEof = qd_virtual_cursor_is_at_end,
    .xColumn = get_column,
    .xRowid = qd_virtual_cursor_get_rowid,
};

gboolean
qd_insert_source_run(QdConnection *connection, const char *sql, const QdInsertSource *insert_source, guint64 *ret_n_inserted,
                     GError **error)
{
    sqlite3 *db = qd_connection_get_db(connection);
    Source source = { .insert_source = insert_source };
    gint64 before = sqlite3_total_changes64(db);
    sqlite3_stmt *stmt = NULL;
    int r = sqlite3_create_module_v2(db, MODULE_NAME, &module, &source, NULL);

    if (r == SQLITE_OK)
        r = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    if (r == SQLITE_OK)
        r = sqlite3_step(stmt);
    if (source.error != NULL)
        g_propagate_error(error, source.error);
    else if (r != SQLITE_DONE)
        qd_sqlite_set_error(error, db, r, NULL, 0, NULL);
    (void) sqlite3_finalize(stmt);
    (void) sqlite3_create_module_v2(db, MODULE_NAME, NULL, NULL, NULL);
    if (r == SQLITE_DONE && ret_n_inserted != NULL)
        *ret_n_inserted = (guint64) (sqlite3_total_changes64(db) - before);
    return r == SQLITE_DONE;
}
