/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table of tables, each with a table of keys.
 */
#include "daemon/notify/row-changes.h"

#include <string.h>

struct QdRowChanges {
    GHashTable *tables; /* name → QdTableRows, owned */
    guint n_keys;
    const QdLimits *limits;
};

/* Keys -------------------------------------------------------------------------------------------------------------------- */

static gsize
get_n_bytes(const QwValue *value)
{
    return value->type == QW_TYPE_NULL || qw_type_is_word(value->type) ? 0 : value->n_bytes;
}

/* NULL: it is too long. */
static QdRowKey *
key_new(const QdLimits *limits, const QwValue *values, guint n_values)
{
    gsize n_bytes = 0;
    QdRowKey *self;
    char *place;

    for (guint i = 0; i < n_values; i++)
        n_bytes += get_n_bytes(&values[i]) + 1;
    if (n_bytes > qd_limits_get(limits, QD_LIMIT_ROW_KEY_BYTES))
        return NULL;

    self = g_malloc0(sizeof *self + n_values * sizeof *values + n_bytes);
    self->n_values = n_values;
    place = (char *) &self->values[n_values];
    for (guint i = 0; i < n_values; i++) {
        gsize n = get_n_bytes(&values[i]);

        self->values[i] = values[i];
        if (values[i].type == QW_TYPE_NULL || qw_type_is_word(values[i].type))
            continue;
        if (n > 0)
            (void) memcpy(place, values[i].data, n);
        self->values[i].data = place;
        place += n + 1;
    }
    return self;
}

static guint
hash_key(gconstpointer data)
{
    const QdRowKey *self = data;
    guint hash = self->n_values;

    for (guint i = 0; i < self->n_values; i++) {
        const QwValue *value = &self->values[i];
        gsize n = get_n_bytes(value);

        hash = hash * 31 + (guint) value->type;
        if (qw_type_is_word(value->type))
            hash = hash * 31 + g_int64_hash(&value->integer);
        for (gsize j = 0; j < n; j++)
            hash = hash * 31 + (guchar) value->data[j];
    }
    return hash;
}

gboolean
qd_row_value_is_same(const QwValue *a, const QwValue *b)
{
    gsize n = get_n_bytes(a);

    if (a->type != b->type || n != get_n_bytes(b))
        return FALSE;
    if (qw_type_is_word(a->type))
        return a->integer == b->integer;
    return n == 0 || memcmp(a->data, b->data, n) == 0;
}

static gboolean
is_same_key(gconstpointer a, gconstpointer b)
{
    const QdRowKey *x = a;
    const QdRowKey *y = b;

    if (x->n_values != y->n_values)
        return FALSE;
    for (guint i = 0; i < x->n_values; i++)
        if (!qd_row_value_is_same(&x->values[i], &y->values[i]))
            return FALSE;
    return TRUE;
}

/* Tables ------------------------------------------------------------------------------------------------------------------ */

static void
table_free(gpointer data)
{
    QdTableRows *self = data;

    g_strfreev(self->columns);
    g_clear_pointer(&self->keys, g_hash_table_unref);
    g_free(self);
}

QdRowChanges *
qd_row_changes_new(const QdLimits *limits)
{
    QdRowChanges *self = g_new0(QdRowChanges, 1);

    self->limits = limits;
    self->tables = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, table_free);
    return self;
}

QdRowChanges *
qd_row_changes_new_like(const QdRowChanges *other)
{
    return qd_row_changes_new(other->limits);
}

QdRowChanges *
qd_row_changes_free(QdRowChanges *self)
{
    if (self == NULL)
        return NULL;

    g_hash_table_unref(self->tables);
    g_free(self);
    return NULL;
}

static QdTableRows *
add_table(QdRowChanges *self, const char *table)
{
    QdTableRows *rows = g_new0(QdTableRows, 1);

    (void) g_hash_table_insert(self->tables, g_strdup(table), rows);
    return rows;
}

