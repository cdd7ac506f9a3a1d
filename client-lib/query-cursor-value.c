/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The getters of QueryCursor: its columns, and values of the current row.
 *
 * Place: part of QueryCursor. Called millions of times for one result, so: no type-system check, no lock, no allocation for
 * text. One comparison refuses a bad column, a missing row or a closed cursor.
 * Invariant: what a getter returns points into a page that was validated as a whole.
 */
#include <string.h>

#include "client-lib/core/query-value.h"
#include "client-lib/query-cursor-private.h"

guint
query_cursor_get_n_columns(QueryCursor *self)
{
    g_return_val_if_fail(QUERY_IS_CURSOR(self), 0);

    return self->n_columns;
}

const char *
query_cursor_get_column_name(QueryCursor *self, guint column)
{
    g_return_val_if_fail(QUERY_IS_CURSOR(self), NULL);
    g_return_val_if_fail(column < self->n_columns, NULL);

    return self->schema->columns[column].name;
}

const char *
query_cursor_get_column_type(QueryCursor *self, guint column)
{
    g_return_val_if_fail(QUERY_IS_CURSOR(self), NULL);
    g_return_val_if_fail(column < self->n_columns, NULL);

    return self->schema->columns[column].type;
}

/* A failed check is the caller's mistake: say so like g_return_if_fail(), out of the hot path. */
static G_GNUC_NO_INLINE void
complain(const char *function)
{
    g_return_if_fail_warning(G_LOG_DOMAIN, function, "the cursor is on a row that has such a column");
}

static inline gboolean
get_value(QueryCursor *self, guint column, QwValue *ret_value, const char *function)
{
    if (G_UNLIKELY(self == NULL || column >= self->n_valid_columns)) {
        complain(function);
        return FALSE;
    }

    qw_page_reader_get(&self->reader, column, ret_value);
    return TRUE;
}

QueryValueType
query_cursor_get_value_type(QueryCursor *self, guint column)
{
    QwValue value;

    return get_value(self, column, &value, G_STRFUNC) ? (QueryValueType) value.type : QUERY_VALUE_TYPE_NULL;
}

gboolean
query_cursor_is_null(QueryCursor *self, guint column)
{
    return query_cursor_get_value_type(self, column) == QUERY_VALUE_TYPE_NULL;
}

gint64
query_cursor_get_int64(QueryCursor *self, guint column)
{
    QwValue value;

    if (!get_value(self, column, &value, G_STRFUNC))
        return 0;

    return G_LIKELY(value.type == QW_TYPE_INTEGER) ? value.integer : query_value_to_int64(&value);
}

double
query_cursor_get_double(QueryCursor *self, guint column)
{
    QwValue value;

    if (!get_value(self, column, &value, G_STRFUNC))
        return 0;

    return G_LIKELY(value.type == QW_TYPE_FLOAT) ? value.real : query_value_to_double(&value);
}

gboolean
query_cursor_get_boolean(QueryCursor *self, guint column)
{
    QwValue value;

    return get_value(self, column, &value, G_STRFUNC) && query_value_to_boolean(&value);
}

static const char *
get_number_text(QueryCursor *self, guint column, const QwValue *value)
{
    if (self->number_texts == NULL)
        self->number_texts = g_malloc0_n(self->n_columns, sizeof *self->number_texts);
    query_value_write_number(value, self->number_texts[column]);
    return self->number_texts[column];
}

/* A BLOB is not NUL-terminated and is no string: NULL, as for NULL. */
static G_GNUC_NO_INLINE const char *
get_string_of_any_type(QueryCursor *self, guint column, gsize *n_bytes)
{
    const char *text = NULL;
    gsize n = 0;
    QwValue value;

    if (get_value(self, column, &value, "query_cursor_get_string")) {
        if (qw_type_has_nul(value.type)) {
            text = value.data;
            n = value.n_bytes;
        } else if (qw_type_is_word(value.type)) {
            text = get_number_text(self, column, &value);
            n = strlen(text);
        }
    }

    if (n_bytes != NULL)
        *n_bytes = n;
    return text;
}

const char *
query_cursor_get_string(QueryCursor *self, guint column, gsize *n_bytes)
{
    const char *text;

    if (G_LIKELY(n_bytes != NULL && self != NULL && column < self->n_valid_columns)) {
        text = qw_page_reader_get_text(&self->reader, column, n_bytes);
        if (G_LIKELY(text != NULL))
            return text;
    }
    return get_string_of_any_type(self, column, n_bytes);
}

const guint8 *
query_cursor_get_data(QueryCursor *self, guint column, gsize *n_bytes)
{
    QwValue value;

    *n_bytes = 0;
    if (!get_value(self, column, &value, G_STRFUNC) || value.type == QW_TYPE_NULL)
        return NULL;
    if (value.type != QW_TYPE_BLOB)
        return (const guint8 *) query_cursor_get_string(self, column, n_bytes);

    *n_bytes = value.n_bytes;
    return (const guint8 *) (value.n_bytes > 0 ? value.data : "");
}

GBytes *
query_cursor_get_bytes(QueryCursor *self, guint column)
{
    const char *text;
    QwValue value;
    gsize n;

    if (!get_value(self, column, &value, G_STRFUNC) || value.type == QW_TYPE_NULL)
        return NULL;
    if (value.type == QW_TYPE_BLOB)
        return g_bytes_new(value.data, value.n_bytes);

    text = query_cursor_get_string(self, column, &n);
    return g_bytes_new(text, n);
}

GDateTime *
query_cursor_get_date_time(QueryCursor *self, guint column)
{
    QwValue value;

    return get_value(self, column, &value, G_STRFUNC) ? query_value_to_date_time(&value) : NULL;
}

void
query_cursor_get_value(QueryCursor *self, guint column, GValue *value)
{
    QwValue found = { .type = QW_TYPE_NULL };

    g_return_if_fail(QUERY_IS_CURSOR(self));
    g_return_if_fail(value != NULL && !G_IS_VALUE(value));

    (void) get_value(self, column, &found, G_STRFUNC);
    query_value_to_gvalue(&found, value);
}

GVariant *
query_cursor_get_variant(QueryCursor *self, guint column)
{
    QwValue found = { .type = QW_TYPE_NULL };

    g_return_val_if_fail(QUERY_IS_CURSOR(self), NULL);

    (void) get_value(self, column, &found, G_STRFUNC);
    return query_value_to_variant(&found);
}

const char *
query_cursor_get_datatype(QueryCursor *self, guint column)
{
    QwValue value;

    return get_value(self, column, &value, G_STRFUNC) && value.type == QW_TYPE_LITERAL_TYPED ? value.tag : NULL;
}

const char *
query_cursor_get_language(QueryCursor *self, guint column)
{
    QwValue value;

    return get_value(self, column, &value, G_STRFUNC) && value.type == QW_TYPE_LITERAL_LANG ? value.tag : NULL;
}
