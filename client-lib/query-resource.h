/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QueryResource: a node of an RDF graph with all that is said of it, to be built, stored and read.
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
 * QueryResource:
 *
 * A node of an RDF graph with the values of its properties. Values may be resources themselves, which are then stored with it. One
 * thread at a time.
 */
#define QUERY_TYPE_RESOURCE (query_resource_get_type())
G_DECLARE_FINAL_TYPE(QueryResource, query_resource, QUERY, RESOURCE, GObject)

/**
 * query_resource_new:
 * @identifier: (nullable): an absolute IRI, or a name with a prefix of @namespaces; %NULL: a blank node
 * @namespaces: (nullable): for names with prefixes; %NULL: rdf, rdfs and xsd
 *
 * A blank node has one name in all texts, which no other resource of the process has. An @identifier that is no IRI is an error
 * of the texts and of query_resource_store().
 *
 * Returns: (transfer full): a resource of which nothing is said yet
 */
QUERY_AVAILABLE_IN_0_1
QueryResource *query_resource_new(const char *identifier, QueryNamespaces *namespaces);

/**
 * query_resource_get_identifier:
 * @self: a resource
 *
 * Returns: (transfer none): its IRI, or the name of a blank node, which begins with "_:"
 */
QUERY_AVAILABLE_IN_0_1
const char *query_resource_get_identifier(QueryResource *self);

