/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A resource, and what it leads to, in SPARQL and Turtle. Each resource is written once, also when several lead to it.
 *
 * Place: part of QueryResource.
 */
#include "client-lib/rdf/query-resource-private.h"
#include "client-lib/rdf/query-term.h"

/* @self and all resources that it leads to, in the order in which they are found. */
static GPtrArray *
list_resources(QueryResource *self)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    GPtrArray *found = g_ptr_array_new();

    g_ptr_array_add(found, self);
    (void) g_hash_table_add(seen, self);
    for (guint i = 0; i < found->len; i++) {
        const QueryResource *resource = found->pdata[i];

        for (guint j = 0; j < resource->properties->len; j++) {
            const GPtrArray *values = ((QueryResourceProperty *) resource->properties->pdata[j])->values;

            for (guint k = 0; k < values->len; k++) {
                QueryResource *other = ((QueryResourceValue *) values->pdata[k])->resource;

                if (other != NULL && g_hash_table_add(seen, other))
                    g_ptr_array_add(found, other);
            }
        }
    }
    return found;
}

static void
append_iri(GString *out, QueryNamespaces *namespaces, const char *iri)
{
    g_autofree char *text = namespaces != NULL ? query_namespaces_compact(namespaces, iri) : NULL;

    if (text != NULL)
        g_string_append(out, text);
    else
        g_string_append_printf(out, "<%s>", iri);
}

static void
append_node(GString *out, QueryNamespaces *namespaces, const char *identifier, gboolean is_blank)
{
    if (is_blank)
        g_string_append(out, identifier);
    else
        append_iri(out, namespaces, identifier);
}

static void
append_value(GString *out, QueryNamespaces *namespaces, const QueryResourceValue *value)
{
    if (value->datatype != NULL && value->datatype[0] == '@') {
        append_node(out, namespaces, value->lexical, g_str_equal(value->datatype, "@bnode"));
        return;
    }
    query_term_append_string(out, value->lexical);
    if (value->language != NULL)
        g_string_append_printf(out, "@%s", value->language);
    else if (value->datatype != NULL) {
        g_string_append(out, "^^");
        append_iri(out, namespaces, value->datatype);
    }
}

/* The triples of @resource; with @only_new those that were not read. */
static guint
append_triples(GString *out, const QueryResource *resource, QueryNamespaces *namespaces, gboolean only_new)
{
    guint n = 0;

    for (guint i = 0; i < resource->properties->len; i++) {
        const QueryResourceProperty *property = resource->properties->pdata[i];

        for (guint j = 0; j < property->values->len; j++) {
            const QueryResourceValue *value = property->values->pdata[j];

            if (only_new && value->is_stored)
                continue;
            append_node(out, namespaces, resource->identifier, resource->is_blank);
            g_string_append_c(out, ' ');
            append_iri(out, namespaces, property->iri);
            g_string_append_c(out, ' ');
            append_value(out, namespaces, value);
            g_string_append(out, " .\n");
            n++;
        }
    }
    return n;
}

static gboolean
check_all(const GPtrArray *resources, GError **error)
{
    for (guint i = 0; i < resources->len; i++)
        if (!query_resource_check_identifier(resources->pdata[i], error))
            return FALSE;
    return TRUE;
}

char *
query_resource_to_turtle(QueryResource *self, GError **error)
{
    g_autoptr(GPtrArray) resources = NULL;
    g_autofree char *prologue = NULL;
    GString *text;

    g_return_val_if_fail(QUERY_IS_RESOURCE(self), NULL);

    resources = list_resources(self);
    if (!check_all(resources, error))
        return NULL;
    prologue = query_namespaces_to_sparql(self->namespaces);
    text = g_string_new(prologue);
    for (guint i = 0; i < resources->len; i++)
        (void) append_triples(text, resources->pdata[i], self->namespaces, FALSE);
    return g_string_free(text, FALSE);
}

/* Of a blank node that was read, the update has no name. */
static gboolean
check_read(const QueryResource *resource, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    gboolean is_changed = FALSE;

    if (!resource->is_blank || !resource->is_read)
        return TRUE;
    for (guint i = 0; i < resource->properties->len; i++)
        is_changed = is_changed || ((QueryResourceProperty *) resource->properties->pdata[i])->is_cleared;
    if (!is_changed && append_triples(text, resource, NULL, TRUE) == 0)
        return TRUE;

    g_set_error(error, QUERY_ERROR, QUERY_ERROR_UNSUPPORTED,
                "a blank node that was read from the store cannot be changed: make another one the value of the property");
    return FALSE;
}

static void
append_deletes(GString *out, const QueryResource *resource, const char *graph)
{
    for (guint i = 0; i < resource->properties->len && !resource->is_blank; i++) {
        const QueryResourceProperty *property = resource->properties->pdata[i];

        if (!property->is_cleared)
            continue;
        g_string_append(out, "DELETE WHERE { ");
        if (graph != NULL)
            g_string_append_printf(out, "GRAPH <%s> { ", graph);
        g_string_append_printf(out, "<%s> <%s> ?o ", resource->identifier, property->iri);
        g_string_append(out, graph != NULL ? "} } ;\n" : "} ;\n");
    }
}

char *
query_resource_to_update(QueryResource *self, const char *graph, GError **error)
{
    g_autoptr(GPtrArray) resources = NULL;
    g_autoptr(GString) triples = g_string_new(NULL);
    g_autoptr(GString) text = g_string_new(NULL);

    g_return_val_if_fail(QUERY_IS_RESOURCE(self), NULL);

    resources = list_resources(self);
    if (!check_all(resources, error))
        return NULL;
    if (graph != NULL && !query_term_is_iri(graph)) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "'%s' is no absolute IRI of a graph", graph);
        return NULL;
    }
    for (guint i = 0; i < resources->len; i++) {
        if (!check_read(resources->pdata[i], error))
            return NULL;
        append_deletes(text, resources->pdata[i], graph);
        (void) append_triples(triples, resources->pdata[i], NULL, TRUE);
    }
    if (triples->len > 0) {
        g_string_append(text, "INSERT DATA {\n");
        if (graph != NULL)
            g_string_append_printf(text, "GRAPH <%s> {\n", graph);
        g_string_append_len(text, triples->str, (gssize) triples->len);
        g_string_append(text, graph != NULL ? "} }" : "}");
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}
