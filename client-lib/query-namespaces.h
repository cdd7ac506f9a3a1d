/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QueryNamespaces: prefixes of IRIs.
 *
 * Part of query-client.h. docs/resources.md says how they work.
 */
#pragma once

#include "query-client.h"

#ifndef __GI_SCANNER__
#pragma GCC visibility push(default)
#endif

G_BEGIN_DECLS

/**
 * query_namespaces_new:
 *
 * Returns: (transfer full): rdf, rdfs and xsd
 */
QUERY_AVAILABLE_IN_0_1
QueryNamespaces *query_namespaces_new(void);

/**
 * query_namespaces_new_from_store:
 * @connection: a connection
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Errors: UNSUPPORTED on a direct connection.
 *
 * Returns: (transfer full): those, and the prefixes that the store keeps; %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryNamespaces *query_namespaces_new_from_store(QueryConnection *connection, GCancellable *cancellable, GError **error);

/**
 * query_namespaces_new_from_store_async:
 * @connection: a connection
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_namespaces_new_from_store().
 */
QUERY_AVAILABLE_IN_0_1
void query_namespaces_new_from_store_async(QueryConnection *connection, GCancellable *cancellable, GAsyncReadyCallback callback,
                                           gpointer user_data);

/**
 * query_namespaces_new_from_store_finish:
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): what query_namespaces_new_from_store() returns, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryNamespaces *query_namespaces_new_from_store_finish(GAsyncResult *result, GError **error);

/**
 * query_namespaces_add:
 * @self: namespaces
 * @prefix: letters, digits, "-" and "_", a letter first; "" is the empty prefix
 * @iri: the beginning of IRIs
 * @error: (nullable): location for an error
 *
 * Adds a prefix, or changes what it stands for. In this object only: the store keeps what documents that it imports declare.
 *
 * Errors: BAD_PARAMETER for what is no prefix, or no absolute IRI.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_namespaces_add(QueryNamespaces *self, const char *prefix, const char *iri, GError **error);

/**
 * query_namespaces_remove:
 * @self: namespaces
 * @prefix: a prefix
 *
 * Returns: whether there was such a prefix
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_namespaces_remove(QueryNamespaces *self, const char *prefix);

/**
 * query_namespaces_lookup:
 * @self: namespaces
 * @prefix: a prefix
 *
 * Returns: (nullable) (transfer none): what it stands for, %NULL for an unknown one
 */
QUERY_AVAILABLE_IN_0_1
const char *query_namespaces_lookup(QueryNamespaces *self, const char *prefix);

/**
 * query_namespaces_list_prefixes:
 * @self: namespaces
 *
 * Returns: (transfer full) (array zero-terminated=1): the prefixes in alphabetical order
 */
QUERY_AVAILABLE_IN_0_1
char **query_namespaces_list_prefixes(QueryNamespaces *self);

/**
 * query_namespaces_expand:
 * @self: namespaces
 * @name: a name as "foaf:name", or an absolute IRI, with or without "<" and ">"
 * @error: (nullable): location for an error
 *
 * A prefix that is known goes before a scheme that is written alike.
 *
 * Errors: BAD_PARAMETER for an unknown prefix, and for what is no IRI.
 *
 * Returns: (nullable) (transfer full): the IRI, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
char *query_namespaces_expand(QueryNamespaces *self, const char *name, GError **error);

/**
 * query_namespaces_compact:
 * @self: namespaces
 * @iri: an IRI
 *
 * Returns: (transfer full): the shortest form for SPARQL and Turtle: a name with a prefix, or the IRI in "<" and ">"
 */
QUERY_AVAILABLE_IN_0_1
char *query_namespaces_compact(QueryNamespaces *self, const char *iri);

/**
 * query_namespaces_to_sparql:
 * @self: namespaces
 *
 * Returns: (transfer full): a line "PREFIX foaf: <http://…>" for each prefix, as SPARQL and Turtle take it
 */
QUERY_AVAILABLE_IN_0_1
char *query_namespaces_to_sparql(QueryNamespaces *self);

G_END_DECLS

#ifndef __GI_SCANNER__
#pragma GCC visibility pop
#endif
