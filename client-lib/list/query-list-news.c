/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Commits that changed rows which are in memory: these rows are read by their keys, and no other. The number of rows and their
 * order are then known without counting.
 *
 * Place: part of QueryListModel. query-list-refresh.c asks here first, and reads everything again if the answer is no.
 * Invariant: what is not known to be a change of single rows in memory is a change of anything. So is any change, once parts of
 * the list are of different generations.
 */
#include "client-lib/list/query-list-private.h"

/* More are read with everything else. */
#define MAX_KEYS 32u

/* A changed row. */
typedef struct NewsRow {
    GVariant *key;       /* a number or a text */
    gboolean is_made;    /* it was not there before, and is heard of for the first time */
    guint position;      /* G_MAXUINT: not in memory */
    QueryListRow *found; /* (nullable) as it is now */
} NewsRow;

static void
clear_row(gpointer data)
{
    NewsRow *self = data;

    g_variant_unref(self->key);
    query_list_row_unref(self->found);
}

/* What subscriptions say ------------------------------------------------------------------------------------------------- */

void
query_list_news_clear(QueryListModel *self)
{
    self->news.is_all = FALSE;
    g_clear_pointer(&self->news.rows, g_array_unref);
}

void
query_list_news_compare(QueryListModel *self, guint64 generation)
{
    if (generation != self->generation)
        self->news.is_all = TRUE;
}

static void
add_row(QueryListModel *self, const char *change, GVariant *values)
{
    g_autoptr(GVariant) boxed = g_variant_n_children(values) == 1 ? g_variant_get_child_value(values, 0) : NULL;
    NewsRow row = { .key = boxed != NULL ? g_variant_get_variant(boxed) : NULL, .is_made = g_str_equal(change, "insert") };
    gboolean is_simple = row.key != NULL && (g_variant_is_of_type(row.key, G_VARIANT_TYPE_INT64) ||
                                             g_variant_is_of_type(row.key, G_VARIANT_TYPE_STRING));

    if (self->news.rows == NULL) {
        self->news.rows = g_array_new(FALSE, FALSE, sizeof(NewsRow));
        g_array_set_clear_func(self->news.rows, clear_row);
    }
    for (guint i = 0; is_simple && i < self->news.rows->len; i++)
        if (g_variant_equal(g_array_index(self->news.rows, NewsRow, i).key, row.key)) {
            g_variant_unref(row.key);
            g_array_index(self->news.rows, NewsRow, i).is_made = FALSE; /* the list may have read it in between */
            return;
        }
    if (!is_simple || self->news.rows->len == MAX_KEYS) {
        self->news.is_all = TRUE;
        g_clear_pointer(&row.key, g_variant_unref);
        return;
    }
    g_array_append_val(self->news.rows, row);
}

static void
on_rows_changed(QuerySubscription *subscription, guint64 generation, GVariant *tables, gpointer user_data)
{
    QueryListModel *self = user_data;
    GVariantIter iter;
    GVariantIter *rows;
    GVariant *values;
    const char *change;
    gboolean is_all;
    char **columns;

    self->news.generation = generation;
    g_variant_iter_init(&iter, tables);
    while (g_variant_iter_next(&iter, "(&sb@as^a&sa(sav))", NULL, &is_all, NULL, &columns, &rows)) {
        gboolean has_key = !is_all && columns[0] != NULL && columns[1] == NULL && g_strcmp0(columns[0], self->query.key) == 0;

        self->news.is_all = self->news.is_all || !has_key;
        while (!self->news.is_all && g_variant_iter_next(rows, "(&s@av)", &change, &values)) {
            add_row(self, change, values);
            g_variant_unref(values);
        }
        g_variant_iter_free(rows);
        g_free(columns);
    }
}

static void
on_stale(QuerySubscription *subscription, guint64 generation, gpointer user_data)
{
    QueryListModel *self = user_data;

    self->news.is_all = self->news.is_all || self->news.generation != generation;
    if (self->state == QUERY_LIST_READY)
        query_list_want_news(self);
}

void
query_list_news_listen(QueryListModel *self)
{
    self->news.is_all = TRUE; /* until what is read is as new as the subscription */
    g_signal_connect_object(self->subscription, "rows-changed", G_CALLBACK(on_rows_changed), self, 0);
    g_signal_connect_object(self->subscription, "stale", G_CALLBACK(on_stale), self, 0);
}

/* Reading them ----------------------------------------------------------------------------------------------------------- */

static gboolean
has_key(const QueryListRow *row, guint column, GVariant *key)
{
    QwValue value;

    query_list_row_get(row, column, &value);
    if (g_variant_is_of_type(key, G_VARIANT_TYPE_INT64))
        return value.type == QW_TYPE_INTEGER && value.integer == g_variant_get_int64(key);
    return value.type == QW_TYPE_TEXT && g_str_equal(value.data, g_variant_get_string(key, NULL));
}

