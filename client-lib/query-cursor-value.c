/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The getters of QueryCursor: its columns, and values of the current row.
 *
 * Place: part of QueryCursor. Called millions of times for one result, so: no type-system check, no lock, no allocation for
 * text. One comparison refuses a bad column, a missing row or a closed cursor.
 * Invariant: what a getter returns points into a page that was validated as a whole.
 */
#include <math.h>
#include <string.h>

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

static gint64
int64_from_double(double number)
{
    if (isnan(number))
        return 0;
    if (number >= 9223372036854775808.0)
        return G_MAXINT64;
    if (number <= -9223372036854775808.0)
        return G_MININT64;
    return (gint64) number;
}

/* The number a text begins with; one with a fraction or an exponent is cut, as a FLOAT is. */
static gint64
int64_from_text(const char *text)
{
    char *end = NULL;
    gint64 integer = g_ascii_strtoll(text, &end, 10);

    return *end == '.' || ((*end == 'e' || *end == 'E') && end != text) ? int64_from_double(g_ascii_strtod(text, NULL)) : integer;
}

gint64
query_cursor_get_int64(QueryCursor *self, guint column)
{
    QwValue value;

    if (!get_value(self, column, &value, G_STRFUNC))
        return 0;

    if (G_LIKELY(value.type == QW_TYPE_INTEGER))
        return value.integer;
    if (value.type == QW_TYPE_FLOAT)
        return int64_from_double(value.real);
    if (qw_type_has_nul(value.type))
        return int64_from_text(value.data);
    return 0;
}

double
query_cursor_get_double(QueryCursor *self, guint column)
{
    QwValue value;

    if (!get_value(self, column, &value, G_STRFUNC))
        return 0;

    if (G_LIKELY(value.type == QW_TYPE_FLOAT))
        return value.real;
    if (value.type == QW_TYPE_INTEGER)
        return (double) value.integer;
    if (qw_type_has_nul(value.type))
        return g_ascii_strtod(value.data, NULL);
    return 0;
}

gboolean
query_cursor_get_boolean(QueryCursor *self, guint column)
{
    QwValue value;

    if (!get_value(self, column, &value, G_STRFUNC))
        return FALSE;

    if (value.type == QW_TYPE_INTEGER)
        return value.integer != 0;
    if (value.type == QW_TYPE_FLOAT)
        return value.real != 0;
    if (qw_type_has_nul(value.type))
        return g_str_equal(value.data, "true") || g_ascii_strtod(value.data, NULL) != 0;
    return FALSE;
}

static const char *
get_number_text(QueryCursor *self, guint column, const QwValue *value)
{
    char *text;
    char *end;

    if (self->number_texts == NULL)
        self->number_texts = g_malloc0_n(self->n_columns, sizeof *self->number_texts);
    text = self->number_texts[column];
    if (value->type == QW_TYPE_INTEGER)
        end = qw_text_put_int64(text, value->integer);
    else if (isfinite(value->real))
        end = qw_text_put_double(text, value->real);
    else
        end = g_stpcpy(text, isnan(value->real) ? "nan" : value->real > 0 ? "Inf" : "-Inf");
    *end = '\0';
    return text;
}

/* A BLOB is not NUL-terminated and is no string: NULL, as for NULL. */
const char *
query_cursor_get_string(QueryCursor *self, guint column, gsize *n_bytes)
{
    const char *text = NULL;
    gsize n = 0;
    QwValue value;

    if (get_value(self, column, &value, G_STRFUNC)) {
        if (G_LIKELY(qw_type_has_nul(value.type))) {
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

/* Dates without a time, and times without a zone, are UTC, as in SQLite. */
static GDateTime *
parse_date_time(const char *text, gsize n_bytes)
{
    g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
    g_autofree char *with_time = NULL;
    const gsize n_date = strlen("2000-01-01");

    /* an xsd:date may have a zone */
    if (n_bytes == n_date || (n_bytes > n_date && strchr("Z+-", text[n_date]) != NULL)) {
        with_time = g_strdup_printf("%.*sT00:00:00%s", (int) n_date, text, text + n_date);
        return g_date_time_new_from_iso8601(with_time, utc);
    }
    if (n_bytes == strlen("2000-01-01 00:00")) {
        with_time = g_strdup_printf("%s:00", text);
        return g_date_time_new_from_iso8601(with_time, utc);
    }
    return g_date_time_new_from_iso8601(text, utc);
}

GDateTime *
query_cursor_get_date_time(QueryCursor *self, guint column)
{
    QwValue value;

    if (!get_value(self, column, &value, G_STRFUNC))
        return NULL;

    if (value.type == QW_TYPE_INTEGER)
        return g_date_time_new_from_unix_utc(value.integer);
    if (value.type == QW_TYPE_TEXT || value.type == QW_TYPE_LITERAL_TYPED)
        return parse_date_time(value.data, value.n_bytes);
    return NULL;
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
