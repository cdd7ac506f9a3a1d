/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Encoders: the formats of SPARQL and of RDF as the daemon writes them, and for SQL JSON of our own or the formats of tables.
 */
#include <math.h>
#include <string.h>

#include "client-lib/http/http-result.h"
#include "client-lib/text/text-value.h"
#include "daemon/format/text-writer.h"

/* --- SPARQL ------------------------------------------------------------------------------------------------------------------ */

static gboolean
put_result(gpointer data, const QwValue *values, GString *out, GError **error)
{
    g_autoptr(GError) failure = NULL;

    if (qd_results_writer_put_values(data, values, out, &failure))
        return TRUE;

    g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_UNSUPPORTED, failure->message);
    return FALSE;
}

static void
end_result(gpointer data, QueryCursor *cursor, GString *out)
{
    qd_results_writer_end(data, out);
}

static void
free_result(gpointer data)
{
    (void) qd_results_writer_free(data);
}

/* The declared types of the columns say what the query gives. */
static QhttpKind
get_kind(QueryCursor *cursor)
{
    const char *type = query_cursor_get_n_columns(cursor) > 0 ? query_cursor_get_column_type(cursor, 0) : "";

    if (g_str_equal(type, "xsd:boolean"))
        return QHTTP_KIND_BOOLEAN;
    return g_str_equal(type, "rdf:subject") ? QHTTP_KIND_GRAPH : QHTTP_KIND_SOLUTIONS;
}

/* (nullable): NULL: answered */
static const QhttpFormat *
choose_format(QhttpExchange *exchange, QhttpKind kind)
{
    const QhttpFormat *format = qhttp_accept_choose(qhttp_exchange_get_accept(exchange), kind);
    g_autofree char *types = NULL;

    if (format != NULL)
        return format;

    types = qhttp_accept_list(kind);
    qhttp_exchange_fail(exchange, 406, "none of the formats that the request accepts is there for this result: %s are", types);
    return NULL;
}

/* (transfer container): of the columns */
static const char **
list_names(QueryCursor *cursor)
{
    guint n_columns = query_cursor_get_n_columns(cursor);
    const char **names = g_new0(const char *, n_columns + 1);

    for (guint i = 0; i < n_columns; i++)
        names[i] = query_cursor_get_column_name(cursor, i);
    return names;
}

static gboolean
encode_kind(QhttpExchange *exchange, QueryCursor *cursor, QhttpKind kind, GString *out, QhttpEncoder *ret_encoder)
{
    const QhttpFormat *format = choose_format(exchange, kind);
    guint n_columns = query_cursor_get_n_columns(cursor);
    g_autofree const char **names = list_names(cursor);
    QdResultsWriter *writer;

    if (format == NULL)
        return FALSE;

    writer = format->is_rdf
                 ? qd_results_writer_new_graph(format->rdf, NULL, n_columns, out)
                 : qd_results_writer_new(format->results, kind == QHTTP_KIND_BOOLEAN ? QD_RESULTS_BOOLEAN : QD_RESULTS_SOLUTIONS,
                                         names, n_columns);
    qd_results_writer_begin(writer, out);
    *ret_encoder = (QhttpEncoder){ put_result, end_result, free_result, writer, format->content_type };
    return TRUE;
}

gboolean
qhttp_encode_accepted(QhttpExchange *exchange, QueryCursor *cursor, GString *out, QhttpEncoder *ret_encoder)
{
    return encode_kind(exchange, cursor, get_kind(cursor), out, ret_encoder);
}

gboolean
qhttp_encode_graph(QhttpExchange *exchange, QueryCursor *cursor, GString *out, QhttpEncoder *ret_encoder)
{
    return encode_kind(exchange, cursor, QHTTP_KIND_GRAPH, out, ret_encoder);
}

/* --- SQL -------------------------------------------------------------------------------------------------------------------- */

typedef struct JsonRows {
    guint n_columns;
    guint64 n_rows;
} JsonRows;

static gboolean
put_json(gpointer data, const QwValue *values, GString *out, GError **error)
{
    JsonRows *self = data;

    g_string_append(out, self->n_rows++ > 0 ? ",\n[" : "\n[");
    for (guint i = 0; i < self->n_columns; i++) {
        bool is_nan = values[i].type == QW_TYPE_FLOAT && isnan(values[i].real);

        if (i > 0)
            g_string_append_c(out, ',');
        qw_text_put_json(out, is_nan ? &(QwValue){ .type = QW_TYPE_NULL } : &values[i]);
    }
    g_string_append_c(out, ']');
    return TRUE;
}

static void
end_json(gpointer data, QueryCursor *cursor, GString *out)
{
    JsonRows *self = data;

    g_string_append_printf(out, "\n],\"n_rows\":%" G_GUINT64_FORMAT ",\"generation\":%" G_GUINT64_FORMAT "}\n", self->n_rows,
                           query_cursor_get_generation(cursor));
}

static void
put_names(QueryCursor *cursor, const char *(*get)(QueryCursor *, guint), GString *out)
{
    for (guint i = 0; i < query_cursor_get_n_columns(cursor); i++) {
        const char *name = get(cursor, i);

        if (i > 0)
            g_string_append_c(out, ',');
        qw_text_put_json_text(out, name, strlen(name));
    }
}

static void
encode_json(QueryCursor *cursor, GString *out, QhttpEncoder *ret_encoder)
{
    JsonRows *self = g_new0(JsonRows, 1);

    self->n_columns = query_cursor_get_n_columns(cursor);
    g_string_append(out, "{\"columns\":[");
    put_names(cursor, query_cursor_get_column_name, out);
    g_string_append(out, "],\"types\":[");
    put_names(cursor, query_cursor_get_column_type, out);
    g_string_append(out, "],\"rows\":[");
    *ret_encoder = (QhttpEncoder){ put_json, end_json, g_free, self, "application/json" };
}

static gboolean
put_text(gpointer data, const QwValue *values, GString *out, GError **error)
{
    qd_text_writer_put_values(data, values, out);
    return TRUE;
}

static void
end_text(gpointer data, QueryCursor *cursor, GString *out)
{
    qd_text_writer_end(data, out);
}

static void
free_text(gpointer data)
{
    (void) qd_text_writer_free(data);
}

static void
encode_text(const QhttpFormat *format, QueryCursor *cursor, GString *out, QhttpEncoder *ret_encoder)
{
    guint n_columns = query_cursor_get_n_columns(cursor);
    g_autofree const char **names = list_names(cursor);
    QdTextWriter *writer = qd_text_writer_new(format->text, names, n_columns, TRUE);

    qd_text_writer_begin(writer, out);
    *ret_encoder = (QhttpEncoder){ put_text, end_text, free_text, writer, format->content_type };
}

gboolean
qhttp_encode_rows(QhttpExchange *exchange, QueryCursor *cursor, GString *out, QhttpEncoder *ret_encoder)
{
    const QhttpFormat *format = choose_format(exchange, QHTTP_KIND_ROWS);

    if (format == NULL)
        return FALSE;
    if (format->text == QD_TEXT_FORMAT_JSON)
        encode_json(cursor, out, ret_encoder);
    else
        encode_text(format, cursor, out, ret_encoder);
    return TRUE;
}
