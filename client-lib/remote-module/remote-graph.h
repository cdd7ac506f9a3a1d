/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Results that are graphs, as rows of three columns, by the daemon's readers of RDF.
 *
 * Place: internal to the module.
 */
#pragma once

#include "client-lib/remote-module/remote-rows.h"
#include "daemon/rdfio/rdf-reader.h"

/* (out): the format of a media type in lower case; FALSE when it is none of RDF that can be read. */
gboolean remote_graph_find_format(const char *media_type, QdRdfFormat *ret_format);

/**
 * remote_graph_read:
 * @base: what relative IRIs are resolved against
 * @read_func: gives the bytes
 * @error: (nullable): location for an error
 *
 * Errors: PROTOCOL, TOO_BIG, and those of @read_func.
 *
 * Returns: FALSE on error, or without one when no more rows are wanted
 */
gboolean remote_graph_read(RemoteRows *rows, QdRdfFormat format, const char *base, QdRdfReadFunc read_func, gpointer data,
                           GError **error);
