/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing RDF: quads in, text out, in each format.
 *
 * Place: room rdfio. The text is appended to a string of the caller, which may take it out between two calls. Quads that come
 * in the order of graph, subject and predicate make the shortest text; any order makes a right one.
 * Invariant: what is written is read back as the same terms, but for the labels of blank nodes.
 */
#pragma once

#include "daemon/rdf/prefix-map.h"
#include "daemon/rdf/rdf-format.h"
#include "daemon/rdf/term.h"

typedef struct QdRdfWriter QdRdfWriter;

/* @prefixes: (nullable): borrowed, for the formats that abbreviate; must outlive the writer, as must @out. */
QdRdfWriter *qd_rdf_writer_new(QdRdfFormat format, const QdPrefixMap *prefixes, GString *out);
QdRdfWriter *qd_rdf_writer_free(QdRdfWriter *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdRdfWriter, qd_rdf_writer_free)

/**
 * qd_rdf_writer_put:
 * @g: (nullable): the graph's name; left out in the formats that have none
 *
 * Writes a quad. Its terms are not kept.
 *
 * Errors: UNSUPPORTED: RDF/XML has no way to write this triple
 */
gboolean qd_rdf_writer_put(QdRdfWriter *self, const QdTerm *s, const QdTerm *p, const QdTerm *o, const QdTerm *g, GError **error);

/* Ends the document; without it the text is not whole. */
void qd_rdf_writer_finish(QdRdfWriter *self);

/* qd_rdf_append_term: @term as N-Triples has it. */
void qd_rdf_append_term(GString *out, const QdTerm *term);

/* qd_rdf_append_turtle_term: as Turtle has it: numbers and booleans bare, IRIs by @prefixes (nullable). */
void qd_rdf_append_turtle_term(GString *out, const QdPrefixMap *prefixes, const QdTerm *term);
