/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Resources into a store and out of it.
 *
 * Place: part of QueryResource. Storing is one update; reading is one query, whose rows are triples.
 */

#include "client-lib/rdf/query-resource-private.h"
#include "client-lib/rdf/query-term.h"

/* Storing ----------------------------------------------------------------------------------------------------------------- */

gboolean
query_resource_store(QueryResource *self, QueryConnection *connection, const char *graph, GCancellable *cancellable, GError **error)
{
    g_autofree char *update = NULL;

    g_return_val_if_fail(QUERY_IS_RESOURCE(self), FALSE);
    g_return_val_if_fail(QUERY_IS_CONNECTION(connection), FALSE);

    update = query_resource_to_update(self, graph, error);
    if (update == NULL)
        return FALSE;

    return update[0] == '\0' || query_connection_update(connection, QUERY_LANGUAGE_SPARQL, update, NULL, cancellable, error) >= 0;
}

static void
on_updated(GObject *object, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(GTask) task = user_data;
    GError *error = NULL;

    if (query_connection_update_finish(QUERY_CONNECTION(object), result, &error) >= 0)
        g_task_return_boolean(task, TRUE);
    else
        g_task_return_error(task, error);
}

void
query_resource_store_async(QueryResource *self, QueryConnection *connection, const char *graph, GCancellable *cancellable,
                           GAsyncReadyCallback callback, gpointer user_data)
{
    g_autoptr(GTask) task = NULL;
    g_autofree char *update = NULL;
    GError *error = NULL;

    g_return_if_fail(QUERY_IS_RESOURCE(self));
    g_return_if_fail(QUERY_IS_CONNECTION(connection));

    task = g_task_new(self, cancellable, callback, user_data);
    g_task_set_source_tag(task, query_resource_store_async);
    update = query_resource_to_update(self, graph, &error);
    if (update == NULL)
        g_task_return_error(task, error);
    else if (update[0] == '\0')
        g_task_return_boolean(task, TRUE);
    else
        query_connection_update_async(connection, QUERY_LANGUAGE_SPARQL, update, NULL, cancellable, on_updated,
                                      g_steal_pointer(&task));
}

gboolean
query_resource_store_finish(QueryResource *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), FALSE);

    return g_task_propagate_boolean(G_TASK(result), error);
}

/* Reading ----------------------------------------------------------------------------------------------------------------- */

/* (transfer none): the resource with the store's name @name; blank nodes are made when they are met. */
static QueryResource *
get_resource(GHashTable *resources, QueryResource *root, const char *name)
{
    QueryResource *resource = g_hash_table_lookup(resources, name);

    if (resource == NULL) {
        resource = query_resource_new_read(name, TRUE, root->namespaces);
        (void) g_hash_table_insert(resources, g_strdup(name), resource);
    }
    return resource;
}

/* The current row of @cursor is a triple. */
static void
take_triple(GHashTable *resources, QueryResource *root, QueryCursor *cursor)
{
    QueryValueType type = query_cursor_get_value_type(cursor, 2);
    const char *name = query_cursor_get_string(cursor, 0, NULL);
    QueryResource *subject = query_cursor_get_value_type(cursor, 0) == QUERY_VALUE_TYPE_BNODE ? get_resource(resources, root, name)
                             : g_str_equal(name, root->identifier)                            ? root
                                                                                              : NULL;
    QueryResourceValue value = { .lexical = (char *) query_cursor_get_string(cursor, 2, NULL),
                                 .datatype = (char *) query_cursor_get_datatype(cursor, 2),
                                 .language = (char *) query_cursor_get_language(cursor, 2),
                                 .is_stored = TRUE };

    if (subject == NULL || value.lexical == NULL)
        return;
    if (type == QUERY_VALUE_TYPE_BNODE) {
        value.resource = get_resource(resources, root, value.lexical);
        value.lexical = value.resource->identifier;
        value.datatype = (char *) "@bnode";
    } else if (type == QUERY_VALUE_TYPE_IRI)
        value.datatype = (char *) "@id";
    query_resource_keep(subject, query_cursor_get_string(cursor, 1, NULL), &value);
}

