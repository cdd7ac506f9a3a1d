/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Updates: a channel hands all that wait in its queue to the writer at once, and answers them together.
 *
 * Place: beside channel-serve.c. While the writer has updates of a channel it owns the channel. The thread that is done with
 * the last one answers, if it leads the group, or else puts the channel into the run queue. The leader lingers inside its next
 * group, which is open meanwhile. Those whose answers have just gone out write next, and for them no thread has to be woken.
 * They wait in the channels' linger object.
 * Invariant: each update is a member of its own. It fails alone, and is answered by its own END or ERROR, in the order of
 * requests.
 */
#include <poll.h>
#include <sched.h>

#include "daemon/channel/channel-private.h"
#include "daemon/read/client.h"
#include "daemon/read/run.h"
#include "daemon/runtime/context.h"
#include "daemon/runtime/registry.h"
#include "daemon/sqlite/connection.h"
#include "daemon/write/writer.h"

/* Of a BATCH's first statement, for ListQueries. */
#define SHOWN_BYTES 4096

/* The channels that the leader waits for. */
typedef struct QdChannelLinger {
    QdWriterLinger linger; /* first */
    GPtrArray *channels;   /* of QdChannel */
} QdChannelLinger;

static QdChannelWrite *
pop_write(GQueue *queue)
{
    GList *link = g_queue_pop_head_link(queue);

    return link != NULL ? link->data : NULL;
}

static void
write_free(QdChannelWrite *self)
{
    qd_write_item_clear(&self->item);
    g_free(self);
}

/* It is of no more use for now. */
static void
write_retire(QdChannelWrite *self)
{
    GQueue *spare = &self->channel->writes.spare;

    g_clear_pointer(&self->batch, g_array_unref);
    g_clear_pointer(&self->base, g_free);
    g_clear_pointer(&self->dataset, g_free);
    g_clear_pointer(&self->schema, g_bytes_unref);
    self->request = qd_channel_free_request(self->channel, self->request);
    if (spare->length >= QW_PIPELINE_MAX_REQUESTS) {
        write_free(self);
        return;
    }
    qd_write_item_reset(&self->item);
    g_queue_push_head_link(spare, &self->link);
}

static QdChannelWrite *
write_alloc(QdChannel *channel)
{
    QdChannelWrite *self = pop_write(&channel->writes.spare);

    if (self != NULL)
        return self;
    self = g_new0(QdChannelWrite, 1);
    self->link.data = self;
    self->channel = channel;
    qd_write_item_init(&self->item);
    return self;
}

void
qd_channel_free_spare_writes(QdChannel *self)
{
    QdChannelWrite *write;

    while ((write = pop_write(&self->writes.spare)) != NULL)
        write_free(write);
}

/* Handing over ---------------------------------------------------------------------------------------------------------- */

static void answer(QdChannel *self, QdWriterLinger *linger);

static void
on_written(QdWriteItem *item, QdWriterLinger *linger)
{
    QdChannel *self = ((QdChannelWrite *) item->data)->channel;

    if (!g_atomic_int_dec_and_test(&self->writes.n_pending))
        return;
    if (linger != NULL)
        answer(self, linger);
    else
        qd_channel_push_answer(self);
}

/* Not a peer that only sends nothing more. */
static gboolean
has_hung_up(const QdChannel *self)
{
    struct pollfd pfd = { .fd = self->fd };

    return poll(&pfd, 1, 0) > 0 && (pfd.revents & POLLHUP) != 0;
}

/*
 * While the item runs: a CANCEL. Other input waits; a hang-up has no effect, since the update was accepted. In a transaction it
 * ends the item, which will be rolled back.
 */
static void
look_at_peer(const QdWriteItem *item)
{
    QdChannel *self = ((QdChannelWrite *) item->data)->channel;

    qd_channel_yield_transaction(self);
    qd_channel_read(self);
    if (qd_channel_get_transaction_reader(self) != NULL && g_queue_is_empty(&self->input.requests) && has_hung_up(self))
        g_atomic_int_set(&self->entry.cancelled, QD_CANCEL_BY_CLIENT);
}

/* As for a query: SQLite has recompiled the statement inside its first step. */
static void
on_rows_begin(QdWriteItem *item, const QdCompiled *compiled)
{
    QdChannelWrite *write = item->data;
    const QdShape shape = qd_shape_from_compiled(compiled);

    g_clear_pointer(&write->schema, g_bytes_unref);
    if (compiled->schema_signature == write->channel->statement.signature)
        return;

    write->schema = qd_channel_encode_schema(write->channel, &shape);
    write->n_columns = (uint32_t) compiled->n_columns;
    write->signature = compiled->schema_signature;
}

