/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Nodes as JSON: IRIs by prefixes, values in the shortest form that is read back as the same term.
 *
 * Place: room jsonld, for the writer.
 */
#pragma once

#include "daemon/jsonld/jsonld-writer.h"
#include "daemon/jsonld/ld-dataset.h"

typedef struct QdLdPrinter {
    QdJsonLdWriting options;
    QdLimits limits;
    const QdPrefixMap *prefixes; /* (nullable) */
    GHashTable *names;           /* (nullable) prefixes that the context has */
    gboolean is_plain;           /* IRIs are written in full, since the context is null */
    gboolean is_misread;         /* an IRI was written that the context makes another of */
} QdLdPrinter;

void qd_ld_printer_init(QdLdPrinter *self, const QdJsonLdWriting *options, const QdPrefixMap *prefixes);
void qd_ld_printer_clear(QdLdPrinter *self);

/* The object of '@context'. FALSE: no prefix can be used, and nothing is written. */
gboolean qd_ld_print_context(QdLdPrinter *self, GString *out);

/* @graph: (nullable): what stands in the node as its '@graph' */
gboolean qd_ld_print_node(QdLdPrinter *self, GString *out, const QdLdNode *node, const QdLdGraph *graph, GError **error);