static gboolean
read_triples(QueryResource *root, QueryConnection *connection, const char *graph, GCancellable *cancellable, GError **error)
{
    g_autoptr(GHashTable) resources = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_object_unref);
    g_autoptr(GString) query = g_string_new(NULL);
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) failure = NULL;

    g_string_append_printf(query, "DESCRIBE <%s>", root->identifier);
    if (graph != NULL)
        g_string_append_printf(query, " FROM <%s>", graph);
    cursor = query_connection_query(connection, QUERY_LANGUAGE_SPARQL, query->str, NULL, cancellable, error);
    if (cursor == NULL)
        return FALSE;
    while (query_cursor_next(cursor, cancellable, &failure))
        take_triple(resources, root, cursor);
    if (failure == NULL)
        return TRUE;

    g_propagate_error(error, g_steal_pointer(&failure));
    return FALSE;
}

QueryResource *
query_resource_read(QueryConnection *connection, const char *identifier, const char *graph, QueryNamespaces *namespaces,
                    GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryResource) self = NULL;

    g_return_val_if_fail(QUERY_IS_CONNECTION(connection), NULL);
    g_return_val_if_fail(identifier != NULL, NULL);
    g_return_val_if_fail(namespaces == NULL || QUERY_IS_NAMESPACES(namespaces), NULL);

    self = query_resource_new_read(identifier, FALSE, namespaces);
    if (!query_resource_check_identifier(self, error))
        return NULL;
    if (graph != NULL && !query_term_is_iri(graph)) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "'%s' is no absolute IRI of a graph", graph);
        return NULL;
    }
    return read_triples(self, connection, graph, cancellable, error) ? g_steal_pointer(&self) : NULL;
}

/* An object that the thread has to itself. */
typedef struct Read {
    char *identifier;
    char *graph;                 /* (nullable) */
    QueryNamespaces *namespaces; /* a copy */
} Read;

static void
read_free(gpointer data)
{
    Read *self = data;

    g_free(self->identifier);
    g_free(self->graph);
    g_clear_object(&self->namespaces);
    g_free(self);
}

static void
read_in_thread(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    const Read *read = data;
    GError *error = NULL;
    QueryResource *resource = query_resource_read(source, read->identifier, read->graph, read->namespaces, cancellable, &error);

    if (resource != NULL)
        g_task_return_pointer(task, resource, g_object_unref);
    else
        g_task_return_error(task, error);
}

static QueryNamespaces *
copy_namespaces(QueryNamespaces *namespaces)
{
    QueryNamespaces *copy = query_namespaces_new();
    g_auto(GStrv) prefixes = namespaces != NULL ? query_namespaces_list_prefixes(namespaces) : NULL;

    for (guint i = 0; prefixes != NULL && prefixes[i] != NULL; i++)
        (void) query_namespaces_add(copy, prefixes[i], query_namespaces_lookup(namespaces, prefixes[i]), NULL);
    return copy;
}

void
query_resource_read_async(QueryConnection *connection, const char *identifier, const char *graph, QueryNamespaces *namespaces,
                          GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    g_autoptr(GTask) task = NULL;
    Read *read;

    g_return_if_fail(QUERY_IS_CONNECTION(connection));
    g_return_if_fail(identifier != NULL);
    g_return_if_fail(namespaces == NULL || QUERY_IS_NAMESPACES(namespaces));

    read = g_new(Read, 1);
    *read = (Read){ .identifier = g_strdup(identifier), .graph = g_strdup(graph), .namespaces = copy_namespaces(namespaces) };
    task = g_task_new(connection, cancellable, callback, user_data);
    g_task_set_source_tag(task, query_resource_read_async);
    g_task_set_task_data(task, read, read_free);
    g_task_run_in_thread(task, read_in_thread);
}

QueryResource *
query_resource_read_finish(GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_async_result_is_tagged(result, query_resource_read_async), NULL);

    return g_task_propagate_pointer(G_TASK(result), error);
}
