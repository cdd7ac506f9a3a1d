/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QueryNamespaces: a table of prefixes.
 *
 * Place: public object. Invariant: its prefixes and IRIs can be written in SPARQL as they are.
 */
#include <string.h>

#include "client-lib/query-client.h"
#include "client-lib/rdf/query-term.h"

struct _QueryNamespaces {
    GObject parent_instance;
    GTree *iris; /* prefix → IRI */
};

G_DEFINE_TYPE(QueryNamespaces, query_namespaces, G_TYPE_OBJECT)

static void
query_namespaces_finalize(GObject *object)
{
    g_tree_unref(QUERY_NAMESPACES(object)->iris);
    G_OBJECT_CLASS(query_namespaces_parent_class)->finalize(object);
}

static void
query_namespaces_class_init(QueryNamespacesClass *klass)
{
    G_OBJECT_CLASS(klass)->finalize = query_namespaces_finalize;
}

static int
compare(gconstpointer a, gconstpointer b, gpointer user_data)
{
    return strcmp(a, b);
}

static void
query_namespaces_init(QueryNamespaces *self)
{
    self->iris = g_tree_new_full(compare, NULL, g_free, g_free);
    (void) query_namespaces_add(self, "rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#", NULL);
    (void) query_namespaces_add(self, "rdfs", "http://www.w3.org/2000/01/rdf-schema#", NULL);
    (void) query_namespaces_add(self, "xsd", "http://www.w3.org/2001/XMLSchema#", NULL);
}

QueryNamespaces *
query_namespaces_new(void)
{
    return g_object_new(QUERY_TYPE_NAMESPACES, NULL);
}

/* The store's -------------------------------------------------------------------------------------------------------------- */

/* @prefixes: a{ss} */
static QueryNamespaces *
new_from_variant(GVariant *prefixes, GError **error)
{
    g_autoptr(QueryNamespaces) self = query_namespaces_new();
    const char *prefix;
    const char *iri;
    GVariantIter iter;

    if (!g_variant_is_of_type(prefixes, G_VARIANT_TYPE("a{ss}"))) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL, "the daemon's prefixes have the type %s",
                    g_variant_get_type_string(prefixes));
        return NULL;
    }
    g_variant_iter_init(&iter, prefixes);
    while (g_variant_iter_next(&iter, "{&s&s}", &prefix, &iri))
        (void) query_namespaces_add(self, prefix, iri, NULL); /* one that cannot be written is of no use */
    return g_steal_pointer(&self);
}

static gboolean
check_connection(QueryConnection *connection, GError **error)
{
    g_autofree char *url = NULL;
    gboolean is_direct = FALSE;

    g_object_get(connection, "is-direct", &is_direct, "url", &url, NULL);
    if (!is_direct && url == NULL)
        return TRUE;
    g_set_error(error, QUERY_ERROR, QUERY_ERROR_UNSUPPORTED, "a %s connection cannot read the prefixes of the store",
                is_direct ? "direct" : "remote");
    return FALSE;
}

QueryNamespaces *
query_namespaces_new_from_store(QueryConnection *connection, GCancellable *cancellable, GError **error)
{
    g_autoptr(GVariant) prefixes = NULL;

    g_return_val_if_fail(QUERY_IS_CONNECTION(connection), NULL);

    if (!check_connection(connection, error))
        return NULL;
    prefixes = query_connection_get_daemon_property(connection, "Prefixes", cancellable, error);
    return prefixes != NULL ? new_from_variant(prefixes, error) : NULL;
}

static void
read_in_thread(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    GError *error = NULL;
    QueryNamespaces *self = query_namespaces_new_from_store(source, cancellable, &error);

    if (self != NULL)
        g_task_return_pointer(task, self, g_object_unref);
    else
        g_task_return_error(task, error);
}

void
query_namespaces_new_from_store_async(QueryConnection *connection, GCancellable *cancellable, GAsyncReadyCallback callback,
                                      gpointer user_data)
{
    g_autoptr(GTask) task = NULL;

    g_return_if_fail(QUERY_IS_CONNECTION(connection));

    task = g_task_new(connection, cancellable, callback, user_data);
    g_task_set_source_tag(task, query_namespaces_new_from_store_async);
    g_task_run_in_thread(task, read_in_thread);
}

QueryNamespaces *
query_namespaces_new_from_store_finish(GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_async_result_is_tagged(result, query_namespaces_new_from_store_async), NULL);

    return g_task_propagate_pointer(G_TASK(result), error);
}

