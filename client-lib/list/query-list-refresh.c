/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * After commits one statement reads the rows that the application holds, the number of all rows, and of those before. So all is
 * of one snapshot. What has changed becomes the smallest signals that are true for these rows.
 *
 * Place: part of QueryListModel.
 * Invariant: rows outside of the part that was read again are forgotten, but not those that are held: these are read again next.
 */
#include "client-lib/list/query-list-private.h"

/* A refresh comes at the earliest so many times its own length after the one before. */
#define PAUSES 4

static void
begin(QueryListModel *self)
{
    self->work.is_reading = TRUE;
    self->work.wants_refresh = FALSE;
    self->work.began_usec = g_get_monotonic_time();
}

void
query_list_refresh_ended(QueryListModel *self)
{
    gint64 now_usec = g_get_monotonic_time();

    self->work.is_reading = FALSE;
    self->work.not_before_usec = now_usec + PAUSES * (now_usec - self->work.began_usec);
}

/* The number of rows in or beside a result. */
static guint
get_number(const QueryListRow *row, guint column)
{
    QwValue value;

    query_list_row_get(row, column, &value);
    if (value.type == QW_TYPE_LITERAL_TYPED)
        return (guint) MIN(g_ascii_strtoull(value.data, NULL, 10), G_MAXINT);
    return value.type == QW_TYPE_INTEGER ? (guint) CLAMP(value.integer, 0, G_MAXINT) : 0;
}

/* The rows of a span are @window now; @start is where they begin, and @n_items how many there are. */
static gboolean
apply(QueryListModel *self, QueryListWindow *window, guint start, GPtrArray *rows, guint n_items)
{
    guint n_rows = rows->len;
    guint after;

    /* where before it they have come is not known; not beside it, where they would be seen */
    if (start > window->start && !query_list_edit(self, MAX(window->start, 1) - 1, 0, start - window->start, NULL))
        return FALSE;
    if (start < window->start && !query_list_edit(self, start, window->start - start, 0, NULL))
        return FALSE;
    if (!query_list_become(self, window, rows))
        return FALSE;

    after = start + n_rows;
    if (n_items > self->n_items)
        return query_list_edit(self, after, 0, n_items - self->n_items, NULL);
    return query_list_edit(self, MIN(after, n_items), self->n_items - n_items, 0, NULL);
}

/* What an extra column of a span says in @row. */
static guint
get_extra(const QueryListRow *row, guint column)
{
    return get_number(row, query_list_row_get_n_columns(row) + column);
}

/* Leaves the rows of the span in a result of query_list_text_make_span(). */
static void
cut_rows(GPtrArray *rows)
{
    QwValue value;
    guint n = 0;

    for (; n < rows->len; n++) {
        query_list_row_get(rows->pdata[n], query_list_row_get_n_columns(rows->pdata[n]) + QUERY_LIST_IS_AFTER, &value);
        if (value.type != QW_TYPE_INTEGER || value.integer != 0)
            break;
    }
    g_ptr_array_set_size(rows, (int) n);
}

static void
on_span(QueryListResult *result, gpointer user_data)
{
    g_autoptr(QueryListJob) job = user_data;
    g_autoptr(QueryListModel) self = query_list_job_get_model(job, result);
    QueryListWindow *window;
    gboolean had_null;
    guint n_items;
    guint start;

    if (self == NULL)
        return;
    query_list_refresh_ended(self);
    if (result->error != NULL || result->rows->len == 0) {
        if (result->error != NULL)
            query_list_fail(self, result->error);
        return;
    }

    query_list_succeed(self);
    n_items = get_extra(result->rows->pdata[0], QUERY_LIST_N_ROWS);
    had_null = self->query.has_null;
    self->query.has_null = get_extra(result->rows->pdata[0], QUERY_LIST_HAS_NULL) != 0;
    if (self->query.has_null && !had_null) { /* rows cannot be found by others any more */
        query_list_want_refresh(self);
        return;
    }
    start = job->start;
    if (job->is_span) {
        guint n_beside = get_extra(result->rows->pdata[0], QUERY_LIST_N_BESIDE);

        start = job->counts_before ? n_beside : n_items - MIN(n_beside, n_items);
    }
    cut_rows(result->rows);
    window = query_list_windows_find(&self->windows, job->start);
    self->is_counted = TRUE;
    if (window == NULL || !apply(self, window, start, result->rows, n_items))
        return;
    query_list_note_generation(self, result->generation);
    query_list_sections_read(self);
    query_list_plan(self);
}

