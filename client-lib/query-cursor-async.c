/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls on a cursor that answer later: a task that steps the cursor each time when there is something to read.
 */
#include "client-lib/query-cursor-private.h"

#include "client-lib/direct/query-direct.h"

typedef gboolean (*OnStep)(GTask *task, QueryCursor *self);

static gboolean on_readable(int fd, GIOCondition condition, gpointer user_data);

static void run_on(GTask *task);

static void
work_in_thread(GTask *thread_task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
    query_direct_run_work(task_data, cancellable);
    g_task_return_boolean(thread_task, TRUE);
}

static void
on_worked(GObject *source_object, GAsyncResult *result, gpointer user_data)
{
    run_on(G_TASK(user_data));
}

/* Continues with @task when there are rows, or an end. */
static void
await_rows(GTask *task, QueryCursor *self)
{
    GCancellable *cancellable = query_cursor_get_cancellable(self, g_task_get_cancellable(task));
    g_autoptr(GSource) source = NULL;

    if (self->direct != NULL) {
        g_autoptr(GTask) thread_task = g_task_new(NULL, cancellable, on_worked, g_object_ref(task));

        g_task_set_task_data(thread_task, query_direct_run_ref(self->direct), (GDestroyNotify) query_direct_run_unref);
        g_task_run_in_thread(thread_task, work_in_thread);
        return;
    }

    source = query_channel_create_source(self->channel, QUERY_IO_WANT_READ, cancellable);
    g_source_set_callback(source, G_SOURCE_FUNC(on_readable), g_object_ref(task), g_object_unref);
    g_source_attach(source, g_task_get_context(task));
}

static void
return_failure(GTask *task, QueryCursor *self, GError *failure)
{
    GError *error = NULL;

    query_cursor_fail(self, failure, &error);
    query_held_unpin(&self->held);
    g_task_return_error(task, error);
}

/* Consumes @task. */
static void
run_on(GTask *task)
{
    g_autoptr(GTask) owned G_GNUC_UNUSED = task;
    QueryCursor *self = g_task_get_source_object(task);
    GCancellable *cancellable = query_cursor_get_cancellable(self, g_task_get_cancellable(task));
    GError *failure = NULL;
    OnStep on_step = (OnStep) g_object_get_data(G_OBJECT(task), "on-step");

    self->is_busy = FALSE; /* a callback that is called by returning may begin the next call */
    if (g_cancellable_set_error_if_cancelled(cancellable, &failure)) {
        return_failure(task, self, failure);
        return;
    }
    if (on_step(task, self)) {
        query_held_unpin(&self->held);
        return;
    }
    if (self->direct == NULL && !query_channel_check_patience(self->channel, &failure)) {
        return_failure(task, self, failure);
        return;
    }
    self->is_busy = TRUE;
    await_rows(task, self);
}

static gboolean
on_readable(int fd, GIOCondition condition, gpointer user_data)
{
    run_on(g_object_ref(G_TASK(user_data)));
    return G_SOURCE_REMOVE;
}

void
query_cursor_run_async(QueryCursor *self, GTask *task, gboolean (*on_step)(GTask *task, QueryCursor *self))
{
    if (self->is_busy) {
        g_task_return_new_error(task, G_IO_ERROR, G_IO_ERROR_PENDING, "the cursor is busy with another call");
        return;
    }

    if (self->opener.is_update)
        g_task_set_check_cancellable(task, FALSE);
    self->is_busy = TRUE;
    query_held_pin(&self->held); /* until the task returns */
    g_object_set_data(G_OBJECT(task), "on-step", (gpointer) on_step);
    run_on(g_object_ref(task));
}

static gboolean
step_next(GTask *task, QueryCursor *self)
{
    GError *error = NULL;
    gboolean has_row;

    switch (query_cursor_step(self, &has_row, &error)) {
    case QUERY_IO_DONE:
        g_task_return_boolean(task, has_row);
        return TRUE;
    case QUERY_IO_FAILED:
        g_task_return_error(task, error);
        return TRUE;
    case QUERY_IO_WANT_READ:
    case QUERY_IO_WANT_WRITE:
        return FALSE;
    }
    g_assert_not_reached();
}

void
query_cursor_next_async(QueryCursor *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    g_autoptr(GTask) task = NULL;

    g_return_if_fail(QUERY_IS_CURSOR(self));

    task = g_task_new(self, cancellable, callback, user_data);
    g_task_set_source_tag(task, query_cursor_next_async);
    query_cursor_run_async(self, task, step_next);
}

gboolean
query_cursor_next_finish(QueryCursor *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), FALSE);

    return g_task_propagate_boolean(G_TASK(result), error);
}
