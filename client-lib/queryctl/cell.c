/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values of a cursor as fields of the text formats, and for eyes.
 */
#include "client-lib/queryctl/cell.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "client-lib/text/text-value.h"

G_STATIC_ASSERT((int) QUERY_VALUE_TYPE_LITERAL_TYPED == (int) QW_TYPE_LITERAL_TYPED);

static void
take_text(QwValue *self, QueryCursor *cursor, guint column, const char *tag)
{
    gsize n_bytes = 0;

    self->data = query_cursor_get_string(cursor, column, &n_bytes);
    self->n_bytes = (uint32_t) n_bytes;
    self->tag = tag;
    self->n_tag_bytes = tag != NULL ? (uint32_t) strlen(tag) : 0;
}

void
qctl_cell_init(QwValue *self, QueryCursor *cursor, guint column)
{
    gsize n_bytes = 0;

    *self = (QwValue){ .type = (QwType) query_cursor_get_value_type(cursor, column) };
    switch (self->type) {
    case QW_TYPE_NULL:
        break;
    case QW_TYPE_INTEGER:
        self->integer = query_cursor_get_int64(cursor, column);
        break;
    case QW_TYPE_FLOAT:
        self->real = query_cursor_get_double(cursor, column);
        if (isnan(self->real))
            self->type = QW_TYPE_NULL;
        break;
    case QW_TYPE_BLOB:
        self->data = (const char *) query_cursor_get_data(cursor, column, &n_bytes);
        self->n_bytes = (uint32_t) n_bytes;
        break;
    case QW_TYPE_LITERAL_LANG:
        take_text(self, cursor, column, query_cursor_get_language(cursor, column));
        break;
    case QW_TYPE_LITERAL_TYPED:
        take_text(self, cursor, column, query_cursor_get_datatype(cursor, column));
        break;
    case QW_TYPE_TEXT:
    case QW_TYPE_IRI:
    case QW_TYPE_BNODE:
        take_text(self, cursor, column, NULL);
        break;
    }
}

void
qctl_cell_init_int64(QwValue *self, gint64 value)
{
    *self = (QwValue){ .type = QW_TYPE_INTEGER, .integer = value };
}

void
qctl_cell_init_text(QwValue *self, const char *text)
{
    *self = (QwValue){ .type = QW_TYPE_NULL };
    if (text != NULL)
        *self = (QwValue){ .type = QW_TYPE_TEXT, .data = text, .n_bytes = (uint32_t) strlen(text) };
}

QwType
qctl_number_parse(const char *text, gint64 *ret_integer, double *ret_real)
{
    const char *digits = text + (text[0] == '-' ? 1 : 0);
    char *end = NULL;
    gint64 integer = 0;
    double real = 0;

    if (!g_ascii_isdigit(digits[0]) && !(digits[0] == '.' && g_ascii_isdigit(digits[1])))
        return QW_TYPE_TEXT;
    if (digits[0] == '0' && g_ascii_isdigit(digits[1])) /* 007 is a name, not a number */
        return QW_TYPE_TEXT;
    if (strspn(digits, "0123456789.eE+-") != strlen(digits)) /* strtod also takes hexadecimal */
        return QW_TYPE_TEXT;

    errno = 0;
    integer = g_ascii_strtoll(text, &end, 10);
    if (*end == 0 && errno == 0) {
        *ret_integer = integer;
        return QW_TYPE_INTEGER;
    }
    real = g_ascii_strtod(text, &end);
    if (*end != 0)
        return QW_TYPE_TEXT;
    *ret_real = real;
    return QW_TYPE_FLOAT;
}

/* For eyes ------------------------------------------------------------------------------------------------------------ */

static void
put_plain_blob(const QwValue *self, guint max_bytes, GString *out)
{
    QwValue shown = *self;

    shown.n_bytes = MIN(self->n_bytes, max_bytes);
    qw_text_put_csv(out, &shown);
    g_string_truncate(out, out->len - 1);
    g_string_append(out, shown.n_bytes < self->n_bytes ? "…'" : "'");
}

void
qctl_cell_put_plain(const QwValue *self, guint max_characters, GString *out)
{
    g_autofree char *valid = NULL;
    guint n_characters = 0;

    switch (self->type) {
    case QW_TYPE_NULL:
        return;
    case QW_TYPE_INTEGER:
    case QW_TYPE_FLOAT:
        qw_text_put_csv(out, self);
        g_string_truncate(out, out->len); /* NUL-terminated */
        return;
    case QW_TYPE_BLOB:
        put_plain_blob(self, max_characters / 2, out);
        return;
    case QW_TYPE_BNODE:
        g_string_append(out, "_:");
        break;
    case QW_TYPE_TEXT:
    case QW_TYPE_IRI:
    case QW_TYPE_LITERAL_LANG:
    case QW_TYPE_LITERAL_TYPED:
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
