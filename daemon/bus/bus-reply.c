/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows by value: each cell a variant. Expensive (~20 bytes and a microsecond a cell), therefore capped; bulk goes by Prepare.
 */
#include "daemon/bus/bus-reply.h"

#include <errno.h>

#include "client-lib/wire/wire-page-reader.h"
#include "daemon/bus/bus-error.h"
#include "daemon/call/call.h"

/* D-Bus: a message has at most 128 MiB. What a cell adds to its bytes: signature, alignment, length, NUL. */
#define MESSAGE_BYTES_MAX (120u * 1024 * 1024)
#define CELL_OVERHEAD_BYTES 24u

#define RDF_LANG_STRING "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"

int
qd_bus_append_column_names(sd_bus_message *reply, const GArray *columns)
{
    int r;

    r = sd_bus_message_open_container(reply, 'a', "s");
    for (guint i = 0; r >= 0 && columns != NULL && i < columns->len; i++)
        r = qd_bus_append_text(reply, g_array_index(columns, QdCallColumn, i).name);
    if (r < 0)
        return r;

    return sd_bus_message_close_container(reply);
}

static int
append_column(sd_bus_message *reply, const QdCallColumn *column)
{
    int r;

    r = sd_bus_message_open_container(reply, 'r', "ss");
    if (r >= 0)
        r = qd_bus_append_text(reply, column->name);
    if (r >= 0)
        r = qd_bus_append_text(reply, column->decl_type);
    if (r < 0)
        return r;

    return sd_bus_message_close_container(reply);
}

int
qd_bus_append_columns(sd_bus_message *reply, const GArray *columns)
{
    int r;

    r = sd_bus_message_open_container(reply, 'a', "(ss)");
    for (guint i = 0; r >= 0 && columns != NULL && i < columns->len; i++)
        r = append_column(reply, &g_array_index(columns, QdCallColumn, i));
    if (r < 0)
        return r;

    return sd_bus_message_close_container(reply);
}

static int
append_bytes(sd_bus_message *reply, const QwValue *value)
{
    int r;

    r = sd_bus_message_open_container(reply, 'v', "ay");
    if (r >= 0)
        r = sd_bus_message_append_array(reply, 'y', value->data, value->n_bytes);
    if (r < 0)
        return r;

    return sd_bus_message_close_container(reply);
}

static int
append_plain_text(sd_bus_message *reply, const QwValue *value)
{
    int r;

    r = sd_bus_message_open_container(reply, 'v', "s");
    if (r >= 0)
        r = qd_bus_append_checked(reply, value->data, value->n_bytes);
    if (r < 0)
        return r;

    return sd_bus_message_close_container(reply);
}

/* Terms are compared and shown, not stored back: what `s` cannot carry becomes U+FFFD. */
static int
append_term(sd_bus_message *reply, const QwValue *value, const char *datatype, const char *language)
{
    g_autofree char *lexical = qd_bus_make_text(value->data, value->n_bytes);
    int r;

    r = sd_bus_message_open_container(reply, 'v', "(sss)");
    if (r >= 0)
        r = sd_bus_message_open_container(reply, 'r', "sss");
    if (r >= 0)
        r = qd_bus_append_text(reply, lexical);
    if (r >= 0)
        r = qd_bus_append_text(reply, datatype);
    if (r >= 0)
        r = qd_bus_append_text(reply, language);
    if (r >= 0)
        r = sd_bus_message_close_container(reply);
    if (r < 0)
        return r;

    return sd_bus_message_close_container(reply);
}

int
qd_bus_append_value(sd_bus_message *reply, const QwValue *value)
{
    switch (value->type) {
    case QW_TYPE_NULL:
        return sd_bus_message_append(reply, "v", "g", "");
    case QW_TYPE_INTEGER:
        return sd_bus_message_append(reply, "v", "x", value->integer);
    case QW_TYPE_FLOAT:
        return sd_bus_message_append(reply, "v", "d", value->real);
    case QW_TYPE_TEXT:
        if (!qd_bus_is_text(value->data, value->n_bytes))
            return append_bytes(reply, value);
        return append_plain_text(reply, value);
    case QW_TYPE_BLOB:
        return append_bytes(reply, value);
    case QW_TYPE_IRI:
        return append_term(reply, value, "@id", "");
    case QW_TYPE_BNODE:
        return append_term(reply, value, "@bnode", "");
    case QW_TYPE_LITERAL_LANG:
        return append_term(reply, value, RDF_LANG_STRING, value->tag);
    case QW_TYPE_LITERAL_TYPED:
        return append_term(reply, value, value->tag, "");
    }
    return -EBADMSG;
}

static int
append_row(sd_bus_message *reply, const QwPageReader *reader, gsize *n_bytes_left)
{
    int r;

    r = sd_bus_message_open_container(reply, 'a', "v");
    for (guint32 i = 0; r >= 0 && i < reader->n_columns; i++) {
        QwValue value = { 0 };
        gsize n_bytes = CELL_OVERHEAD_BYTES;

        qw_page_reader_get(reader, i, &value);
        if (value.type > QW_TYPE_FLOAT)
            n_bytes += (gsize) value.n_bytes + value.n_tag_bytes;
        if (n_bytes > *n_bytes_left)
            return -EMSGSIZE;
        *n_bytes_left -= n_bytes;
        r = qd_bus_append_value(reply, &value);
    }
    if (r < 0)
        return r;

    return sd_bus_message_close_container(reply);
}

int
qd_bus_append_rows(sd_bus_message *reply, const QdCall *call)
{
    gsize n_bytes_left = MESSAGE_BYTES_MAX;
    guint n_columns = call->result.columns != NULL ? call->result.columns->len : 0;
    guint n_pages = call->result.pages != NULL ? call->result.pages->len : 0;
    int r;

    r = sd_bus_message_open_container(reply, 'a', "av");
    for (guint i = 0; r >= 0 && i < n_pages; i++) {
        QwPageReader reader;
        gsize n_bytes;
        const guint8 *data = g_bytes_get_data(call->result.pages->pdata[i], &n_bytes);

        r = qw_page_reader_init(&reader, data, n_bytes, g_array_index(call->result.page_rows, uint32_t, i), n_columns);
        while (r >= 0 && qw_page_reader_next(&reader))
            r = append_row(reply, &reader, &n_bytes_left);
    }
    if (r < 0)
        return r;

    return sd_bus_message_close_container(reply);
}