/**
 * query_resource_is_blank:
 * @self: a resource
 *
 * Returns: whether it is a blank node
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_resource_is_blank(QueryResource *self);

/**
 * query_resource_add_string:
 * @self: a resource
 * @property: an absolute IRI, or a name with a prefix of the namespaces
 * @value: a string
 * @error: (nullable): location for an error
 *
 * Adds a plain string to the values of a property.
 *
 * Errors: BAD_PARAMETER for what RDF cannot express.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_resource_add_string(QueryResource *self, const char *property, const char *value, GError **error);

/**
 * query_resource_add_int64:
 * @self: a resource
 * @property: an absolute IRI, or a name with a prefix of the namespaces
 * @value: a number
 * @error: (nullable): location for an error
 *
 * Adds a literal of xsd:integer to the values of a property.
 *
 * Errors: BAD_PARAMETER for what RDF cannot express.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_resource_add_int64(QueryResource *self, const char *property, gint64 value, GError **error);

/**
 * query_resource_add_double:
 * @self: a resource
 * @property: an absolute IRI, or a name with a prefix of the namespaces
 * @value: a number
 * @error: (nullable): location for an error
 *
 * Adds a literal of xsd:double to the values of a property.
 *
 * Errors: BAD_PARAMETER for what RDF cannot express.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_resource_add_double(QueryResource *self, const char *property, double value, GError **error);

/**
 * query_resource_add_boolean:
 * @self: a resource
 * @property: an absolute IRI, or a name with a prefix of the namespaces
 * @value: a truth value
 * @error: (nullable): location for an error
 *
 * Adds a literal of xsd:boolean to the values of a property.
 *
 * Errors: BAD_PARAMETER for what RDF cannot express.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_resource_add_boolean(QueryResource *self, const char *property, gboolean value, GError **error);

/**
 * query_resource_add_date_time:
 * @self: a resource
 * @property: an absolute IRI, or a name with a prefix of the namespaces
 * @value: a time
 * @error: (nullable): location for an error
 *
 * Adds a literal of xsd:dateTime, with its zone to the values of a property.
 *
 * Errors: BAD_PARAMETER for what RDF cannot express.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_resource_add_date_time(QueryResource *self, const char *property, GDateTime *value, GError **error);

/**
 * query_resource_add_iri:
 * @self: a resource
 * @property: an absolute IRI, or a name with a prefix of the namespaces
 * @iri: an absolute IRI, or a name with a prefix of the namespaces
 * @error: (nullable): location for an error
 *
 * Adds an IRI to the values of a property.
 *
 * Errors: BAD_PARAMETER for what RDF cannot express.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_resource_add_iri(QueryResource *self, const char *property, const char *iri, GError **error);

/**
 * query_resource_add_resource:
 * @self: a resource
 * @property: an absolute IRI, or a name with a prefix of the namespaces
 * @value: another resource, to which it takes a reference
 * @error: (nullable): location for an error
 *
 * Adds a link to another resource, which is stored with this one to the values of a property.
 *
 * Errors: BAD_PARAMETER for what RDF cannot express.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_resource_add_resource(QueryResource *self, const char *property, QueryResource *value, GError **error);

/**
 * query_resource_add_literal:
 * @self: a resource
 * @property: an absolute IRI, or a name with a prefix of the namespaces
 * @lexical: the lexical form
 * @datatype: (nullable): a datatype IRI, or a name with a prefix of the namespaces
 * @language: (nullable): a language tag; only one of @datatype and @language may be given
 * @error: (nullable): location for an error
 *
 * Adds a literal to the values of a property. With neither datatype nor language it is a plain string.
 *
 * Errors: BAD_PARAMETER for what RDF cannot express.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_resource_add_literal(QueryResource *self, const char *property, const char *lexical, const char *datatype,
                                    const char *language, GError **error);

/**
 * query_resource_set_string:
 * @self: a resource
 * @property: an absolute IRI, or a name with a prefix of the namespaces
 * @value: a string
 * @error: (nullable): location for an error
 *
 * Makes a plain string the only value of a property, also in the store.
 *
 * Errors: BAD_PARAMETER for what RDF cannot express.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_resource_set_string(QueryResource *self, const char *property, const char *value, GError **error);

/**
 * query_resource_set_int64:
 * @self: a resource
 * @property: an absolute IRI, or a name with a prefix of the namespaces
 * @value: a number
 * @error: (nullable): location for an error
 *
 * Makes a literal of xsd:integer the only value of a property, also in the store.
 *
 * Errors: BAD_PARAMETER for what RDF cannot express.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_resource_set_int64(QueryResource *self, const char *property, gint64 value, GError **error);

/**
 * query_resource_set_double:
 * @self: a resource
 * @property: an absolute IRI, or a name with a prefix of the namespaces
 * @value: a number
 * @error: (nullable): location for an error
 *
 * Makes a literal of xsd:double the only value of a property, also in the store.
 *
 * Errors: BAD_PARAMETER for what RDF cannot express.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_resource_set_double(QueryResource *self, const char *property, double value, GError **error);

/**
 * query_resource_set_boolean:
 * @self: a resource
 * @property: an absolute IRI, or a name with a prefix of the namespaces
 * @value: a truth value
 * @error: (nullable): location for an error
 *
 * Makes a literal of xsd:boolean the only value of a property, also in the store.
 *
 * Errors: BAD_PARAMETER for what RDF cannot express.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_resource_set_boolean(QueryResource *self, const char *property, gboolean value, GError **error);

/**
 * query_resource_set_date_time:
 * @self: a resource
 * @property: an absolute IRI, or a name with a prefix of the namespaces
 * @value: a time
 * @error: (nullable): location for an error
 *
 * Makes a literal of xsd:dateTime, with its zone the only value of a property, also in the store.
 *
 * Errors: BAD_PARAMETER for what RDF cannot express.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_resource_set_date_time(QueryResource *self, const char *property, GDateTime *value, GError **error);

/**
 * query_resource_set_iri:
 * @self: a resource
 * @property: an absolute IRI, or a name with a prefix of the namespaces
 * @iri: an absolute IRI, or a name with a prefix of the namespaces
 * @error: (nullable): location for an error
 *
 * Makes an IRI the only value of a property, also in the store.
 *
 * Errors: BAD_PARAMETER for what RDF cannot express.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_resource_set_iri(QueryResource *self, const char *property, const char *iri, GError **error);

/**
 * query_resource_set_resource:
 * @self: a resource
 * @property: an absolute IRI, or a name with a prefix of the namespaces
 * @value: another resource, to which it takes a reference
 * @error: (nullable): location for an error
 *
 * Makes a link to another resource, which is stored with this one the only value of a property, also in the store.
 *
 * Errors: BAD_PARAMETER for what RDF cannot express.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_resource_set_resource(QueryResource *self, const char *property, QueryResource *value, GError **error);

/**
 * query_resource_set_literal:
 * @self: a resource
 * @property: an absolute IRI, or a name with a prefix of the namespaces
 * @lexical: the lexical form
 * @datatype: (nullable): a datatype IRI, or a name with a prefix of the namespaces
 * @language: (nullable): a language tag; only one of @datatype and @language may be given
 * @error: (nullable): location for an error
 *
 * Makes a literal the only value of a property, also in the store. With neither datatype nor language it is a plain string.
 *
 * Errors: BAD_PARAMETER for what RDF cannot express.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_resource_set_literal(QueryResource *self, const char *property, const char *lexical, const char *datatype,
                                    const char *language, GError **error);

/**
 * query_resource_clear:
 * @self: a resource
 * @property: an absolute IRI, or a name with a prefix of the namespaces
 * @error: (nullable): location for an error
 *
 * Removes the values of a property, also those in the store.
 *
 * Errors: BAD_PARAMETER for what is no IRI.
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_resource_clear(QueryResource *self, const char *property, GError **error);

/**
 * query_resource_list_properties:
 * @self: a resource
 *
 * Returns: (transfer full) (array zero-terminated=1): the IRIs of the properties that have values, in the order in which they came
 */
QUERY_AVAILABLE_IN_0_1
char **query_resource_list_properties(QueryResource *self);

/**
 * query_resource_get_n_values:
 * @self: a resource
 * @property: an absolute IRI, or a name with a prefix of the namespaces
 *
 * Returns: the number of values; 0 also for what is no IRI
 */
QUERY_AVAILABLE_IN_0_1
guint query_resource_get_n_values(QueryResource *self, const char *property);

