/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Results as text: QueryText, and Export for job-export.c. One name chooses among three families of formats.
 *
 * For SPARQL the plain names csv, tsv, json and xml mean the formats of the W3C; for SQL those of docs/formats.md.
 */
#include <string.h>

#include "client-lib/text/text-utf8.h"
#include "daemon/call/call-classes.h"
#include "daemon/call/call-private.h"
#include "daemon/format/results-writer.h"
#include "daemon/format/text-writer.h"
#include "daemon/plan/compile.h"
#include "daemon/read/run.h"

/* D-Bus takes 128 MiB; escapes can make a text six times as long as its rows. */
#define MESSAGE_TEXT_MAX (120 * 1024 * 1024)

typedef enum Family {
    FAMILY_TEXT,    /* of SQL: text-writer.h */
    FAMILY_RESULTS, /* of SPARQL's solutions: results-writer.h */
    FAMILY_RDF,     /* of graphs: results-writer.h too */
} Family;

typedef struct Format {
    Family family;
    QdTextFormat text;
    QdResultsFormat results;
    QdRdfFormat rdf;
} Format;

typedef struct Sink {
    QdRun *run;
    Format format;
    QdTextWriter *text; /* both NULL before the first page */
    QdResultsWriter *results;
    GString *out;
    QdTextFlushFunc flush; /* (nullable) */
} Sink;

static gboolean
find_format(const QdCall *call, Format *ret_format, GError **error)
{
    const QdCallStatement *statement = &g_array_index(call->statements, QdCallStatement, 0);
    g_autofree char *w3c_name = g_strconcat("sparql-", call->format, NULL);

    *ret_format = (Format){ .family = FAMILY_RESULTS };
    if (statement->language == QD_LANGUAGE_SPARQL && qd_results_format_from_name(w3c_name, &ret_format->results))
        return TRUE;
    if (qd_results_format_from_name(call->format, &ret_format->results))
        return TRUE;
    ret_format->family = FAMILY_TEXT;
    if (qd_text_format_from_name(call->format, &ret_format->text))
        return TRUE;
    ret_format->family = FAMILY_RDF;
    if (qd_rdf_format_from_name(call->format, &ret_format->rdf))
        return TRUE;

    qd_error_set(error, QW_ERROR_BAD_PARAMETER,
                 "unknown format '%s': csv, tsv, json, jsonl, sparql-json, sparql-xml, sparql-csv, sparql-tsv, turtle, trig, "
                 "ntriples, nquads and rdfxml are known",
                 call->format);
    return FALSE;
}

gboolean
qd_call_check_format(const QdCall *call, GError **error)
{
    Format format;

    return find_format(call, &format, error);
}

static const char *
get_content_type(const Format *format)
{
    switch (format->family) {
    case FAMILY_TEXT:
        return qd_text_format_get_content_type(format->text);
    case FAMILY_RESULTS:
        return qd_results_format_get_media_type(format->results);
    case FAMILY_RDF:
        return qd_rdf_format_get_media_type(format->rdf);
    }
    g_assert_not_reached();
}

static QdResultsForm
get_form(const QdShape *shape)
{
    if (shape->plan == NULL)
        return QD_RESULTS_SOLUTIONS;

    switch (shape->plan->form) {
    case QD_FORM_CONSTRUCT:
    case QD_FORM_DESCRIBE:
        return QD_RESULTS_GRAPH;
    case QD_FORM_ASK:
        return QD_RESULTS_BOOLEAN;
    case QD_FORM_SELECT:
        return QD_RESULTS_SOLUTIONS;
    }
    g_assert_not_reached();
}

/* Not before the run's first step: it recompiles a cached statement when the schema has changed, `SELECT *` with other columns.
 */
