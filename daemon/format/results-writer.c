/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SPARQL 1.1 Query Results JSON, CSV and TSV formats; XML Format (results-xml.c); graphs by daemon/rdfio/rdf-writer.h.
 */
#include "daemon/format/results-writer.h"

#include <string.h>

#include "client-lib/text/text-value.h"
#include "daemon/format/results-cell.h"
#include "daemon/format/results-xml.h"
#include "daemon/rdfio/rdf-writer.h"

struct QdResultsWriter {
    QdResultsFormat format;
    QdResultsForm form;
    char **names;
    guint n_columns;
    gboolean has_rows;
    QdResultsXml *xml;    /* (nullable): XML only */
    QdRdfWriter *graph;   /* (nullable): GRAPH only */
    QdResultsCell *cells; /* of the current row */
};

static const struct {
    const char *name;
    const char *media_type;
} formats[] = {
    [QD_RESULTS_JSON] = { "sparql-json", "application/sparql-results+json" },
    [QD_RESULTS_XML] = { "sparql-xml", "application/sparql-results+xml" },
    [QD_RESULTS_CSV] = { "sparql-csv", "text/csv" },
    [QD_RESULTS_TSV] = { "sparql-tsv", "text/tab-separated-values" },
};

gboolean
qd_results_format_from_name(const char *name, QdResultsFormat *ret_format)
{
    for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
        if (g_ascii_strcasecmp(name, formats[i].name) == 0 || g_ascii_strcasecmp(name, formats[i].media_type) == 0) {
            *ret_format = (QdResultsFormat) i;
            return TRUE;
        }
    return FALSE;
}

const char *
qd_results_format_get_name(QdResultsFormat format)
{
    return formats[format].name;
}

const char *
qd_results_format_get_media_type(QdResultsFormat format)
{
    return formats[format].media_type;
}

static QdResultsWriter *
make_writer(QdResultsForm form, guint n_columns)
{
    QdResultsWriter *self = g_new0(QdResultsWriter, 1);

    self->form = form;
    self->n_columns = n_columns;
    self->cells = g_new0(QdResultsCell, n_columns + 1);
    for (guint i = 0; i < n_columns; i++)
        self->cells[i].scratch = g_string_new(NULL);
    return self;
}

QdResultsWriter *
qd_results_writer_new(QdResultsFormat format, QdResultsForm form, const char *const *column_names, guint n_columns)
{
    QdResultsWriter *self = make_writer(form, n_columns);

    self->format = format;
    self->names = g_new0(char *, n_columns + 1);
    for (guint i = 0; i < n_columns; i++)
        self->names[i] = g_utf8_make_valid(column_names[i], -1);
    if (format == QD_RESULTS_XML)
        self->xml = qd_results_xml_new();
    return self;
}

QdResultsWriter *
qd_results_writer_new_graph(QdRdfFormat format, const QdPrefixMap *prefixes, guint n_columns, GString *out)
{
    QdResultsWriter *self = make_writer(QD_RESULTS_GRAPH, n_columns);

    self->graph = qd_rdf_writer_new(format, prefixes, out);
    return self;
}

QdResultsWriter *
qd_results_writer_free(QdResultsWriter *self)
{
    if (self == NULL)
        return NULL;

    for (guint i = 0; i < self->n_columns; i++)
        g_string_free(self->cells[i].scratch, TRUE);
    g_free(self->cells);
    g_strfreev(self->names);
    (void) qd_results_xml_free(self->xml);
    (void) qd_rdf_writer_free(self->graph);
    g_free(self);
    return NULL;
}

/* --- JSON -------------------------------------------------------------------------------------------------------------- */

static void
put_literal(GString *out, const char *text)
{
    qw_text_put_bytes(out, text, strlen(text));
}

static void
begin_json(QdResultsWriter *self, GString *out)
{
    if (self->form == QD_RESULTS_BOOLEAN) {
        put_literal(out, "{\"head\":{},\"boolean\":");
        return;
    }
    put_literal(out, "{\"head\":{\"vars\":[");
    for (guint i = 0; i < self->n_columns; i++) {
        if (i > 0)
            qw_text_put_char(out, ',');
        qw_text_put_json_text(out, self->names[i], strlen(self->names[i]));
    }
    put_literal(out, "]},\"results\":{\"bindings\":[");
}

static void
put_json_cell(const QdTerm *term, GString *out)
{
    static const char *const kinds[] = { "uri", "literal", "literal", "literal", "bnode" };

    put_literal(out, "{\"type\":\"");
    put_literal(out, kinds[term->kind]);
    put_literal(out, "\",\"value\":");
    qw_text_put_json_text(out, term->lexical, term->n_lexical);
    if (term->qualifier != NULL) {
        put_literal(out, term->kind == QD_TERM_LANG_STRING ? ",\"xml:lang\":" : ",\"datatype\":");
        qw_text_put_json_text(out, term->qualifier, term->n_qualifier);
    }
    qw_text_put_char(out, '}');
}

static void
put_json_row(QdResultsWriter *self, GString *out)
{
    gboolean first = TRUE;

    put_literal(out, self->has_rows ? ",\n{" : "\n{");
    for (guint i = 0; i < self->n_columns; i++) {
        if (!self->cells[i].bound)
            continue;
        if (!first)
            qw_text_put_char(out, ',');
        first = FALSE;
        qw_text_put_json_text(out, self->names[i], strlen(self->names[i]));
        qw_text_put_char(out, ':');
        put_json_cell(&self->cells[i].term, out);
    }
    qw_text_put_char(out, '}');
}

/* --- CSV and TSV ----------------------------------------------------------------------------------------------------------- */