/* What a FETCH of the channel's statement runs. */
static void
take_fetch(QdChannelWrite *self, const QdLimits *limits)
{
    const QdStatement *statement = &self->channel->statement;

    self->statement = (QdWriteStatement){
        .language = statement->language,
        .base = statement->base,
        .dataset = statement->dataset,
        .text = statement->text,
        .n_text_bytes = statement->n_text_bytes,
        .rows = self->request->body,
        .n_row_bytes = self->request->n_bytes,
        .n_rows = self->request->count,
    };
    self->statements = (GArray){ .data = (char *) &self->statement, .len = 1 };
    self->item.statements = &self->statements;
    self->item.rows_begin = on_rows_begin;
    if (self->request->count > qd_limits_get(limits, QD_LIMIT_BATCH_STATEMENTS))
        qd_limit_set_error(&self->item.outcome.error, limits, QD_LIMIT_BATCH_STATEMENTS, "%u rows of parameters are too many",
                           self->request->count);
}

static void
take_batch(QdChannelWrite *self, const QdLimits *limits, QdExecutionOptions *ret_execution)
{
    g_auto(QdCallOptions) options = { 0 };

    if (qd_client_check_write(self->channel->client, &self->item.outcome.error))
        self->batch = self->item.statements = qd_channel_parse_batch(self->request, limits, &options, &self->item.outcome.error);
    self->base = g_steal_pointer(&options.base);
    self->dataset = g_steal_pointer(&options.dataset);
    *ret_execution = options.execution;
}

/* @request: (transfer full) */
static QdChannelWrite *
write_new(QdChannel *channel, QdRequest *request)
{
    const QdLimits *limits = &channel->context->limits;
    QdExecutionOptions execution = { 0 };
    QdChannelWrite *self = write_alloc(channel);

    self->request = request;
    self->item.client = channel->client;
    self->item.counts.session = channel->session;
    self->item.settings = channel->refuses_control ? NULL : &channel->settings;
    self->item.cancelled = &channel->entry.cancelled;
    self->item.page_size = channel->page_size;
    self->item.done = on_written;
    self->item.peer_func = look_at_peer;
    self->item.finds_cancel = qd_channel_finds_cancel;
    self->item.tell = qd_channel_tell_write;
    self->item.data = self;
    if (request->cancelled) {
        qd_error_set(&self->item.outcome.error, QW_ERROR_CANCELLED, "request was cancelled");
    } else if (request->kind == QW_KIND_BATCH) {
        take_batch(self, limits, &execution);
    } else {
        execution = channel->statement.execution;
        take_fetch(self, limits);
    }
    self->item.relaxed = execution.relaxed_durability;
    self->item.times.timeout_msec = qd_context_get_timeout_msec(channel->context, QD_LIMIT_UPDATE_TIMEOUT_MSEC,
                                                                execution.has_timeout, execution.timeout_msec);
    return self;
}

/* The updates at the head of the queue become writes. Returns: how many the writer shall have. */
static guint
collect_writes(QdChannel *self)
{
    guint n = 0;

    while (qd_channel_next_is_write(self)) {
        uint64_t spent_usec = qd_channel_get_spent_usec(self);
        QdRequest *request = g_queue_pop_head(&self->input.requests);
        QdChannelWrite *write = write_new(self, request);

        self->input.n_request_bytes -= request->n_bytes;
        write->item.times.waited_usec = spent_usec;
        g_queue_push_tail_link(&self->writes.queue, &write->link);
        n += write->item.outcome.error == NULL ? 1 : 0;
    }
    self->work.is_late = FALSE;
    return n;
}

/* The channel's statement has nothing to do with a BATCH, of which the first one is shown. */
static void
show_writes(QdChannel *self)
{
    const QdChannelWrite *first = g_queue_peek_head(&self->writes.queue);
    QdLanguage language = self->statement.language;

    self->entry.text = self->statement.text;
    self->entry.n_text_bytes = self->statement.n_text_bytes;
    if (first->batch != NULL && first->batch->len > 0) {
        const QdWriteStatement *statement = &g_array_index(first->batch, QdWriteStatement, 0);

        language = statement->language;
        self->entry.n_text_bytes = MIN(statement->n_text_bytes, SHOWN_BYTES);
        self->entry.text = self->writes.shown = g_memdup2(statement->text, self->entry.n_text_bytes);
    }
    self->entry.language = qd_language_get_name(language);
    qd_registry_add(self->context->registry, &self->entry, NULL);
}

