/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Results of SPARQL as text: the four W3C formats of solutions and truth values, and the RDF formats of graphs.
 *
 * Place: room format, pure: rows in, bytes at the end of the caller's GString, as text-writer.h. Rows of SQL are taken too:
 * numbers are literals of XML Schema. Invariant: what is written is well-formed, regardless of the values; what XML cannot hold
 * is U+FFFD.
 */
#pragma once

#include <glib.h>

#include "client-lib/wire/wire-page-reader.h"
#include "daemon/rdf/prefix-map.h"
#include "daemon/rdf/rdf-format.h"

typedef enum QdResultsFormat {
    QD_RESULTS_JSON,
    QD_RESULTS_XML,
    QD_RESULTS_CSV,
    QD_RESULTS_TSV,
} QdResultsFormat;

typedef enum QdResultsForm {
    QD_RESULTS_SOLUTIONS,
    QD_RESULTS_BOOLEAN, /* of ASK: one row, one column */
    QD_RESULTS_GRAPH,   /* of CONSTRUCT and DESCRIBE: subject, predicate, object; a fourth column is the graph */
} QdResultsForm;

typedef struct QdResultsWriter QdResultsWriter;

/* qd_results_format_from_name: "sparql-json" …, or a media type; FALSE when no format has this name. */
gboolean qd_results_format_from_name(const char *name, QdResultsFormat *ret_format);
const char *qd_results_format_get_name(QdResultsFormat format);
const char *qd_results_format_get_media_type(QdResultsFormat format);

/* qd_results_writer_new: (transfer full): for solutions and truth values. @column_names are copied. */
QdResultsWriter *qd_results_writer_new(QdResultsFormat format, QdResultsForm form, const char *const *column_names,
                                       guint n_columns);

/* qd_results_writer_new_graph: (transfer full): for triples; @prefixes (nullable) and @out outlive it. */
QdResultsWriter *qd_results_writer_new_graph(QdRdfFormat format, const QdPrefixMap *prefixes, guint n_columns, GString *out);
QdResultsWriter *qd_results_writer_free(QdResultsWriter *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdResultsWriter, qd_results_writer_free)

/* qd_results_writer_begin: what stands before the first row. Once. @out is the same in all calls. */
void qd_results_writer_begin(QdResultsWriter *self, GString *out);

/**
 * qd_results_writer_put_row:
 * @row: a reader on the current row
 *
 * Appends the row whole. Rows that are no triples (an unbound or misplaced term) are left out of graphs.
 *
 * Errors: UNSUPPORTED: RDF/XML cannot say this triple
 */
gboolean qd_results_writer_put_row(QdResultsWriter *self, const QwPageReader *row, GString *out, GError **error);

/* qd_results_writer_put_values: the same for @values, as many as there are columns. */
gboolean qd_results_writer_put_values(QdResultsWriter *self, const QwValue *values, GString *out, GError **error);

/* qd_results_writer_end: what follows the last row. A result that failed must not get it. */
void qd_results_writer_end(QdResultsWriter *self, GString *out);
