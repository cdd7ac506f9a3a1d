/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values as fields of the text formats.
 */
#include "client-lib/queryctl/cell.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define CAST_PREFIX "CAST(X'"
#define BOM "\xef\xbb\xbf"

void
qctl_cell_init(QctlCell *self, QueryCursor *cursor, guint column)
{
    *self = (QctlCell){ .type = query_cursor_get_value_type(cursor, column) };
    switch (self->type) {
    case QUERY_VALUE_TYPE_NULL:
        break;
    case QUERY_VALUE_TYPE_INTEGER:
        self->integer = query_cursor_get_int64(cursor, column);
        break;
    case QUERY_VALUE_TYPE_FLOAT:
        self->real = query_cursor_get_double(cursor, column);
        if (isnan(self->real))
            self->type = QUERY_VALUE_TYPE_NULL;
        break;
    case QUERY_VALUE_TYPE_BLOB:
        self->bytes = query_cursor_get_bytes(cursor, column);
        self->data = self->bytes != NULL ? g_bytes_get_data(self->bytes, &self->n_bytes) : NULL;
        break;
    case QUERY_VALUE_TYPE_LITERAL_LANG:
        self->tag = query_cursor_get_language(cursor, column);
        self->data = query_cursor_get_string(cursor, column, &self->n_bytes);
        break;
    case QUERY_VALUE_TYPE_LITERAL_TYPED:
        self->tag = query_cursor_get_datatype(cursor, column);
        self->data = query_cursor_get_string(cursor, column, &self->n_bytes);
        break;
    case QUERY_VALUE_TYPE_TEXT:
    case QUERY_VALUE_TYPE_IRI:
    case QUERY_VALUE_TYPE_BNODE:
        self->data = query_cursor_get_string(cursor, column, &self->n_bytes);
        break;
    }
}

void
qctl_cell_init_int64(QctlCell *self, gint64 value)
{
    *self = (QctlCell){ .type = QUERY_VALUE_TYPE_INTEGER, .integer = value };
}

void
qctl_cell_init_text(QctlCell *self, const char *text)
{
    *self = (QctlCell){ .type = text != NULL ? QUERY_VALUE_TYPE_TEXT : QUERY_VALUE_TYPE_NULL,
                        .data = text,
                        .n_bytes = text != NULL ? strlen(text) : 0 };
}

void
qctl_cell_clear(QctlCell *self)
{
    g_clear_pointer(&self->bytes, g_bytes_unref);
}

/* Numbers ------------------------------------------------------------------------------------------------------------- */

/* The first of 15, 16 and 17 digits that reads back, always with a point or an exponent. */
static void
put_double(GString *out, double value)
{
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];

    if (isinf(value)) {
        g_string_append(out, value > 0 ? "9e999" : "-9e999");
        return;
    }
    for (int digits = fabs(value) < 0x1p-1022 && value != 0 ? 1 : 15; digits <= 17; digits++) {
        char format[8];

        g_snprintf(format, sizeof format, "%%.%dg", digits);
        g_ascii_formatd(buffer, sizeof buffer, format, value);
        if (g_ascii_strtod(buffer, NULL) == value)
            break;
    }
    g_string_append(out, buffer);
    if (strpbrk(buffer, ".e") == NULL)
        g_string_append(out, ".0");
}

static void
put_number(const QctlCell *self, GString *out)
{
    if (self->type == QUERY_VALUE_TYPE_INTEGER)
        g_string_append_printf(out, "%" G_GINT64_FORMAT, self->integer);
    else
        put_double(out, self->real);
}

