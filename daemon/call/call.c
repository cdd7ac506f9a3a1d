/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls: their memory, the way through a thread, and the way back to the main thread.
 */
#include <string.h>
#include <unistd.h>

#include "daemon/call/call-private.h"

#include "daemon/notify/key-source.h"
#include "daemon/notify/read-set.h"
#include "daemon/payload/payload-draft.h"
#include "daemon/runtime/context.h"
#include "daemon/runtime/registry.h"
#include "daemon/runtime/workers.h"

/* A call is no longer under way to the daemon. */
#define WAY_MAX_USEC (60 * UINT64_C(1000000))

static void
statement_clear(gpointer data)
{
    QdCallStatement *statement = data;

    g_free(statement->text);
    g_free(statement->run_text);
    g_free(statement->run_dataset);
    qd_parameters_free(statement->parameters);
}

static void
column_clear(gpointer data)
{
    g_free(((QdCallColumn *) data)->name);
    g_free(((QdCallColumn *) data)->decl_type);
}

static void
parameter_clear(gpointer data)
{
    g_free(((QdCallParameter *) data)->name);
}

static GArray *
array_new(gsize size, GDestroyNotify clear)
{
    GArray *array = g_array_new(FALSE, TRUE, (guint) size);

    if (clear != NULL)
        g_array_set_clear_func(array, clear);
    return array;
}

QdCall *
qd_call_new(const QdCallClass *class, QdClient *client)
{
    QdCall *call = g_new0(QdCall, 1);

    call->class = class;
    call->client = client != NULL ? qd_client_ref(client) : NULL;
    qd_options_init(&call->options);
    call->fd = -1;
    call->result.channel_fd = -1;
    call->statements = array_new(sizeof(QdCallStatement), statement_clear);
    call->result.columns = array_new(sizeof(QdCallColumn), column_clear);
    call->result.parameters = array_new(sizeof(QdCallParameter), parameter_clear);
    call->result.pages = g_ptr_array_new_with_free_func((GDestroyNotify) g_bytes_unref);
    call->result.page_rows = array_new(sizeof(uint32_t), NULL);
    call->result.messages = g_ptr_array_new_with_free_func(g_free);
    call->private = g_new0(struct QdCallPrivate, 1);
    call->private->received_usec = (uint64_t) g_get_monotonic_time();
    return call;
}

QdCall *
qd_call_free(QdCall *call)
{
    if (call == NULL)
        return NULL;

    if (call->fd >= 0)
        (void) close(call->fd);
    if (call->result.channel_fd >= 0)
        (void) close(call->result.channel_fd);
    if (call->private->write_statements != NULL || call->private->item.func != NULL)
        qd_write_item_clear(&call->private->item);
    g_clear_pointer(&call->private->write_statements, g_array_unref);
    qd_payload_draft_unref(call->private->draft);
    qd_call_discharge(call);
    g_free(call->private);
    g_array_unref(call->statements);
    g_array_unref(call->result.columns);
    g_array_unref(call->result.parameters);
    g_ptr_array_unref(call->result.pages);
    g_array_unref(call->result.page_rows);
    g_ptr_array_unref(call->result.messages);
    (void) qd_read_set_free(call->result.reads);
    (void) qd_key_source_free(call->result.source);
    if (call->result.text != NULL)
        g_string_free(call->result.text, TRUE);
    g_clear_error(&call->result.error);
    qd_options_clear(&call->options);
    g_clear_pointer(&call->payload_ids, g_array_unref);
    g_clear_pointer(&call->result.payload_fds, g_array_unref);
    g_free(call->format);
    g_clear_pointer(&call->input, g_bytes_unref);
    g_free(call->result.sql);
    qd_client_unref(call->client);
    g_free(call);
    return NULL;
}

gboolean
qd_call_is_reading(const QdCall *call)
{
    return call->class->reads && !call->options.execution.access_write;
}

void
qd_call_add_statement(QdCall *call, QdLanguage language, const char *text, QdParameters *parameters)
{
    QdCallStatement statement = { .language = language, .text = g_strdup(text), .parameters = parameters };

    g_array_append_val(call->statements, statement);
}

static gsize
count_bytes(const QdCall *call)
{
    gsize n_bytes = 0;

    for (guint i = 0; i < call->statements->len; i++) {
        const QdCallStatement *statement = &g_array_index(call->statements, QdCallStatement, i);

        n_bytes += sizeof *statement + strlen(statement->text);
        if (statement->parameters != NULL)
            n_bytes += qd_parameters_get_n_bytes(statement->parameters);
    }
    return n_bytes;
}

gboolean
qd_call_charge(QdCall *call, QdContext *context, QdClient *client, GError **error)
{
    gsize n_bytes = count_bytes(call);

    qd_call_discharge(call);
    if (n_bytes <= QD_REQUEST_FREE_BYTES)
        return TRUE;
    if (!qd_context_charge_request(context, client, n_bytes, error))
        return FALSE;
    call->private->charge = (QdCallCharge){ context, client != NULL ? qd_client_ref(client) : NULL, n_bytes };
    return TRUE;
}