static void
ensure_writer(QdCall *call, Sink *sink)
{
    const QdShape shape = qd_run_get_shape(sink->run);
    QdResultsForm form = get_form(&shape);
    g_autofree const char **names = NULL;

    if (sink->text != NULL || sink->results != NULL)
        return;

    names = g_new0(const char *, (gsize) shape.n_columns + 1);
    for (guint i = 0; i < shape.n_columns; i++)
        names[i] = qd_shape_get_column_name(&shape, i);
    switch (sink->format.family) {
    case FAMILY_TEXT:
        sink->text = qd_text_writer_new(sink->format.text, names, shape.n_columns, call->options.transfer.header);
        qd_text_writer_begin(sink->text, sink->out);
        return;
    case FAMILY_RESULTS:
        sink->results = qd_results_writer_new(sink->format.results, form, names, shape.n_columns);
        break;
    case FAMILY_RDF:
        sink->results = qd_results_writer_new_graph(sink->format.rdf, NULL, shape.n_columns, sink->out);
        break;
    }
    qd_results_writer_begin(sink->results, sink->out);
}

static gboolean
put_page(QdCall *call, const uint8_t *body, gsize n_bytes, uint32_t n_rows, uint32_t n_columns, void *data, GError **error)
{
    Sink *sink = data;
    QwPageReader reader;

    if (qw_page_reader_init(&reader, body, n_bytes, n_rows, n_columns) < 0) {
        qd_error_set(error, QW_ERROR_INTERNAL, "page is malformed");
        return FALSE;
    }
    ensure_writer(call, sink);
    while (qw_page_reader_next(&reader)) {
        if (sink->text != NULL)
            qd_text_writer_put_row(sink->text, &reader, sink->out);
        else if (!qd_results_writer_put_row(sink->results, &reader, sink->out, error))
            return FALSE;
    }
    return sink->flush == NULL || sink->flush(call, sink->out, error);
}

/* An RDF format is for triples. */
static gboolean
check_form(const QdCall *call, const Sink *sink, GError **error)
{
    const QdShape shape = qd_run_get_shape(sink->run);

    if (sink->format.family != FAMILY_RDF || get_form(&shape) == QD_RESULTS_GRAPH)
        return TRUE;

    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "format '%s' is for triples, of CONSTRUCT and DESCRIBE; the statement gives rows",
                 call->format);
    return FALSE;
}

gboolean
qd_call_pull_text(QdCall *call, QdRun *run, QdTextFlushFunc flush, GString *out, GError **error)
{
    Sink sink = { .run = run, .out = out, .flush = flush };
    gboolean ok = find_format(call, &sink.format, error) && check_form(call, &sink, error) &&
                  qd_call_pull_pages(call, run, put_page, &sink, error);

    if (ok) {
        ensure_writer(call, &sink);
        if (sink.text != NULL)
            qd_text_writer_end(sink.text, out);
        else
            qd_results_writer_end(sink.results, out);
        call->result.content_type = get_content_type(&sink.format);
    }
    (void) qd_text_writer_free(sink.text);
    (void) qd_results_writer_free(sink.results);
    return ok;
}

static void
run_query_text(QdCall *call, GError **error)
{
    g_autoptr(QdRun) run = NULL;
    g_autoptr(GString) out = g_string_new(NULL);

    if (!qd_call_check_format(call, error))
        return;
    run = qd_call_start_bound_run(call, error);
    if (run == NULL || !qd_call_pull_text(call, run, NULL, out, error))
        return;
    if (out->len > MESSAGE_TEXT_MAX) {
        qd_error_set(error, QW_ERROR_TOO_BIG, "the result as '%s' is too big for a message of the bus, take it by Export",
                     call->format);
        return;
    }

    call->result.text = g_string_sized_new(out->len);
    (void) qw_text_append_lossy(call->result.text, out->str, out->len);
}

const QdCallClass qd_query_text_call = {
    .name = "QueryText",
    .options = QD_TAKES(TIMEOUT) | QD_TAKES(MAX_ROWS) | QD_TAKES(MAX_BYTES) | QD_TAKES(HEADER) | QD_TAKES(BASE) | QD_TAKES(DATASET),
    .reads = TRUE,
    .is_by_value = TRUE,
    .run = run_query_text,
};
