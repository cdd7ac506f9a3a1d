/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The module is there for one statement, which scans it once from its first row to its last.
 */
#include "daemon/quads/insert-source.h"

#include "daemon/sqlite/sqlite-error.h"

#define MODULE_NAME "queryd_source"

typedef struct Source {
    const QdInsertSource *insert_source;
    GError *error;
} Source;

typedef struct Table {
    sqlite3_vtab base;
    Source *source;
} Table;

typedef struct Cursor {
    sqlite3_vtab_cursor base;
    Source *source;
    gboolean more;
} Cursor;

static int
connect_table(sqlite3 *db, void *data, int n_arguments, const char *const *arguments, sqlite3_vtab **ret_table, char **ret_error)
{
    int r = sqlite3_declare_vtab(db, "CREATE TABLE queryd_source(a, b, c, d)");
    Table *table;

    if (r != SQLITE_OK)
        return r;
    table = g_new0(Table, 1);
    table->source = data;
    *ret_table = &table->base;
    return SQLITE_OK;
}

static int
disconnect_table(sqlite3_vtab *table)
{
    g_free(table);
    return SQLITE_OK;
}

static int
plan(sqlite3_vtab *table, sqlite3_index_info *info)
{
    return SQLITE_OK;
}

static int
open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **ret_cursor)
{
    Cursor *cursor = g_new0(Cursor, 1);

    cursor->source = ((Table *) table)->source;
    *ret_cursor = &cursor->base;
    return SQLITE_OK;
}

static int
close_cursor(sqlite3_vtab_cursor *cursor)
{
    g_free(cursor);
    return SQLITE_OK;
}

static int
go_on(sqlite3_vtab_cursor *cursor)
{
    Cursor *self = (Cursor *) cursor;
    const QdInsertSource *insert_source = self->source->insert_source;

    return insert_source->next(insert_source->data, &self->more, &self->source->error) ? SQLITE_OK : SQLITE_ERROR;
}

static int
filter(sqlite3_vtab_cursor *cursor, int index, const char *name, int n_values, sqlite3_value **values)
{
    return go_on(cursor);
}

static int
is_at_end(sqlite3_vtab_cursor *cursor)
{
    return !((Cursor *) cursor)->more;
}

static int
get_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    const QdInsertSource *insert_source = ((Cursor *) cursor)->source->insert_source;

    insert_source->get(insert_source->data, context, column);
    return SQLITE_OK;
}

static int
get_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret_rowid)
{
    *ret_rowid = 0;
    return SQLITE_OK;
}

/* Without xCreate it has no name but its own. */
static const sqlite3_module module = {
    .xConnect = connect_table,
    .xBestIndex = plan,
    .xDisconnect = disconnect_table,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = go_on,
    .xEof = is_at_end,
    .xColumn = get_column,
    .xRowid = get_rowid,
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
