/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What virtual tables of ours have in common: a table with its module's data, a cursor that counts, and nothing to plan.
 *
 * Place: room sqlite; functions for the rows of a sqlite3_module. A table that needs more has its own struct, which begins with one
 * of these.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

typedef struct QdVirtualTable {
    sqlite3_vtab base;
    gpointer data; /* (nullable) (not owned): the module's */
} QdVirtualTable;

typedef struct QdVirtualCursor {
    sqlite3_vtab_cursor base;
    gint64 row;
    gboolean is_at_end;
} QdVirtualCursor;

/* For xConnect. @declaration: CREATE TABLE. Returns: a result code of SQLite */
static inline int
qd_virtual_table_connect(sqlite3 *db, const char *declaration, gpointer data, sqlite3_vtab **ret_table)
{
    int r = sqlite3_declare_vtab(db, declaration);
    QdVirtualTable *self;

    if (r != SQLITE_OK)
        return r;
    self = g_new0(QdVirtualTable, 1);
    self->data = data;
    *ret_table = &self->base;
    return SQLITE_OK;
}

static inline int
qd_virtual_table_disconnect(sqlite3_vtab *table)
{
    g_free(table);
    return SQLITE_OK;
}

/* xBestIndex of a table that is scanned whole. */
static inline int
qd_virtual_table_plan(sqlite3_vtab *table G_GNUC_UNUSED, sqlite3_index_info *info G_GNUC_UNUSED)
{
    return SQLITE_OK;
}

static inline int
qd_virtual_cursor_open(sqlite3_vtab *table G_GNUC_UNUSED, sqlite3_vtab_cursor **ret_cursor)
{
    QdVirtualCursor *self = g_new0(QdVirtualCursor, 1);

    *ret_cursor = &self->base;
    return SQLITE_OK;
}

static inline int
qd_virtual_cursor_close(sqlite3_vtab_cursor *cursor)
{
    g_free(cursor);
    return SQLITE_OK;
}

/* xNext of a table of one row. */
static inline int
qd_virtual_cursor_end(sqlite3_vtab_cursor *cursor)
{
    ((QdVirtualCursor *) cursor)->is_at_end = TRUE;
    return SQLITE_OK;
}

static inline gpointer
qd_virtual_cursor_get_data(const sqlite3_vtab_cursor *cursor)
{
    return ((const QdVirtualTable *) cursor->pVtab)->data;
}

static inline int
qd_virtual_cursor_is_at_end(sqlite3_vtab_cursor *cursor)
{
    return ((const QdVirtualCursor *) cursor)->is_at_end;
}

static inline int
qd_virtual_cursor_get_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret_rowid)
{
    *ret_rowid = ((const QdVirtualCursor *) cursor)->row;
    return SQLITE_OK;
}
