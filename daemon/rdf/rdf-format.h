/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The RDF formats: their names in options and on command lines, their media types, the endings of their files.
 *
 * Place: room rdf, under their readers and writers (rdfio). Invariant: one table; a format that it names can be read and written.
 */
#pragma once

#include <glib.h>

typedef enum QdRdfFormat {
    QD_RDF_NTRIPLES,
    QD_RDF_NQUADS,
    QD_RDF_TURTLE,
    QD_RDF_TRIG,
    QD_RDF_XML,
    QD_RDF_JSONLD,
} QdRdfFormat;

#define QD_N_RDF_FORMATS 6

/* By name ("turtle"), media type ("text/turtle") or usual file ending ("ttl"), in any case; FALSE when it is none of them. */
gboolean qd_rdf_format_from_name(const char *name, QdRdfFormat *ret_format);

/* The name: "ntriples", "nquads", "turtle", "trig", "rdfxml", "jsonld". */
const char *qd_rdf_format_get_name(QdRdfFormat format);
const char *qd_rdf_format_get_media_type(QdRdfFormat format);

/* Whether the format has named graphs. */
gboolean qd_rdf_format_has_graphs(QdRdfFormat format);

/* Whether it is there for the sake of these, and not for single graphs. */
gboolean qd_rdf_format_is_for_graphs(QdRdfFormat format);
