/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Triples into rows.
 */
#include "client-lib/remote-module/remote-graph.h"

#include "client-lib/core/query-error.h"
#include "daemon/base/error.h"

typedef struct Graph {
    RemoteRows *rows;
    GError *failure; /* (nullable): of the rows */
    QdRdfReadFunc read_func;
    gpointer data;
    GError *read_failure; /* (nullable): of the bytes */
} Graph;

gboolean
remote_graph_find_format(const char *media_type, QdRdfFormat *ret_format)
{
    static const struct {
        const char *media_type;
        QdRdfFormat format;
    } others[] = {
        { "text/plain", QD_RDF_NTRIPLES },
        { "text/ntriples", QD_RDF_NTRIPLES },
        { "application/x-turtle", QD_RDF_TURTLE },
    };

    if (qd_rdf_format_from_name(media_type, ret_format))
        return TRUE;
    for (guint i = 0; i < G_N_ELEMENTS(others); i++) {
        if (g_str_equal(others[i].media_type, media_type)) {
            *ret_format = others[i].format;
            return TRUE;
        }
    }
    return FALSE;
}

static void
set_value(QwValue *value, const QdTerm *term)
{
    static const QwType types[] = {
        [QD_TERM_IRI] = QW_TYPE_IRI,
        [QD_TERM_STRING] = QW_TYPE_TEXT,
        [QD_TERM_LANG_STRING] = QW_TYPE_LITERAL_LANG,
        [QD_TERM_TYPED] = QW_TYPE_LITERAL_TYPED,
        [QD_TERM_BNODE] = QW_TYPE_BNODE,
    };

    *value = (QwValue){ .type = types[term->kind] };
    value->data = term->lexical;
    value->tag = term->qualifier;
    value->n_bytes = (uint32_t) term->n_lexical;
    value->n_tag_bytes = (uint32_t) term->n_qualifier;
}

/* The graph of a quad, which no query gives, is not looked at. */
static gboolean
on_quad(const QdTerm *s, const QdTerm *p, const QdTerm *o, const QdTerm *g, gpointer data, GError **error)
{
    Graph *self = data;
    QwValue values[3];

    set_value(&values[0], s);
    set_value(&values[1], p);
    set_value(&values[2], o);
    if (remote_rows_put(self->rows, values, &self->failure))
        return TRUE;
    qd_error_set(error, QW_ERROR_CLOSED, "no more rows are wanted");
    return FALSE;
}

static gssize
read_bytes(char *buffer, gsize n_bytes, gpointer data, GError **error)
{
    Graph *self = data;
    gssize n = self->read_func(buffer, n_bytes, self->data, &self->read_failure);

    if (n < 0)
        qd_error_set(error, QW_ERROR_CLOSED, "the connection was lost");
    return n;
}

gboolean
remote_graph_read(RemoteRows *rows, QdRdfFormat format, const char *base, QdRdfReadFunc read_func, gpointer data, GError **error)
{
    static const char *const names[] = { "subject", "predicate", "object" };
    static const char *const types[] = { "rdf:subject", "rdf:predicate", "rdf:object" };
    Graph graph = { .rows = rows, .read_func = read_func, .data = data };
    g_autoptr(GError) failure = NULL;
    QdLimits limits;
    QdRdfReading reading = { .format = format,
                             .base = base,
                             .read_func = read_bytes,
                             .read_data = &graph,
                             .quad_func = on_quad,
                             .data = &graph,
                             .limits = &limits };

    qd_limits_init(&limits);
    if (!remote_rows_begin(rows, names, types, G_N_ELEMENTS(names), error))
        return FALSE;
    if (qd_rdf_read(&reading, &failure))
        return TRUE;
    if (rows->is_full)
        return FALSE;
    if (graph.failure != NULL)
        g_propagate_error(error, graph.failure);
    else if (graph.read_failure != NULL)
        g_propagate_error(error, graph.read_failure);
    else if (qd_error_get_code(failure) == QW_ERROR_SYNTAX)
        return remote_rows_set_malformed(rows, error, "%s", failure->message);
    else
        g_set_error_literal(error, QUERY_ERROR, (int) qd_error_get_code(failure), failure->message);
    return FALSE;
}
