/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A sync call in a thread of GLib's pool.
 *
 * Place: internal to libquery-client.
 * Invariant: functions and data of the caller are used and freed in the caller's main context only.
 */
#include "client-lib/calls/query-call.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* The function for reports; shared by the thread and by the reports that are on their way. */
struct QueryCallProgress {
    gint ref_count; /* atomic */
    QueryProgressFunc function;
    gpointer data;
    GDestroyNotify destroy;
    GMainContext *context;
};

typedef struct Report {
    QueryCallProgress *progress;
    guint64 rows_done, bytes_done, bytes_total;
} Report;

/* Progress ---------------------------------------------------------------------------------------------------------------- */

static QueryCallProgress *
progress_new(QueryProgressFunc function, gpointer data, GDestroyNotify destroy)
{
    QueryCallProgress *self = g_new0(QueryCallProgress, 1);

    self->ref_count = 1;
    self->function = function;
    self->data = data;
    self->destroy = destroy;
    self->context = g_main_context_ref_thread_default();
    return self;
}

static void
progress_unref(QueryCallProgress *self)
{
    if (!g_atomic_int_dec_and_test(&self->ref_count))
        return;
    if (self->destroy != NULL)
        self->destroy(self->data);
    g_main_context_unref(self->context);
    g_free(self);
}

static gboolean
release_progress(gpointer data)
{
    progress_unref(data);
    return G_SOURCE_REMOVE;
}

static void
report_free(gpointer data)
{
    Report *self = data;

    progress_unref(self->progress);
    g_free(self);
}

static gboolean
deliver(gpointer data)
{
    const Report *self = data;

    self->progress->function(self->rows_done, self->bytes_done, self->bytes_total, self->progress->data);
    return G_SOURCE_REMOVE;
}

/* In the thread; the function is called in the caller's main context. */
static void
on_progress(guint64 rows_done, guint64 bytes_done, guint64 bytes_total, gpointer user_data)
{
    QueryCallProgress *progress = user_data;
    Report *report = g_new(Report, 1);

    *report = (Report){ .progress = progress, .rows_done = rows_done, .bytes_done = bytes_done, .bytes_total = bytes_total };
    g_atomic_int_inc(&progress->ref_count);
    g_main_context_invoke_full(progress->context, G_PRIORITY_DEFAULT, deliver, report, report_free);
}

QueryProgressFunc
query_call_get_progress(const QueryCall *self)
{
    return self->progress != NULL && self->progress->function != NULL ? on_progress : NULL;
}

/* Calls ------------------------------------------------------------------------------------------------------------------- */

static void
call_free(gpointer data)
{
    QueryCall *self = data;

    if (self->fd >= 0)
        (void) close(self->fd);
    if (self->progress != NULL) /* its data is freed where it is used */
        g_main_context_invoke(self->progress->context, release_progress, self->progress);
    g_clear_error(&self->failure);
    g_free(self->text);
    g_free(self->format);
    g_clear_pointer(&self->options, g_variant_unref);
    g_clear_pointer(&self->content, g_bytes_unref);
    g_clear_object(&self->stream);
    g_free(self->ids);
    if (self->object != NULL)
        self->destroy(self->object);
    g_free(self->sql);
    g_free(self->plan);
    g_strfreev(self->messages);
    g_free(self);
}

static void
take_fd(QueryCall *self, int fd)
{
    self->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (self->fd < 0)
        self->failure = g_error_new(QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "descriptor %d cannot be used: %s", fd,
                                    g_strerror(errno));
}

static QueryCall *
call_new(QueryCallFunc run, const QueryCallArguments *arguments)
{
    QueryCall *self = g_new0(QueryCall, 1);

    self->run = run;
    self->fd = -1;
    if (arguments == NULL)
        return self;

    self->language = arguments->language;
    self->text = g_strdup(arguments->text);
    self->format = g_strdup(arguments->format);
    self->options = arguments->options != NULL ? g_variant_ref_sink(arguments->options) : NULL;
    self->content = arguments->content != NULL ? g_bytes_ref(arguments->content) : NULL;
    self->stream = arguments->stream != NULL ? g_object_ref(arguments->stream) : NULL;
    self->ids = g_memdup2(arguments->ids, arguments->n_ids * sizeof *arguments->ids);
    self->n_ids = arguments->n_ids;
    self->flag = arguments->flag;
    self->id = arguments->id;
    if (arguments->fd != NULL)
        take_fd(self, *arguments->fd);
    if (arguments->progress != NULL || arguments->progress_destroy != NULL)
        self->progress = progress_new(arguments->progress, arguments->progress_data, arguments->progress_destroy);
    return self;
}

static void
run_in_thread(GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
    QueryCall *call = task_data;
    GError *error = g_steal_pointer(&call->failure);

    if (error == NULL && call->run(call, source_object, cancellable, &error)) {
        g_task_return_boolean(task, TRUE);
        return;
    }
    if (error == NULL) /* a failed check of the arguments */
        error = g_error_new_literal(QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "the arguments of the call are wrong");
    g_task_return_error(task, error);
}

void
query_call_start(gpointer source, QueryCallFunc run, gpointer tag, const QueryCallArguments *arguments, GCancellable *cancellable,
                 GAsyncReadyCallback callback, gpointer user_data)
{
    g_autoptr(GTask) task = g_task_new(source, cancellable, callback, user_data);

    g_task_set_source_tag(task, tag);
    g_task_set_check_cancellable(task, FALSE); /* the call itself says what became of it */
    g_task_set_task_data(task, call_new(run, arguments), call_free);
    g_task_run_in_thread(task, run_in_thread);
}

gboolean
query_call_take(QueryCall *self, gpointer object, GDestroyNotify destroy)
{
    self->object = object;
    self->destroy = destroy;
    return object != NULL;
}

QueryCall *
query_call_finish(gpointer source, GAsyncResult *result, gpointer tag, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, source), NULL);
    g_return_val_if_fail(g_async_result_is_tagged(result, tag), NULL);

    return g_task_propagate_boolean(G_TASK(result), error) ? g_task_get_task_data(G_TASK(result)) : NULL;
}

gpointer
query_call_finish_object(gpointer source, GAsyncResult *result, gpointer tag, GError **error)
{
    QueryCall *call = query_call_finish(source, result, tag, error);

    return call != NULL ? g_steal_pointer(&call->object) : NULL;
}

gint64
query_call_finish_number(gpointer source, GAsyncResult *result, gpointer tag, GError **error)
{
    const QueryCall *call = query_call_finish(source, result, tag, error);

    return call != NULL ? call->id : -1;
}
