/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls: their memory, and the way from a worker back to the main thread.
 */
#include <unistd.h>

#include "daemon/exec/engine-private.h"

static void
statement_clear(gpointer data)
{
    QdCallStatement *statement = data;

    g_free(statement->text);
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
qd_call_new(QdCallKind kind, QdClient *client)
{
    QdCall *call = g_new0(QdCall, 1);

    call->kind = kind;
    call->client = client != NULL ? qd_client_ref(client) : NULL;
    call->options.header = TRUE;
    call->options.quick = TRUE;
    call->fd = -1;
    call->channel_fd = -1;
    call->statements = array_new(sizeof(QdCallStatement), statement_clear);
    call->columns = array_new(sizeof(QdCallColumn), column_clear);
    call->parameters = array_new(sizeof(QdCallParameter), parameter_clear);
    call->pages = g_ptr_array_new_with_free_func((GDestroyNotify) g_bytes_unref);
    call->page_rows = array_new(sizeof(uint32_t), NULL);
    call->messages = g_ptr_array_new_with_free_func(g_free);
    call->private = g_new0(struct QdCallPrivate, 1);
    return call;
}

QdCall *
qd_call_free(QdCall *call)
{
    if (call == NULL)
        return NULL;

    if (call->fd >= 0)
        (void) close(call->fd);
    if (call->channel_fd >= 0)
        (void) close(call->channel_fd);
    if (call->private->write_statements != NULL || call->private->item.func != NULL)
        qd_write_item_clear(&call->private->item);
    g_clear_pointer(&call->private->write_statements, g_array_unref);
    qd_payload_draft_unref(call->private->draft);
    g_free(call->private);
    g_array_unref(call->statements);
    g_array_unref(call->columns);
    g_array_unref(call->parameters);
    g_ptr_array_unref(call->pages);
    g_array_unref(call->page_rows);
    g_ptr_array_unref(call->messages);
    (void) qd_read_set_free(call->reads);
    if (call->text != NULL)
        g_string_free(call->text, TRUE);
    g_clear_error(&call->error);
    g_free((char *) call->options.table);
    g_free((char *) call->options.graph);
    g_free((char *) call->options.base);
    g_free(call->options.full_text.tokenizer);
    g_strfreev(call->options.full_text.add);
    g_strfreev(call->options.full_text.remove);
    g_free(call->options.media_type);
    g_clear_pointer(&call->payload_ids, g_array_unref);
    g_clear_pointer(&call->payload_fds, g_array_unref);
    g_free(call->format);
    g_free(call->sql);
    qd_client_unref(call->client);
    g_free(call);
    return NULL;
}

void
qd_call_add_statement(QdCall *call, QdLanguage language, const char *text, QdParameters *parameters)
{
    QdCallStatement statement = { .language = language, .text = g_strdup(text), .parameters = parameters };

    g_array_append_val(call->statements, statement);
}

static void
finish_on_main(void *data)
{
    QdCall *call = data;
    QdEngine *engine = call->private->engine;

    engine->n_calls--;
    call->done(call, call->user_data);
    engine->config.activity(engine->config.user_data);
}

void
qd_call_finish(QdCall *call)
{
    QdEngine *engine = call->private->engine;

    if (call->kind != QD_CALL_PREFIXES)
        qd_registry_remove(engine->registry, &call->private->entry);
    if (call->error != NULL && call->kind != QD_CALL_RESTORE)
        qd_engine_note_error(engine, call->error);
    qd_mailbox_post(engine->mailbox, finish_on_main, call);
}

/* Updates --------------------------------------------------------------------------------------------------------------- */

static void
on_written(QdWriteItem *item, gboolean own)
{
    QdCall *call = item->data;

    call->error = g_steal_pointer(&item->error);
    call->changes = item->changes;
    call->last_insert_rowid = item->last_insert_rowid;
    call->generation = item->generation;
    for (guint i = 0; i < call->statements->len; i++)
        g_array_index(call->statements, QdCallStatement, i)
            .changes = g_array_index(call->private->write_statements, QdWriteStatement, i).changes;
    qd_call_finish(call);
}

gboolean
qd_call_init_write(QdCall *call, void (*done)(QdWriteItem *item, gboolean own), GError **error)
{
    QdWriteItem *item = &call->private->item;

    if (!qd_client_check_write(call->client, error))
        return FALSE;

    qd_write_item_init(item);
    item->client = call->client;
    item->relaxed = call->options.relaxed_durability;
    item->timeout_msec = qd_engine_get_timeout_msec(call->private->engine, QD_LIMIT_UPDATE_TIMEOUT_MSEC, call->options.has_timeout,
                                                    call->options.timeout_msec);
    item->cancelled = &call->private->entry.cancelled;
    item->done = done;
    item->data = call;
    return TRUE;
}

static gboolean
prepare_write(QdCall *call, GError **error)
{
    QdEngine *engine = call->private->engine;

    if (call->statements->len > qd_limits_get(&engine->limits, QD_LIMIT_BATCH_STATEMENTS)) {
        qd_limit_set_error(error, &engine->limits, QD_LIMIT_BATCH_STATEMENTS, "batch of %u statements is too long",
                           call->statements->len);
        return FALSE;
    }
    if (!qd_call_init_write(call, on_written, error))
        return FALSE;

    call->private->write_statements = g_array_new(FALSE, FALSE, sizeof(QdWriteStatement));
    for (guint i = 0; i < call->statements->len; i++) {
        const QdCallStatement *statement = &g_array_index(call->statements, QdCallStatement, i);
        QdWriteStatement write = { .language = statement->language,
                                   .base = call->options.base,
                                   .text = statement->text,
                                   .n_text_bytes = strlen(statement->text),
                                   .parameters = statement->parameters };

        g_array_append_val(call->private->write_statements, write);
    }
    call->private->item.statements = call->private->write_statements;
    return TRUE;
}

static void
run_write(QdCall *call)
{
    if (call->statements->len == 0) {
        call->generation = qd_writer_get_generation(call->private->engine->writer);
        qd_call_finish(call);
        return;
    }
    if (!prepare_write(call, &call->error)) {
        if (call->private->write_statements != NULL && call->private->item.statements == NULL)
            g_clear_pointer(&call->private->write_statements, g_array_unref);
        qd_call_finish(call);
        return;
    }
    qd_registry_set_state(call->private->engine->registry, &call->private->entry, "writing", FALSE);
    qd_writer_submit(call->private->engine->writer, &call->private->item);
}

static void
run_read(QdCall *call)
{
    if (call->kind == QD_CALL_PREPARE)
        qd_call_run_prepare(call, &call->error);
    else if (call->kind == QD_CALL_QUERY)
        qd_call_run_query(call, &call->error);
    else if (call->kind == QD_CALL_QUERY_TEXT)
        qd_call_run_query_text(call, &call->error);
    else if (call->kind == QD_CALL_SUBSCRIBE)
        qd_call_run_subscribe(call, &call->error);
    else if (call->kind == QD_CALL_PREFIXES)
        qd_call_run_prefixes(call, &call->error);
    else if (call->kind == QD_CALL_OPEN_PAYLOADS)
        qd_call_open_payloads(call, &call->error);
    else
        qd_call_run_explain(call, &call->error);
    if (call->private->deferred) {
        call->private->deferred = FALSE;
        call->private->task.sliced = TRUE;
        qd_registry_set_state(call->private->engine->registry, &call->private->entry, "queued", FALSE);
        qd_workers_push_always(call->private->engine->workers, &call->private->task, FALSE);
        return;
    }
    qd_call_finish(call);
}

void
qd_call_run_on_worker(QdTask *task, QdWorkers *workers)
{
    QdCall *call = (QdCall *) ((struct QdCallPrivate *) ((char *) task - offsetof(struct QdCallPrivate, task)))->entry.owner;
    g_autoptr(QdClient) client = qd_client_ref(call->client);

    if (call->kind == QD_CALL_UPDATE || call->kind == QD_CALL_BATCH)
        run_write(call);
    else if (call->kind == QD_CALL_DELETE_PAYLOAD)
        qd_call_write_payload(call);
    else
        run_read(call);
    qd_workers_give_slot(workers, client);
}
