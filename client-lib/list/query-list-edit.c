/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Changes of a list, each with the signal that tells it.
 *
 * Place: part of QueryListModel, below what decides about changes.
 * Invariant: a held row has one position, and the row at a position is the held one.
 */
#include "client-lib/list/query-list-diff.h"
#include "client-lib/list/query-list-private.h"

void
query_list_set_loading(QueryListModel *self, gboolean is_loading)
{
    if (self->is_loading == is_loading)
        return;
    self->is_loading = is_loading;
    g_object_notify(G_OBJECT(self), "is-loading");
}

static void
on_row_gone(gpointer list, QueryRow *row)
{
    QueryListModel *self = list;

    (void) g_hash_table_remove(self->held, GUINT_TO_POINTER(query_row_get_position(row)));
}

QueryRow *
query_list_hold(QueryListModel *self, guint position)
{
    QueryRow *row = g_hash_table_lookup(self->held, GUINT_TO_POINTER(position));
    QueryListWindow *window = query_list_windows_find(&self->windows, position);
    QueryListRow *data = window != NULL ? window->rows->pdata[position - window->start] : NULL;

    if (window != NULL)
        window->used = ++self->windows.clock;
    if (row != NULL)
        return g_object_ref(row);

    row = query_row_new(self, on_row_gone, position, data);
    (void) g_hash_table_insert(self->held, GUINT_TO_POINTER(position), row);
    return row;
}

/* Rows that go are in no list, those after them have other positions. */
static void
move_held(QueryListModel *self, guint position, guint n_removed, guint n_added)
{
    g_autoptr(GHashTable) held = g_steal_pointer(&self->held);
    GHashTableIter iter;
    gpointer value;

    self->held = g_hash_table_new(NULL, NULL);
    g_hash_table_iter_init(&iter, held);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        guint at = query_row_get_position(value);

        if (at >= position && at - position < n_removed) {
            query_row_detach(value);
            continue;
        }
        if (at >= position)
            query_row_set_position(value, at = at - n_removed + n_added);
        (void) g_hash_table_insert(self->held, GUINT_TO_POINTER(at), value);
    }
}

gboolean
query_list_edit(QueryListModel *self, guint position, guint n_removed, guint n_added, QueryListRow *const *added)
{
    guint epoch = self->epoch;

    if (n_removed == 0 && n_added == 0)
        return TRUE;

    move_held(self, position, n_removed, n_added);
    query_list_windows_edit(&self->windows, position, n_removed, n_added, added);
    self->n_items = self->n_items - n_removed + n_added;
    if (self->work.last_asked >= position + n_removed)
        self->work.last_asked = self->work.last_asked - n_removed + n_added;
    g_list_model_items_changed(G_LIST_MODEL(self), position, n_removed, n_added);
    if (n_removed != n_added)
        g_object_notify(G_OBJECT(self), "n-items");
    return self->epoch == epoch;
}

/* Two signals: a model between this one and a view may look for a row that has gone among all those that come with it. */
gboolean
query_list_replace_all(QueryListModel *self, GPtrArray *rows, guint n_items)
{
    g_autoptr(GPtrArray) owned = rows;
    guint epoch = self->epoch;

    query_list_windows_clear(&self->windows);
    self->work.last_asked = 0;
    if (!query_list_edit(self, 0, self->n_items, 0, NULL))
        return FALSE;
    if (owned->len > 0)
        (void) query_list_windows_add(&self->windows, 0, g_steal_pointer(&owned));
    self->n_items = n_items;
    if (n_items > 0) {
        g_list_model_items_changed(G_LIST_MODEL(self), 0, 0, n_items);
        g_object_notify(G_OBJECT(self), "n-items");
    }
    return self->epoch == epoch;
}

/* Windows of which a row is held are needed. */
static void
shrink(QueryListModel *self, QueryListWindow *newest)
{
    GHashTableIter iter;
    gpointer value;

    if (self->windows.n_bytes <= QUERY_LIST_CACHE_BYTES)
        return;

    for (guint i = 0; i < self->windows.windows->len; i++)
        ((QueryListWindow *) self->windows.windows->pdata[i])->is_needed = self->windows.windows->pdata[i] == newest;
    g_hash_table_iter_init(&iter, self->held);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        QueryListWindow *window = query_list_windows_find(&self->windows, query_row_get_position(value));

        if (window != NULL)
            window->is_needed = TRUE;
    }
    query_list_windows_shrink(&self->windows, QUERY_LIST_CACHE_BYTES);
}

/* The held row at @position gets its values; FALSE when it is another row that was there. */
static gboolean
fill_in(QueryListModel *self, guint position, QueryListRow *data)
{
    QueryRow *held = g_hash_table_lookup(self->held, GUINT_TO_POINTER(position));
    g_autoptr(QueryRow) row = held != NULL ? g_object_ref(held) : NULL;
    const QueryListRow *before = row != NULL ? query_row_get_data(row) : NULL;

    if (row == NULL || data == NULL)
        return TRUE;
    if (before != NULL && !query_list_row_is_same(before, data, self->query.key))
        return FALSE;

    query_row_set_data(row, data);
    return TRUE;
}