/* What is held and in memory becomes one window, [start, end); the rest is forgotten. */
static void
read_span(QueryListModel *self, guint first, guint last)
{
    QueryListWindow *window = query_list_windows_keep(&self->windows, first, last + 1);
    gboolean can_seek = query_list_text_can_seek(self->query.text) && !self->query.has_null;
    gboolean reaches_end = last + 1 == self->n_items;
    QueryListSpan span = { .n_skipped = first, .n_rows = window->rows->len + QUERY_LIST_WINDOW_ROWS };
    g_auto(QueryListStatement) statement = { 0 };
    QueryListJob *job = query_list_job_new(self);
    const QueryListRow *first_row = window->rows->pdata[0];
    const QueryListRow *last_row = window->rows->pdata[window->rows->len - 1];

    can_seek = can_seek && query_list_text_is_anchor(self->query.text, first_row) &&
               query_list_text_is_anchor(self->query.text, last_row);
    if (can_seek && first > 0) {
        span.first = first_row;
        span.n_skipped = 0;
        span.counts_before = first < self->n_items / 2;
    }
    if (can_seek && !reaches_end)
        span.last = last_row;
    if (!can_seek && !reaches_end)
        span.n_rows = window->rows->len;
    job->start = first;
    job->end = last + 1;
    job->is_span = span.first != NULL;
    job->counts_before = span.counts_before;
    query_list_text_make_span(self->query.text, self->query.parameters, &span, &statement);
    query_list_fetch(self->connection, &statement, self->work.cancellable, on_span, job);
}

/* In two steps, in SPARQL: the number, then the rows, until both are of one generation. --------------------------------------- */

#define MAX_TRIES 3u

static void begin_two_steps(QueryListModel *self, QueryListJob *job);

static void
on_second_step(QueryListResult *result, gpointer user_data)
{
    g_autoptr(QueryListJob) job = user_data;
    g_autoptr(QueryListModel) self = query_list_job_get_model(job, result);
    QueryListWindow *window;

    if (self == NULL)
        return;
    if (result->error != NULL) {
        query_list_refresh_ended(self);
        query_list_fail(self, result->error);
        return;
    }
    if (result->generation != job->generation && ++job->n_tries < MAX_TRIES) {
        begin_two_steps(self, g_steal_pointer(&job));
        return;
    }

    query_list_refresh_ended(self);
    query_list_succeed(self);
    self->is_counted = TRUE;
    window = query_list_windows_find(&self->windows, job->start);
    if (window == NULL || !apply(self, window, job->start, result->rows, MAX(job->n_known, job->start + result->rows->len)))
        return;
    query_list_note_generation(self, MIN(result->generation, job->generation));
    query_list_sections_read(self);
    query_list_plan(self);
}

static void
on_number(QueryListResult *result, gpointer user_data)
{
    g_autoptr(QueryListJob) job = user_data;
    g_autoptr(QueryListModel) self = query_list_job_get_model(job, result);
    g_auto(QueryListStatement) statement = { 0 };
    QueryListPlace place;

    if (self == NULL)
        return;
    if (result->error != NULL || result->rows->len == 0) {
        query_list_refresh_ended(self);
        if (result->error != NULL)
            query_list_fail(self, result->error);
        return;
    }
    job->n_known = get_number(result->rows->pdata[0], 0);
    job->generation = result->generation;
    if (job->end > job->start) {
        place = (QueryListPlace){ .n_skipped = job->start, .n_rows = job->end - job->start };
        query_list_text_make_window(self->query.text, self->query.parameters, &place, &statement);
        query_list_fetch(self->connection, &statement, self->work.cancellable, on_second_step, g_steal_pointer(&job));
        return;
    }

    /* no row is held: only the number counts */
    query_list_refresh_ended(self);
    query_list_succeed(self);
    self->is_counted = TRUE;
    if (query_list_row_get_n_columns(result->rows->pdata[0]) == 2)
        self->query.has_null = get_number(result->rows->pdata[0], 1) != 0;
    query_list_windows_clear(&self->windows);
    if (!query_list_edit(self, MIN(self->n_items, job->n_known), self->n_items - MIN(self->n_items, job->n_known),
                         job->n_known - MIN(self->n_items, job->n_known), NULL))
        return;
    query_list_note_generation(self, result->generation);
    query_list_sections_read(self);
    query_list_plan(self);
}

/* @job: (transfer full) */
static void
begin_two_steps(QueryListModel *self, QueryListJob *job)
{
    g_auto(QueryListStatement) statement = { 0 };

    query_list_text_make_count(self->query.text, self->query.parameters, &statement);
    query_list_fetch(self->connection, &statement, self->work.cancellable, on_number, job);
}

void
query_list_begin_refresh(QueryListModel *self)
{
    QueryListJob *job;
    guint first = 0;
    guint last = 0;

    begin(self);
    if (query_list_begin_news(self))
        return;
    if (query_list_find_held_run(self, &first, &last) && query_list_text_get_language(self->query.text) == QUERY_LANGUAGE_SQL) {
        read_span(self, first, last);
        return;
    }

    job = query_list_job_new(self);
    if (g_hash_table_size(self->held) > 0 && last >= first && query_list_windows_find(&self->windows, first) != NULL) {
        (void) query_list_windows_keep(&self->windows, first, last + 1);
        job->start = first;
        job->end = last + 1 == self->n_items ? last + 1 + QUERY_LIST_WINDOW_ROWS : last + 1;
    }
    begin_two_steps(self, job);
}
