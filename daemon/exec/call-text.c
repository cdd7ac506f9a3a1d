/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Results as text: rows of SQL in our own formats, solutions and graphs of SPARQL in those of the W3C.
 */
#include <string.h>

#include "daemon/exec/engine-private.h"
#include "daemon/exec/results-writer.h"
#include "daemon/exec/run.h"
#include "daemon/exec/text-writer.h"

typedef struct TextSink {
    QdRun *run;
    QdTextFormat format;       /* SQL */
    QdResultsFormat results;   /* SPARQL: solutions, a truth value */
    QdRdfFormat graph;         /* SPARQL: triples */
    QdTextWriter *text_writer; /* both NULL before the first page */
    QdResultsWriter *results_writer;
    GString *out;
    QdTextFlushFunc flush; /* (nullable) */
} TextSink;

/* --- formats ---------------------------------------------------------------------------------------------------------- */

static gboolean
is_graph(const QdSparqlPlan *plan)
{
    return plan->form == QD_FORM_CONSTRUCT || plan->form == QD_FORM_DESCRIBE;
}

/* "json" is "sparql-json" where the language says so. */
static gboolean
find_results_format(const char *name, QdResultsFormat *ret_format)
{
    g_autofree char *long_name = g_strconcat("sparql-", name, NULL);

    return qd_results_format_from_name(name, ret_format) || qd_results_format_from_name(long_name, ret_format);
}

/* By what the statement gives; sets the call's media type. */
static gboolean
find_format(QdCall *call, TextSink *sink, GError **error)
{
    const QdShape shape = qd_run_get_shape(sink->run);

    if (shape.plan == NULL) {
        if (qd_text_format_from_name(call->format, &sink->format)) {
            call->content_type = qd_text_format_get_content_type(sink->format);
            return TRUE;
        }
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "unknown format '%s': csv, tsv, json and jsonl are known", call->format);
        return FALSE;
    }
    if (is_graph(shape.plan)) {
        if (qd_rdf_format_from_name(call->format, &sink->graph)) {
            call->content_type = qd_rdf_format_get_media_type(sink->graph);
            return TRUE;
        }
        qd_error_set(error, QW_ERROR_BAD_PARAMETER,
                     "unknown format '%s' for triples: turtle, ntriples, nquads, trig and rdfxml are known", call->format);
        return FALSE;
    }
    if (find_results_format(call->format, &sink->results)) {
        call->content_type = qd_results_format_get_media_type(sink->results);
        return TRUE;
    }
    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "unknown format '%s' for solutions: json, xml, csv and tsv are known",
                 call->format);
    return FALSE;
}

/* --- rows ------------------------------------------------------------------------------------------------------------- */

static void
make_text_writer(QdCall *call, TextSink *sink, const QdShape *shape, const char *const *names)
{
    sink->text_writer = qd_text_writer_new(sink->format, names, shape->n_columns, call->options.header);
    qd_text_writer_begin(sink->text_writer, sink->out);
}

static void
make_results_writer(TextSink *sink, const QdShape *shape, const char *const *names)
{
    if (is_graph(shape->plan))
        sink->results_writer = qd_results_writer_new_graph(sink->graph, NULL, shape->n_columns, sink->out);
    else
        sink->results_writer = qd_results_writer_new(
            sink->results, shape->plan->form == QD_FORM_ASK ? QD_RESULTS_BOOLEAN : QD_RESULTS_SOLUTIONS, names, shape->n_columns);
    qd_results_writer_begin(sink->results_writer, sink->out);
}

/* Not before the run's first step: it compiles a cached statement anew when the schema has changed, `SELECT *` with other columns.
 */
static void
ensure_writer(QdCall *call, TextSink *sink)
{
    const QdShape shape = qd_run_get_shape(sink->run);
    g_autofree const char **names = NULL;

    if (sink->text_writer != NULL || sink->results_writer != NULL)
        return;
    names = g_new0(const char *, (gsize) shape.n_columns + 1);
    for (guint i = 0; i < shape.n_columns; i++)
        names[i] = qd_shape_get_column_name(&shape, i);
    if (shape.plan == NULL)
        make_text_writer(call, sink, &shape, names);
    else
        make_results_writer(sink, &shape, names);
}

static gboolean
put_page(QdCall *call, const uint8_t *body, gsize n_bytes, uint32_t n_rows, uint32_t n_columns, void *data, GError **error)
{
    TextSink *sink = data;
    QwPageReader reader;

    if (qw_page_reader_init(&reader, body, n_bytes, n_rows, n_columns) < 0) {
        qd_error_set(error, QW_ERROR_INTERNAL, "page is malformed");
        return FALSE;
    }
    ensure_writer(call, sink);
    while (qw_page_reader_next(&reader)) {
        if (sink->text_writer != NULL)
            qd_text_writer_put_row(sink->text_writer, &reader, sink->out);
        else if (!qd_results_writer_put_row(sink->results_writer, &reader, sink->out, error))
            return FALSE;
    }
    return sink->flush == NULL || sink->flush(call, sink->out, error);
}

gboolean
qd_call_pull_text(QdCall *call, QdRun *run, QdTextFlushFunc flush, GString *out, GError **error)
{
    TextSink sink = { .run = run, .out = out, .flush = flush };
    gboolean ok = find_format(call, &sink, error) && qd_call_pull_pages(call, run, put_page, &sink, error);

    if (ok) {
        ensure_writer(call, &sink);
        if (sink.text_writer != NULL)
            qd_text_writer_end(sink.text_writer, out);
        else
            qd_results_writer_end(sink.results_writer, out);
    }
    (void) qd_text_writer_free(sink.text_writer);
    (void) qd_results_writer_free(sink.results_writer);
    return ok;
}

void
qd_call_run_query_text(QdCall *call, GError **error)
{
    g_autoptr(QdRun) run = qd_call_start_bound_run(call, error);
    g_autoptr(GString) out = g_string_new(NULL);

    if (run == NULL || !qd_call_pull_text(call, run, NULL, out, error))
        return;
    call->text = g_string_sized_new(out->len);
    (void) qd_text_append_lossy(call->text, out->str, out->len);
}
