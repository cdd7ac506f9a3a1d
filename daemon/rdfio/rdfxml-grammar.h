/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The grammar of RDF/XML: elements, attributes and text in, triples out.
 *
 * Place: room rdfio, under rdfxml-reader.c, which knows XML; this knows RDF (RDF 1.1 XML Syntax, §7). The order of calls is that of
 * well-formed XML. Errors have no place: the caller knows it.
 */
#pragma once

#include "daemon/rdfio/rdf-reader.h"
#include "daemon/rdfio/rdfxml-attributes.h"

typedef struct QdRdfXmlGrammar QdRdfXmlGrammar;

QdRdfXmlGrammar *qd_rdfxml_grammar_new(const QdRdfReading *reading);
QdRdfXmlGrammar *qd_rdfxml_grammar_free(QdRdfXmlGrammar *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdRdfXmlGrammar, qd_rdfxml_grammar_free)

/* @uri: (nullable). @ret_is_literal: all up to the end of the element is an XML literal: give it, canonical, as one text. */
gboolean qd_rdfxml_grammar_start(QdRdfXmlGrammar *self, const char *uri, const char *local, const QdXmlAttribute *attributes,
                                 guint n_attributes, gboolean *ret_is_literal, GError **error);
gboolean qd_rdfxml_grammar_text(QdRdfXmlGrammar *self, const char *text, gsize n_bytes, GError **error);
gboolean qd_rdfxml_grammar_end(QdRdfXmlGrammar *self, GError **error);
