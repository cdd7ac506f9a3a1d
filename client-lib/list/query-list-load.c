/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is read, and when: the first rows, then the number of all. Then come windows with rows that the application holds, and at
 * last windows beside the row last asked for.
 *
 * Place: part of QueryListModel. It decides once for each turn of the main loop. So a view may ask for many rows, and drop
 * most of them, before anything is read.
 * Invariant: at most one window or refresh is under way.
 */
#include "client-lib/list/query-list-private.h"

/* How far beside what was last asked for rows are read ahead: on the side towards which the application moves, and on the other. */
#define AHEAD_ROWS (4 * QUERY_LIST_WINDOW_ROWS)
#define BEHIND_ROWS QUERY_LIST_WINDOW_ROWS
/* More than a screen shows. A view makes widgets for all rows that it is given before it paints the first, GTK's for up to 205. */
#define FIRST_ROWS 64u
/* What a view has for painting these: longer than a frame. */
#define PAINT_MSEC 25u
#define RETRY_MSEC 1000u
#define MAX_RETRIES 5u

/* Jobs -------------------------------------------------------------------------------------------------------------------- */

QueryListJob *
query_list_job_new(QueryListModel *self)
{
    QueryListJob *job = g_new0(QueryListJob, 1);

    g_weak_ref_init(&job->model, self);
    job->epoch = self->epoch;
    return job;
}

void
query_list_job_free(QueryListJob *job)
{
    g_weak_ref_clear(&job->model);
    g_clear_pointer(&job->news, g_array_unref);
    g_free(job);
}

QueryListModel *
query_list_job_get_model(QueryListJob *job, const QueryListResult *result)
{
    g_autoptr(QueryListModel) self = g_weak_ref_get(&job->model);

    return self != NULL && self->epoch == job->epoch ? g_steal_pointer(&self) : NULL;
}

/* State ------------------------------------------------------------------------------------------------------------------- */

/* A held row that is in no window, next to what was last asked for. G_MAXUINT: none */
static guint
find_missing(QueryListModel *self)
{
    GHashTableIter iter;
    gpointer value;
    guint best = G_MAXUINT;
    guint best_distance = G_MAXUINT;

    g_hash_table_iter_init(&iter, self->held);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        guint at = query_row_get_position(value);
        guint distance = at > self->work.last_asked ? at - self->work.last_asked : self->work.last_asked - at;

        if (distance < best_distance && query_list_windows_find(&self->windows, at) == NULL) {
            best = at;
            best_distance = distance;
        }
    }
    return best;
}

void
query_list_note_generation(QueryListModel *self, guint64 generation)
{
    query_list_set_loading(self, self->work.is_counting || !self->is_counted || find_missing(self) != G_MAXUINT);
    if (self->generation != generation) {
        self->generation = generation;
        g_object_notify(G_OBJECT(self), "generation");
    }
    if (self->subscription == NULL)
        return;
    query_subscription_set_generation(self->subscription, generation);
    if (query_subscription_is_stale(self->subscription))
        query_list_want_news(self);
    else
        query_list_news_clear(self);
}

static gboolean
may_pass(const GError *error)
{
    return error->domain == QUERY_ERROR &&
           (error->code == QUERY_ERROR_BUSY || error->code == QUERY_ERROR_DISCONNECTED || error->code == QUERY_ERROR_UNAVAILABLE ||
            error->code == QUERY_ERROR_RECOVERING || error->code == QUERY_ERROR_TIMEOUT || error->code == QUERY_ERROR_CLOSED);
}

/* @ret_source: (inout): NULL, and then the source until it is dropped */
static void
attach(QueryListModel *self, GSource *source, GSourceFunc function, GSource **ret_source)
{
    g_autoptr(GMainContext) context = g_main_context_ref_thread_default();

    g_source_set_callback(source, function, self, NULL);
    (void) g_source_attach(source, context);
    *ret_source = source;
}