QueryValueType
qctl_number_parse(const char *text, gint64 *ret_integer, double *ret_real)
{
    const char *digits = text + (text[0] == '-' ? 1 : 0);
    char *end = NULL;
    gint64 integer = 0;
    double real = 0;

    if (!g_ascii_isdigit(digits[0]) && !(digits[0] == '.' && g_ascii_isdigit(digits[1])))
        return QUERY_VALUE_TYPE_TEXT;
    if (digits[0] == '0' && g_ascii_isdigit(digits[1])) /* 007 is a name, not a number */
        return QUERY_VALUE_TYPE_TEXT;
    if (strspn(digits, "0123456789.eE+-") != strlen(digits)) /* strtod also takes hexadecimal */
        return QUERY_VALUE_TYPE_TEXT;

    errno = 0;
    integer = g_ascii_strtoll(text, &end, 10);
    if (*end == 0 && errno == 0) {
        *ret_integer = integer;
        return QUERY_VALUE_TYPE_INTEGER;
    }
    real = g_ascii_strtod(text, &end);
    if (*end != 0)
        return QUERY_VALUE_TYPE_TEXT;
    *ret_real = real;
    return QUERY_VALUE_TYPE_FLOAT;
}

/* The text would be read as a number: it is the form in which that number is written. */
static bool
is_like_number(const char *text, gsize n_bytes)
{
    g_autoptr(GString) again = NULL;
    QctlCell cell = { 0 };

    if (n_bytes == 0 || n_bytes > 40 || (text[0] != '-' && !g_ascii_isdigit(text[0])))
        return false;

    cell.type = qctl_number_parse(text, &cell.integer, &cell.real);
    if (cell.type == QUERY_VALUE_TYPE_TEXT)
        return false;
    again = g_string_new(NULL);
    put_number(&cell, again);
    return again->len == n_bytes && memcmp(again->str, text, n_bytes) == 0;
}

/* Bytes --------------------------------------------------------------------------------------------------------------- */

static void
put_hex(GString *out, const char *data, gsize n_bytes)
{
    static const char digits[] = "0123456789abcdef";

    for (gsize i = 0; i < n_bytes; i++) {
        g_string_append_c(out, digits[(guchar) data[i] >> 4]);
        g_string_append_c(out, digits[(guchar) data[i] & 15]);
    }
}

static void
put_base64(GString *out, const char *data, gsize n_bytes)
{
    g_autofree char *text = g_base64_encode((const guchar *) data, n_bytes);

    g_string_append(out, text);
}

/* Valid bytes at the start; NULs are. */
static gsize
span_utf8(const char *data, gsize n_bytes)
{
    const char *end = data;

    while (n_bytes > 0 && !g_utf8_validate_len(end, n_bytes - (gsize) (end - data), &end)) {
        if ((gsize) (end - data) >= n_bytes || *end != 0)
            break;
        end++;
    }
    return (gsize) (end - data);
}

/* What csv and tsv do differently. */
typedef struct Dialect {
    const char *null_text;
    const char *blob_open;
    const char *blob_close;
    void (*put_text)(GString *out, const char *data, gsize n_bytes);
} Dialect;

/* A number of one of XML Schema's types is no text that only looks like a number: it needs no quotes. */
static bool
is_bare_number(const QctlCell *self)
{
    return self->type == QUERY_VALUE_TYPE_LITERAL_TYPED && self->n_bytes > 0 &&
           g_str_has_prefix(self->tag, "http://www.w3.org/2001/XMLSchema#") &&
           strspn(self->data, "0123456789+-.eE") == self->n_bytes;
}

static void
put_in_dialect(const QctlCell *self, GString *out, const Dialect *dialect)
{
    switch (self->type) {
    case QUERY_VALUE_TYPE_NULL:
        g_string_append(out, dialect->null_text);
        break;
    case QUERY_VALUE_TYPE_INTEGER:
    case QUERY_VALUE_TYPE_FLOAT:
        put_number(self, out);
        break;
    case QUERY_VALUE_TYPE_BLOB:
        g_string_append(out, dialect->blob_open);
        put_hex(out, self->data, self->n_bytes);
        g_string_append(out, dialect->blob_close);
        break;
    case QUERY_VALUE_TYPE_BNODE:
        g_string_append_printf(out, "_:%s", self->data);
        break;
    case QUERY_VALUE_TYPE_TEXT:
    case QUERY_VALUE_TYPE_IRI:
    case QUERY_VALUE_TYPE_LITERAL_LANG:
    case QUERY_VALUE_TYPE_LITERAL_TYPED:
        if (is_bare_number(self))
            g_string_append_len(out, self->data, (gssize) self->n_bytes);
        else
            dialect->put_text(out, self->data, self->n_bytes);
        break;
    }
}