static void
put_csv_text(GString *out, const char *text, gsize n_bytes)
{
    gboolean quoted = FALSE;

    for (gsize i = 0; i < n_bytes && !quoted; i++)
        quoted = text[i] == '"' || text[i] == ',' || text[i] == '\n' || text[i] == '\r';
    if (!quoted) {
        qw_text_put_bytes(out, text, n_bytes);
        return;
    }
    qw_text_put_char(out, '"');
    for (gsize i = 0; i < n_bytes; i++) {
        if (text[i] == '"')
            qw_text_put_char(out, '"');
        qw_text_put_char(out, text[i]);
    }
    qw_text_put_char(out, '"');
}

static void
put_tsv_term(GString *out, const QdTerm *term)
{
    if (term->kind == QD_TERM_TYPED && memchr(term->lexical, '\n', term->n_lexical) == NULL)
        qd_rdf_append_turtle_term(out, NULL, term);
    else
        qd_rdf_append_term(out, term);
}

static void
begin_lines(QdResultsWriter *self, GString *out)
{
    gboolean tsv = self->format == QD_RESULTS_TSV;

    for (guint i = 0; i < self->n_columns; i++) {
        if (i > 0)
            qw_text_put_char(out, tsv ? '\t' : ',');
        if (tsv)
            qw_text_put_char(out, '?');
        put_csv_text(out, self->names[i], strlen(self->names[i]));
    }
    put_literal(out, tsv ? "\n" : "\r\n");
}

static void
put_line(QdResultsWriter *self, GString *out)
{
    gboolean tsv = self->format == QD_RESULTS_TSV;

    for (guint i = 0; i < self->n_columns; i++) {
        const QdTerm *term = &self->cells[i].term;

        if (i > 0)
            qw_text_put_char(out, tsv ? '\t' : ',');
        if (!self->cells[i].bound)
            continue;
        if (tsv) {
            put_tsv_term(out, term);
            continue;
        }
        if (term->kind == QD_TERM_BNODE)
            put_literal(out, "_:");
        put_csv_text(out, term->lexical, term->n_lexical);
    }
    put_literal(out, tsv ? "\n" : "\r\n");
}

/* --- all formats ---------------------------------------------------------------------------------------------------------- */

void
qd_results_writer_begin(QdResultsWriter *self, GString *out)
{
    if (self->graph != NULL)
        return;

    switch (self->format) {
    case QD_RESULTS_JSON:
        begin_json(self, out);
        return;
    case QD_RESULTS_XML:
        qd_results_xml_begin(self->xml, self->form == QD_RESULTS_BOOLEAN ? NULL : self->names, out);
        return;
    case QD_RESULTS_CSV:
    case QD_RESULTS_TSV:
        begin_lines(self, out);
        return;
    }
    g_assert_not_reached();
}

/* A truth value, as the engine or SQL has it. */
static gboolean
is_true(const QdResultsCell *cell)
{
    return cell->bound && (cell->term.n_lexical != 5 || memcmp(cell->term.lexical, "false", 5) != 0) &&
           (cell->term.n_lexical != 1 || cell->term.lexical[0] != '0');
}

static gboolean
put_triple(QdResultsWriter *self, GError **error)
{
    const QdResultsCell *cells = self->cells;

    if (self->n_columns < 3 || !cells[0].bound || !cells[1].bound || !cells[2].bound || cells[1].term.kind != QD_TERM_IRI ||
        (cells[0].term.kind != QD_TERM_IRI && cells[0].term.kind != QD_TERM_BNODE))
        return TRUE;
    return qd_rdf_writer_put(self->graph, &cells[0].term, &cells[1].term, &cells[2].term,
                             self->n_columns > 3 && cells[3].bound ? &cells[3].term : NULL, error);
}

static gboolean
put_cells(QdResultsWriter *self, GString *out, GError **error)
{
    if (self->graph != NULL)
        return put_triple(self, error);

    if (self->form == QD_RESULTS_BOOLEAN && self->format == QD_RESULTS_JSON)
        put_literal(out, self->n_columns > 0 && is_true(&self->cells[0]) ? "true" : "false");
    else if (self->form == QD_RESULTS_BOOLEAN && self->format == QD_RESULTS_XML)
        qd_results_xml_put_boolean(self->xml, self->n_columns > 0 && is_true(&self->cells[0]), out);
    else if (self->format == QD_RESULTS_JSON)
        put_json_row(self, out);
    else if (self->format == QD_RESULTS_XML)
        qd_results_xml_put_row(self->xml, self->names, self->cells, self->n_columns, out);
    else
        put_line(self, out);
    self->has_rows = TRUE;
    return TRUE;
}

gboolean
qd_results_writer_put_row(QdResultsWriter *self, const QwPageReader *row, GString *out, GError **error)
{
    for (guint i = 0; i < self->n_columns; i++) {
        QwValue value;

        qw_page_reader_get(row, i, &value);
        qd_results_cell_set(&self->cells[i], &value);
    }
    return put_cells(self, out, error);
}

gboolean
qd_results_writer_put_values(QdResultsWriter *self, const QwValue *values, GString *out, GError **error)
{
    for (guint i = 0; i < self->n_columns; i++)
        qd_results_cell_set(&self->cells[i], &values[i]);
    return put_cells(self, out, error);
}

void
qd_results_writer_end(QdResultsWriter *self, GString *out)
{
    if (self->graph != NULL) {
        qd_rdf_writer_finish(self->graph);
        return;
    }
    if (self->format == QD_RESULTS_JSON)
        put_literal(out, self->form == QD_RESULTS_BOOLEAN ? "}\n" : "\n]}}\n");
    if (self->format == QD_RESULTS_XML)
        qd_results_xml_end(self->xml, self->form == QD_RESULTS_BOOLEAN, out);
    out->str[out->len] = '\0';
}
