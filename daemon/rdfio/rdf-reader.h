/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading RDF: bytes in, quads out, in each format.
 *
 * Place: room rdfio, over the readers of the formats; untrusted input. Quads come while the input is read; memory is bounded by the
 * limits on a value and on nesting.
 * Invariant: after an error the quads that came before are worth nothing: a caller that keeps them must be able to drop them.
 */
#pragma once

#include "daemon/base/limits.h"
#include "daemon/rdf/term.h"
#include "daemon/rdfio/rdf-format.h"

/* Reads up to @n_bytes into @buffer. Returns: how many, 0 at the end, -1 with @error set. */
typedef gssize (*QdRdfReadFunc)(char *buffer, gsize n_bytes, gpointer data, GError **error);

/* A prefix that the document declares; @iri is absolute. */
typedef gboolean (*QdPrefixFunc)(const char *prefix, gsize n_prefix, const char *iri, gsize n_iri, gpointer data, GError **error);

typedef struct QdRdfReading {
    QdRdfFormat format;
    const char *base; /* (nullable) absolute IRI that relative ones are resolved against */
    QdRdfReadFunc read_func;
    gpointer read_data;
    QdQuadFunc quad_func;
    QdPrefixFunc prefix_func; /* (nullable) */
    gpointer data;            /* of quad_func and prefix_func */
    const QdLimits *limits;
} QdRdfReading;

/* Anonymous nodes get this and a number as label. */
#define QD_RDF_ANONYMOUS_PREFIX "genid"

/* qd_rdf_append_label: for the readers: a label of a document. One that looks anonymous gets an "x" more, and so never is. One
 * that ends in a dot, as only XML has them, gets something around it. */
void qd_rdf_append_label(GString *out, const char *label, gsize n_bytes);

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
