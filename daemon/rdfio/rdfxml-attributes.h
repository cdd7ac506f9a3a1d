/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attributes of RDF/XML by their meaning (RDF 1.1 XML Syntax, §5.1 and §6.1.4), and the names that RDF keeps for itself.
 *
 * Place: room rdfio, under rdfxml-grammar.c.
 */
#pragma once

#include <glib.h>

#define QD_XML_NAMESPACE "http://www.w3.org/XML/1998/namespace"

typedef struct QdXmlAttribute {
    const char *uri; /* (nullable) of the namespace */
    const char *local;
    char *value;
} QdXmlAttribute;

/* Attributes of an element by their meaning; NULL: not there. */
typedef struct QdRdfXmlMeaning {
    const char *id;
    const char *about;
    const char *node_id;
    const char *resource;
    const char *parse_type;
    const char *datatype;
    guint n_properties;
} QdRdfXmlMeaning;

/* A Syntax error without a place. Returns: FALSE */
gboolean qd_rdfxml_fail(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* @uri: (nullable) */
gboolean qd_rdfxml_is_rdf(const char *uri);
/* Whether no element may be called so: a term of the syntax itself, or @other, which means something only elsewhere. */
gboolean qd_rdfxml_is_reserved(const char *uri, const char *local, const char *other);
/* Attributes of XML itself, and names that XML keeps for itself: they mean nothing to RDF, but for xml:lang and xml:base. */
gboolean qd_rdfxml_is_of_xml(const QdXmlAttribute *attribute);
gboolean qd_rdfxml_is_language_tag(const char *text);
/* Whether it states a property of the element's node. */
gboolean qd_rdfxml_is_property(const QdXmlAttribute *attribute);
/* @ret_meaning: (out): its texts are those of @attributes. FALSE: one of them is not allowed, or is there twice. */
gboolean qd_rdfxml_read_meaning(const QdXmlAttribute *attributes, guint n, QdRdfXmlMeaning *ret_meaning, GError **error);
