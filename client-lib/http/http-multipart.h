/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A form of several RDF documents as one document, so that they are imported in one transaction.
 *
 * Place: room http, below the graph store.
 */
#pragma once

#include "client-lib/http/http-exchange.h"

/* Replaces the document of the exchange by one in N-Triples that has the triples of all its parts. Blank nodes of different parts
 * stay different. Returns: false: the exchange has been answered */
bool qhttp_multipart_merge(QhttpExchange *exchange);
