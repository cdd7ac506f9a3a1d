/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What each reader of an RDF format is given: where bytes come from, and where quads go.
 *
 * Place: room rdf, under the readers. rdfio/rdf-reader.h chooses one by the format.
 */
#pragma once

#include "daemon/base/limits.h"
#include "daemon/rdf/rdf-format.h"
#include "daemon/rdf/term.h"

/* Reads up to @n_bytes into @buffer. Returns: how many, 0 at the end, -1 with @error set. */
typedef gssize (*QdRdfReadFunc)(char *buffer, gsize n_bytes, gpointer data, GError **error);

/* Whether to go on: FALSE, with @error set, when the caller wants no more. Cheap. */
typedef gboolean (*QdRdfCheckFunc)(gpointer data, GError **error);

/* A prefix that the document declares; @iri is absolute. */
typedef gboolean (*QdPrefixFunc)(const char *prefix, gsize n_prefix, const char *iri, gsize n_iri, gpointer data, GError **error);

typedef struct QdJsonLdReading QdJsonLdReading;

typedef struct QdRdfReading {
    QdRdfFormat format;
    const char *base; /* (nullable) absolute IRI that relative ones are resolved against */
    QdRdfReadFunc read_func;
    gpointer read_data;
    QdRdfCheckFunc check_func; /* (nullable) of read_data; called where work without a read or a quad may take long */
    QdQuadFunc quad_func;
    QdPrefixFunc prefix_func; /* (nullable) */
    gpointer data;            /* of quad_func and prefix_func */
    const QdLimits *limits;
    const QdJsonLdReading *jsonld; /* (nullable) what JSON-LD asks for besides (jsonld/jsonld-reader.h) */
} QdRdfReading;

/* For the readers: FALSE, with @error set, when the caller wants no more. */
static inline gboolean
qd_rdf_reading_check(const QdRdfReading *self, GError **error)
{
    return self->check_func == NULL || self->check_func(self->read_data, error);
}

/* Anonymous nodes get this and a number as label. */
#define QD_RDF_ANONYMOUS_PREFIX "genid"

/* qd_rdf_append_label: for the readers: a label of a document. One that looks anonymous gets an "x" more, and so never is. One
 * that ends in a dot, as only XML and JSON have them, gets something around it. */
void qd_rdf_append_label(GString *out, const char *label, gsize n_bytes);
