/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The order of keys in a table WITHOUT ROWID. SQLite itself compares them, in the new file, so that collations, encodings and
 * numbers are what they are there.
 */
#include "daemon/recover/salvage-private.h"

typedef struct Key {
    GArray *fields;  /* of QdField */
    gboolean is_cut; /* the last of them goes on elsewhere */
} Key;

struct QdKeyOrder {
    const QdSalvage *salvage;
    sqlite3_stmt *stmt; /* of two keys; gives -1, 0 or 1 */
    guint n_keys;
    GArray *trims; /* of gboolean: of each column, whether spaces at its end do not count */
    Key keys[2];
};

QdKeyOrder *
qd_key_order_free(QdKeyOrder *self)
{
    if (self == NULL)
        return NULL;

    (void) sqlite3_finalize(self->stmt);
    for (guint i = 0; i < G_N_ELEMENTS(self->keys); i++)
        g_array_unref(self->keys[i].fields);
    g_array_unref(self->trims);
    g_free(self);
    return NULL;
}

/* One column after another: the first that differs decides. NULL, for one that is not known, decides nothing. @columns: collation,
 * and whether it is DESC. Fills @trims. */
static char *
write_comparison(sqlite3_stmt *columns, GArray *trims)
{
    g_autoptr(GString) out = g_string_new("SELECT CASE");
    guint i = 0;

    for (; sqlite3_step(columns) == SQLITE_ROW; i++) {
        gboolean descends = sqlite3_column_int(columns, 1) != 0;
        guint a = 2 * i + (descends ? 2 : 1);
        guint b = 2 * i + (descends ? 1 : 2);
        gboolean is_rtrim = g_ascii_strcasecmp((const char *) sqlite3_column_text(columns, 0), "RTRIM") == 0;
        char *collation = sqlite3_mprintf("\"%w\"", sqlite3_column_text(columns, 0));

        g_string_append_printf(out, " WHEN ?%u < ?%u COLLATE %s THEN -1 WHEN ?%u > ?%u COLLATE %s THEN 1", a, b, collation, a, b,
                               collation);
        sqlite3_free(collation);
        g_array_append_val(trims, is_rtrim);
    }
    g_string_append(out, " ELSE 0 END");
    return g_string_free(g_steal_pointer(&out), FALSE);
}

QdKeyOrder *
qd_key_order_new(QdSalvage *salvage, const char *table, gboolean has_desc)
{
    g_autoptr(QdKeyOrder) self = g_new0(QdKeyOrder, 1);
    sqlite3 *db = qd_connection_get_db(salvage->connection);
    g_autofree char *sql = NULL;
    sqlite3_stmt *columns = NULL;

    self->salvage = salvage;
    for (guint i = 0; i < G_N_ELEMENTS(self->keys); i++)
        self->keys[i].fields = g_array_new(FALSE, FALSE, sizeof(QdField));
    self->trims = g_array_new(FALSE, FALSE, sizeof(gboolean));
    (void) sqlite3_prepare_v2(
        db,
        "SELECT x.coll, x.\"desc\" AND ?2 FROM temp.pragma_index_list(?1) l, temp.pragma_index_xinfo(l.name) x"
        " WHERE l.origin='pk' AND x.key ORDER BY x.seqno",
        -1, &columns, NULL);
    (void) sqlite3_bind_text(columns, 1, table, -1, SQLITE_STATIC);
    (void) sqlite3_bind_int(columns, 2, has_desc);
    sql = write_comparison(columns, self->trims);
    self->n_keys = self->trims->len;
    (void) sqlite3_finalize(columns);
    if (self->n_keys == 0 || sqlite3_prepare_v2(db, sql, -1, &self->stmt, NULL) != SQLITE_OK)
        return NULL;
    return g_steal_pointer(&self);
}

/* Fields up to the one that is not all in the page, as the last one. FALSE: it is no key, which has no NULL. */
static gboolean
read_key(const QdKeyOrder *self, const QdPageCell *cell, Key *key)
{
    const guint8 *end = cell->local + cell->n_local;
    guint64 n_header = 0;
    const guint8 *head = qd_page_get_varint(cell->local, end, &n_header);
    guint64 body = n_header;

    g_array_set_size(key->fields, 0);
    key->is_cut = FALSE;
    if (head == NULL || n_header > cell->n_local)
        return FALSE;
    end = cell->local + n_header;
    while (key->fields->len < self->n_keys && !key->is_cut) {
        QdField field = { 0 };

        head = head < end ? qd_page_get_varint(head, end, &field.type) : NULL;
        field.n_bytes = qd_record_get_field_size(field.type);
        if (head == NULL || field.type == 0 || field.type == QD_RECORD_RESERVED || field.type == QD_RECORD_RESERVED + 1)
            return FALSE;
        key->is_cut = field.n_bytes > cell->n_local - body;
        if (key->is_cut && cell->n_local == cell->n_bytes)
            return FALSE;
        field.data = cell->local + body;
        field.n_bytes = MIN(field.n_bytes, cell->n_local - body);
        body += field.n_bytes;
        g_array_append_val(key->fields, field);
    }
    return key->fields->len > 0;
}

static gboolean
is_cut(const Key *key, guint index)
{
    return key->is_cut && index + 1 == key->fields->len;
}

static gboolean
is_number(const QdField *field)
{
    return field->type < QD_RECORD_BLOB;
}

/* Of two values of which one is not all there, what both have: if that differs, so do they. Numbers have to be there, and are
 * before texts, which are before blobs. With RTRIM a text with spaces at its end may be more than its beginning, or no more. */
static gboolean
clip(const QdKeyOrder *self, guint index, QdField *a, QdField *b)
{
    if (is_number(a) || is_number(b))
        return !(is_number(a) && is_cut(&self->keys[0], index)) && !(is_number(b) && is_cut(&self->keys[1], index));
    if (qd_field_is_text(a) && g_array_index(self->trims, gboolean, index))
        return FALSE;
    if (qd_field_is_text(a) == qd_field_is_text(b))
        a->n_bytes = b->n_bytes = MIN(a->n_bytes, b->n_bytes) & ~(guint64) 1; /* a unit of UTF-16 */
    return TRUE;
}

gboolean
qd_key_order_compare(const QdPageCell *a, const QdPageCell *b, int *ret_order, gpointer data)
{
    QdKeyOrder *self = data;
    guint n_fields;
    gboolean ok;

    if (!read_key(self, a, &self->keys[0]) || !read_key(self, b, &self->keys[1]))
        return FALSE;
    n_fields = MIN(self->keys[0].fields->len, self->keys[1].fields->len);
    for (guint i = 0; i < n_fields; i++) {
        QdField x = g_array_index(self->keys[0].fields, QdField, i);
        QdField y = g_array_index(self->keys[1].fields, QdField, i);

        if ((is_cut(&self->keys[0], i) || is_cut(&self->keys[1], i)) && !clip(self, i, &x, &y))
            break;
        qd_salvage_bind_field(self->salvage, self->stmt, (int) (2 * i + 1), &x);
        qd_salvage_bind_field(self->salvage, self->stmt, (int) (2 * i + 2), &y);
    }
    ok = sqlite3_step(self->stmt) == SQLITE_ROW;
    *ret_order = ok ? sqlite3_column_int(self->stmt, 0) : 0;
    (void) sqlite3_reset(self->stmt);
    (void) sqlite3_clear_bindings(self->stmt);
    return ok && (*ret_order != 0 || !(self->keys[0].is_cut || self->keys[1].is_cut));
}
