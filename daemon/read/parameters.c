/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A small ordered set of keyed values with their own copies.
 */
#include "daemon/read/parameters.h"

typedef struct Entry {
    char *key;
    QwValue value;
} Entry;

struct QdParameters {
    GArray *entries; /* of Entry */
};

static void
entry_clear(gpointer data)
{
    Entry *entry = data;

    g_free(entry->key);
    if (entry->value.type == QW_TYPE_BLOB || qw_type_has_nul(entry->value.type)) {
        g_free((char *) entry->value.data);
        g_free((char *) entry->value.tag);
    }
}

QdParameters *
qd_parameters_new(void)
{
    QdParameters *self = g_new0(QdParameters, 1);

    self->entries = g_array_new(FALSE, TRUE, sizeof(Entry));
    g_array_set_clear_func(self->entries, entry_clear);
    return self;
}

QdParameters *
qd_parameters_free(QdParameters *self)
{
    if (self == NULL)
        return NULL;

    g_array_unref(self->entries);
    g_free(self);
    return NULL;
}

static char *
copy_bytes(const char *data, size_t n_bytes)
{
    char *copy = g_malloc(n_bytes + 1);

    if (n_bytes > 0)
        memcpy(copy, data, n_bytes);
    copy[n_bytes] = 0;
    return copy;
}

void
qd_parameters_add(QdParameters *self, const char *key, const QwValue *value)
{
    Entry entry = { .key = g_strdup(key), .value = *value };

    if (value->type == QW_TYPE_BLOB || qw_type_has_nul(value->type)) {
        entry.value.data = copy_bytes(value->data, value->n_bytes);
        entry.value.tag = value->tag != NULL ? copy_bytes(value->tag, value->n_tag_bytes) : NULL;
    }
    g_array_append_val(self->entries, entry);
}

guint
qd_parameters_get_n(const QdParameters *self)
{
    return self->entries->len;
}

const char *
qd_parameters_get_key(const QdParameters *self, guint i)
{
    return g_array_index(self->entries, Entry, i).key;
}

const QwValue *
qd_parameters_get_value(const QdParameters *self, guint i)
{
    return &g_array_index(self->entries, Entry, i).value;
}