gboolean
qd_call_charge_result(QdCall *call, gsize n_bytes, GError **error)
{
    QdCallCharge *charge = &call->private->charge;

    call->private->n_result_bytes += n_bytes;
    if (call->private->n_result_bytes <= QD_REQUEST_FREE_BYTES)
        return TRUE;
    if (!qd_context_charge_request(call->private->context, call->client, n_bytes, error))
        return FALSE;
    if (charge->n_bytes == 0)
        *charge = (QdCallCharge){ .context = call->private->context, .client = qd_client_ref(call->client) };
    charge->n_bytes += n_bytes;
    return TRUE;
}

gboolean
qd_call_has_large_result(const QdCall *call)
{
    return call->private->n_result_bytes > QD_REQUEST_FREE_BYTES;
}

void
qd_call_discharge(QdCall *call)
{
    QdCallCharge *charge = &call->private->charge;

    if (charge->n_bytes > 0)
        qd_context_discharge_request(charge->context, charge->client, charge->n_bytes);
    g_clear_pointer(&charge->client, qd_client_unref);
    charge->n_bytes = 0;
}

static void
finish_on_main(void *data)
{
    QdCall *call = data;
    QdContext *context = call->private->context;

    context->n_calls--;
    if (call->private->is_told)
        g_atomic_int_add(&context->n_told, -1);
    call->done(call, call->user_data);
    context->hooks.activity(context->hooks.user_data);
}

void
qd_call_finish(QdCall *call)
{
    QdContext *context = call->private->context;

    if (!call->class->is_internal)
        qd_registry_remove(context->registry, &call->private->entry);
    if (call->result.error != NULL && !call->class->works_when_broken)
        qd_context_note_error(context, call->result.error);
    qd_mailbox_post(context->mailbox, finish_on_main, call);
}

typedef struct Told {
    QdCall *call; /* (not owned): finish_on_main() comes after this */
    GError *error;
} Told;

static void
tell_on_main(void *data)
{
    Told *self = data;

    self->call->told(self->call->user_data, self->error);
    g_error_free(self->error);
    g_free(self);
}

gboolean
qd_call_tell(void *data, const GError *error)
{
    QdCall *call = data;
    Told *told;

    if (call->told == NULL || call->private->is_told)
        return call->private->is_told;

    call->private->is_told = TRUE;
    g_atomic_int_inc(&call->private->context->n_told);
    told = g_new(Told, 1);
    *told = (Told){ call, g_error_copy(error) };
    qd_mailbox_post(call->private->context->mailbox, tell_on_main, told);
    return TRUE;
}

void
qd_call_end(QdCall *call)
{
    if (call->result.error == NULL && call->class->write != NULL)
        call->class->write(call);
    else
        qd_call_finish(call);
}

/* The task -------------------------------------------------------------------------------------------------------------- */

uint64_t
qd_call_get_timeout_msec(const QdCall *call)
{
    return qd_context_get_timeout_msec(call->private->context,
                                       qd_call_is_reading(call) ? QD_LIMIT_QUERY_TIMEOUT_MSEC : QD_LIMIT_UPDATE_TIMEOUT_MSEC,
                                       call->options.execution.has_timeout, call->options.execution.timeout_msec);
}

uint64_t
qd_call_get_spent_usec(const QdCall *call)
{
    uint64_t begun_usec = call->private->begun_usec;

    return begun_usec > 0 ? (uint64_t) g_get_monotonic_time() - begun_usec : 0;
}

/* How long the call was under way. A time that cannot be is of another clock, as a container may have one. */
static uint64_t
get_way_usec(const QdCall *call)
{
    uint64_t requested_usec = call->options.channel.requested_usec;
    uint64_t received_usec = call->private->received_usec;

    if (requested_usec == 0 || requested_usec > received_usec || received_usec - requested_usec > WAY_MAX_USEC)
        return 0;
    return received_usec - requested_usec;
}

void
qd_call_begin_wait(QdCall *call)
{
    if (call->private->begun_usec == 0)
        call->private->begun_usec = (uint64_t) g_get_monotonic_time() - get_way_usec(call);
    qd_task_begin_wait(&call->private->task, qd_call_get_timeout_msec(call), call->private->begun_usec);
}

static QdCall *
end_wait(QdTask *task)
{
    QdCall *call = (QdCall *) ((struct QdCallPrivate *) ((char *) task - offsetof(struct QdCallPrivate, task)))->entry.owner;

    (void) qd_task_end_wait(task);
    return call;
}

static gboolean
put_back(QdCall *call)
{
    struct QdCallPrivate *private = call->private;

    if (!private->deferred)
        return FALSE;
    private->deferred = FALSE;
    private->task.sliced = TRUE;
    qd_registry_set_state(private->context->registry, &private->entry, "queued", FALSE);
    qd_call_begin_wait(call);
    qd_workers_push_always(private->context->workers, &private->task, FALSE);
    return TRUE;
}

static void
run_on_worker(QdTask *task, QdWorkers *workers)
{
    QdCall *call = end_wait(task);
    g_autoptr(QdClient) client = qd_client_ref(call->client);

    if (call->class->run != NULL)
        call->class->run(call, &call->result.error);
    if (!put_back(call))
        qd_call_end(call);
    qd_workers_give_slot(workers, client);
}

static void
end_late(QdTask *task, QdWorkers *workers)
{
    QdCall *call = end_wait(task);

    qd_task_set_late_error(task, &call->result.error);
    qd_call_finish(call);
}

void
qd_call_init_task(QdCall *call)
{
    call->private->task = (QdTask){ .client = call->client, .watch_fd = -1, .run = run_on_worker, .late = end_late };
}
