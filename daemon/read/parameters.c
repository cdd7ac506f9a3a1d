/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A small ordered set of keyed values, with copies of them or an owner that keeps them.
 */
#include "daemon/read/parameters.h"

#include <string.h>

#include "daemon/rdf/term.h"

typedef struct Entry {
    char *key;
    QwValue value;
} Entry;

struct QdParameters {
    GArray *entries; /* of Entry */
    gsize n_bytes;
    void *owner; /* (nullable): of what the values point to; NULL: they are copies */
    GDestroyNotify destroy;
};

static void
entry_free_copies(const Entry *entry)
{
    if (entry->value.type != QW_TYPE_BLOB && !qw_type_has_nul(entry->value.type))
        return;
    g_free((char *) entry->value.data);
    g_free((char *) entry->value.tag);
}

QdParameters *
qd_parameters_new(void)
{
    QdParameters *self = g_new0(QdParameters, 1);

    self->entries = g_array_new(FALSE, TRUE, sizeof(Entry));
    return self;
}

QdParameters *
qd_parameters_new_views(void *owner, GDestroyNotify destroy)
{
    QdParameters *self = qd_parameters_new();

    self->owner = owner;
    self->destroy = destroy;
    return self;
}

QdParameters *
qd_parameters_free(QdParameters *self)
{
    if (self == NULL)
        return NULL;

    for (guint i = 0; i < self->entries->len; i++) {
        const Entry *entry = &g_array_index(self->entries, Entry, i);

        g_free(entry->key);
        if (self->owner == NULL)
            entry_free_copies(entry);
    }
    g_array_unref(self->entries);
    if (self->owner != NULL)
        self->destroy(self->owner);
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

    self->n_bytes += sizeof entry + strlen(key);
    if (value->type == QW_TYPE_BLOB || qw_type_has_nul(value->type)) {
        self->n_bytes += value->n_bytes + (value->tag != NULL ? value->n_tag_bytes : 0);
        if (self->owner == NULL) {
            entry.value.data = copy_bytes(value->data, value->n_bytes);
            entry.value.tag = value->tag != NULL ? copy_bytes(value->tag, value->n_tag_bytes) : NULL;
        }
    }
    g_array_append_val(self->entries, entry);
}

gsize
qd_parameters_get_n_bytes(const QdParameters *self)
{
    return self->n_bytes;
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

void
qd_parameters_set_boolean(QwValue *ret_value, gboolean is_true)
{
    *ret_value = (QwValue){ .type = QW_TYPE_LITERAL_TYPED, .data = is_true ? "true" : "false", .tag = QD_XSD_NAMESPACE "boolean" };
    ret_value->n_bytes = (uint32_t) strlen(ret_value->data);
    ret_value->n_tag_bytes = (uint32_t) strlen(ret_value->tag);
}
