/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Columns of Arrow as values of parameters.
 *
 * Integers, floats and booleans are numbers; dates, times and decimals are text, as SQLite has no types for them. What has no place
 * in a parameter (lists, maps, unions, durations, intervals) is an error that names the column and its type.
 */
#include "client-lib/adbc/adbc-driver.h"

#include <math.h>
#include <string.h>

#define N_PARTS 3 /* of an RDF term */

typedef struct Column Column;

/* Binds the value at @row, which counts from the array's offset and is not NULL. */
typedef gboolean (*BindFunc)(const Column *self, gint64 row, QueryStatement *statement, const char *name, GError **error);

struct Column {
    const char *name;
    const char *format;
    const char *declaration;
    BindFunc bind;
    gint width;   /* bytes of a value or an offset; the digits of a time's fraction; a decimal's scale */
    gint n_bytes; /* of a decimal */
    gboolean has_zone;
    Column *dictionary; /* (nullable) */
    Column *parts;      /* (nullable): of an RDF term */
    const struct ArrowArray *array;
};

struct QadInput {
    guint n_columns;
    Column *columns;
    gint64 offset; /* of the batch's first row */
};

static const void *
get_buffer(const Column *self, guint index)
{
    return self->array->buffers[index];
}

static gboolean
is_null(const Column *self, gint64 row)
{
    const guint8 *bits = self->array->n_buffers > 0 ? get_buffer(self, 0) : NULL;
    gint64 index = row + self->array->offset;

    return bits != NULL && self->array->null_count != 0 && (bits[index / 8] >> (index % 8) & 1) == 0;
}

/* Numbers -------------------------------------------------------------------------------------------------------------- */

#define DEFINE_INTEGER(suffix, type)                                                                                           \
    static gboolean bind_##suffix(const Column *self, gint64 row, QueryStatement *statement, const char *name, GError **error) \
    {                                                                                                                          \
        return query_statement_bind_int64(statement, name, ((const type *) get_buffer(self, 1))[row + self->array->offset],    \
                                          error);                                                                              \
    }

DEFINE_INTEGER(int8, gint8)
DEFINE_INTEGER(uint8, guint8)
DEFINE_INTEGER(int16, gint16)
DEFINE_INTEGER(uint16, guint16)
DEFINE_INTEGER(int32, gint32)
DEFINE_INTEGER(uint32, guint32)
DEFINE_INTEGER(int64, gint64)

static gboolean
bind_uint64(const Column *self, gint64 row, QueryStatement *statement, const char *name, GError **error)
{
    guint64 value = ((const guint64 *) get_buffer(self, 1))[row + self->array->offset];

    if (value > G_MAXINT64)
        return qad_set_error(error, ADBC_STATUS_INVALID_DATA,
                             "%" G_GUINT64_FORMAT " in column '%s' is above the largest INTEGER, 9223372036854775807", value,
                             self->name);
    return query_statement_bind_int64(statement, name, (gint64) value, error);
}

static gboolean
bind_boolean(const Column *self, gint64 row, QueryStatement *statement, const char *name, GError **error)
{
    const guint8 *bits = get_buffer(self, 1);
    gint64 index = row + self->array->offset;

    return query_statement_bind_int64(statement, name, bits[index / 8] >> (index % 8) & 1, error);
}

static double
double_from_half(guint16 half)
{
    int exponent = half >> 10 & 31;
    double fraction = half & 1023;
    double value = exponent == 0 ? ldexp(fraction, -24) : ldexp(fraction + 1024, exponent - 25);

    if (exponent == 31)
        value = fraction != 0 ? (double) NAN : (double) INFINITY;
    return half >> 15 ? -value : value;
}

static gboolean
bind_half(const Column *self, gint64 row, QueryStatement *statement, const char *name, GError **error)
{
    return query_statement_bind_double(statement, name,
                                       double_from_half(((const guint16 *) get_buffer(self, 1))[row + self->array->offset]), error);
}

static gboolean
bind_float(const Column *self, gint64 row, QueryStatement *statement, const char *name, GError **error)
{
    return query_statement_bind_double(statement, name, (double) ((const float *) get_buffer(self, 1))[row + self->array->offset],
                                       error);
}

static gboolean
bind_double(const Column *self, gint64 row, QueryStatement *statement, const char *name, GError **error)
{
    return query_statement_bind_double(statement, name, ((const double *) get_buffer(self, 1))[row + self->array->offset], error);
}