static void
drop_source(GSource **source)
{
    if (*source != NULL)
        g_source_destroy(*source);
    g_clear_pointer(source, g_source_unref);
}

static gboolean
on_timer(gpointer user_data)
{
    QueryListModel *self = user_data;

    drop_source(&self->work.timer);
    query_list_plan(self);
    return G_SOURCE_REMOVE;
}

static void
wait_until(QueryListModel *self, gint64 when_usec)
{
    gint64 msec = MAX((when_usec - g_get_monotonic_time()) / 1000, 0) + 1;

    if (self->work.timer == NULL)
        attach(self, g_timeout_source_new((guint) MIN(msec, 60 * 1000)), on_timer, &self->work.timer);
}

void
query_list_fail(QueryListModel *self, const GError *error)
{
    if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        return;

    g_clear_error(&self->error);
    self->error = g_error_copy(error);
    self->work.n_failures++;
    self->news.is_all = TRUE;
    if (may_pass(error) && self->work.n_failures <= MAX_RETRIES) {
        self->work.wants_refresh = self->state == QUERY_LIST_READY;
        self->work.not_before_usec = g_get_monotonic_time() + (gint64) RETRY_MSEC * 1000;
        wait_until(self, self->work.not_before_usec);
    }
    g_object_notify(G_OBJECT(self), "error");
    query_list_set_loading(self, FALSE);
}

void
query_list_succeed(QueryListModel *self)
{
    self->work.n_failures = 0;
    if (self->error == NULL)
        return;
    g_clear_error(&self->error);
    g_object_notify(G_OBJECT(self), "error");
}

void
query_list_want_refresh(QueryListModel *self)
{
    self->news.is_all = TRUE;
    query_list_want_news(self);
}

void
query_list_want_news(QueryListModel *self)
{
    self->work.wants_refresh = TRUE;
    self->work.n_failures = 0;
    self->query.is_short = FALSE;
    query_list_plan(self);
}

/* Opening ----------------------------------------------------------------------------------------------------------------- */

static void
on_count(QueryListResult *result, gpointer user_data)
{
    g_autoptr(QueryListJob) job = user_data;
    g_autoptr(QueryListModel) self = query_list_job_get_model(job, result);
    QwValue value = { .type = QW_TYPE_NULL };
    guint n_items;

    if (self == NULL)
        return;
    self->work.is_counting = FALSE;
    if (result->error != NULL) {
        query_list_fail(self, result->error);
        return;
    }
    query_list_news_compare(self, result->generation);
    if (result->rows->len == 1 && query_list_row_get_n_columns(result->rows->pdata[0]) == 2) {
        query_list_row_get(result->rows->pdata[0], 1, &value);
        self->query.has_null = value.type != QW_TYPE_INTEGER || value.integer != 0;
    }
    if (result->rows->len == 1)
        query_list_row_get(result->rows->pdata[0], 0, &value);
    /* in SPARQL it is a literal */
    n_items = value.type == QW_TYPE_INTEGER         ? (guint) CLAMP(value.integer, 0, G_MAXINT)
              : value.type == QW_TYPE_LITERAL_TYPED ? (guint) g_ascii_strtoull(value.data, NULL, 10)
                                                    : 0;
    self->is_counted = TRUE;
    if (n_items < self->n_items)
        query_list_want_refresh(self); /* it was another snapshot */
    else if (!query_list_edit(self, self->n_items, 0, n_items - self->n_items, NULL))
        return;
    query_list_plan(self);
}

static void
begin_count(QueryListModel *self)
{
    g_auto(QueryListStatement) statement = { 0 };

    self->work.is_counting = TRUE;
    query_list_text_make_count(self->query.text, self->query.parameters, &statement);
    query_list_fetch(self->connection, &statement, self->work.cancellable, on_count, query_list_job_new(self));
}