/* Own ---------------------------------------------------------------------------------------------------------------------- */

gboolean
query_namespaces_add(QueryNamespaces *self, const char *prefix, const char *iri, GError **error)
{
    g_return_val_if_fail(QUERY_IS_NAMESPACES(self), FALSE);
    g_return_val_if_fail(prefix != NULL, FALSE);
    g_return_val_if_fail(iri != NULL, FALSE);

    if (!query_term_is_prefix(prefix) || !query_term_is_iri(iri)) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER,
                    query_term_is_prefix(prefix) ? "'%s' is no absolute IRI"
                                                 : "'%s' is no prefix: letters, digits, '-' and '_', a letter first",
                    query_term_is_prefix(prefix) ? iri : prefix);
        return FALSE;
    }
    g_tree_replace(self->iris, g_strdup(prefix), g_strdup(iri));
    return TRUE;
}

gboolean
query_namespaces_remove(QueryNamespaces *self, const char *prefix)
{
    g_return_val_if_fail(QUERY_IS_NAMESPACES(self), FALSE);
    g_return_val_if_fail(prefix != NULL, FALSE);

    return g_tree_remove(self->iris, prefix);
}

const char *
query_namespaces_lookup(QueryNamespaces *self, const char *prefix)
{
    g_return_val_if_fail(QUERY_IS_NAMESPACES(self), NULL);
    g_return_val_if_fail(prefix != NULL, NULL);

    return g_tree_lookup(self->iris, prefix);
}

char **
query_namespaces_list_prefixes(QueryNamespaces *self)
{
    g_autoptr(GPtrArray) prefixes = g_ptr_array_new();

    g_return_val_if_fail(QUERY_IS_NAMESPACES(self), NULL);

    for (GTreeNode *node = g_tree_node_first(self->iris); node != NULL; node = g_tree_node_next(node))
        g_ptr_array_add(prefixes, g_strdup(g_tree_node_key(node)));
    g_ptr_array_add(prefixes, NULL);
    return (char **) g_ptr_array_free(g_steal_pointer(&prefixes), FALSE);
}

char *
query_namespaces_expand(QueryNamespaces *self, const char *name, GError **error)
{
    const char *colon;
    g_autofree char *prefix = NULL;
    g_autofree char *iri = NULL;
    const char *beginning;

    g_return_val_if_fail(QUERY_IS_NAMESPACES(self), NULL);
    g_return_val_if_fail(name != NULL, NULL);

    colon = strchr(name, ':');
    prefix = g_strndup(name, colon != NULL ? (gsize) (colon - name) : 0);
    beginning = colon != NULL ? g_tree_lookup(self->iris, prefix) : NULL;
    if (beginning != NULL)
        iri = g_strconcat(beginning, colon + 1, NULL);
    else if (name[0] == '<' && g_str_has_suffix(name, ">"))
        iri = g_strndup(name + 1, strlen(name) - 2);
    else
        iri = g_strdup(name);
    if (query_term_is_iri(iri))
        return g_steal_pointer(&iri);

    g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "'%s' is neither an absolute IRI nor a name with a known prefix",
                name);
    return NULL;
}

char *
query_namespaces_compact(QueryNamespaces *self, const char *iri)
{
    const char *best = NULL;
    gsize n_best = 0;

    g_return_val_if_fail(QUERY_IS_NAMESPACES(self), NULL);
    g_return_val_if_fail(iri != NULL, NULL);

    for (GTreeNode *node = g_tree_node_first(self->iris); node != NULL; node = g_tree_node_next(node)) {
        const char *beginning = g_tree_node_value(node);
        gsize n = strlen(beginning);

        if (n > n_best && strncmp(iri, beginning, n) == 0 && query_term_is_local(iri + n)) {
            best = g_tree_node_key(node);
            n_best = n;
        }
    }
    return best != NULL ? g_strconcat(best, ":", iri + n_best, NULL) : g_strconcat("<", iri, ">", NULL);
}

char *
query_namespaces_to_sparql(QueryNamespaces *self)
{
    GString *text = g_string_new(NULL);

    g_return_val_if_fail(QUERY_IS_NAMESPACES(self), g_string_free(text, FALSE));

    for (GTreeNode *node = g_tree_node_first(self->iris); node != NULL; node = g_tree_node_next(node))
        g_string_append_printf(text, "PREFIX %s: <%s>\n", (const char *) g_tree_node_key(node),
                               (const char *) g_tree_node_value(node));
    return g_string_free(text, FALSE);
}