static gboolean
bind_null(const Column *self, gint64 row, QueryStatement *statement, const char *name, GError **error)
{
    return query_statement_bind_null(statement, name, error);
}

/* Texts and bytes ------------------------------------------------------------------------------------------------------ */

static gboolean
bind_data(const Column *self, const char *data, gsize n_bytes, QueryStatement *statement, const char *name, GError **error)
{
    g_autoptr(GBytes) bytes = NULL;

    if (strcmp(self->declaration, "TEXT") == 0)
        return query_statement_bind_string(statement, name, data, (gssize) n_bytes, error);
    bytes = g_bytes_new(data, n_bytes);
    return query_statement_bind_bytes(statement, name, bytes, error);
}

/* Offsets of 4 or 8 bytes, or views: up to 12 bytes are in the view itself, else it names a buffer and a place. */
static const char *
get_data(const Column *self, gint64 row, gsize *ret_n_bytes)
{
    gint64 index = row + self->array->offset;
    const char *data = self->width != 0 ? get_buffer(self, 2) : NULL;
    gint64 start, end;

    if (self->width == 0) {
        const gint32 *view = (const gint32 *) get_buffer(self, 1) + 4 * index;

        *ret_n_bytes = (gsize) view[0];
        return view[0] > 12 ? (const char *) get_buffer(self, 2 + (guint) view[2]) + view[3] : (const char *) (view + 1);
    }
    if (self->width == 8) {
        start = ((const gint64 *) get_buffer(self, 1))[index];
        end = ((const gint64 *) get_buffer(self, 1))[index + 1];
    } else {
        start = ((const gint32 *) get_buffer(self, 1))[index];
        end = ((const gint32 *) get_buffer(self, 1))[index + 1];
    }
    *ret_n_bytes = (gsize) (end - start);
    return data != NULL ? data + start : "";
}

static gboolean
bind_bytes(const Column *self, gint64 row, QueryStatement *statement, const char *name, GError **error)
{
    gsize n_bytes;
    const char *data = get_data(self, row, &n_bytes);

    return bind_data(self, data, n_bytes, statement, name, error);
}

static gboolean
bind_fixed(const Column *self, gint64 row, QueryStatement *statement, const char *name, GError **error)
{
    return bind_data(self, (const char *) get_buffer(self, 1) + self->width * (row + self->array->offset), (gsize) self->width,
                     statement, name, error);
}

/* Dates, times, decimals ------------------------------------------------------------------------------------------------ */

static gint64
floor_div(gint64 a, gint64 b)
{
    return a / b - (a % b < 0);
}

/* The proleptic Gregorian calendar: eras of 400 years, which begin with March. Returns: FALSE outside of the years 0 to 9999 */
static gboolean
append_date(GString *out, gint64 days)
{
    gint64 shifted = days + 719468;
    gint64 era = floor_div(shifted, 146097);
    gint64 day = shifted - era * 146097;
    gint64 year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    gint64 day_of_year = day - (365 * year + year / 4 - year / 100);
    gint64 month = (5 * day_of_year + 2) / 153;

    year += era * 400 + (month >= 10);
    if (year < 0 || year > 9999)
        return FALSE;
    g_string_append_printf(out, "%04d-%02d-%02d", (int) year, (int) (month < 10 ? month + 3 : month - 9),
                           (int) (day_of_year - (153 * month + 2) / 5 + 1));
    return TRUE;
}

/* @units: since midnight, of which a second has 10 to the power of @n_digits */
static void
append_time(GString *out, gint64 units, gint n_digits)
{
    gint64 per_second = 1;
    gint64 seconds;

    for (gint i = 0; i < n_digits; i++)
        per_second *= 10;
    seconds = units / per_second;
    g_string_append_printf(out, "%02d:%02d:%02d", (int) (seconds / 3600), (int) (seconds / 60 % 60), (int) (seconds % 60));
    if (units % per_second != 0)
        g_string_append_printf(out, ".%0*" G_GINT64_FORMAT, n_digits, units % per_second);
}

static gboolean
bind_out_of_range(const Column *self, GError **error)
{
    return qad_set_error(error, ADBC_STATUS_INVALID_DATA, "a date in column '%s' is outside of the years 0 to 9999", self->name);
}

