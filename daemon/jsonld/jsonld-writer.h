/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The writer of JSON-LD 1.1; an implementation of rdfio/rdf-writer.h, whose rules hold.
 *
 * Place: room jsonld. A document of up to QD_JSONLD_FOLD_BYTES is kept until its end. Then its lists become '@list', and the
 * nodes of a graph stand together. A larger one is written in parts, and its lists are what they are in RDF.
 * Invariant: the reader makes the same quads of it, but for the labels of blank nodes.
 */
#pragma once

#include "daemon/jsonld/jsonld-reader.h"
#include "daemon/rdf/prefix-map.h"

#define QD_JSONLD_FOLD_BYTES (4 * 1024 * 1024)

/* Options of the specification; all that is zero is what our documents have. */
typedef struct QdJsonLdWriting {
    QdLdDirection direction;
    gboolean is_expanded;  /* expanded form, as the algorithm gives it */
    gboolean native_types; /* useNativeTypes, of the expanded form */
    gboolean rdf_type;     /* useRdfType: rdf:type is a property as others */
} QdJsonLdWriting;

typedef struct QdJsonLdWriter QdJsonLdWriter;

/* @options: (nullable); copied. @prefixes: (nullable): borrowed, as @out. */
QdJsonLdWriter *qd_jsonld_writer_new(const QdJsonLdWriting *options, const QdPrefixMap *prefixes, GString *out);
QdJsonLdWriter *qd_jsonld_writer_free(QdJsonLdWriter *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdJsonLdWriter, qd_jsonld_writer_free)

gboolean qd_jsonld_writer_put(QdJsonLdWriter *self, const QdTerm *s, const QdTerm *p, const QdTerm *o, const QdTerm *g,
                              GError **error);

/* SYNTAX, of the expanded form only: a literal of rdf:JSON is no JSON, a compound literal has no right language or direction. */
gboolean qd_jsonld_writer_finish(QdJsonLdWriter *self, GError **error);
