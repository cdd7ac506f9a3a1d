/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * N-Triples and N-Quads, RDF 1.1.
 *
 * Place: room rdfio, an implementation of rdf-reader.h. It has its own scanner, since these are the formats of large loads:
 * terms are views into the read buffer, escapes are decoded in place.
 */
#pragma once

#include "daemon/rdfio/rdf-reader.h"

/* qd_ntriples_read: as qd_rdf_read(), for its two formats. */
gboolean qd_ntriples_read(const QdRdfReading *reading, GError **error);
