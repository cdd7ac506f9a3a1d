/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A row: the types of the columns; the offsets of the values' last bytes; the values, each with a NUL at its end.
 */
#include "daemon/format/cursor-row.h"

#include <string.h>

#include "client-lib/text/text-number.h"
#include "daemon/rdf/xsd-type.h"

#define SUBSTITUTE 0x1a /* for a NUL, which the format cannot hold */

/* TrackerSparqlValueType */
typedef enum CursorType {
    TYPE_UNBOUND = 0,
    TYPE_URI = 1,
    TYPE_STRING = 2,
    TYPE_INTEGER = 3,
    TYPE_DOUBLE = 4,
    TYPE_DATE_TIME = 5,
    TYPE_BLANK_NODE = 6,
    TYPE_BOOLEAN = 7,
} CursorType;

gsize
qd_cursor_row_get_bound(const QwPageReader *row)
{
    gsize n_bytes = 9 * (gsize) qd_cursor_row_get_n_columns(row->n_columns);

    for (guint32 i = 0; i < row->n_columns; i++) {
        QwValue value;

        qw_page_reader_get(row, i, &value);
        if (qw_type_is_word(value.type))
            n_bytes += QW_TEXT_NUMBER_BYTES;
        else if (value.type == QW_TYPE_BLOB)
            n_bytes += (gsize) value.n_bytes / 3 * 4 + 8;
        else if (value.type != QW_TYPE_NULL)
            n_bytes += (gsize) value.n_bytes + value.n_tag_bytes + 2;
    }
    return n_bytes;
}

static CursorType
get_literal_type(const QwValue *value)
{
    QdXsdType type = qd_xsd_type_from_iri(value->tag, value->n_tag_bytes);

    if (qd_xsd_type_is_integer(type))
        return TYPE_INTEGER;
    if (qd_xsd_type_is_numeric(type))
        return TYPE_DOUBLE;
    if (type == QD_XSD_DATE_TIME || type == QD_XSD_DATE_TIME_STAMP || type == QD_XSD_DATE)
        return TYPE_DATE_TIME;
    return type == QD_XSD_BOOLEAN ? TYPE_BOOLEAN : TYPE_STRING;
}

static CursorType
get_type(const QwValue *value)
{
    switch (value->type) {
    case QW_TYPE_NULL:
        return TYPE_UNBOUND;
    case QW_TYPE_INTEGER:
        return TYPE_INTEGER;
    case QW_TYPE_FLOAT:
        return TYPE_DOUBLE;
    case QW_TYPE_TEXT:
    case QW_TYPE_BLOB:
    case QW_TYPE_LITERAL_LANG:
        return TYPE_STRING;
    case QW_TYPE_IRI:
        return TYPE_URI;
    case QW_TYPE_BNODE:
        return TYPE_BLANK_NODE;
    case QW_TYPE_LITERAL_TYPED:
        return get_literal_type(value);
    }
    g_assert_not_reached();
}

static char *
put_bytes(char *p, const char *data, gsize n_bytes)
{
    memcpy(p, data, n_bytes);
    if (G_UNLIKELY(memchr(p, '\0', n_bytes) != NULL)) {
        for (gsize i = 0; i < n_bytes; i++)
            p[i] = p[i] == '\0' ? SUBSTITUTE : p[i];
    }
    return p + n_bytes;
}

static char *
put_base64(char *p, const QwValue *value)
{
    gint state = 0;
    gint save = 0;

    p += g_base64_encode_step((const guchar *) value->data, value->n_bytes, FALSE, p, &state, &save);
    return p + g_base64_encode_close(FALSE, p, &state, &save);
}

/* xsd:boolean has two forms of each value; clients compare with "true". */
static char *
put_boolean(char *p, const QwValue *value)
{
    gboolean is_digit = value->n_bytes == 1;

    if (!is_digit)
        return put_bytes(p, value->data, value->n_bytes);
    return value->data[0] == '1' ? put_bytes(p, "true", 4) : put_bytes(p, "false", 5);
}

/* Without the NUL at its end. A string with a language is followed by a NUL and the tag. */
static char *
put_value(char *p, const QwValue *value, CursorType type)
{
    switch (value->type) {
    case QW_TYPE_NULL:
        return p;
    case QW_TYPE_INTEGER:
        return qw_text_put_int64(p, value->integer);
    case QW_TYPE_FLOAT:
        return qw_text_put_double(p, value->real);
    case QW_TYPE_BLOB:
        return put_base64(p, value);
    case QW_TYPE_LITERAL_LANG:
        p = put_bytes(p, value->data, value->n_bytes);
        *p++ = '\0';
        return put_bytes(p, value->tag, value->n_tag_bytes);
    case QW_TYPE_LITERAL_TYPED:
        return type == TYPE_BOOLEAN ? put_boolean(p, value) : put_bytes(p, value->data, value->n_bytes);
    case QW_TYPE_TEXT:
    case QW_TYPE_IRI:
    case QW_TYPE_BNODE:
        return put_bytes(p, value->data, value->n_bytes);
    }
    g_assert_not_reached();
}

gsize
qd_cursor_row_write(const QwPageReader *row, guint8 *out)
{
    guint32 n_columns = qd_cursor_row_get_n_columns(row->n_columns);
    char *values = (char *) out + 8 * (gsize) n_columns;
    char *p = values;

    for (guint32 i = 0; i < n_columns; i++) {
        QwValue value = { .type = QW_TYPE_NULL };
        gint32 type;
        gint32 offset;

        if (i < row->n_columns)
            qw_page_reader_get(row, i, &value);
        type = (gint32) get_type(&value);
        p = put_value(p, &value, (CursorType) type);
        *p++ = '\0';
        offset = (gint32) (p - values - 1);
        memcpy(out + 4 * (gsize) i, &type, sizeof type);
        memcpy(out + 4 * ((gsize) n_columns + i), &offset, sizeof offset);
    }
    return (gsize) (p - (char *) out);
}