/* csv ----------------------------------------------------------------------------------------------------------------- */

static bool
csv_needs_quotes(const char *data, gsize n_bytes)
{
    if (n_bytes == 0 || data[0] == ' ' || data[n_bytes - 1] == ' ' || strpbrk(data, ",\"\r\n") != NULL)
        return true;

    return is_like_number(data, n_bytes) || g_str_has_prefix(data, "X'") || g_str_has_prefix(data, CAST_PREFIX) ||
           g_str_has_prefix(data, BOM);
}

static void
put_csv_text(GString *out, const char *data, gsize n_bytes)
{
    if (memchr(data, 0, n_bytes) != NULL || span_utf8(data, n_bytes) < n_bytes) {
        g_string_append(out, CAST_PREFIX);
        put_hex(out, data, n_bytes);
        g_string_append(out, "' AS TEXT)");
        return;
    }
    if (!csv_needs_quotes(data, n_bytes)) {
        g_string_append_len(out, data, (gssize) n_bytes);
        return;
    }
    g_string_append_c(out, '"');
    for (gsize i = 0; i < n_bytes; i++) {
        if (data[i] == '"')
            g_string_append_c(out, '"');
        g_string_append_c(out, data[i]);
    }
    g_string_append_c(out, '"');
}

static const Dialect csv_dialect = { "", "X'", "'", put_csv_text };

void
qctl_cell_put_csv(const QctlCell *self, GString *out)
{
    put_in_dialect(self, out, &csv_dialect);
}

void
qctl_cell_put_csv_name(const char *name, GString *out)
{
    g_autofree char *valid = g_utf8_make_valid(name, -1);

    put_csv_text(out, valid, strlen(valid));
}

/* tsv ----------------------------------------------------------------------------------------------------------------- */

static void
put_tsv_text(GString *out, const char *data, gsize n_bytes)
{
    bool quoted = n_bytes > 0 && (data[0] == '"' || is_like_number(data, n_bytes) || g_str_has_prefix(data, BOM));
    gsize good = 0;

    g_string_append(out, quoted ? "\"" : "");
    for (gsize i = 0; i < n_bytes; i++) {
        if (i >= good)
            good = i + span_utf8(data + i, n_bytes - i);
        if (i >= good || data[i] == 0)
            g_string_append_printf(out, "\\%03o", (guchar) data[i]);
        else if (data[i] == '\t')
            g_string_append(out, "\\t");
        else if (data[i] == '\n')
            g_string_append(out, "\\n");
        else if (data[i] == '\r')
            g_string_append(out, "\\r");
        else if (data[i] == '\\')
            g_string_append(out, "\\\\");
        else if (quoted && data[i] == '"')
            g_string_append(out, "\"\"");
        else
            g_string_append_c(out, data[i]);
    }
    g_string_append(out, quoted ? "\"" : "");
}

static const Dialect tsv_dialect = { "\\N", "\\x", "", put_tsv_text };

void
qctl_cell_put_tsv(const QctlCell *self, GString *out)
{
    put_in_dialect(self, out, &tsv_dialect);
}

void
qctl_cell_put_tsv_name(const char *name, GString *out)
{
    g_autofree char *valid = g_utf8_make_valid(name, -1);

    if (valid[0] == 0)
        g_string_append(out, "\"\"");
    else
        put_tsv_text(out, valid, strlen(valid));
}

/* json ---------------------------------------------------------------------------------------------------------------- */

