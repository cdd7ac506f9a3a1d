/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A list by length: there are a few dozen at most, and most differ from an IRI in the last character of the namespace.
 */
#include "daemon/rdf/prefix-map.h"

#include <string.h>

typedef struct Entry {
    char *prefix;
    char *iri;
    gsize n_iri;
} Entry;

struct QdPrefixMap {
    GPtrArray *entries;   /* of Entry, as added */
    GPtrArray *by_length; /* the same, the longest namespace first */
};

static void
entry_free(gpointer data)
{
    Entry *entry = data;

    g_free(entry->prefix);
    g_free(entry->iri);
    g_free(entry);
}

QdPrefixMap *
qd_prefix_map_new(void)
{
    QdPrefixMap *self = g_new0(QdPrefixMap, 1);

    self->entries = g_ptr_array_new_with_free_func(entry_free);
    self->by_length = g_ptr_array_new();
    return self;
}

QdPrefixMap *
qd_prefix_map_free(QdPrefixMap *self)
{
    if (self == NULL)
        return NULL;

    g_ptr_array_unref(self->by_length);
    g_ptr_array_unref(self->entries);
    g_free(self);
    return NULL;
}

gboolean
qd_prefix_map_add(QdPrefixMap *self, const char *prefix, const char *iri)
{
    Entry *entry;
    guint place = 0;

    if (iri[0] == '\0')
        return FALSE;
    for (guint i = 0; i < self->entries->len; i++) {
        const Entry *other = self->entries->pdata[i];

        if (g_str_equal(other->prefix, prefix) || g_str_equal(other->iri, iri))
            return FALSE;
        place += other->n_iri >= strlen(iri) ? 1 : 0;
    }

    entry = g_new0(Entry, 1);
    *entry = (Entry){ .prefix = g_strdup(prefix), .iri = g_strdup(iri), .n_iri = strlen(iri) };
    g_ptr_array_add(self->entries, entry);
    g_ptr_array_insert(self->by_length, (gint) place, entry);
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

const char *
qd_prefix_map_find(const QdPrefixMap *self, const char *iri, gsize n_iri, guint *state, gsize *ret_n_iri)
{
    while (*state < self->by_length->len) {
        const Entry *entry = self->by_length->pdata[(*state)++];

        if (entry->n_iri <= n_iri && iri[entry->n_iri - 1] == entry->iri[entry->n_iri - 1] &&
            memcmp(iri, entry->iri, entry->n_iri) == 0) {
            *ret_n_iri = entry->n_iri;
            return entry->prefix;
        }
    }
    return NULL;
}