static gboolean
bind_date(const Column *self, gint64 row, QueryStatement *statement, const char *name, GError **error)
{
    g_autoptr(GString) text = g_string_sized_new(32);
    gint64 index = row + self->array->offset;
    gint64 days = self->width == 4 ? ((const gint32 *) get_buffer(self, 1))[index]
                                   : floor_div(((const gint64 *) get_buffer(self, 1))[index], 86400000);

    if (!append_date(text, days))
        return bind_out_of_range(self, error);
    return query_statement_bind_string(statement, name, text->str, (gssize) text->len, error);
}

static gboolean
bind_time(const Column *self, gint64 row, QueryStatement *statement, const char *name, GError **error)
{
    g_autoptr(GString) text = g_string_sized_new(32);
    gint64 index = row + self->array->offset;

    append_time(text,
                self->width <= 3 ? ((const gint32 *) get_buffer(self, 1))[index] : ((const gint64 *) get_buffer(self, 1))[index],
                self->width);
    return query_statement_bind_string(statement, name, text->str, (gssize) text->len, error);
}

static gboolean
bind_timestamp(const Column *self, gint64 row, QueryStatement *statement, const char *name, GError **error)
{
    g_autoptr(GString) text = g_string_sized_new(40);
    gint64 units = ((const gint64 *) get_buffer(self, 1))[row + self->array->offset];
    gint64 per_day = 86400;
    gint64 days;

    for (gint i = 0; i < self->width; i++)
        per_day *= 10;
    days = floor_div(units, per_day);
    if (!append_date(text, days))
        return bind_out_of_range(self, error);
    g_string_append_c(text, 'T');
    append_time(text, units - days * per_day, self->width);
    if (self->has_zone)
        g_string_append_c(text, 'Z');
    return query_statement_bind_string(statement, name, text->str, (gssize) text->len, error);
}

static gboolean
bind_decimal(const Column *self, gint64 row, QueryStatement *statement, const char *name, GError **error)
{
    const guint8 *bytes = (const guint8 *) get_buffer(self, 1) + self->n_bytes * (row + self->array->offset);
    gboolean is_negative = bytes[self->n_bytes - 1] >> 7;
    unsigned __int128 rest = is_negative ? ~(unsigned __int128) 0 : 0;
    char text[64];
    char *p = text + sizeof text;

    memcpy(&rest, bytes, (gsize) self->n_bytes);
    if (is_negative)
        rest = -rest;
    for (gint i = 0; i <= MAX(self->width, 0) || rest != 0; i++) {
        if (i == self->width && i > 0)
            *--p = '.';
        *--p = (char) ('0' + (int) (rest % 10));
        rest /= 10;
    }
    if (is_negative)
        *--p = '-';
    return query_statement_bind_string(statement, name, p, text + sizeof text - p, error);
}

/* Dictionaries ---------------------------------------------------------------------------------------------------------- */

static gint64
get_index(const Column *self, gint64 row)
{
    const void *values = get_buffer(self, 1);
    gint64 index = row + self->array->offset;

    switch (self->format[0]) {
    case 'c':
        return ((const gint8 *) values)[index];
    case 'C':
        return ((const guint8 *) values)[index];
    case 's':
        return ((const gint16 *) values)[index];
    case 'S':
        return ((const guint16 *) values)[index];
    case 'i':
        return ((const gint32 *) values)[index];
    case 'I':
        return ((const guint32 *) values)[index];
    default:
        return ((const gint64 *) values)[index];
    }
}

static gboolean
bind_indirectly(const Column *self, gint64 row, QueryStatement *statement, const char *name, GError **error)
{
    gint64 index = get_index(self, row);

    if (index < 0 || index >= self->dictionary->array->length)
        return qad_set_error(error, ADBC_STATUS_INVALID_DATA, "column '%s' has an index outside of its dictionary", self->name);
    if (is_null(self->dictionary, index))
        return query_statement_bind_null(statement, name, error);
    return self->dictionary->bind(self->dictionary, index, statement, name, error);
}

/* RDF terms -------------------------------------------------------------------------------------------------------------- */

/* (transfer full) (nullable) */
static char *
get_part(const Column *self, guint part, gint64 row)
{
    gint64 index = row + self->array->offset;
    gsize n_bytes;
    const char *data;

    if (is_null(&self->parts[part], index))
        return NULL;
    data = get_data(&self->parts[part], index, &n_bytes);
    return g_strndup(data, n_bytes);
}