/* The same for the writer, which owns the channel then. Returns: (nullable): *@ret_n items, linked by `next`; NULL: all have failed
 * already */
static QdWriteItem *
begin_writes(QdChannel *self, guint *ret_n)
{
    QdWriteItem *items = NULL;
    QdWriteItem **end = &items;

    *ret_n = collect_writes(self);
    show_writes(self);
    self->writes.next_page = 0;
    if (*ret_n == 0)
        return NULL;

    for (GList *link = self->writes.queue.head; link != NULL; link = link->next) {
        QdChannelWrite *write = link->data;

        if (write->item.outcome.error != NULL)
            continue;
        *end = &write->item;
        end = &write->item.next;
    }
    *end = NULL;
    qd_channel_set_state(self, QD_CHANNEL_WRITING);
    g_atomic_int_set(&self->writes.n_pending, (gint) *ret_n);
    return items;
}

gboolean
qd_channel_start_writes(QdChannel *self, gboolean *ret_leads)
{
    guint n;
    QdWriteItem *items = begin_writes(self, &n);
    gint n_refused;

    if (items == NULL)
        return TRUE;
    n_refused = (gint) (n - qd_writer_enqueue(self->context->writer, items, ret_leads));
    if (n_refused == 0 || g_atomic_int_add(&self->writes.n_pending, -n_refused) > n_refused)
        return FALSE;

    qd_channel_set_state(self, QD_CHANNEL_SERVED); /* the writer is done with all that it has taken */
    return TRUE;
}

void
qd_channel_run_writes(QdChannel *self)
{
    (void) collect_writes(self);
    self->writes.next_page = 0;
    for (GList *link = self->writes.queue.head; link != NULL; link = link->next) {
        QdChannelWrite *write = link->data;

        if (write->item.outcome.error == NULL)
            qd_channel_transaction_execute(self, &write->item);
    }
    qd_channel_touch_transaction(self);
}

/* Answering ------------------------------------------------------------------------------------------------------------- */

static void
put_end(QdChannel *self, const QdChannelWrite *write)
{
    const QdWriteItem *item = &write->item;
    QwEnd end = { .n_rows = item->outcome.n_rows,
                  .changes = (int64_t) item->outcome.changes,
                  .last_insert_rowid = item->outcome.last_insert_rowid,
                  .generation = item->outcome.generation,
                  .elapsed_usec = (uint64_t) g_get_monotonic_time() - write->request->received_usec };

    qd_channel_put_end(self, &end, write->request->serial);
}

/* One that is larger than the channel's page is given away: a copy would be memory that nothing bounds. */
static void
put_result_page(QdChannel *self, QdResultPage *page, uint32_t serial)
{
    if (page->size > self->page_size && qd_channel_output_is_empty(self))
        qd_channel_put_large(self, g_steal_pointer(&page->data), page->size, page->free_func, page->n_rows, serial);
    else
        qd_channel_put_record(self, QW_KIND_ROWS, page->n_rows, serial, page->data + QW_HEADER_SIZE, page->size - QW_HEADER_SIZE);
}

/* One record of the answer to @write. Returns: false when it was the last one. */
static gboolean
put_next(QdChannel *self, QdChannelWrite *write)
{
    uint32_t serial = write->request->serial;

    if (write->item.told != NULL) {
        qd_channel_forget_told(self);
        return FALSE;
    }
    if (write->item.outcome.error != NULL) {
        qd_channel_put_error(self, write->item.outcome.error, serial);
        if (qd_error_get_code(write->item.outcome.error) == QW_ERROR_TIMEOUT)
            __atomic_add_fetch(&self->context->counters.n_timeouts, 1, __ATOMIC_RELAXED);
        return FALSE;
    }
    if (write->batch != NULL && self->writes.next_page == 0)
        qd_channel_encode_batch_counts(&write->item);
    if (write->schema != NULL) {
        qd_channel_put_record(self, QW_KIND_SCHEMA, write->n_columns, serial, g_bytes_get_data(write->schema, NULL),
                              g_bytes_get_size(write->schema));
        self->statement.signature = write->signature;
        g_clear_pointer(&write->schema, g_bytes_unref);
        return TRUE;
    }
    if (self->writes.next_page < write->item.outcome.pages->len) {
        QdResultPage *page = &g_array_index(write->item.outcome.pages, QdResultPage, self->writes.next_page++);

        put_result_page(self, page, serial);
        return TRUE;
    }
    put_end(self, write);
    return FALSE;
}

