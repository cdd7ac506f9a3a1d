/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reader of JSON-LD 1.1; an implementation of rdfio/rdf-reader.h, whose rules hold.
 *
 * Place: room jsonld. An array at the top is read object by object. So is '@graph', where only '@context' stood before it and the
 * object is larger than a record may be. Nothing is ever fetched: a remote context is an error unless the caller gives it.
 */
#pragma once

#include "daemon/rdf/rdf-reading.h"

/* What becomes of @direction. */
typedef enum QdLdDirection {
    QD_LD_DIRECTION_NONE,     /* it is left out */
    QD_LD_DIRECTION_I18N,     /* a datatype of the namespace i18n */
    QD_LD_DIRECTION_COMPOUND, /* a blank node with rdf:value, rdf:direction and rdf:language */
} QdLdDirection;

/* (transfer full): the text of the context @iri; NULL with @error. */
typedef GBytes *(*QdLdContextFunc)(const char *iri, gpointer data, GError **error);

/* Options of the specification (§9.4, JsonLdOptions); all that is zero is the default. */
struct QdJsonLdReading {
    QdLdDirection direction;
    gboolean is_1_0;              /* processing mode json-ld-1.0 */
    const char *expand_context;   /* (nullable) JSON text of a context that holds before the document's */
    QdLdContextFunc context_func; /* (nullable) for remote contexts */
    gpointer context_data;
};

gboolean qd_jsonld_read(const QdRdfReading *reading, GError **error);