/* (nullable): that of @row, which is in column @column */
static NewsRow *
find_news(GArray *rows, const QueryListRow *row, guint column)
{
    for (guint i = 0; i < rows->len; i++)
        if (has_key(row, column, g_array_index(rows, NewsRow, i).key))
            return &g_array_index(rows, NewsRow, i);
    return NULL;
}

/* Where they are in memory. */
static void
locate(QueryListModel *self, GArray *rows)
{
    for (guint i = 0; i < rows->len; i++)
        g_array_index(rows, NewsRow, i).position = G_MAXUINT;
    for (guint w = 0; w < self->windows.windows->len; w++) {
        const QueryListWindow *window = self->windows.windows->pdata[w];

        for (guint i = 0; i < window->rows->len; i++) {
            const QueryListRow *row = window->rows->pdata[i];
            int column = row != NULL ? query_list_row_find_column(row, self->query.key) : -1;
            NewsRow *news = column >= 0 ? find_news(rows, row, (guint) column) : NULL;

            if (news != NULL)
                news->position = window->start + i;
        }
    }
}

static const QueryListRow *
get_row(QueryListModel *self, guint position)
{
    const QueryListWindow *window = query_list_windows_find(&self->windows, position);

    return window->rows->pdata[position - window->start];
}

/* Whether each of them stayed where it was, or went, or was made and is none of the list's. */
static gboolean
is_in_place(QueryListModel *self, GArray *rows)
{
    for (guint i = 0; i < rows->len; i++) {
        const NewsRow *row = &g_array_index(rows, NewsRow, i);
        gboolean is_here = row->position != G_MAXUINT;

        if (is_here == row->is_made || (row->found != NULL && row->is_made))
            return FALSE;
        if (row->found != NULL && !query_list_text_is_same_place(self->query.text, row->found, get_row(self, row->position)))
            return FALSE;
    }
    return TRUE;
}

/* FALSE: the list has another query now. */
static gboolean
apply(QueryListModel *self, GArray *rows)
{
    const guint n_items = self->n_items;
    const guint epoch = self->epoch;

    for (guint i = 0; i < rows->len; i++) {
        NewsRow *row = &g_array_index(rows, NewsRow, i);

        if (self->n_items != n_items)
            locate(self, rows); /* one has gone */
        if (row->position != G_MAXUINT && row->found != NULL)
            query_list_set_row(self, row->position, row->found);
        else if (row->position != G_MAXUINT)
            (void) query_list_edit(self, row->position, 1, 0, NULL);
        if (self->epoch != epoch)
            return FALSE;
    }
    if (self->n_items != n_items)
        query_list_sections_read(self);
    return TRUE;
}

static void
on_rows(QueryListResult *result, gpointer user_data)
{
    g_autoptr(QueryListJob) job = user_data;
    g_autoptr(QueryListModel) self = query_list_job_get_model(job, result);

    if (self == NULL)
        return;
    query_list_refresh_ended(self);
    if (result->error != NULL) {
        query_list_fail(self, result->error);
        return;
    }
    query_list_succeed(self);
    for (guint i = 0; i < result->rows->len; i++) {
        QueryListRow *row = result->rows->pdata[i];
        int column = query_list_row_find_column(row, self->query.key);
        NewsRow *news = column >= 0 ? find_news(job->news, row, (guint) column) : NULL;

        if (news != NULL && news->found == NULL)
            news->found = query_list_row_ref(row);
    }
    locate(self, job->news);
    if (!is_in_place(self, job->news)) {
        query_list_want_refresh(self);
        return;
    }
    if (!apply(self, job->news))
        return;
    query_list_note_generation(self, MAX(self->generation, job->generation));
    query_list_plan(self);
}

gboolean
query_list_begin_news(QueryListModel *self)
{
    g_autoptr(GArray) rows = g_steal_pointer(&self->news.rows);
    gboolean is_all = self->news.is_all;
    g_autoptr(GPtrArray) keys = g_ptr_array_new();
    g_auto(QueryListStatement) statement = { 0 };
    QueryListJob *job;

    self->news.is_all = FALSE;
    if (is_all || rows == NULL || !self->is_counted || !query_list_text_has_place(self->query.text))
        return FALSE;
    locate(self, rows);
    for (guint i = 0; i < rows->len; i++) {
        const NewsRow *row = &g_array_index(rows, NewsRow, i);

        if ((row->position != G_MAXUINT) == row->is_made)
            return FALSE;
        g_ptr_array_add(keys, row->key);
    }

    job = query_list_job_new(self);
    job->generation = self->news.generation;
    job->news = g_steal_pointer(&rows);
    query_list_text_make_keys(self->query.text, self->query.parameters, self->query.key, keys, &statement);
    query_list_fetch(self->connection, &statement, self->work.cancellable, on_rows, job);
    return TRUE;
}