static gboolean
bind_term(const Column *self, gint64 row, QueryStatement *statement, const char *name, GError **error)
{
    g_autofree char *value = get_part(self, 0, row);
    g_autofree char *datatype = get_part(self, 1, row);
    g_autofree char *language = get_part(self, 2, row);

    if (value == NULL)
        return query_statement_bind_null(statement, name, error);
    if (g_strcmp0(datatype, "@bnode") == 0)
        return qad_set_error(error, ADBC_STATUS_INVALID_ARGUMENT, "the blank node '%s' in column '%s' can be no parameter", value,
                             self->name);
    if (g_strcmp0(datatype, "@id") == 0)
        return query_statement_bind_iri(statement, name, value, error);
    return query_statement_bind_literal(statement, name, value, language == NULL ? datatype : NULL, language, error);
}

/* Types ---------------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *format;
    const char *declaration;
    BindFunc bind;
    gint width;
} types[] = {
    { "n", "", bind_null, 0 },          { "b", "INTEGER", bind_boolean, 0 }, { "c", "INTEGER", bind_int8, 0 },
    { "C", "INTEGER", bind_uint8, 0 },  { "s", "INTEGER", bind_int16, 0 },   { "S", "INTEGER", bind_uint16, 0 },
    { "i", "INTEGER", bind_int32, 0 },  { "I", "INTEGER", bind_uint32, 0 },  { "l", "INTEGER", bind_int64, 0 },
    { "L", "INTEGER", bind_uint64, 0 }, { "e", "REAL", bind_half, 0 },       { "f", "REAL", bind_float, 0 },
    { "g", "REAL", bind_double, 0 },    { "u", "TEXT", bind_bytes, 4 },      { "U", "TEXT", bind_bytes, 8 },
    { "vu", "TEXT", bind_bytes, 0 },    { "z", "BLOB", bind_bytes, 4 },      { "Z", "BLOB", bind_bytes, 8 },
    { "vz", "BLOB", bind_bytes, 0 },    { "tdD", "TEXT", bind_date, 4 },     { "tdm", "TEXT", bind_date, 8 },
    { "tts", "TEXT", bind_time, 0 },    { "ttm", "TEXT", bind_time, 3 },     { "ttu", "TEXT", bind_time, 6 },
    { "ttn", "TEXT", bind_time, 9 },
};

static gboolean
init_timestamp(Column *self)
{
    static const char units[] = "s  m  u  n";
    const char *unit = strchr(units, self->format[2]);

    if (unit == NULL || self->format[2] == ' ' || self->format[3] != ':')
        return FALSE;
    self->declaration = "TEXT";
    self->bind = bind_timestamp;
    self->width = (gint) (unit - units);
    self->has_zone = self->format[4] != '\0';
    return TRUE;
}

/* d:PRECISION,SCALE[,BITS] */
static gboolean
init_decimal(Column *self)
{
    g_auto(GStrv) parts = g_strsplit(self->format + 2, ",", -1);
    guint n = g_strv_length(parts);

    if (n < 2)
        return FALSE;
    self->declaration = "TEXT";
    self->bind = bind_decimal;
    self->width = (gint) g_ascii_strtoll(parts[1], NULL, 10);
    self->n_bytes = n > 2 ? (gint) g_ascii_strtoll(parts[2], NULL, 10) / 8 : 16;
    return self->width >= 0 && self->width <= 38 && (self->n_bytes == 4 || self->n_bytes == 8 || self->n_bytes == 16);
}

static gboolean
init_type(Column *self)
{
    for (guint i = 0; i < G_N_ELEMENTS(types); i++) {
        if (strcmp(types[i].format, self->format) != 0)
            continue;
        self->declaration = types[i].declaration;
        self->bind = types[i].bind;
        self->width = types[i].width;
        return TRUE;
    }
    if (g_str_has_prefix(self->format, "ts"))
        return init_timestamp(self);
    if (g_str_has_prefix(self->format, "d:"))
        return init_decimal(self);
    if (!g_str_has_prefix(self->format, "w:"))
        return FALSE;
    self->declaration = "BLOB";
    self->bind = bind_fixed;
    self->width = (gint) g_ascii_strtoll(self->format + 2, NULL, 10);
    return TRUE;
}

