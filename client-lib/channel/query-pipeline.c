/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A source of the main loop: it sends before the loop waits, and reads when there is something.
 */
#include "client-lib/channel/query-pipeline.h"

#include "client-lib/core/query-error.h"

typedef struct Pending {
    GTask *task;
    guint32 serial;
} Pending;

typedef struct PipelineSource {
    GSource source;
    QueryPipeline *pipeline;
} PipelineSource;

struct QueryPipeline {
    QueryChannel *channel; /* NULL: it has failed */
    QueryPipelineFuncs funcs;
    GQueue pending; /* of Pending */
    GMainContext *context;
    GSource *source;
    gpointer tag; /* of the descriptor */
    gboolean wants_write;
    GError *failure;
};

static void
pipeline_end(QueryPipeline *self)
{
    QueryPipelineFuncs funcs = self->funcs;
    QueryChannel *channel = g_steal_pointer(&self->channel);

    g_assert(g_queue_is_empty(&self->pending));
    g_source_destroy(self->source);
    g_source_unref(self->source);
    g_main_context_unref(self->context);
    g_clear_error(&self->failure);
    g_free(self);
    funcs.ended(funcs.user_data, channel);
}

static GTask *
pop_task(QueryPipeline *self)
{
    Pending *pending = g_queue_pop_head(&self->pending);
    GTask *task = pending->task;

    g_free(pending);
    return task;
}

static void
fail_all(QueryPipeline *self)
{
    query_error_tell_unknown(&self->failure);
    while (!g_queue_is_empty(&self->pending)) {
        g_autoptr(GTask) task = pop_task(self);

        g_task_return_error(task, g_error_copy(self->failure));
    }
}

/* FALSE: it has failed. */
static gboolean
send_queued(QueryPipeline *self)
{
    gboolean never_received = FALSE;
    QueryIo io = query_channel_flush(self->channel, &never_received, &self->failure);

    if ((io == QUERY_IO_WANT_WRITE) != self->wants_write) {
        self->wants_write = !self->wants_write;
        g_source_modify_unix_fd(self->source, self->tag, G_IO_IN | (self->wants_write ? G_IO_OUT : 0));
    }
    return io != QUERY_IO_FAILED;
}

static gboolean
fail_protocol(QueryPipeline *self, const QueryRecord *record)
{
    g_set_error(&self->failure, QUERY_ERROR, QUERY_ERROR_PROTOCOL, "the daemon sent record '%c' of request %u out of turn",
                record->kind, record->serial);
    return FALSE;
}

/* Ends the first task, if @record does. FALSE: the channel is of no more use. */
static gboolean
take_record(QueryPipeline *self, const QueryRecord *record)
{
    const Pending *first = g_queue_peek_head(&self->pending);
    g_autoptr(GTask) task = NULL;
    GError *error = NULL;
    QwErrorBody body;
    QwEnd end;

    if (first == NULL || record->serial != first->serial)
        return fail_protocol(self, record);
    if (record->kind == QW_KIND_ROWS || record->kind == QW_KIND_SCHEMA) /* of RETURNING */
        return TRUE;
    if (record->kind == QW_KIND_END && qw_end_decode(record->body, record->n_bytes, &end) == 0) {
        task = pop_task(self);
        self->funcs.done(task, &end);
        return TRUE;
    }
    if (record->kind == QW_KIND_ERROR && qw_error_decode(record->body, record->n_bytes, &body) == 0) {
        task = pop_task(self);
        query_error_set_from_wire(&error, &body);
        g_task_return_error(task, error);
        return TRUE;
    }
    return fail_protocol(self, record);
}

/* FALSE: it has failed. */
static gboolean
receive_all(QueryPipeline *self)
{
    while (!g_queue_is_empty(&self->pending)) {
        QueryRecord record;
        QueryIo io = query_channel_receive(self->channel, &record, &self->failure);

        if (io == QUERY_IO_WANT_READ)
            return TRUE;
        if (io != QUERY_IO_DONE || !take_record(self, &record))
            return FALSE;
    }
    return TRUE;
}

static gboolean
on_prepare(GSource *source, int *timeout_msec)
{
    QueryPipeline *self = ((PipelineSource *) source)->pipeline;

    *timeout_msec = query_channel_begin_wait(self->channel);
    return !send_queued(self);
}

static gboolean
on_check(GSource *source)
{
    QueryPipeline *self = ((PipelineSource *) source)->pipeline;

    return self->failure != NULL || g_source_query_unix_fd(source, self->tag) != 0 ||
           !query_channel_check_patience(self->channel, &self->failure);
}

/* The callbacks of tasks may push more: the end is looked for after them. */
static gboolean
on_dispatch(GSource *source, GSourceFunc callback, gpointer user_data)
{
    QueryPipeline *self = ((PipelineSource *) source)->pipeline;

    if (self->failure != NULL || !receive_all(self)) {
        g_clear_pointer(&self->channel, query_channel_free);
        fail_all(self);
    }
    if (g_queue_is_empty(&self->pending))
        pipeline_end(self);
    return G_SOURCE_CONTINUE;
}

static GSourceFuncs source_funcs = { .prepare = on_prepare, .check = on_check, .dispatch = on_dispatch };

QueryPipeline *
query_pipeline_new(QueryChannel *channel, const QueryPipelineFuncs *funcs)
{
    QueryPipeline *self = g_new0(QueryPipeline, 1);

    self->channel = channel;
    self->funcs = *funcs;
    g_queue_init(&self->pending);
    self->context = g_main_context_ref_thread_default();
    self->source = g_source_new(&source_funcs, sizeof(PipelineSource));
    ((PipelineSource *) self->source)->pipeline = self;
    self->tag = g_source_add_unix_fd(self->source, query_channel_get_fd(channel), G_IO_IN);
    g_source_set_static_name(self->source, "query-pipeline");
    (void) g_source_attach(self->source, self->context);
    return self;
}

gboolean
query_pipeline_fits(const QueryPipeline *self, GTask *task)
{
    return self->channel != NULL && self->failure == NULL && !query_channel_was_ended(self->channel) &&
           g_task_get_context(task) == self->context;
}

void
query_pipeline_push(QueryPipeline *self, GBytes *row, guint n_rows, GTask *task)
{
    Pending *pending = g_new0(Pending, 1);

    g_assert(self->channel != NULL);
    pending->task = task;
    pending->serial = query_channel_queue(self->channel, QW_KIND_FETCH, n_rows, row);
    g_queue_push_tail(&self->pending, pending);
}
