/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A counted block with a copy of the row's bytes.
 */
#include "client-lib/list/query-list-row.h"

#include <string.h>

#include "client-lib/query-cursor-private.h"

struct QueryListRow {
    QuerySchema *schema; /* owned */
    guint n_columns;     /* of the application */
    guint n_bytes;
    _Alignas(8) uint8_t bytes[];
};

QueryListRow *
query_list_row_new(QueryCursor *cursor, guint n_extra)
{
    const QwPageReader *reader = &cursor->reader;
    gsize n_bytes = qw_load_u32(reader->data + reader->row);
    QueryListRow *self = g_rc_box_alloc(sizeof *self + n_bytes);

    self->schema = query_schema_ref(cursor->schema);
    self->n_columns = cursor->n_columns > n_extra ? cursor->n_columns - n_extra : 0;
    self->n_bytes = (guint) n_bytes;
    memcpy(self->bytes, reader->data + reader->row, n_bytes);
    return self;
}

QueryListRow *
query_list_row_ref(QueryListRow *self)
{
    return g_rc_box_acquire(self);
}

static void
clear(gpointer data)
{
    query_schema_unref(((QueryListRow *) data)->schema);
}

void
query_list_row_unref(gpointer self)
{
    if (self != NULL)
        g_rc_box_release_full(self, clear);
}

guint
query_list_row_get_n_columns(const QueryListRow *self)
{
    return self->n_columns;
}

const char *
query_list_row_get_column_name(const QueryListRow *self, guint column)
{
    return column < self->schema->n_columns ? self->schema->columns[column].name : NULL;
}

int
query_list_row_find_column(const QueryListRow *self, const char *name)
{
    for (guint i = 0; i < self->n_columns; i++)
        if (g_str_equal(self->schema->columns[i].name, name))
            return (int) i;
    return -1;
}

void
query_list_row_get(const QueryListRow *self, guint column, QwValue *ret_value)
{
    const QwPageReader reader = { .data = self->bytes, .n_bytes = self->n_bytes, .n_columns = self->schema->n_columns };

    qw_page_reader_get(&reader, column, ret_value);
}

gsize
query_list_row_get_n_bytes(const QueryListRow *self)
{
    return sizeof *self + self->n_bytes;
}

/* Identity -------------------------------------------------------------------------------------------------------------- */

static guint
hash_bytes(guint hash, const void *data, gsize n_bytes)
{
    const guint8 *bytes = data;

    for (gsize i = 0; i < n_bytes; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
}

static guint
hash_value(guint hash, const QwValue *value)
{
    hash = hash_bytes(hash, &value->type, sizeof value->type);
    if (value->type == QW_TYPE_NULL)
        return hash;
    if (qw_type_is_word(value->type))
        return hash_bytes(hash, &value->integer, sizeof value->integer);

    hash = hash_bytes(hash, value->data, value->n_bytes);
    return value->n_tag_bytes > 0 ? hash_bytes(hash, value->tag, value->n_tag_bytes) : hash;
}

static gboolean
is_same_value(const QwValue *a, const QwValue *b)
{
    if (a->type != b->type)
        return FALSE;
    if (a->type == QW_TYPE_NULL)
        return TRUE;
    if (qw_type_is_word(a->type))
        return a->integer == b->integer;
    return a->n_bytes == b->n_bytes && a->n_tag_bytes == b->n_tag_bytes && memcmp(a->data, b->data, a->n_bytes) == 0 &&
           (a->n_tag_bytes == 0 || memcmp(a->tag, b->tag, a->n_tag_bytes) == 0);
}

guint
query_list_row_hash(const QueryListRow *self, const char *key)
{
    int column = key != NULL ? query_list_row_find_column(self, key) : -1;
    guint hash = 2166136261u;
    QwValue value;

    for (guint i = column >= 0 ? (guint) column : 0; i < (column >= 0 ? (guint) column + 1 : self->n_columns); i++) {
        query_list_row_get(self, i, &value);
        hash = hash_value(hash, &value);
    }
    return hash;
}

gboolean
query_list_row_is_same(const QueryListRow *self, const QueryListRow *other, const char *key)
{
    int column = key != NULL ? query_list_row_find_column(self, key) : -1;
    QwValue a;
    QwValue b;

    if (self->n_columns != other->n_columns || (column >= 0 && query_list_row_find_column(other, key) != column))
        return FALSE;
    for (guint i = column >= 0 ? (guint) column : 0; i < (column >= 0 ? (guint) column + 1 : self->n_columns); i++) {
        query_list_row_get(self, i, &a);
        query_list_row_get(other, i, &b);
        if (!is_same_value(&a, &b))
            return FALSE;
    }
    return TRUE;
}
