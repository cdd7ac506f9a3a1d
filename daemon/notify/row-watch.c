/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The key of a table is its primary key, or else the rowid. It is looked up before the statement runs: within the hook nothing may
 * be asked of the connection. A table that was not looked up is reported as a whole. So are virtual tables, and those with
 * generated columns, which SQLite counts in another way.
 */
#include "daemon/notify/row-watch.h"

#ifdef SQLITE_ENABLE_PREUPDATE_HOOK

/* More columns in a key are not watched. */
#define KEY_COLUMNS_MAX 8

typedef struct Key {
    guint n_columns;
    int columns[KEY_COLUMNS_MAX]; /* -1: the rowid */
    char **names;                 /* NULL: its rows are not known by keys */
} Key;

typedef struct RowWatch {
    GHashTable *keys; /* table → Key, owned; of that version of the schema */
    gint64 schema_version;
    QdRowChanges *rows; /* (nullable) (not owned): of the update that runs */
} RowWatch;

static void
key_free(gpointer data)
{
    Key *self = data;

    g_strfreev(self->names);
    g_free(self);
}

static void
watch_free(gpointer data)
{
    RowWatch *self = data;

    g_hash_table_unref(self->keys);
    g_free(self);
}

/* The hook ---------------------------------------------------------------------------------------------------------------- */

static void
take_value(sqlite3_value *value, QwValue *ret)
{
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        *ret = (QwValue){ .type = QW_TYPE_INTEGER, .integer = sqlite3_value_int64(value) };
        break;
    case SQLITE_FLOAT:
        *ret = (QwValue){ .type = QW_TYPE_FLOAT, .real = sqlite3_value_double(value) };
        break;
    case SQLITE_TEXT:
        *ret = (QwValue){ .type = QW_TYPE_TEXT, .data = (const char *) sqlite3_value_text(value) };
        ret->n_bytes = (uint32_t) sqlite3_value_bytes(value);
        break;
    case SQLITE_BLOB:
        *ret = (QwValue){ .type = QW_TYPE_BLOB, .data = sqlite3_value_blob(value) };
        ret->n_bytes = (uint32_t) sqlite3_value_bytes(value);
        break;
    default:
        *ret = (QwValue){ .type = QW_TYPE_NULL };
    }
}

typedef int ColumnFunc(sqlite3 *db, int column, sqlite3_value **ret_value);

static gboolean
add_row(RowWatch *self, sqlite3 *db, const char *table, const Key *key, ColumnFunc *get, sqlite3_int64 rowid, QdRowChange change)
{
    QwValue values[KEY_COLUMNS_MAX];

    for (guint i = 0; i < key->n_columns; i++) {
        sqlite3_value *value = NULL;

        if (key->columns[i] < 0)
            values[i] = (QwValue){ .type = QW_TYPE_INTEGER, .integer = rowid };
        else if (get(db, key->columns[i], &value) == SQLITE_OK && value != NULL)
            take_value(value, &values[i]);
        else
            return FALSE;
    }
    qd_row_changes_add(self->rows, table, values, key->n_columns, change);
    return TRUE;
}

/* An UPDATE that changes the key is a row that goes and one that comes; both are reported. */
static gboolean
add_update(RowWatch *self, sqlite3 *db, const char *table, const Key *key, sqlite3_int64 old_rowid, sqlite3_int64 new_rowid)
{
    gboolean is_same = key->columns[0] >= 0 || old_rowid == new_rowid;

    for (guint i = 0; is_same && i < key->n_columns && key->columns[i] >= 0; i++) {
        sqlite3_value *old_value = NULL;
        sqlite3_value *new_value = NULL;
        QwValue before;
        QwValue after;

        if (sqlite3_preupdate_old(db, key->columns[i], &old_value) != SQLITE_OK ||
            sqlite3_preupdate_new(db, key->columns[i], &new_value) != SQLITE_OK)
            return FALSE;
        take_value(old_value, &before);
        take_value(new_value, &after);
        is_same = qd_row_value_is_same(&before, &after);
    }
    if (is_same)
        return add_row(self, db, table, key, sqlite3_preupdate_new, new_rowid, QD_ROW_UPDATED);
    return add_row(self, db, table, key, sqlite3_preupdate_old, old_rowid, QD_ROW_DELETED) &&
           add_row(self, db, table, key, sqlite3_preupdate_new, new_rowid, QD_ROW_INSERTED);
}

static void
on_row(void *data, sqlite3 *db, int operation, const char *database, const char *table, sqlite3_int64 old_rowid,
       sqlite3_int64 new_rowid)
{
    RowWatch *self = data;
    const Key *key;
    gboolean ok;

    if (self->rows == NULL || !g_str_equal(database, "main"))
        return;

    key = g_hash_table_lookup(self->keys, table);
    if (key == NULL || key->names == NULL)
        ok = FALSE;
    else if (operation == SQLITE_INSERT)
        ok = add_row(self, db, table, key, sqlite3_preupdate_new, new_rowid, QD_ROW_INSERTED);
    else if (operation == SQLITE_DELETE)
        ok = add_row(self, db, table, key, sqlite3_preupdate_old, old_rowid, QD_ROW_DELETED);
    else
        ok = add_update(self, db, table, key, old_rowid, new_rowid);
    if (!ok)
        qd_row_changes_add_all_of(self->rows, table);
}

/* Keys -------------------------------------------------------------------------------------------------------------------- */

