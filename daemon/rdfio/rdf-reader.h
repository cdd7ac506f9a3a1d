/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading RDF: bytes in, quads out, in each format.
 *
 * Place: room rdfio, over the readers of the formats; untrusted input. Quads come while the input is read; memory is bounded by the
 * limits on a value and on nesting.
 * Invariant: after an error the quads that came before are worth nothing: a caller that keeps them must be able to drop them.
 */
#pragma once

#include "daemon/rdf/rdf-reading.h"

/**
 * qd_rdf_read:
 * @reading: what to read, and where quads go
 *
 * Reads one document to its end. Terms are valid during the call of quad_func only. A blank node has the label of the document,
 * which means nothing outside of it.
 *
 * Errors: SYNTAX with "line:column: " in front, TOO_BIG, TOO_COMPLEX, and what read_func and quad_func say
 *
 * Returns: TRUE when the document is well-formed and each quad was taken
 */
gboolean qd_rdf_read(const QdRdfReading *reading, GError **error);
