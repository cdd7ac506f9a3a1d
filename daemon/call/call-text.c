/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Results as text: QueryText, and Export for job-export.c. One name chooses among four families of formats.
 *
 * For SPARQL the plain names csv, tsv, json and xml mean the formats of the W3C; for SQL those of docs/formats.md.
 */

#include "client-lib/text/text-utf8.h"
#include "daemon/base/error.h"
#include "daemon/call/call-classes.h"
#include "daemon/call/call-private.h"
#include "daemon/format/arrow-writer.h"
#include "daemon/format/results-writer.h"
#include "daemon/format/text-writer.h"
#include "daemon/plan/compile.h"
#include "daemon/read/run.h"

/* D-Bus takes 128 MiB; escapes can make a text six times as long as its rows. */
#define MESSAGE_TEXT_MAX (120 * 1024 * 1024)

typedef struct Sink Sink;

/* What differs between families of formats. */
typedef struct Family {
    gboolean is_binary;
    /* (transfer full): for rows of this shape; what stands before them is written */
    gpointer (*begin)(const QdCall *call, Sink *sink, const QdShape *shape, const char *const *names);
    gboolean (*put_page)(gpointer writer, QwPageReader *page, GString *out, GError **error);
    gboolean (*end)(gpointer writer, GString *out, GError **error);
    void (*free)(gpointer writer);
} Family;

typedef struct Format {
    const Family *family;
    const char *media_type;
    union {
        QdTextFormat text;
        QdResultsFormat results;
        QdRdfFormat rdf;
        QdArrowFormat arrow;
    };
} Format;

struct Sink {
    QdRun *run;
    Format format;
    gpointer writer; /* (nullable): NULL before the first page */
    GString *out;
    QdTextFlushFunc flush; /* (nullable) */
};

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

/* Of SQL: text-writer.h ------------------------------------------------------------------------------------------------ */

static gpointer
begin_text(const QdCall *call, Sink *sink, const QdShape *shape, const char *const *names)
{
    QdTextWriter *writer = qd_text_writer_new(sink->format.text, names, shape->n_columns, call->options.transfer.header);

    qd_text_writer_begin(writer, sink->out);
    return writer;
}

static gboolean
put_text(gpointer writer, QwPageReader *page, GString *out, GError **error)
{
    while (qw_page_reader_next(page))
        qd_text_writer_put_row(writer, page, out);
    return TRUE;
}

static gboolean
end_text(gpointer writer, GString *out, GError **error)
{
    qd_text_writer_end(writer, out);
    return TRUE;
}

static void
free_text(gpointer writer)
{
    (void) qd_text_writer_free(writer);
}

/* Of SPARQL's solutions and of graphs: results-writer.h ---------------------------------------------------------------- */

static gpointer
begin_results(const QdCall *call, Sink *sink, const QdShape *shape, const char *const *names)
{
    QdResultsWriter *writer = qd_results_writer_new(sink->format.results, get_form(shape), names, shape->n_columns);

    qd_results_writer_begin(writer, sink->out);
    return writer;
}

static gpointer
begin_rdf(const QdCall *call, Sink *sink, const QdShape *shape, const char *const *names)
{
    QdResultsWriter *writer = qd_results_writer_new_graph(sink->format.rdf, NULL, shape->n_columns, sink->out);

    qd_results_writer_begin(writer, sink->out);
    return writer;
}

