/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A hash table of strings and a flag; once the flag is set the table is empty.
 */
#include "daemon/base/name-set.h"

#include <string.h>

struct QdNameSet {
    GHashTable *names; /* of char*, owned */
    guint n_max;
    gboolean all;
};

QdNameSet *
qd_name_set_new(guint n_max)
{
    QdNameSet *self = g_new0(QdNameSet, 1);

    self->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    self->n_max = n_max;
    return self;
}

QdNameSet *
qd_name_set_free(QdNameSet *self)
{
    if (self == NULL)
        return NULL;

    g_hash_table_unref(self->names);
    g_free(self);
    return NULL;
}

void
qd_name_set_add(QdNameSet *self, const char *name, gsize n_bytes)
{
    g_autofree char *copy = self->all ? NULL : g_strndup(name, n_bytes);

    if (self->all || g_hash_table_contains(self->names, copy))
        return;
    if (self->n_max > 0 && g_hash_table_size(self->names) >= self->n_max)
        qd_name_set_make_all(self);
    else
        g_hash_table_add(self->names, g_steal_pointer(&copy));
}

void
qd_name_set_add_all(QdNameSet *self, const QdNameSet *other)
{
    GHashTableIter iter;
    gpointer name;

    if (other->all)
        qd_name_set_make_all(self);
    g_hash_table_iter_init(&iter, other->names);
    while (!self->all && g_hash_table_iter_next(&iter, &name, NULL))
        qd_name_set_add(self, name, strlen(name));
}

void
qd_name_set_make_all(QdNameSet *self)
{
    g_hash_table_remove_all(self->names);
    self->all = TRUE;
}

void
qd_name_set_clear(QdNameSet *self)
{
    g_hash_table_remove_all(self->names);
    self->all = FALSE;
}

gboolean
qd_name_set_is_all(const QdNameSet *self)
{
    return self->all;
}

gboolean
qd_name_set_is_empty(const QdNameSet *self)
{
    return !self->all && g_hash_table_size(self->names) == 0;
}

gboolean
qd_name_set_has(const QdNameSet *self, const char *name)
{
    return self->all || g_hash_table_contains(self->names, name);
}

gboolean
qd_name_set_meets(const QdNameSet *self, const QdNameSet *other)
{
    const QdNameSet *small = g_hash_table_size(self->names) <= g_hash_table_size(other->names) ? self : other;
    const QdNameSet *large = small == self ? other : self;
    GHashTableIter iter;
    gpointer name;

    if (self->all || other->all)
        return !qd_name_set_is_empty(self) && !qd_name_set_is_empty(other);
    g_hash_table_iter_init(&iter, small->names);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        if (g_hash_table_contains(large->names, name))
            return TRUE;
    return FALSE;
}

static int
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *) a, *(char *const *) b);
}

GPtrArray *
qd_name_set_list(const QdNameSet *self)
{
    GPtrArray *names = g_ptr_array_new();
    GHashTableIter iter;
    gpointer name;

    g_hash_table_iter_init(&iter, self->names);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        g_ptr_array_add(names, name);
    g_ptr_array_sort(names, compare_names);
    return names;
}
