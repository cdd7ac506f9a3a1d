/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An array of windows, of which there are few.
 */
#include "client-lib/list/query-list-windows.h"

static void
window_free(gpointer data)
{
    QueryListWindow *window = data;

    g_ptr_array_unref(window->rows);
    g_free(window);
}

void
query_list_windows_init(QueryListWindows *self)
{
    self->windows = g_ptr_array_new_with_free_func(window_free);
}

void
query_list_windows_free(QueryListWindows *self)
{
    g_clear_pointer(&self->windows, g_ptr_array_unref);
}

void
query_list_windows_clear(QueryListWindows *self)
{
    g_ptr_array_set_size(self->windows, 0);
    self->n_bytes = 0;
}

/* The index of the first window that ends after @position. */
static guint
find_index(QueryListWindows *self, guint position)
{
    guint low = 0;
    guint high = self->windows->len;

    while (low < high) {
        guint middle = (low + high) / 2;

        if (query_list_window_get_end(self->windows->pdata[middle]) > position)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static QueryListWindow *
get_window(QueryListWindows *self, guint index)
{
    return index < self->windows->len ? self->windows->pdata[index] : NULL;
}

QueryListWindow *
query_list_windows_find(QueryListWindows *self, guint position)
{
    QueryListWindow *window = get_window(self, find_index(self, position));

    return window != NULL && window->start <= position ? window : NULL;
}

void
query_list_windows_get_gap(QueryListWindows *self, guint position, guint n_items, QueryListGap *ret_gap)
{
    guint index = find_index(self, position);

    ret_gap->after = get_window(self, index);
    ret_gap->before = index > 0 ? get_window(self, index - 1) : NULL;
    ret_gap->start = ret_gap->before != NULL ? query_list_window_get_end(ret_gap->before) : 0;
    ret_gap->end = ret_gap->after != NULL ? ret_gap->after->start : n_items;
}

static gsize
count_bytes(const GPtrArray *rows)
{
    gsize n_bytes = rows->len * sizeof(gpointer);

    for (guint i = 0; i < rows->len; i++)
        n_bytes += rows->pdata[i] != NULL ? query_list_row_get_n_bytes(rows->pdata[i]) : 0;
    return n_bytes;
}

static void
weigh(QueryListWindows *self, QueryListWindow *window)
{
    self->n_bytes -= window->n_bytes;
    window->n_bytes = count_bytes(window->rows);
    self->n_bytes += window->n_bytes;
}

QueryListWindow *
query_list_windows_add(QueryListWindows *self, guint start, GPtrArray *rows)
{
    QueryListWindow *window = g_new0(QueryListWindow, 1);

    window->start = start;
    window->rows = rows;
    window->used = ++self->clock;
    weigh(self, window);
    g_ptr_array_insert(self->windows, (int) find_index(self, start), window);
    return window;
}

QueryListWindow *
query_list_windows_keep(QueryListWindows *self, guint start, guint end)
{
    GPtrArray *rows = g_ptr_array_new_with_free_func(query_list_row_unref);

    for (guint i = find_index(self, start); i < self->windows->len; i++) {
        const QueryListWindow *window = self->windows->pdata[i];

        for (guint j = MAX(start, window->start); j < MIN(end, query_list_window_get_end(window)); j++) {
            QueryListRow *row = window->rows->pdata[j - window->start];

            g_ptr_array_add(rows, row != NULL ? query_list_row_ref(row) : NULL);
        }
    }
    query_list_windows_clear(self);
    return query_list_windows_add(self, start, rows);
}

static void
drop(QueryListWindows *self, guint index)
{
    self->n_bytes -= ((QueryListWindow *) self->windows->pdata[index])->n_bytes;
    (void) g_ptr_array_remove_index(self->windows, index);
}

/* Returns: whether the rows that have come are in @window now */
static gboolean
insert_rows(QueryListWindow *window, guint position, guint n_added, QueryListRow *const *added)
{
    if (added == NULL || position < window->start || position > query_list_window_get_end(window))
        return FALSE;

    for (guint i = 0; i < n_added; i++)
        g_ptr_array_insert(window->rows, (int) (position - window->start + i), query_list_row_ref(added[i]));
    return TRUE;
}

/* Returns: as insert_rows() */
static gboolean
edit_window(QueryListWindow *window, guint position, guint n_removed, guint n_added, QueryListRow *const *added)
{
    guint from = MAX(position, window->start);
    guint to = MIN(position + n_removed, query_list_window_get_end(window));
    gboolean was_before = window->start < position;
    gboolean has_come;

    if (from < to)
        g_ptr_array_remove_range(window->rows, from - window->start, to - from);
    if (!was_before)
        window->start = MAX(window->start, position + n_removed) - n_removed;
    has_come = insert_rows(window, position, n_added, added);
    if (!was_before && !has_come)
        window->start += n_added;
    else if (!has_come && n_added > 0 && position < query_list_window_get_end(window))
        g_ptr_array_set_size(window->rows, (int) (position - window->start)); /* the rest has another place; it is read again */
    return has_come;
}

void
query_list_windows_edit(QueryListWindows *self, guint position, guint n_removed, guint n_added, QueryListRow *const *added)
{
    for (guint i = 0; i < self->windows->len; i++) {
        QueryListWindow *window = self->windows->pdata[i];

        if (edit_window(window, position, n_removed, n_added, added))
            added = NULL;
        weigh(self, window);
    }
    for (guint i = self->windows->len; i > 0; i--)
        if (((QueryListWindow *) self->windows->pdata[i - 1])->rows->len == 0)
            drop(self, i - 1);
}

void
query_list_windows_shrink(QueryListWindows *self, gsize n_bytes)
{
    while (self->n_bytes > n_bytes) {
        guint oldest = G_MAXUINT;

        for (guint i = 0; i < self->windows->len; i++) {
            const QueryListWindow *window = self->windows->pdata[i];

            if (!window->is_needed &&
                (oldest == G_MAXUINT || window->used < ((QueryListWindow *) self->windows->pdata[oldest])->used))
                oldest = i;
        }
        if (oldest == G_MAXUINT)
            return;
        drop(self, oldest);
    }
}
