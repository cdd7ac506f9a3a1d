/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Content negotiation: which format a client wants, by the header Accept with its q-values (RFC 9110, 12.5.1).
 *
 * Place: room http.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "daemon/format/results-writer.h"
#include "daemon/format/text-format.h"

/* What a request is answered with. */
typedef enum QhttpKind {
    QHTTP_KIND_SOLUTIONS,
    QHTTP_KIND_BOOLEAN,
    QHTTP_KIND_GRAPH,
    QHTTP_KIND_ROWS, /* of SQL */
    QHTTP_KIND_PAGE,
    QHTTP_KIND_PROBLEM,
} QhttpKind;

typedef struct QhttpFormat {
    const char *media_type;   /* as it is asked for */
    const char *content_type; /* as it is answered, with its charset */
    guint kinds;              /* a bit for each QhttpKind */
    bool is_rdf;
    QdResultsFormat results;
    QdRdfFormat rdf;
    QdTextFormat text;
} QhttpFormat;

/**
 * qhttp_accept_choose:
 * @accept: (nullable): the header; NULL: the client takes everything
 *
 * Returns: (transfer none) (nullable): the format of @kind with the highest q-value, of several the first of ours
 */
const QhttpFormat *qhttp_accept_choose(const char *accept, QhttpKind kind);

/* (transfer full): the media types of @kind, for messages */
char *qhttp_accept_list(QhttpKind kind);

/* (nullable): the RDF format of a Content-Type without its parameters; NULL: none of ours */
const QhttpFormat *qhttp_accept_find_rdf(const char *media_type);