static gboolean
put_results(gpointer writer, QwPageReader *page, GString *out, GError **error)
{
    while (qw_page_reader_next(page)) {
        if (!qd_results_writer_put_row(writer, page, out, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
end_results(gpointer writer, GString *out, GError **error)
{
    qd_results_writer_end(writer, out);
    return TRUE;
}

static void
free_results(gpointer writer)
{
    (void) qd_results_writer_free(writer);
}

/* Of both: arrow-writer.h ---------------------------------------------------------------------------------------------- */

static gpointer
begin_arrow(const QdCall *call, Sink *sink, const QdShape *shape, const char *const *names)
{
    g_autofree const char **types = g_new0(const char *, (gsize) shape->n_columns + 1);

    for (guint i = 0; i < shape->n_columns; i++)
        types[i] = qd_shape_get_column_type(shape, i);
    return qd_arrow_writer_new(sink->format.arrow, names, types, shape->n_columns, call->options.transfer.rdf_structs);
}

static gboolean
put_arrow(gpointer writer, QwPageReader *page, GString *out, GError **error)
{
    return qd_arrow_writer_put_page(writer, page, out, error);
}

static gboolean
end_arrow(gpointer writer, GString *out, GError **error)
{
    return qd_arrow_writer_end(writer, out, error);
}

static void
free_arrow(gpointer writer)
{
    (void) qd_arrow_writer_free(writer);
}

static const Family text_family = { FALSE, begin_text, put_text, end_text, free_text };
static const Family results_family = { FALSE, begin_results, put_results, end_results, free_results };
static const Family rdf_family = { FALSE, begin_rdf, put_results, end_results, free_results };
static const Family arrow_family = { TRUE, begin_arrow, put_arrow, end_arrow, free_arrow };

/* Names ---------------------------------------------------------------------------------------------------------------- */

static gboolean
find_format(const QdCall *call, Format *ret_format, GError **error)
{
    const QdCallStatement *statement = &g_array_index(call->statements, QdCallStatement, 0);
    g_autofree char *w3c_name = g_strconcat("sparql-", call->format, NULL);
    Format format = { 0 };

    if ((statement->language == QD_LANGUAGE_SPARQL && qd_results_format_from_name(w3c_name, &format.results)) ||
        qd_results_format_from_name(call->format, &format.results)) {
        format.family = &results_family;
        format.media_type = qd_results_format_get_media_type(format.results);
    } else if (qd_text_format_from_name(call->format, &format.text)) {
        format.family = &text_family;
        format.media_type = qd_text_format_get_content_type(format.text);
    } else if (qd_rdf_format_from_name(call->format, &format.rdf)) {
        format.family = &rdf_family;
        format.media_type = qd_rdf_format_get_media_type(format.rdf);
    } else if (qd_arrow_format_from_name(call->format, &format.arrow)) {
        format.family = &arrow_family;
        format.media_type = qd_arrow_format_get_media_type(format.arrow);
    } else {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER,
                     "unknown format '%s': csv, tsv, json, jsonl, sparql-json, sparql-xml, sparql-csv, sparql-tsv, turtle, trig, "
                     "ntriples, nquads, rdfxml, jsonld, arrow and arrow-file are known",
                     call->format);
        return FALSE;
    }
    *ret_format = format;
    return TRUE;
}

gboolean
qd_call_check_format(const QdCall *call, GError **error)
{
    Format format;

    return find_format(call, &format, error);
}

/* Not before the run's first step: it recompiles a cached statement when the schema has changed, `SELECT *` with other columns.
 */
static void
ensure_writer(QdCall *call, Sink *sink)
{
    const QdShape shape = qd_run_get_shape(sink->run);
    g_autofree const char **names = NULL;

    if (sink->writer != NULL)
        return;

    names = g_new0(const char *, (gsize) shape.n_columns + 1);
    for (guint i = 0; i < shape.n_columns; i++)
        names[i] = qd_shape_get_column_name(&shape, i);
    sink->writer = sink->format.family->begin(call, sink, &shape, names);
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
    return sink->format.family->put_page(sink->writer, &reader, sink->out, error) &&
           (sink->flush == NULL || sink->flush(call, sink->out, error));
}

/* An RDF format is for triples. */
static gboolean
check_form(const QdCall *call, const Sink *sink, GError **error)
{
    const QdShape shape = qd_run_get_shape(sink->run);

    if (sink->format.family != &rdf_family || get_form(&shape) == QD_RESULTS_GRAPH)
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
        ok = sink.format.family->end(sink.writer, out, error);
        call->result.content_type = sink.format.media_type;
    }
    if (sink.writer != NULL)
        sink.format.family->free(sink.writer);
    return ok;
}

static gboolean
charge_text(QdCall *call, GString *out, GError **error)
{
    return qd_call_charge_result(call, out->len - MIN(out->len, call->private->n_result_bytes), error);
}

static void
run_query_text(QdCall *call, GError **error)
{
    g_autoptr(QdRun) run = NULL;
    g_autoptr(GString) out = g_string_new(NULL);
    Format format;

    if (!find_format(call, &format, error))
        return;
    if (format.family->is_binary) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "format '%s' is no text: take it by Export", call->format);
        return;
    }
    run = qd_call_start_bound_run(call, error);
    if (run == NULL || !qd_call_pull_text(call, run, charge_text, out, error))
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
    .obeys_access = TRUE,
    .run = run_query_text,
};