void
qd_channel_drop_writes(QdChannel *self)
{
    QdChannelWrite *write;

    while ((write = pop_write(&self->writes.queue)) != NULL)
        write_retire(write);
    qd_registry_remove(self->context->registry, &self->entry);
    g_clear_pointer(&self->writes.shown, g_free);
    g_atomic_int_set(&self->entry.cancelled, QD_CANCEL_NONE);
}

void
qd_channel_continue_writes(QdChannel *self)
{
    QdChannelWrite *write;

    while ((write = g_queue_peek_head(&self->writes.queue)) != NULL) {
        if (put_next(self, write))
            return; /* it goes out before the next one needs the buffer */
        write_retire(pop_write(&self->writes.queue));
        self->writes.next_page = 0;
    }
    qd_channel_drop_writes(self);
    if (self->input.requests.length > 0)
        self->work.free_usec = (uint64_t) g_get_monotonic_time();
    qd_context_note_activity(self->context);
}

/* Lingering ------------------------------------------------------------------------------------------------------------- */

/* On the leader's thread; it may wait for more afterwards. */
static void
answer(QdChannel *self, QdWriterLinger *linger)
{
    qd_channel_set_state(self, QD_CHANNEL_ANSWERED);
    qd_channel_continue_writes(self);
    if (qd_channel_flush(self) <= 0 || !g_queue_is_empty(&self->writes.queue)) {
        qd_channel_push_answer(self);
        return;
    }
    if (qd_channel_has_input(self)) {
        qd_channel_push(self, TRUE);
        return;
    }
    self->answered_usec = (uint64_t) g_get_monotonic_time();
    if (qw_spin_pays(&self->spin)) {
        g_ptr_array_add(((QdChannelLinger *) linger)->channels, self);
        linger->n++;
    } else {
        qd_channel_park(self);
    }
}

/* Something came, or an end. Returns: (nullable): what it writes */
static QdWriteItem *
resume(QdChannel *self)
{
    QdWriteItem *items = NULL;
    guint n;

    qw_spin_note_awake(&self->spin, self->input.requests.length > 0);
    self->answered_usec = 0;
    if (self->input.peer != QD_PEER_GONE && qd_channel_next_is_write(self))
        items = begin_writes(self, &n);
    if (items == NULL)
        qd_channel_push(self, TRUE);
    return items;
}

/* Looks once at each. Those that have something to say leave. */
static QdWriteItem *
look(QdWriterLinger *linger)
{
    GPtrArray *channels = ((QdChannelLinger *) linger)->channels;
    QdWriteItem *items = NULL;
    QdWriteItem **end = &items;

    for (guint i = 0; i < channels->len;) {
        QdChannel *channel = channels->pdata[i];

        qd_channel_read(channel);
        if (!qd_channel_has_input(channel)) {
            i++;
            continue;
        }
        g_ptr_array_remove_index_fast(channels, i);
        *end = resume(channel);
        while (*end != NULL)
            end = &(*end)->next;
    }
    linger->n = channels->len;
    if (channels->len > 1)
        (void) sched_yield();
    return items;
}

static void
leave(QdWriterLinger *linger)
{
    GPtrArray *channels = ((QdChannelLinger *) linger)->channels;

    for (guint i = 0; i < channels->len; i++) {
        QdChannel *channel = channels->pdata[i];

        qw_spin_note_awake(&channel->spin, FALSE);
        qd_channel_park(channel);
    }
    g_ptr_array_set_size(channels, 0);
    linger->n = 0;
}

QdWriterLinger *
qd_channel_linger_new(void)
{
    QdChannelLinger *self = g_new0(QdChannelLinger, 1);

    self->linger = (QdWriterLinger){ .look = look, .leave = leave };
    self->channels = g_ptr_array_new();
    return &self->linger;
}

void
qd_channel_linger_free(QdWriterLinger *linger)
{
    QdChannelLinger *self = (QdChannelLinger *) linger;

    g_ptr_array_unref(self->channels);
    g_free(self);
}
