/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Its rows are those that it was given by position, and moves by signals.
 */
#include "tests/e2e-client/list-view.h"

static void
on_values(GObject *row, GParamSpec *spec, View *view)
{
    view->n_filled++;
}

static void
watch_row(View *view, QueryRow *row)
{
    g_signal_connect(row, "notify::values", G_CALLBACK(on_values), view);
}

static void
unwatch(gpointer row)
{
    g_signal_handlers_disconnect_matched(row, G_SIGNAL_MATCH_FUNC, 0, 0, NULL, on_values, NULL);
    g_object_unref(row);
}

/* Rows that come between or beside held ones are held, too. */
static void
on_items_changed(GListModel *model, guint position, guint n_removed, guint n_added, View *view)
{
    guint end = view->first + view->rows->len;

    view->n_signals++;
    view->n_removed += n_removed;
    view->n_added += n_added;
    g_assert_cmpuint(position + n_removed, <=, view->n_items);
    view->n_items += n_added - n_removed;
    g_assert_cmpuint(g_list_model_get_n_items(model), ==, view->n_items);

    if (position >= end && !(position == end && position < view->first + view->rows->len))
        return;
    for (guint i = 0; i < n_removed; i++)
        if (position + i >= view->first && position + i < end)
            g_ptr_array_remove_index(view->rows, MAX(position, view->first) - view->first);
    if (position < view->first)
        view->first = MAX(view->first, position + n_removed) - n_removed + n_added;
    else
        for (guint i = 0; i < n_added; i++) {
            QueryRow *row = g_list_model_get_item(model, position + i);

            watch_row(view, row);
            g_ptr_array_insert(view->rows, (int) (position - view->first + i), row);
        }
}

void
view_init(View *view, QueryListModel *list)
{
    *view = (View){ .list = list, .rows = g_ptr_array_new_with_free_func(unwatch) };
    view->n_items = g_list_model_get_n_items(G_LIST_MODEL(list));
    g_signal_connect(list, "items-changed", G_CALLBACK(on_items_changed), view);
}

void
view_show(View *view, guint first, guint n_rows)
{
    g_autoptr(GPtrArray) old = view->rows;

    view->rows = g_ptr_array_new_with_free_func(unwatch);
    view->first = first;
    for (guint i = 0; i < n_rows && first + i < view->n_items; i++) {
        QueryRow *row = g_list_model_get_item(G_LIST_MODEL(view->list), first + i);

        watch_row(view, row);
        g_ptr_array_add(view->rows, row);
    }
}

void
view_clear(View *view)
{
    g_signal_handlers_disconnect_by_data(view->list, view);
    g_ptr_array_unref(view->rows);
}

void
view_forget_counts(View *view)
{
    view->n_signals = view->n_removed = view->n_added = view->n_filled = 0;
}

static gboolean
give_up(gpointer user_data)
{
    g_error("nothing came for 20 s");
    return G_SOURCE_REMOVE;
}

static gboolean
is_all_loaded(const View *view)
{
    for (guint i = 0; i < view->rows->len; i++)
        if (!query_row_is_loaded(view->rows->pdata[i]))
            return FALSE;
    return TRUE;
}

/* Until the list has what was committed up to @generation, and all that the view holds. */
void
view_settle(View *view, guint64 generation)
{
    guint timer = g_timeout_add_seconds(20, give_up, NULL);

    while (query_list_model_get_generation(view->list) < generation || query_list_model_is_loading(view->list) ||
           !is_all_loaded(view))
        g_main_context_iteration(NULL, TRUE);
    (void) g_source_remove(timer);
}

void
view_wait_loaded(View *view)
{
    view_settle(view, 1);
}

/* The rows of the view are those of @text at these positions. */
void
view_check(View *view, QueryConnection *connection, QueryLanguage language, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = query_connection_query(connection, language, text, NULL, NULL, &error);
    guint n = 0;

    g_assert_no_error(error);
    for (; query_cursor_next(cursor, NULL, &error); n++) {
        QueryRow *row = n >= view->first && n < view->first + view->rows->len ? view->rows->pdata[n - view->first] : NULL;
        g_autoptr(QueryRow) again = NULL;

        if (row == NULL)
            continue;
        again = g_list_model_get_item(G_LIST_MODEL(view->list), n);
        g_assert_true(again == row);
        g_assert_cmpuint(query_row_get_position(row), ==, n);
        for (guint i = 0; i < query_cursor_get_n_columns(cursor); i++) {
            g_autofree char *found = query_row_dup_text(row, query_cursor_get_column_name(cursor, i));
            const char *expected = query_cursor_get_string(cursor, i, NULL);

            if (g_strcmp0(found, expected != NULL ? expected : "") != 0)
                g_test_message("row %u of the %u from %u of %u, column %u", n, view->rows->len, view->first, view->n_items, i);
            g_assert_cmpstr(found, ==, expected != NULL ? expected : "");
        }
    }
    g_assert_no_error(error);
    g_assert_cmpuint(view->n_items, ==, n);
}
