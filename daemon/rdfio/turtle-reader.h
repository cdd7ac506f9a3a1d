/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Turtle and TriG, RDF 1.1.
 *
 * Place: room rdfio, an implementation of rdf-reader.h, on the lexer that SPARQL shares. Nesting is bounded by the limit
 * rdf_depth.
 */
#pragma once

#include "daemon/rdfio/rdf-reader.h"

/* qd_turtle_read: as qd_rdf_read(), for its two formats. */
gboolean qd_turtle_read(const QdRdfReading *reading, GError **error);