static void
put_json_text(GString *out, const char *data, gsize n_bytes)
{
    static const char letters[] = "btn\0fr"; /* 0x08 … 0x0d; \v has none */

    if (span_utf8(data, n_bytes) < n_bytes) {
        g_string_append(out, "{\"text_base64\":\"");
        put_base64(out, data, n_bytes);
        g_string_append(out, "\"}");
        return;
    }
    g_string_append_c(out, '"');
    for (gsize i = 0; i < n_bytes; i++) {
        guchar c = (guchar) data[i];

        if (c >= 0x20 && c != '"' && c != '\\')
            g_string_append_c(out, data[i]);
        else if (c == '"' || c == '\\')
            g_string_append_printf(out, "\\%c", c);
        else if (c >= 8 && c <= 13 && c != 11)
            g_string_append_printf(out, "\\%c", letters[c - 8]);
        else
            g_string_append_printf(out, "\\u%04x", c);
    }
    g_string_append_c(out, '"');
}

static void
put_json_literal(const QctlCell *self, const char *kind, GString *out)
{
    g_string_append(out, "{\"value\":");
    put_json_text(out, self->data, self->n_bytes);
    g_string_append_printf(out, ",\"%s\":", kind);
    put_json_text(out, self->tag, strlen(self->tag));
    g_string_append_c(out, '}');
}

void
qctl_cell_put_json(const QctlCell *self, GString *out)
{
    g_autofree char *text = NULL;

    switch (self->type) {
    case QUERY_VALUE_TYPE_NULL:
        g_string_append(out, "null");
        break;
    case QUERY_VALUE_TYPE_INTEGER:
    case QUERY_VALUE_TYPE_FLOAT:
        put_number(self, out);
        break;
    case QUERY_VALUE_TYPE_BLOB:
        g_string_append(out, "{\"base64\":\"");
        put_base64(out, self->data, self->n_bytes);
        g_string_append(out, "\"}");
        break;
    case QUERY_VALUE_TYPE_BNODE:
        text = g_strconcat("_:", self->data, NULL);
        put_json_text(out, text, strlen(text));
        break;
    case QUERY_VALUE_TYPE_TEXT:
    case QUERY_VALUE_TYPE_IRI:
        put_json_text(out, self->data, self->n_bytes);
        break;
    case QUERY_VALUE_TYPE_LITERAL_LANG:
        put_json_literal(self, "language", out);
        break;
    case QUERY_VALUE_TYPE_LITERAL_TYPED:
        put_json_literal(self, "datatype", out);
        break;
    }
}

void
qctl_cell_put_json_name(const char *name, GString *out)
{
    put_json_text(out, name, strlen(name));
}

/* For eyes ------------------------------------------------------------------------------------------------------------ */

void
qctl_cell_put_plain(const QctlCell *self, guint max_characters, GString *out)
{
    g_autofree char *valid = NULL;
    gsize n_shown = MIN(self->n_bytes, max_characters / 2);
    guint n_characters = 0;

    switch (self->type) {
    case QUERY_VALUE_TYPE_NULL:
        return;
    case QUERY_VALUE_TYPE_INTEGER:
    case QUERY_VALUE_TYPE_FLOAT:
        put_number(self, out);
        return;
    case QUERY_VALUE_TYPE_BLOB:
        g_string_append(out, "X'");
        put_hex(out, self->data, n_shown);
        g_string_append(out, n_shown < self->n_bytes ? "…'" : "'");
        return;
    case QUERY_VALUE_TYPE_BNODE:
        g_string_append(out, "_:");
        break;
    case QUERY_VALUE_TYPE_TEXT:
    case QUERY_VALUE_TYPE_IRI:
    case QUERY_VALUE_TYPE_LITERAL_LANG:
    case QUERY_VALUE_TYPE_LITERAL_TYPED:
        break;
    }

    /* A cut within a character becomes U+FFFD and is beyond what is shown anyway. */
    valid = g_utf8_make_valid(self->data, (gssize) MIN(self->n_bytes, 4 * (gsize) max_characters + 4));
    for (const char *p = valid; *p != 0; p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);

        if (n_characters++ >= max_characters) {
            g_string_append(out, "…");
            return;
        }
        if (c == '\n')
            g_string_append(out, "↵");
        else if (c == '\t')
            g_string_append_c(out, ' ');
        else
            g_string_append_unichar(out, g_unichar_iscntrl(c) ? 0xfffd : c);
    }
}
