/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of both are matched by their keys. Then both are walked together. Where they differ, one row has moved: that which is
 * further from its other place. It is removed there and added here.
 */
#include "client-lib/list/query-list-diff.h"

#define NONE G_MAXUINT

typedef struct Diff {
    const char *key;
    const GPtrArray *old_rows, *new_rows;
    guint *old_of_new; /* index, or NONE */
    guint *new_of_old;
    GArray *steps;
} Diff;

/* A table of rows: index + 1 by row. GHashTable has no user data for its functions, so the hash is the key. */
static void
match(Diff *self)
{
    g_autoptr(GHashTable) by_hash = g_hash_table_new(NULL, NULL);
    g_autofree guint *next = g_new(guint, self->old_rows->len + 1); /* of equal hash */

    for (guint i = self->old_rows->len; i > 0; i--) {
        gpointer hash = GUINT_TO_POINTER(query_list_row_hash(self->old_rows->pdata[i - 1], self->key));

        next[i] = GPOINTER_TO_UINT(g_hash_table_lookup(by_hash, hash));
        (void) g_hash_table_insert(by_hash, hash, GUINT_TO_POINTER(i));
        self->new_of_old[i - 1] = NONE;
    }
    for (guint j = 0; j < self->new_rows->len; j++) {
        const QueryListRow *row = self->new_rows->pdata[j];
        guint i = GPOINTER_TO_UINT(g_hash_table_lookup(by_hash, GUINT_TO_POINTER(query_list_row_hash(row, self->key))));

        while (i > 0 && (self->new_of_old[i - 1] != NONE || !query_list_row_is_same(row, self->old_rows->pdata[i - 1], self->key)))
            i = next[i];
        self->old_of_new[j] = i > 0 ? i - 1 : NONE;
        if (i > 0)
            self->new_of_old[i - 1] = j;
    }
}

/* Adds to the last step when it ends where this one begins. */
static void
add_step(Diff *self, guint position, guint n_removed, guint n_added, guint new_index)
{
    QueryListStep *last = self->steps->len > 0 ? &g_array_index(self->steps, QueryListStep, self->steps->len - 1) : NULL;
    QueryListStep step = { .position = position, .n_removed = n_removed, .n_added = n_added, .new_index = new_index };

    if (last == NULL || last->position + last->n_added != position) {
        g_array_append_val(self->steps, step);
        return;
    }
    if (last->n_added == 0)
        last->new_index = new_index;
    last->n_removed += n_removed;
    last->n_added += n_added;
}

GArray *
query_list_diff(const GPtrArray *old_rows, const GPtrArray *new_rows, const char *key)
{
    g_autofree guint *old_of_new = g_new(guint, new_rows->len + 1);
    g_autofree guint *new_of_old = g_new(guint, old_rows->len + 1);
    Diff self = { .key = key, .old_rows = old_rows, .new_rows = new_rows, .old_of_new = old_of_new, .new_of_old = new_of_old };
    guint i = 0;
    guint j = 0;

    self.steps = g_array_new(FALSE, FALSE, sizeof(QueryListStep));
    match(&self);
    while (i < old_rows->len || j < new_rows->len) {
        gboolean goes = i < old_rows->len && new_of_old[i] == NONE;
        gboolean comes = j < new_rows->len && old_of_new[j] == NONE;

        if (!goes && !comes && new_of_old[i] == j) {
            i++;
            j++;
            continue;
        }
        if (!goes && !comes) { /* both are in the other part, in another order */
            goes = new_of_old[i] - j > old_of_new[j] - i;
            if (goes)
                old_of_new[new_of_old[i]] = NONE;
            else
                new_of_old[old_of_new[j]] = NONE;
        }
        add_step(&self, j, goes ? 1 : 0, goes ? 0 : 1, j);
        if (goes)
            i++;
        else
            j++;
    }
    return self.steps;
}