static sqlite3_stmt *
prepare(QdConnection *connection, const char *sql, const char *table)
{
    sqlite3_stmt *stmt = NULL;

    if (sqlite3_prepare_v2(qd_connection_get_db(connection), sql, -1, &stmt, NULL) == SQLITE_OK)
        (void) sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
    return stmt;
}

static gboolean
is_real_table(QdConnection *connection, const char *table)
{
    const char *sql = "SELECT 1 FROM temp.pragma_table_list WHERE schema = 'main' AND type = 'table' AND name = ?1";
    sqlite3_stmt *stmt = prepare(connection, sql, table);
    gboolean is_real = stmt != NULL && sqlite3_step(stmt) == SQLITE_ROW;

    (void) sqlite3_finalize(stmt);
    return is_real && !g_str_has_prefix(table, "sqlite_") && !g_str_has_prefix(table, "queryd_");
}

/* Sorted by their place in the key; a table that is not real has none, and NULL for names. */
static Key *
look_up(QdConnection *connection, const char *table)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    Key *self = g_new0(Key, 1);
    gboolean is_known = is_real_table(connection, table);
    sqlite3_stmt *stmt = NULL;

    if (is_known)
        stmt = prepare(connection, "SELECT cid, name, pk, hidden FROM temp.pragma_table_xinfo(?1) ORDER BY pk", table);
    while (stmt != NULL && sqlite3_step(stmt) == SQLITE_ROW) {
        if (sqlite3_column_int(stmt, 3) != 0 || self->n_columns == KEY_COLUMNS_MAX) {
            is_known = FALSE;
            break;
        }
        if (sqlite3_column_int(stmt, 2) == 0)
            continue;
        self->columns[self->n_columns++] = sqlite3_column_int(stmt, 0);
        g_ptr_array_add(names, g_strdup((const char *) sqlite3_column_text(stmt, 1)));
    }
    (void) sqlite3_finalize(stmt);
    if (self->n_columns == 0) {
        self->columns[self->n_columns++] = -1;
        g_ptr_array_add(names, g_strdup("rowid"));
    }
    g_ptr_array_add(names, NULL);
    if (is_known && stmt != NULL)
        self->names = (char **) g_ptr_array_free(g_steal_pointer(&names), FALSE);
    return self;
}

static const Key *
get_key(RowWatch *self, QdConnection *connection, const char *table)
{
    Key *key = g_hash_table_lookup(self->keys, table);

    if (key == NULL) {
        key = look_up(connection, table);
        (void) g_hash_table_insert(self->keys, g_strdup(table), key);
    }
    return key;
}

void
qd_row_watch_note_tables(QdConnection *connection, char *const *tables)
{
    RowWatch *self = qd_connection_get_attachment(connection, QD_ATTACHMENT_ROW_WATCH);
    gint64 version;
    QdPolicy policy;

    if (self == NULL || self->rows == NULL)
        return;

    version = qd_connection_get_schema_version(connection);
    if (version != self->schema_version)
        g_hash_table_remove_all(self->keys);
    self->schema_version = version;
    policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    for (; *tables != NULL; tables++) {
        const Key *key = get_key(self, connection, *tables);

        if (key->names != NULL)
            qd_row_changes_add_table(self->rows, *tables, (const char *const *) key->names);
        else
            qd_row_changes_add_all_of(self->rows, *tables);
    }
    (void) qd_connection_set_policy(connection, policy);
}

/* On and off -------------------------------------------------------------------------------------------------------------- */

gboolean
qd_row_watch_set(QdConnection *connection, gboolean is_on)
{
    RowWatch *self = qd_connection_get_attachment(connection, QD_ATTACHMENT_ROW_WATCH);

    if ((self != NULL) == is_on)
        return is_on;

    if (is_on) {
        self = g_new0(RowWatch, 1);
        self->keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, key_free);
        qd_connection_set_attachment(connection, QD_ATTACHMENT_ROW_WATCH, self, watch_free);
        (void) sqlite3_preupdate_hook(qd_connection_get_db(connection), on_row, self);
    } else {
        (void) sqlite3_preupdate_hook(qd_connection_get_db(connection), NULL, NULL);
        qd_connection_set_attachment(connection, QD_ATTACHMENT_ROW_WATCH, NULL, NULL);
        watch_free(self);
    }
    qd_connection_trim(connection);
    return is_on;
}

void
qd_row_watch_begin(QdConnection *connection, QdChanges *changes, const QdLimits *limits)
{
    RowWatch *self = qd_connection_get_attachment(connection, QD_ATTACHMENT_ROW_WATCH);

    if (self == NULL)
        return;
    if (changes->rows == NULL)
        changes->rows = qd_row_changes_new(limits);
    self->rows = changes->rows;
}

void
qd_row_watch_end(QdConnection *connection)
{
    RowWatch *self = qd_connection_get_attachment(connection, QD_ATTACHMENT_ROW_WATCH);

    if (self != NULL)
        self->rows = NULL;
}

#else

gboolean
qd_row_watch_set(QdConnection *connection, gboolean is_on)
{
    return FALSE;
}

void
qd_row_watch_begin(QdConnection *connection, QdChanges *changes, const QdLimits *limits)
{
}

void
qd_row_watch_end(QdConnection *connection)
{
}

void
qd_row_watch_note_tables(QdConnection *connection, char *const *tables)
{
}

#endif
