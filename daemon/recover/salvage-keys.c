/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The order of keys in a table WITHOUT ROWID. SQLite itself compares them, in the new file, so that collations, encodings and
 * numbers are what they are there.
 */
#include "daemon/recover/salvage-private.h"

struct QdKeyOrder {
    const QdSalvage *salvage;
    sqlite3_stmt *stmt; /* of two keys; gives -1, 0 or 1 */
    guint n_keys;
    GArray *fields[2]; /* of QdField */
};

QdKeyOrder *
qd_key_order_free(QdKeyOrder *self)
{
    if (self == NULL)
        return NULL;

    (void) sqlite3_finalize(self->stmt);
    for (guint i = 0; i < G_N_ELEMENTS(self->fields); i++)
        g_array_unref(self->fields[i]);
    g_free(self);
    return NULL;
}

/* One column after another: the first that differs decides. @columns: collation, and whether it is DESC */
static char *
write_comparison(sqlite3_stmt *columns, guint *ret_n_keys)
{
    g_autoptr(GString) out = g_string_new("SELECT CASE");
    guint i = 0;

    for (; sqlite3_step(columns) == SQLITE_ROW; i++) {
        gboolean descends = sqlite3_column_int(columns, 1) != 0;
        guint a = 2 * i + (descends ? 2 : 1);
        guint b = 2 * i + (descends ? 1 : 2);
        char *collation = sqlite3_mprintf("\"%w\"", sqlite3_column_text(columns, 0));

        g_string_append_printf(out, " WHEN ?%u < ?%u COLLATE %s THEN -1 WHEN ?%u > ?%u COLLATE %s THEN 1", a, b, collation, a, b,
                               collation);
        sqlite3_free(collation);
    }
    g_string_append(out, " ELSE 0 END");
    *ret_n_keys = i;
    return g_string_free(g_steal_pointer(&out), FALSE);
}

QdKeyOrder *
qd_key_order_new(QdSalvage *salvage, const char *table)
{
    g_autoptr(QdKeyOrder) self = g_new0(QdKeyOrder, 1);
    sqlite3 *db = qd_connection_get_db(salvage->connection);
    g_autofree char *sql = NULL;
    sqlite3_stmt *columns = NULL;

    self->salvage = salvage;
    for (guint i = 0; i < G_N_ELEMENTS(self->fields); i++)
        self->fields[i] = g_array_new(FALSE, FALSE, sizeof(QdField));
    (void) sqlite3_prepare_v2(db,
                              "SELECT x.coll, x.\"desc\" FROM temp.pragma_index_list(?1) l, temp.pragma_index_xinfo(l.name) x"
                              " WHERE l.origin='pk' AND x.key ORDER BY x.seqno",
                              -1, &columns, NULL);
    (void) sqlite3_bind_text(columns, 1, table, -1, SQLITE_STATIC);
    sql = write_comparison(columns, &self->n_keys);
    (void) sqlite3_finalize(columns);
    if (self->n_keys == 0 || sqlite3_prepare_v2(db, sql, -1, &self->stmt, NULL) != SQLITE_OK)
        return NULL;
    return g_steal_pointer(&self);
}

/* FALSE: the key is not all in its page, or is none. A key has no NULL. */
static gboolean
read_key(const QdKeyOrder *self, const QdPageCell *cell, GArray *fields)
{
    const guint8 *end = cell->local + cell->n_local;
    guint64 n_header = 0;
    const guint8 *head = qd_page_get_varint(cell->local, end, &n_header);
    guint64 body = n_header;

    g_array_set_size(fields, 0);
    if (head == NULL || n_header > cell->n_local)
        return FALSE;
    end = cell->local + n_header;
    while (fields->len < self->n_keys) {
        QdField field = { 0 };

        head = head < end ? qd_page_get_varint(head, end, &field.type) : NULL;
        field.n_bytes = qd_record_get_field_size(field.type);
        if (head == NULL || field.type == 0 || field.type == QD_RECORD_RESERVED || field.type == QD_RECORD_RESERVED + 1 ||
            field.n_bytes > cell->n_local - body)
            return FALSE;
        field.data = cell->local + body;
        body += field.n_bytes;
        g_array_append_val(fields, field);
    }
    return TRUE;
}

gboolean
qd_key_order_compare(const QdPageCell *a, const QdPageCell *b, int *ret_order, gpointer data)
{
    QdKeyOrder *self = data;
    gboolean ok = read_key(self, a, self->fields[0]) && read_key(self, b, self->fields[1]);

    if (!ok)
        return FALSE;
    for (guint i = 0; i < 2 * self->n_keys; i++)
        qd_salvage_bind_field(self->salvage, self->stmt, (int) i + 1, &g_array_index(self->fields[i % 2], QdField, i / 2));
    ok = sqlite3_step(self->stmt) == SQLITE_ROW;
    *ret_order = ok ? sqlite3_column_int(self->stmt, 0) : 0;
    (void) sqlite3_reset(self->stmt);
    (void) sqlite3_clear_bindings(self->stmt);
    return ok;
}