/* The rest of the first rows, and what comes after them. */
static gboolean
on_painted(gpointer user_data)
{
    g_autoptr(QueryListModel) self = g_object_ref(user_data);
    g_autoptr(GPtrArray) rest = g_steal_pointer(&self->work.rest);

    drop_source(&self->work.paint);
    if (!query_list_edit(self, self->n_items, 0, rest->len, (QueryListRow *const *) rest->pdata))
        return G_SOURCE_REMOVE;
    self->is_counted = self->n_items < QUERY_LIST_WINDOW_ROWS;
    self->work.is_counting = FALSE;
    if (!self->is_counted)
        begin_count(self);
    query_list_plan(self);
    return G_SOURCE_REMOVE;
}

/* @rows: without those that are kept for later */
static void
set_rest_aside(QueryListModel *self, GPtrArray *rows)
{
    GSource *source = g_timeout_source_new(PAINT_MSEC);

    self->work.is_counting = TRUE;
    self->work.rest = g_ptr_array_new_with_free_func(query_list_row_unref);
    for (guint i = FIRST_ROWS; i < rows->len; i++)
        g_ptr_array_add(self->work.rest, query_list_row_ref(rows->pdata[i]));
    g_ptr_array_set_size(rows, (int) FIRST_ROWS);
    g_source_set_priority(source, G_PRIORITY_DEFAULT_IDLE); /* below that of a view's frames */
    attach(self, source, on_painted, &self->work.paint);
}

static void
on_first_rows(QueryListResult *result, gpointer user_data)
{
    g_autoptr(QueryListJob) job = user_data;
    g_autoptr(QueryListModel) self = query_list_job_get_model(job, result);
    GPtrArray *rows;

    if (self == NULL)
        return;
    self->work.is_reading = FALSE;
    if (result->error != NULL) {
        self->state = may_pass(result->error) ? QUERY_LIST_OPENING : QUERY_LIST_EMPTY;
        if (query_list_replace_all(self, g_ptr_array_new(), 0))
            query_list_fail(self, result->error);
        return;
    }

    rows = g_steal_pointer(&result->rows);
    self->state = QUERY_LIST_READY;
    self->is_counted = rows->len <= FIRST_ROWS;
    query_list_sections_clear(self);
    query_list_succeed(self);
    if (!self->is_counted)
        set_rest_aside(self, rows);
    if (!query_list_replace_all(self, rows, rows->len))
        return;
    query_list_note_generation(self, result->generation);
    query_list_plan(self);
}

static void
read_first_rows(QueryListModel *self)
{
    const QueryListPlace place = { .n_rows = QUERY_LIST_WINDOW_ROWS };
    g_auto(QueryListStatement) statement = { 0 };

    self->work.is_reading = TRUE;
    query_list_text_make_window(self->query.text, self->query.parameters, &place, &statement);
    query_list_fetch(self->connection, &statement, self->work.cancellable, on_first_rows, query_list_job_new(self));
}

void
query_list_stop(QueryListModel *self)
{
    if (self->work.cancellable != NULL)
        g_cancellable_cancel(self->work.cancellable);
    g_clear_object(&self->work.cancellable);
    drop_source(&self->work.idle);
    drop_source(&self->work.timer);
    drop_source(&self->work.paint);
    g_clear_pointer(&self->work.rest, g_ptr_array_unref);
    self->work = (QueryListWork){ 0 };
    self->sections.is_reading = FALSE;
    self->epoch++;
}

/* Live -------------------------------------------------------------------------------------------------------------------- */

static void
on_subscribed(GObject *object, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(QueryListJob) job = user_data;
    g_autoptr(QuerySubscription) subscription = query_connection_subscribe_finish(QUERY_CONNECTION(object), result, NULL);
    g_autoptr(QueryListModel) self = g_weak_ref_get(&job->model);

    if (self == NULL || subscription == NULL || self->subscribed_epoch != job->epoch)
        return; /* a direct connection has none; the reading of rows finds errors of the statement */

    self->subscription = g_steal_pointer(&subscription);
    query_list_news_listen(self);
    if (self->state == QUERY_LIST_READY)
        query_list_note_generation(self, self->generation);
}