/**
 * query_resource_get_string:
 * @self: a resource
 * @property: an absolute IRI, or a name with a prefix of the namespaces
 * @index: of the value, from 0
 *
 * Returns: (nullable) (transfer none): the lexical form of a literal, an IRI, or the name of a blank node; %NULL when there is none
 */
QUERY_AVAILABLE_IN_0_1
const char *query_resource_get_string(QueryResource *self, const char *property, guint index);

/**
 * query_resource_get_value:
 * @self: a resource
 * @property: an absolute IRI, or a name with a prefix of the namespaces
 * @index: of the value, from 0
 *
 * Returns: (nullable) (transfer full): (sss): lexical form, datatype IRI ("@id": an IRI, "@bnode": a blank node), language tag; as
 * query_connection_query() takes parameters. %NULL when there is none
 */
QUERY_AVAILABLE_IN_0_1
GVariant *query_resource_get_value(QueryResource *self, const char *property, guint index);

/**
 * query_resource_get_resource:
 * @self: a resource
 * @property: an absolute IRI, or a name with a prefix of the namespaces
 * @index: of the value, from 0
 *
 * Returns: (nullable) (transfer none): the resource that is the value; %NULL when it is an IRI or a literal, or there is none
 */
QUERY_AVAILABLE_IN_0_1
QueryResource *query_resource_get_resource(QueryResource *self, const char *property, guint index);

/**
 * query_resource_to_turtle:
 * @self: a resource
 * @error: (nullable): location for an error
 *
 * Errors: BAD_PARAMETER for a resource whose identifier is no IRI.
 *
 * Returns: (nullable) (transfer full): a document of all that is said of it, and of resources that it leads to; %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
char *query_resource_to_turtle(QueryResource *self, GError **error);

/**
 * query_resource_to_update:
 * @self: a resource
 * @graph: (nullable): IRI of a graph; %NULL is the default graph
 * @error: (nullable): location for an error
 *
 * What query_resource_store() executes. Values of properties that were set or cleared are deleted first. What was read from the
 * store and not changed is not in it.
 *
 * Errors: BAD_PARAMETER for an identifier or a @graph that is no IRI. UNSUPPORTED for a blank node that was read and has new
 * values: an update cannot name it. Make another one the value instead.
 *
 * Returns: (nullable) (transfer full): an update in SPARQL, "" when there is nothing to do; %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
char *query_resource_to_update(QueryResource *self, const char *graph, GError **error);

/**
 * query_resource_store:
 * @self: a resource
 * @connection: a connection
 * @graph: (nullable): IRI of a graph; %NULL is the default graph
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Stores it and all resources that it leads to: in one update, so all or nothing. Storing a blank node twice makes two.
 *
 * Errors: as query_resource_to_update() and query_connection_update().
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_resource_store(QueryResource *self, QueryConnection *connection, const char *graph, GCancellable *cancellable,
                              GError **error);

/**
 * query_resource_store_async:
 * @self: a resource
 * @connection: a connection
 * @graph: (nullable): IRI of a graph; %NULL is the default graph
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_resource_store(). Changes of @self after the call are not in it.
 */
QUERY_AVAILABLE_IN_0_1
void query_resource_store_async(QueryResource *self, QueryConnection *connection, const char *graph, GCancellable *cancellable,
                                GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_resource_store_finish:
 * @self: a resource
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
QUERY_AVAILABLE_IN_0_1
gboolean query_resource_store_finish(QueryResource *self, GAsyncResult *result, GError **error);

/**
 * query_resource_read:
 * @connection: a connection
 * @identifier: an absolute IRI, or a name with a prefix of @namespaces
 * @graph: (nullable): IRI of the graph to read; %NULL is the default graph
 * @namespaces: (nullable): for names with prefixes
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Reads a resource with all its values, and through blank nodes what they lead to, as DESCRIBE does. Values that are IRIs stay
 * IRIs.
 *
 * Errors: BAD_PARAMETER for what is no IRI; those of the query.
 *
 * Returns: (transfer full): a resource, without properties when the graph says nothing of it; %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryResource *query_resource_read(QueryConnection *connection, const char *identifier, const char *graph,
                                   QueryNamespaces *namespaces, GCancellable *cancellable, GError **error);

/**
 * query_resource_read_async:
 * @connection: a connection
 * @identifier: an absolute IRI, or a name with a prefix of @namespaces
 * @graph: (nullable): IRI of the graph to read; %NULL is the default graph
 * @namespaces: (nullable): for names with prefixes
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_resource_read().
 */
QUERY_AVAILABLE_IN_0_1
void query_resource_read_async(QueryConnection *connection, const char *identifier, const char *graph, QueryNamespaces *namespaces,
                               GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);

/**
 * query_resource_read_finish:
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: (transfer full): what query_resource_read() returns, %NULL on error
 */
QUERY_AVAILABLE_IN_0_1
QueryResource *query_resource_read_finish(GAsyncResult *result, GError **error);

G_END_DECLS

#ifndef __GI_SCANNER__
#pragma GCC visibility pop
#endif
