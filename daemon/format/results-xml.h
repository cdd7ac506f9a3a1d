/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SPARQL Query Results XML Format, by libxml2's writer.
 *
 * Place: room format, used by results-writer.c; the one file of the room that knows libxml2. Characters that XML 1.0 has not become
 * U+FFFD.
 */
#pragma once

#include "daemon/format/results-cell.h"

typedef struct QdResultsXml QdResultsXml;

QdResultsXml *qd_results_xml_new(void);
QdResultsXml *qd_results_xml_free(QdResultsXml *self);

/* qd_results_xml_begin: @names (nullable): NULL for a truth value. */
void qd_results_xml_begin(QdResultsXml *self, char *const *names, GString *out);
void qd_results_xml_put_row(QdResultsXml *self, char *const *names, const QdResultsCell *cells, guint n_cells, GString *out);
void qd_results_xml_put_boolean(QdResultsXml *self, gboolean value, GString *out);
void qd_results_xml_end(QdResultsXml *self, gboolean boolean, GString *out);