/* Another order reads the same tables. */
static void
subscribe(QueryListModel *self)
{
    QueryListJob *job = query_list_job_new(self);

    self->subscribed_epoch = self->epoch;
    if (self->query.language == QUERY_LANGUAGE_SQL)
        query_connection_subscribe_with_keys_async(self->connection, self->query.statement, NULL, on_subscribed, job);
    else
        query_connection_subscribe_async(self->connection, self->query.language, self->query.statement, NULL, on_subscribed, job);
}

void
query_list_open(QueryListModel *self)
{
    query_list_stop(self);
    self->news.is_all = TRUE;
    g_clear_pointer(&self->query.text, query_list_text_free);
    self->query.has_null = TRUE;
    self->query.is_short = FALSE;
    if (self->connection == NULL || self->query.statement == NULL) {
        self->state = QUERY_LIST_EMPTY;
        self->is_counted = TRUE;
        query_list_sections_clear(self);
        query_list_succeed(self);
        if (query_list_replace_all(self, g_ptr_array_new(), 0))
            query_list_set_loading(self, FALSE);
        return;
    }

    self->work.cancellable = g_cancellable_new();
    self->query.text = query_list_text_new(self->query.language, self->query.statement, (const char *const *) self->query.order,
                                           self->query.key);
    self->state = QUERY_LIST_OPENING;
    read_first_rows(self);
    if (self->subscription == NULL)
        subscribe(self);
    query_list_set_loading(self, TRUE);
}

/* Windows ----------------------------------------------------------------------------------------------------------------- */

static void
on_window(QueryListResult *result, gpointer user_data)
{
    g_autoptr(QueryListJob) job = user_data;
    g_autoptr(QueryListModel) self = query_list_job_get_model(job, result);
    GPtrArray *rows;
    guint n_rows = job->end - job->start;

    if (self == NULL)
        return;
    self->work.is_reading = FALSE;
    if (result->error != NULL) {
        query_list_fail(self, result->error);
        return;
    }

    query_list_succeed(self);
    query_list_news_compare(self, result->generation);
    rows = g_steal_pointer(&result->rows);
    if (rows->len < n_rows) { /* the list has become shorter */
        if (!self->query.is_short)
            self->work.wants_refresh = self->news.is_all = TRUE;
        self->query.is_short = TRUE;
    }
    g_ptr_array_set_size(rows, (int) n_rows);
    for (guint i = 0; job->is_backward && i < n_rows / 2; i++) {
        gpointer row = rows->pdata[i];

        rows->pdata[i] = rows->pdata[n_rows - 1 - i];
        rows->pdata[n_rows - 1 - i] = row;
    }
    if (query_list_install(self, job->start, rows))
        query_list_plan(self);
}

/* The row of @window at one of its ends, when rows beside it can be found by it. */
static const QueryListRow *
get_anchor(QueryListModel *self, const QueryListWindow *window, gboolean is_last)
{
    const QueryListRow *row = window != NULL ? window->rows->pdata[is_last ? window->rows->len - 1 : 0] : NULL;

    return row != NULL && query_list_text_is_anchor(self->query.text, row) ? row : NULL;
}

/* From which side of the gap rows up to @end are nearer. */
static void
choose_place(QueryListModel *self, const QueryListGap *gap, guint start, guint end, QueryListPlace *ret_place)
{
    const QueryListRow *before = get_anchor(self, gap->before, TRUE);
    const QueryListRow *after = get_anchor(self, gap->after, FALSE);
    gboolean can_seek = query_list_text_can_seek(self->query.text) && !self->query.has_null;

    *ret_place = (QueryListPlace){ .n_skipped = start, .n_rows = end - start };
    if (!can_seek)
        return;
    if (before != NULL) {
        ret_place->anchor = before;
        ret_place->n_skipped = start - gap->start;
    }
    if ((after != NULL || gap->after == NULL) && gap->end - end < ret_place->n_skipped) {
        ret_place->anchor = after;
        ret_place->n_skipped = gap->end - end;
        ret_place->is_backward = TRUE;
    }
}