void
query_list_set_row(QueryListModel *self, guint position, QueryListRow *row)
{
    QueryListWindow *window = query_list_windows_find(&self->windows, position);
    gpointer *place = &window->rows->pdata[position - window->start];
    QueryListRow *before = *place;

    *place = query_list_row_ref(row);
    query_list_row_unref(before);
    (void) fill_in(self, position, row);
}

/* Another row is at @position than the one that was held there. */
static void
replace_row(QueryListModel *self, guint position, QueryListRow *row)
{
    QueryListRow *const owned = query_list_row_ref(row);

    (void) query_list_edit(self, position, 1, 1, &owned);
    query_list_row_unref(owned);
}

gboolean
query_list_install(QueryListModel *self, guint start, GPtrArray *rows)
{
    const guint epoch = self->epoch;
    GPtrArray *window_rows = g_ptr_array_new_full(rows->len, query_list_row_unref);

    /* a window of its own: an edit may move its first row to the end of the window before it */
    for (guint i = 0; i < rows->len; i++)
        g_ptr_array_add(window_rows, rows->pdata[i] != NULL ? query_list_row_ref(rows->pdata[i]) : NULL);
    shrink(self, query_list_windows_add(&self->windows, start, window_rows));
    for (guint i = 0; i < rows->len && self->epoch == epoch; i++)
        if (!fill_in(self, start + i, rows->pdata[i]))
            replace_row(self, start + i, rows->pdata[i]);
    g_ptr_array_unref(rows);
    return self->epoch == epoch;
}

static gboolean
fill_in_all(QueryListModel *self, const GPtrArray *rows, guint start, guint epoch)
{
    for (guint i = 0; i < rows->len && self->epoch == epoch; i++)
        (void) fill_in(self, start + i, rows->pdata[i]);
    return self->epoch == epoch;
}

gboolean
query_list_become(QueryListModel *self, QueryListWindow *window, GPtrArray *rows)
{
    g_autoptr(GArray) steps = query_list_diff(window->rows, rows, self->query.key);
    const guint start = window->start;
    const guint epoch = self->epoch;
    QueryListWindow *last;

    for (guint i = 0; i < steps->len; i++) {
        const QueryListStep *step = &g_array_index(steps, QueryListStep, i);
        QueryListRow *const *added = (QueryListRow *const *) rows->pdata;

        if (!query_list_edit(self, start + step->position, step->n_removed, step->n_added,
                             step->n_added > 0 ? added + step->new_index : NULL))
            return FALSE;
    }
    /* rows that stayed have new values */
    last = query_list_windows_find(&self->windows, start);
    if (last == NULL || last->start != start || last->rows->len != rows->len)
        query_list_windows_clear(&self->windows);
    else
        for (guint i = 0; i < rows->len; i++) {
            query_list_row_unref(last->rows->pdata[i]);
            last->rows->pdata[i] = query_list_row_ref(rows->pdata[i]);
        }
    return fill_in_all(self, rows, start, epoch);
}

static gboolean
is_in_memory(QueryListModel *self, guint position)
{
    const QueryListWindow *window = query_list_windows_find(&self->windows, position);

    return window != NULL && window->rows->pdata[position - window->start] != NULL;
}

/* The held row that is in memory next to the one that was last asked for; G_MAXUINT: none. */
static guint
find_nearest(QueryListModel *self)
{
    const guint asked = self->work.last_asked;
    GHashTableIter iter;
    gpointer value;
    guint best = G_MAXUINT;
    guint best_distance = G_MAXUINT;

    g_hash_table_iter_init(&iter, self->held);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        guint at = query_row_get_position(value);
        guint distance = at > asked ? at - asked : asked - at;

        if (distance < best_distance && is_in_memory(self, at)) {
            best = at;
            best_distance = distance;
        }
    }
    return best;
}

gboolean
query_list_find_held_run(QueryListModel *self, guint *ret_first, guint *ret_last)
{
    guint at = find_nearest(self);

    if (at == G_MAXUINT)
        return FALSE;

    *ret_first = *ret_last = at;
    for (guint i = 1; i <= QUERY_LIST_WINDOW_ROWS && i <= at && is_in_memory(self, at - i); i++)
        if (g_hash_table_contains(self->held, GUINT_TO_POINTER(at - i)))
            *ret_first = at - i;
    for (guint i = 1; i <= QUERY_LIST_WINDOW_ROWS && is_in_memory(self, at + i); i++)
        if (g_hash_table_contains(self->held, GUINT_TO_POINTER(at + i)))
            *ret_last = at + i;
    return TRUE;
}