void
qd_row_changes_add_table(QdRowChanges *self, const char *table, const char *const *columns)
{
    QdTableRows *rows;

    if (g_hash_table_contains(self->tables, table))
        return;
    rows = add_table(self, table);
    rows->columns = g_strdupv((char **) columns);
    rows->keys = g_hash_table_new_full(hash_key, is_same_key, g_free, NULL);
}

static void
make_all(QdRowChanges *self, QdTableRows *rows)
{
    if (rows->keys != NULL)
        self->n_keys -= g_hash_table_size(rows->keys);
    g_clear_pointer(&rows->keys, g_hash_table_unref);
}

void
qd_row_changes_add_all_of(QdRowChanges *self, const char *table)
{
    QdTableRows *rows = g_hash_table_lookup(self->tables, table);

    make_all(self, rows != NULL ? rows : add_table(self, table));
}

/* What a row has met, seen from before the first of both. What was made and went may have been there before it was made. */
static QdRowChange
combine(QdRowChange first, QdRowChange second)
{
    if (first == QD_ROW_DELETED && second == QD_ROW_INSERTED)
        return QD_ROW_UPDATED;
    return first == QD_ROW_INSERTED && second == QD_ROW_UPDATED ? QD_ROW_INSERTED : second;
}

/* @key: (transfer full) (nullable): NULL: too long */
static void
add_key(QdRowChanges *self, QdTableRows *rows, QdRowKey *key, QdRowChange change)
{
    gpointer before;

    if (key != NULL && g_hash_table_lookup_extended(rows->keys, key, NULL, &before)) {
        (void) g_hash_table_insert(rows->keys, key, GINT_TO_POINTER(combine((QdRowChange) GPOINTER_TO_INT(before), change)));
        return;
    }
    if (key == NULL || self->n_keys >= qd_limits_get(self->limits, QD_LIMIT_CHANGED_ROWS)) {
        g_free(key);
        make_all(self, rows);
        return;
    }
    self->n_keys++;
    (void) g_hash_table_insert(rows->keys, key, GINT_TO_POINTER(change));
}

void
qd_row_changes_add(QdRowChanges *self, const char *table, const QwValue *values, guint n_values, QdRowChange change)
{
    QdTableRows *rows = g_hash_table_lookup(self->tables, table);

    if (rows == NULL)
        (void) add_table(self, table);
    else if (rows->keys != NULL)
        add_key(self, rows, key_new(self->limits, values, n_values), change);
}

static gboolean
has_columns(const QdTableRows *rows, char **columns)
{
    return rows->columns != NULL && columns != NULL &&
           g_strv_equal((const char *const *) rows->columns, (const char *const *) columns);
}

void
qd_row_changes_merge(QdRowChanges *self, const QdRowChanges *later)
{
    GHashTableIter tables;
    gpointer name;
    gpointer value;

    g_hash_table_iter_init(&tables, later->tables);
    while (g_hash_table_iter_next(&tables, &name, &value)) {
        const QdTableRows *theirs = value;
        GHashTableIter keys;
        QdTableRows *rows;
        gpointer key;
        gpointer change;

        if (theirs->keys == NULL) {
            qd_row_changes_add_all_of(self, name);
            continue;
        }
        qd_row_changes_add_table(self, name, (const char *const *) theirs->columns);
        rows = g_hash_table_lookup(self->tables, name);
        if (!has_columns(rows, theirs->columns))
            make_all(self, rows);
        g_hash_table_iter_init(&keys, theirs->keys);
        while (rows->keys != NULL && g_hash_table_iter_next(&keys, &key, &change))
            add_key(self, rows, key_new(self->limits, ((QdRowKey *) key)->values, ((QdRowKey *) key)->n_values),
                    (QdRowChange) GPOINTER_TO_INT(change));
    }
}

const QdTableRows *
qd_row_changes_get(const QdRowChanges *self, const char *table)
{
    return g_hash_table_lookup(self->tables, table);
}
