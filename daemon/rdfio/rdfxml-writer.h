/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The writer of RDF/XML; an implementation of rdf-writer.h, whose rules hold.
 *
 * Place: room rdfio.
 */
#pragma once

#include "daemon/rdf/prefix-map.h"
#include "daemon/rdf/term.h"

typedef struct QdRdfXmlWriter QdRdfXmlWriter;

QdRdfXmlWriter *qd_rdfxml_writer_new(const QdPrefixMap *prefixes, GString *out);
QdRdfXmlWriter *qd_rdfxml_writer_free(QdRdfXmlWriter *self);

/* UNSUPPORTED: a predicate that ends in no XML name or has a meaning of its own, or a character that XML 1.0 excludes. */
gboolean qd_rdfxml_writer_put(QdRdfXmlWriter *self, const QdTerm *s, const QdTerm *p, const QdTerm *o, GError **error);
void qd_rdfxml_writer_finish(QdRdfXmlWriter *self);
