/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Linear probing in a table of a power of two, at most five eighths full.
 */
#include "daemon/quads/term-table.h"

#include <string.h>

#define MIN_ENTRIES 4096

typedef struct Entry {
    QdTermKey key;
    gint64 id; /* 0: empty */
} Entry;

struct QdTermTable {
    Entry *entries;
    gsize n_entries;
    gsize n_used;
    guint64 max_bytes;
};

QdTermTable *
qd_term_table_new(guint64 max_bytes)
{
    QdTermTable *self = g_new0(QdTermTable, 1);

    self->n_entries = MIN_ENTRIES;
    self->entries = g_new0(Entry, self->n_entries);
    self->max_bytes = max_bytes;
    return self;
}

QdTermTable *
qd_term_table_free(QdTermTable *self)
{
    if (self == NULL)
        return NULL;

    g_free(self->entries);
    g_free(self);
    return NULL;
}

static Entry *
find_entry(Entry *entries, gsize n_entries, const QdTermKey *key)
{
    gsize i = key->low & (n_entries - 1);

    while (entries[i].id != 0 && (entries[i].key.low != key->low || entries[i].key.high != key->high))
        i = (i + 1) & (n_entries - 1);
    return &entries[i];
}

/* While it grows the old table is there, too. */
static gboolean
grow(QdTermTable *self)
{
    gsize n_entries = 2 * self->n_entries;
    Entry *entries;

    if ((guint64) (n_entries + self->n_entries) * sizeof(Entry) > self->max_bytes)
        return FALSE;

    entries = g_try_new0(Entry, n_entries);
    if (entries == NULL)
        return FALSE;
    for (gsize i = 0; i < self->n_entries; i++)
        if (self->entries[i].id != 0)
            *find_entry(entries, n_entries, &self->entries[i].key) = self->entries[i];
    g_free(self->entries);
    self->entries = entries;
    self->n_entries = n_entries;
    return TRUE;
}

gint64 *
qd_term_table_find(QdTermTable *self, const QdTermKey *key)
{
    Entry *entry = find_entry(self->entries, self->n_entries, key);

    if (entry->id != 0)
        return &entry->id;
    if (8 * (self->n_used + 1) > 5 * self->n_entries) {
        if (!grow(self))
            return NULL;
        entry = find_entry(self->entries, self->n_entries, key);
    }
    entry->key = *key;
    self->n_used++;
    return &entry->id;
}

void
qd_term_table_clear(QdTermTable *self)
{
    memset(self->entries, 0, self->n_entries * sizeof(Entry));
    self->n_used = 0;
}
