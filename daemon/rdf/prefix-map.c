/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tree of the namespaces in the order of their bytes: what an IRI begins with stands in it before the IRI. So a document with any
 * number of prefixes costs a search for each IRI, not a list.
 */
#include "daemon/rdf/prefix-map.h"

#include <string.h>

typedef struct Entry {
    char *prefix;
    char *iri;
    gsize n_iri;
} Entry;

struct QdPrefixMap {
    GPtrArray *entries;    /* of Entry, as added */
    GHashTable *by_prefix; /* set of Entry.prefix */
    GTree *by_iri;         /* Entry, which is its own key */
};

static void
entry_free(gpointer data)
{
    Entry *entry = data;

    g_free(entry->prefix);
    g_free(entry->iri);
    g_free(entry);
}

static gint
compare_iris(gconstpointer a, gconstpointer b)
{
    const Entry *left = a;
    const Entry *right = b;
    int order = memcmp(left->iri, right->iri, MIN(left->n_iri, right->n_iri));

    return order != 0 ? order : left->n_iri < right->n_iri ? -1 : left->n_iri > right->n_iri;
}

QdPrefixMap *
qd_prefix_map_new(void)
{
    QdPrefixMap *self = g_new0(QdPrefixMap, 1);

    self->entries = g_ptr_array_new_with_free_func(entry_free);
    self->by_prefix = g_hash_table_new(g_str_hash, g_str_equal);
    self->by_iri = g_tree_new(compare_iris);
    return self;
}

QdPrefixMap *
qd_prefix_map_free(QdPrefixMap *self)
{
    if (self == NULL)
        return NULL;

    g_tree_unref(self->by_iri);
    g_hash_table_unref(self->by_prefix);
    g_ptr_array_unref(self->entries);
    g_free(self);
    return NULL;
}

gboolean
qd_prefix_map_add(QdPrefixMap *self, const char *prefix, const char *iri)
{
    Entry key = { .iri = (char *) iri, .n_iri = strlen(iri) };
    Entry *entry;

    if (iri[0] == '\0' || g_hash_table_contains(self->by_prefix, prefix) || g_tree_lookup(self->by_iri, &key) != NULL)
        return FALSE;

    entry = g_new0(Entry, 1);
    *entry = (Entry){ .prefix = g_strdup(prefix), .iri = g_strdup(iri), .n_iri = key.n_iri };
    g_ptr_array_add(self->entries, entry);
    (void) g_hash_table_add(self->by_prefix, entry->prefix);
    g_tree_insert(self->by_iri, entry, entry);
    return TRUE;
}

guint
qd_prefix_map_get_n(const QdPrefixMap *self)
{
    return self->entries->len;
}

void
qd_prefix_map_get(const QdPrefixMap *self, guint index, const char **ret_prefix, const char **ret_iri)
{
    const Entry *entry = self->entries->pdata[index];

    *ret_prefix = entry->prefix;
    *ret_iri = entry->iri;
}

/* The last entry that does not stand after the @n_iri bytes @iri; NULL: none. */
static const Entry *
find_before(const QdPrefixMap *self, const char *iri, gsize n_iri)
{
    const Entry key = { .iri = (char *) iri, .n_iri = n_iri };
    GTreeNode *after = g_tree_upper_bound(self->by_iri, &key);
    GTreeNode *node = after != NULL ? g_tree_node_previous(after) : g_tree_node_last(self->by_iri);

    return node != NULL ? g_tree_node_value(node) : NULL;
}

const char *
qd_prefix_map_find(const QdPrefixMap *self, const char *iri, gsize n_iri, guint *state, gsize *ret_n_iri)
{
    gsize limit = MIN(*state > 0 ? *state - 1 : n_iri, G_MAXUINT - 1);

    while (limit > 0) {
        const Entry *entry = find_before(self, iri, limit);
        gsize n_same = 0;

        while (entry != NULL && n_same < entry->n_iri && n_same < limit && entry->iri[n_same] == iri[n_same])
            n_same++;
        if (entry != NULL && n_same == entry->n_iri) {
            *state = (guint) n_same; /* the next one has a byte less */
            *ret_n_iri = n_same;
            return entry->prefix;
        }
        limit = n_same; /* a longer one that begins the IRI would stand after that entry */
    }
    *state = 1;
    return NULL;
}