/* A struct of the texts value, datatype and language, as results give it. */
static gboolean
init_term(Column *self, const struct ArrowSchema *schema)
{
    static const char *const names[N_PARTS] = { "value", "datatype", "language" };

    if (strcmp(schema->format, "+s") != 0 || schema->n_children != N_PARTS)
        return FALSE;
    self->parts = g_new0(Column, N_PARTS);
    for (guint i = 0; i < N_PARTS; i++) {
        self->parts[i].format = schema->children[i]->format;
        if (g_strcmp0(schema->children[i]->name, names[i]) != 0 || schema->children[i]->dictionary != NULL ||
            !init_type(&self->parts[i]) || self->parts[i].bind != bind_bytes)
            return FALSE;
    }
    self->declaration = "TEXT";
    self->bind = bind_term;
    return TRUE;
}

static gboolean
init_column(Column *self, const struct ArrowSchema *schema, GError **error)
{
    self->name = schema->name != NULL ? schema->name : "";
    self->format = schema->format;
    if (!init_type(self) && !init_term(self, schema))
        return qad_set_error(error, ADBC_STATUS_NOT_IMPLEMENTED,
                             "column '%s' has Arrow's type '%s', which no parameter can have: cast it to text, a number or binary",
                             self->name, self->format);
    if (schema->dictionary == NULL)
        return TRUE;
    self->dictionary = g_new0(Column, 1);
    if (!init_column(self->dictionary, schema->dictionary, error))
        return FALSE;
    self->dictionary->name = self->name;
    self->declaration = self->dictionary->declaration;
    self->bind = bind_indirectly;
    return TRUE;
}

static void
clear_column(Column *self)
{
    if (self->dictionary != NULL)
        clear_column(self->dictionary);
    g_free(self->dictionary);
    g_free(self->parts);
}

QadInput *
qad_input_new(const struct ArrowSchema *schema, GError **error)
{
    g_autoptr(QadInput) self = g_new0(QadInput, 1);

    if (strcmp(schema->format, "+s") != 0) {
        (void) qad_set_error(error, ADBC_STATUS_INVALID_ARGUMENT,
                             "what is bound has to be a struct with a column for each parameter");
        return NULL;
    }
    self->n_columns = (guint) schema->n_children;
    self->columns = g_new0(Column, self->n_columns);
    for (guint i = 0; i < self->n_columns; i++)
        if (!init_column(&self->columns[i], schema->children[i], error))
            return NULL;
    return g_steal_pointer(&self);
}

void
qad_input_free(QadInput *self)
{
    if (self == NULL)
        return;
    for (guint i = 0; i < self->n_columns; i++)
        clear_column(&self->columns[i]);
    g_free(self->columns);
    g_free(self);
}

static void
set_array(Column *self, const struct ArrowArray *array)
{
    self->array = array;
    if (self->dictionary != NULL)
        set_array(self->dictionary, array->dictionary);
    for (guint i = 0; self->parts != NULL && i < N_PARTS; i++)
        set_array(&self->parts[i], array->children[i]);
}

gboolean
qad_input_set_batch(QadInput *self, const struct ArrowArray *batch, GError **error)
{
    if (batch->n_children != (gint64) self->n_columns)
        return qad_set_error(error, ADBC_STATUS_INVALID_ARGUMENT, "a batch has another number of columns than its schema");
    self->offset = batch->offset;
    for (guint i = 0; i < self->n_columns; i++)
        set_array(&self->columns[i], batch->children[i]);
    return TRUE;
}

guint
qad_input_get_n_columns(const QadInput *self)
{
    return self->n_columns;
}

const char *
qad_input_get_name(const QadInput *self, guint column)
{
    return self->columns[column].name;
}

const char *
qad_input_get_declaration(const QadInput *self, guint column)
{
    return self->columns[column].declaration;
}

gboolean
qad_input_bind(const QadInput *self, gint64 row, QueryStatement *statement, char **names, GError **error)
{
    for (guint i = 0; i < self->n_columns; i++) {
        const Column *column = &self->columns[i];
        gboolean ok = is_null(column, row + self->offset) ? query_statement_bind_null(statement, names[i], error)
                                                          : column->bind(column, row + self->offset, statement, names[i], error);

        if (!ok)
            return FALSE;
    }
    return TRUE;
}
