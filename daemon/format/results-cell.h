/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A cell of a result as a term.
 *
 * Place: room format, used by results-writer.c.
 */
#pragma once

#include "client-lib/wire/wire-value.h"
#include "daemon/rdf/term.h"

typedef struct QdResultsCell {
    gboolean bound;
    QdTerm term;      /* its texts are NUL-terminated */
    GString *scratch; /* of what has to be made: numbers, base64, bytes that are not UTF-8 */
} QdResultsCell;

/* qd_results_cell_set: @value as a term: SQL's numbers are xsd:integer and xsd:double, bytes xsd:base64Binary. */
void qd_results_cell_set(QdResultsCell *self, const QwValue *value);
