/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The two drivers of a request: one waits in the calling thread, one in a main context.
 *
 * Place: internal to libquery-client. The handshake, which GDBus does by waiting, goes to a thread of GTask's pool; so does the
 * work of a direct connection. Every wait for the daemon's answer is a source, so any number of async queries needs no thread.
 */
#include "client-lib/core/query-error.h"
#include "client-lib/request/query-request-private.h"

/* FALSE: the request is given up. */
static gboolean
wait_here(QueryRequest *self, QueryIo want, GCancellable *cancellable, GError **error)
{
    g_autoptr(GError) failure = NULL;

    if (query_channel_wait(self->channel, want, self->is_cancelled ? NULL : cancellable, &failure))
        return TRUE;
    if (g_error_matches(failure, G_IO_ERROR, G_IO_ERROR_CANCELLED) && query_request_cancel(self))
        return TRUE;
    query_request_explain_failure(self, &failure);
    g_propagate_error(error, g_steal_pointer(&failure));
    return FALSE;
}

gboolean
query_request_run(QueryRequest *self, GCancellable *cancellable, GError **error)
{
    g_autoptr(GError) failure = NULL;

    if (self->endpoint.direct != NULL)
        return query_request_run_directly(self, cancellable, error);
    if (g_cancellable_set_error_if_cancelled(cancellable, error))
        return FALSE;

    for (;;) {
        switch (query_request_step(self, &failure)) {
        case QUERY_STEP_DONE:
            return TRUE;
        case QUERY_STEP_WANT_READ:
            if (!wait_here(self, QUERY_IO_WANT_READ, cancellable, error))
                return FALSE;
            break;
        case QUERY_STEP_WANT_WRITE:
            if (!wait_here(self, QUERY_IO_WANT_WRITE, cancellable, error))
                return FALSE;
            break;
        case QUERY_STEP_CONNECT:
            if (g_cancellable_set_error_if_cancelled(cancellable, error) || !query_request_connect(self, cancellable, error))
                return FALSE;
            break;
        case QUERY_STEP_FAILED:
            g_propagate_error(error, g_steal_pointer(&failure));
            return FALSE;
        case QUERY_STEP_AGAIN:
            break;
        }
    }
}

static void run_on(GTask *task);

static gboolean
on_ready(int fd, GIOCondition condition, gpointer user_data)
{
    QueryRequest *self = g_task_get_task_data(user_data);

    query_channel_note_loop(self->channel, FALSE);
    run_on(g_object_ref(G_TASK(user_data)));
    return G_SOURCE_REMOVE;
}

static void
wait_for(GTask *task, QueryRequest *self, QueryIo want)
{
    GCancellable *cancellable = self->is_cancelled ? NULL : g_task_get_cancellable(task);
    g_autoptr(GSource) source = NULL;
    GError *error = NULL;

    if (!query_channel_check_patience(self->channel, &error)) {
        query_request_explain_failure(self, &error);
        g_task_return_error(task, error);
        return;
    }
    source = query_channel_create_source(self->channel, want, cancellable);
    g_source_set_callback(source, G_SOURCE_FUNC(on_ready), g_object_ref(task), g_object_unref);
    g_source_set_priority(source, g_task_get_priority(task));
    query_channel_note_loop(self->channel, TRUE);
    g_source_attach(source, g_task_get_context(task));
}

/* @function: does a part of the request that waits; @on_done: gets the result and goes on with @task. */
static void
run_in_thread(GTask *task, QueryRequest *self, GTaskThreadFunc function, GAsyncReadyCallback on_done)
{
    g_autoptr(GTask) thread_task = g_task_new(NULL, g_task_get_cancellable(task), on_done, g_object_ref(task));

    g_task_set_task_data(thread_task, self, NULL); /* kept by @task, which the callback holds */
    g_task_run_in_thread(thread_task, function);
}

static void
run_directly_in_thread(GTask *thread_task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
    GError *error = NULL;

    if (query_request_run_directly(task_data, cancellable, &error))
        g_task_return_boolean(thread_task, TRUE);
    else
        g_task_return_error(thread_task, error);
}

static void
on_ran_directly(GObject *source_object, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(GTask) task = G_TASK(user_data);
    QueryRequest *self = g_task_get_task_data(task);
    GError *error = NULL;

    if (g_task_propagate_boolean(G_TASK(result), &error))
        self->done(task, self);
    else
        g_task_return_error(task, error);
}

static void
connect_in_thread(GTask *thread_task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
    GError *error = NULL;

    if (query_request_connect(task_data, cancellable, &error))
        g_task_return_boolean(thread_task, TRUE);
    else
        g_task_return_error(thread_task, error);
}

static void
on_connected(GObject *source_object, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(GTask) task = G_TASK(user_data);
    GError *error = NULL;

    if (!g_task_propagate_boolean(G_TASK(result), &error)) {
        g_task_return_error(task, error);
        return;
    }
    run_on(g_steal_pointer(&task));
}

static QueryStep
step_awake(QueryRequest *self, GError **error)
{
    QueryStep step;

    do
        step = query_request_step(self, error);
    while (step == QUERY_STEP_WANT_READ && query_channel_stay_awake(self->channel));
    return step;
}

/* Consumes @task. */
static void
run_on(GTask *task)
{
    g_autoptr(GTask) owned G_GNUC_UNUSED = task;
    QueryRequest *self = g_task_get_task_data(task);
    QueryStep step;
    GError *error = NULL;

    if (g_cancellable_is_cancelled(g_task_get_cancellable(task)) && !query_request_cancel(self)) {
        (void) g_task_return_error_if_cancelled(task);
        return;
    }

    step = step_awake(self, &error);
    switch (step) {
    case QUERY_STEP_DONE:
        self->done(task, self);
        break;
    case QUERY_STEP_WANT_READ:
        wait_for(task, self, QUERY_IO_WANT_READ);
        break;
    case QUERY_STEP_WANT_WRITE:
        wait_for(task, self, QUERY_IO_WANT_WRITE);
        break;
    case QUERY_STEP_CONNECT:
        if (!g_task_return_error_if_cancelled(task))
            run_in_thread(task, self, connect_in_thread, on_connected);
        break;
    case QUERY_STEP_FAILED:
        g_task_return_error(task, error);
        break;
    case QUERY_STEP_AGAIN:
        g_assert_not_reached();
    }
}

void
query_request_run_async(QueryRequest *self, GTask *task, void (*done)(GTask *task, QueryRequest *self), GError **error)
{
    if (self == NULL) {
        g_task_return_error(task, g_steal_pointer(error));
        return;
    }
    g_task_set_task_data(task, self, (GDestroyNotify) query_request_free);
    self->done = done;
    if (query_request_lasts(self) || self->command->writes)
        g_task_set_check_cancellable(task, FALSE); /* what it answers is true also when it was cancelled meanwhile */
    if (self->endpoint.direct != NULL)
        run_in_thread(task, self, run_directly_in_thread, on_ran_directly);
    else
        run_on(g_object_ref(task));
}

gboolean
query_request_try(QueryRequest *self, void (*meanwhile)(gpointer user_data), gpointer user_data, gboolean *ret_is_done,
                  GError **error)
{
    QueryStep step = QUERY_STEP_CONNECT;

    self->reads_ahead = TRUE;
    if (self->endpoint.direct == NULL)
        step = query_request_step(self, error);
    if (meanwhile != NULL)
        meanwhile(user_data);
    if (step == QUERY_STEP_WANT_READ)
        step = step_awake(self, error);
    *ret_is_done = step == QUERY_STEP_DONE;
    return step != QUERY_STEP_FAILED;
}
