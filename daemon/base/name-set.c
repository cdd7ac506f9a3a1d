/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An array of strings, with a hash table over it once it is long. Most sets are of one name, and one is made for each update.
 */
#include "daemon/base/name-set.h"

#include <string.h>

#define SCANNED_MAX 8

struct QdNameSet {
    char **names; /* (owned) each owned */
    guint n_names;
    guint n_allocated;
    GHashTable *index; /* (nullable) of the same strings */
    guint n_max;
    gboolean all;
};

QdNameSet *
qd_name_set_new(guint n_max)
{
    QdNameSet *self = g_new0(QdNameSet, 1);

    self->n_max = n_max;
    return self;
}

QdNameSet *
qd_name_set_free(QdNameSet *self)
{
    if (self == NULL)
        return NULL;

    qd_name_set_clear(self);
    g_free(self->names);
    g_free(self);
    return NULL;
}

static gboolean
is_listed(const QdNameSet *self, const char *name)
{
    if (self->index != NULL)
        return g_hash_table_contains(self->index, name);
    for (guint i = 0; i < self->n_names; i++)
        if (strcmp(self->names[i], name) == 0)
            return TRUE;
    return FALSE;
}

/* @name: (transfer full) */
static void
append(QdNameSet *self, char *name)
{
    if (self->n_names == self->n_allocated) {
        self->n_allocated = MAX(2 * self->n_allocated, 4);
        self->names = g_renew(char *, self->names, self->n_allocated);
    }
    self->names[self->n_names++] = name;
    if (self->index == NULL && self->n_names > SCANNED_MAX) {
        self->index = g_hash_table_new(g_str_hash, g_str_equal);
        for (guint i = 0; i < self->n_names; i++)
            g_hash_table_add(self->index, self->names[i]);
    } else if (self->index != NULL) {
        g_hash_table_add(self->index, name);
    }
}

void
qd_name_set_add(QdNameSet *self, const char *name, gsize n_bytes)
{
    g_autofree char *copy = self->all ? NULL : g_strndup(name, n_bytes);

    if (self->all || is_listed(self, copy))
        return;
    if (self->n_max > 0 && self->n_names >= self->n_max)
        qd_name_set_make_all(self);
    else
        append(self, g_steal_pointer(&copy));
}

void
qd_name_set_add_all(QdNameSet *self, const QdNameSet *other)
{
    if (other->all)
        qd_name_set_make_all(self);
    for (guint i = 0; i < other->n_names && !self->all; i++)
        if (!is_listed(self, other->names[i]))
            qd_name_set_add(self, other->names[i], strlen(other->names[i]));
}

void
qd_name_set_make_all(QdNameSet *self)
{
    qd_name_set_clear(self);
    self->all = TRUE;
}

void
qd_name_set_clear(QdNameSet *self)
{
    g_clear_pointer(&self->index, g_hash_table_unref);
    for (guint i = 0; i < self->n_names; i++)
        g_free(self->names[i]);
    self->n_names = 0;
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
    return !self->all && self->n_names == 0;
}

gboolean
qd_name_set_has(const QdNameSet *self, const char *name)
{
    return self->all || is_listed(self, name);
}

gboolean
qd_name_set_meets(const QdNameSet *self, const QdNameSet *other)
{
    const QdNameSet *small = self->n_names <= other->n_names ? self : other;
    const QdNameSet *large = small == self ? other : self;

    if (self->all || other->all)
        return !qd_name_set_is_empty(self) && !qd_name_set_is_empty(other);
    for (guint i = 0; i < small->n_names; i++)
        if (is_listed(large, small->names[i]))
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
    GPtrArray *names = g_ptr_array_sized_new(self->n_names + 1);

    for (guint i = 0; i < self->n_names; i++)
        g_ptr_array_add(names, self->names[i]);
    if (names->len > 1)
        g_ptr_array_sort(names, compare_names);
    return names;
}

gboolean
qd_names_have(const char *const *names, gsize n_names, const char *name)
{
    for (gsize i = 0; i < n_names; i++)
        if (g_ascii_strcasecmp(names[i], name) == 0)
            return TRUE;
    return FALSE;
}
