/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values of the current row as GValue and GVariant: for code that does not know the type before.
 *
 * Place: part of QueryCursor, on top of its getters.
 */
#include "client-lib/query-client.h"

/* (transfer full) (nullable): NULL for NULL and BLOB */
static char *
dup_string(QueryCursor *self, guint column)
{
    gsize n_bytes;
    const char *text = query_cursor_get_string(self, column, &n_bytes);

    return text != NULL ? g_utf8_make_valid(text, (gssize) n_bytes) : NULL;
}

void
query_cursor_get_value(QueryCursor *self, guint column, GValue *value)
{
    g_return_if_fail(QUERY_IS_CURSOR(self));
    g_return_if_fail(value != NULL && !G_IS_VALUE(value));

    switch (query_cursor_get_value_type(self, column)) {
    case QUERY_VALUE_TYPE_INTEGER:
        g_value_set_int64(g_value_init(value, G_TYPE_INT64), query_cursor_get_int64(self, column));
        break;
    case QUERY_VALUE_TYPE_FLOAT:
        g_value_set_double(g_value_init(value, G_TYPE_DOUBLE), query_cursor_get_double(self, column));
        break;
    case QUERY_VALUE_TYPE_BLOB:
        g_value_take_variant(g_value_init(value, G_TYPE_VARIANT), query_cursor_get_variant(self, column));
        break;
    case QUERY_VALUE_TYPE_NULL:
        (void) g_value_init(value, G_TYPE_STRING);
        break;
    case QUERY_VALUE_TYPE_TEXT:
    case QUERY_VALUE_TYPE_IRI:
    case QUERY_VALUE_TYPE_BNODE:
    case QUERY_VALUE_TYPE_LITERAL_LANG:
    case QUERY_VALUE_TYPE_LITERAL_TYPED:
        g_value_take_string(g_value_init(value, G_TYPE_STRING), dup_string(self, column));
        break;
    }
}

static GVariant *
term_new(QueryCursor *self, guint column, const char *datatype, const char *language)
{
    g_autofree char *text = dup_string(self, column);

    return g_variant_new("(sss)", text, datatype, language);
}

static GVariant *
variant_new(QueryCursor *self, guint column)
{
    switch (query_cursor_get_value_type(self, column)) {
    case QUERY_VALUE_TYPE_INTEGER:
        return g_variant_new_int64(query_cursor_get_int64(self, column));
    case QUERY_VALUE_TYPE_FLOAT:
        return g_variant_new_double(query_cursor_get_double(self, column));
    case QUERY_VALUE_TYPE_TEXT:
        return g_variant_new_take_string(dup_string(self, column));
    case QUERY_VALUE_TYPE_BLOB: {
        g_autoptr(GBytes) bytes = query_cursor_get_bytes(self, column);

        return g_variant_new_from_bytes(G_VARIANT_TYPE_BYTESTRING, bytes, TRUE);
    }
    case QUERY_VALUE_TYPE_IRI:
        return term_new(self, column, "@id", "");
    case QUERY_VALUE_TYPE_BNODE:
        return term_new(self, column, "@bnode", "");
    case QUERY_VALUE_TYPE_LITERAL_LANG:
        return term_new(self, column, "", query_cursor_get_language(self, column));
    case QUERY_VALUE_TYPE_LITERAL_TYPED:
        return term_new(self, column, query_cursor_get_datatype(self, column), "");
    case QUERY_VALUE_TYPE_NULL:
        break;
    }
    return g_variant_new_signature("");
}

GVariant *
query_cursor_get_variant(QueryCursor *self, guint column)
{
    g_return_val_if_fail(QUERY_IS_CURSOR(self), NULL);

    return g_variant_ref_sink(variant_new(self, column));
}
