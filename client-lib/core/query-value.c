/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a value of one type is as another one.
 */
#include "client-lib/core/query-value.h"

#include <math.h>
#include <string.h>

#include "client-lib/text/text-number.h"

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
query_value_to_int64(const QwValue *value)
{
    if (value->type == QW_TYPE_INTEGER)
        return value->integer;
    if (value->type == QW_TYPE_FLOAT)
        return int64_from_double(value->real);
    if (qw_type_has_nul(value->type))
        return int64_from_text(value->data);
    return 0;
}

double
query_value_to_double(const QwValue *value)
{
    if (value->type == QW_TYPE_FLOAT)
        return value->real;
    if (value->type == QW_TYPE_INTEGER)
        return (double) value->integer;
    if (qw_type_has_nul(value->type))
        return g_ascii_strtod(value->data, NULL);
    return 0;
}

gboolean
query_value_to_boolean(const QwValue *value)
{
    if (value->type == QW_TYPE_INTEGER)
        return value->integer != 0;
    if (value->type == QW_TYPE_FLOAT)
        return value->real != 0;
    if (qw_type_has_nul(value->type))
        return g_str_equal(value->data, "true") || g_ascii_strtod(value->data, NULL) != 0;
    return FALSE;
}

void
query_value_write_number(const QwValue *value, char *text)
{
    char *end;

    if (value->type == QW_TYPE_INTEGER)
        end = qw_text_put_int64(text, value->integer);
    else if (isfinite(value->real))
        end = qw_text_put_double(text, value->real);
    else
        end = g_stpcpy(text, isnan(value->real) ? "nan" : value->real > 0 ? "Inf" : "-Inf");
    *end = '\0';
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
query_value_to_date_time(const QwValue *value)
{
    if (value->type == QW_TYPE_INTEGER)
        return g_date_time_new_from_unix_utc(value->integer);
    if (value->type == QW_TYPE_TEXT || value->type == QW_TYPE_LITERAL_TYPED)
        return parse_date_time(value->data, value->n_bytes);
    return NULL;
}

/* (transfer full): of TEXT and of RDF terms */
static char *
dup_string(const QwValue *value)
{
    return g_utf8_make_valid(value->data, (gssize) value->n_bytes);
}

static GVariant *
bytes_variant_new(const QwValue *value)
{
    return g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, value->n_bytes > 0 ? value->data : "", value->n_bytes, 1);
}

void
query_value_to_gvalue(const QwValue *value, GValue *ret_value)
{
    switch (value->type) {
    case QW_TYPE_INTEGER:
        g_value_set_int64(g_value_init(ret_value, G_TYPE_INT64), value->integer);
        break;
    case QW_TYPE_FLOAT:
        g_value_set_double(g_value_init(ret_value, G_TYPE_DOUBLE), value->real);
        break;
    case QW_TYPE_BLOB:
        g_value_set_variant(g_value_init(ret_value, G_TYPE_VARIANT), bytes_variant_new(value));
        break;
    case QW_TYPE_NULL:
        (void) g_value_init(ret_value, G_TYPE_STRING);
        break;
    case QW_TYPE_TEXT:
    case QW_TYPE_IRI:
    case QW_TYPE_BNODE:
    case QW_TYPE_LITERAL_LANG:
    case QW_TYPE_LITERAL_TYPED:
        g_value_take_string(g_value_init(ret_value, G_TYPE_STRING), dup_string(value));
        break;
    }
}

static GVariant *
term_new(const QwValue *value, const char *datatype, const char *language)
{
    g_autofree char *text = dup_string(value);

    return g_variant_new("(sss)", text, datatype, language);
}

static GVariant *
variant_new(const QwValue *value)
{
    switch (value->type) {
    case QW_TYPE_INTEGER:
        return g_variant_new_int64(value->integer);
    case QW_TYPE_FLOAT:
        return g_variant_new_double(value->real);
    case QW_TYPE_TEXT:
        return g_variant_new_take_string(dup_string(value));
    case QW_TYPE_BLOB:
        return bytes_variant_new(value);
    case QW_TYPE_IRI:
        return term_new(value, "@id", "");
    case QW_TYPE_BNODE:
        return term_new(value, "@bnode", "");
    case QW_TYPE_LITERAL_LANG:
        return term_new(value, "", value->tag);
    case QW_TYPE_LITERAL_TYPED:
        return term_new(value, value->tag, "");
    case QW_TYPE_NULL:
        break;
    }
    return g_variant_new_signature("");
}

GVariant *
query_value_to_variant(const QwValue *value)
{
    return g_variant_ref_sink(variant_new(value));
}