/* @position: in no window. A window begins or ends at the windows beside it, when these are near. */
static void
read_window(QueryListModel *self, guint position)
{
    g_auto(QueryListStatement) statement = { 0 };
    QueryListPlace place;
    QueryListJob *job;
    QueryListGap gap;
    guint start;
    guint end;

    query_list_windows_get_gap(&self->windows, position, self->n_items, &gap);
    if (position - gap.start < QUERY_LIST_WINDOW_ROWS)
        start = gap.start;
    else if (gap.end - position <= QUERY_LIST_WINDOW_ROWS)
        start = gap.end - QUERY_LIST_WINDOW_ROWS;
    else
        start = position - QUERY_LIST_WINDOW_ROWS / 2;
    end = MIN(start + QUERY_LIST_WINDOW_ROWS, gap.end);
    choose_place(self, &gap, start, end, &place);

    job = query_list_job_new(self);
    job->start = start;
    job->end = end;
    job->is_backward = place.is_backward;
    self->work.is_reading = TRUE;
    query_list_text_make_window(self->query.text, self->query.parameters, &place, &statement);
    query_list_fetch(self->connection, &statement, self->work.cancellable, on_window, job);
}

/* The next row towards @up that is not in memory, if it is within @n_rows. */
static guint
find_ahead(QueryListModel *self, gboolean up, guint n_rows)
{
    guint at = MIN(self->work.last_asked, self->n_items - 1);

    for (guint i = 0; i <= n_rows; i += QUERY_LIST_WINDOW_ROWS / 4) {
        guint position = up ? at - MIN(at, i) : MIN(at + i, self->n_items - 1);

        if (query_list_windows_find(&self->windows, position) == NULL)
            return position;
    }
    return G_MAXUINT;
}

/* Whether nothing else is to be read now. */
static gboolean
begin_refresh_or_wait(QueryListModel *self)
{
    if (!self->work.wants_refresh || self->work.is_counting)
        return FALSE;
    if (g_get_monotonic_time() >= self->work.not_before_usec) {
        query_list_begin_refresh(self);
        return TRUE;
    }
    wait_until(self, self->work.not_before_usec);
    return FALSE;
}

static void
read_next(QueryListModel *self)
{
    const gboolean can_read = self->n_items > 0 && self->error == NULL;
    guint position = can_read ? find_missing(self) : G_MAXUINT;

    query_list_set_loading(self, self->work.is_counting || position != G_MAXUINT);
    if (position == G_MAXUINT && can_read && self->work.wants_rows) {
        position = find_ahead(self, self->work.is_moving_up, AHEAD_ROWS);
        if (position == G_MAXUINT)
            position = find_ahead(self, !self->work.is_moving_up, BEHIND_ROWS);
        self->work.wants_rows = position != G_MAXUINT;
    }
    if (position != G_MAXUINT)
        read_window(self, position);
}

static gboolean
on_idle(gpointer user_data)
{
    g_autoptr(QueryListModel) self = g_object_ref(user_data);

    drop_source(&self->work.idle);
    if (self->work.is_reading)
        return G_SOURCE_REMOVE;
    if (self->state == QUERY_LIST_OPENING && g_get_monotonic_time() >= self->work.not_before_usec)
        read_first_rows(self);
    else if (self->state == QUERY_LIST_READY && !begin_refresh_or_wait(self))
        read_next(self);
    return G_SOURCE_REMOVE;
}

void
query_list_plan(QueryListModel *self)
{
    GSource *source;

    if (self->work.idle != NULL || self->work.is_reading || self->state == QUERY_LIST_EMPTY)
        return;
    source = g_idle_source_new();
    g_source_set_priority(source, G_PRIORITY_DEFAULT);
    attach(self, source, on_idle, &self->work.idle);
}
