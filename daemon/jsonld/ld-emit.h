/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Deserialization of JSON-LD to RDF (§8.1): quads of expanded items, without a node map. Quads are a set, so that what the map
 * would merge merges there.
 *
 * Place: room jsonld. Invariant: only well-formed quads are given; what is none is left out, as the specification says.
 */
#pragma once

#include "daemon/jsonld/ld-expand.h"

typedef struct QdLdEmitter {
    QdLd *ld;
    const QdRdfReading *reading;
    guint64 n_anonymous;
    GString *scratch;
} QdLdEmitter;

/* The quads of all @items, in the default graph. */
gboolean qd_ld_emit(QdLdEmitter *self, const QdLdList *items, GError **error);
