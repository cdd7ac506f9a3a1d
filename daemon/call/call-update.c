/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls that write: Update, Batch; and the set-up of an item that the other calls that write share.
 */
#include "daemon/call/call-classes.h"
#include "daemon/call/call-private.h"
#include "daemon/runtime/context.h"
#include "daemon/runtime/registry.h"

static void
on_written(QdWriteItem *item, QdWriterLinger *linger)
{
    QdCall *call = item->data;

    call->result.error = g_steal_pointer(&item->outcome.error);
    call->result.changes = item->outcome.changes;
    call->result.last_insert_rowid = item->outcome.last_insert_rowid;
    call->result.generation = item->outcome.generation;
    for (guint i = 0; i < call->statements->len; i++)
        g_array_index(call->statements, QdCallStatement, i)
            .changes = g_array_index(call->private->write_statements, QdWriteStatement, i).changes;
    qd_call_finish(call);
}

static gboolean
tell(const QdWriteItem *item, const GError *error)
{
    return qd_call_tell(item->data, error);
}

gboolean
qd_call_init_write(QdCall *call, void (*done)(QdWriteItem *item, QdWriterLinger *linger), GError **error)
{
    QdWriteItem *item = &call->private->item;

    if (!qd_client_check_write(call->client, error))
        return FALSE;

    qd_write_item_init(item);
    item->client = call->client;
    item->relaxed = call->options.execution.relaxed_durability;
    item->times.timeout_msec = qd_call_get_timeout_msec(call);
    item->times.waited_usec = qd_call_get_spent_usec(call);
    item->cancelled = &call->private->entry.cancelled;
    item->done = done;
    item->data = call;
    return TRUE;
}

void
qd_call_run_update(QdCall *call, GError **error)
{
    QdContext *context = call->private->context;

    if (call->statements->len > qd_limits_get(&context->limits, QD_LIMIT_BATCH_STATEMENTS)) {
        qd_limit_set_error(error, &context->limits, QD_LIMIT_BATCH_STATEMENTS, "batch of %u statements is too long",
                           call->statements->len);
        return;
    }
    if (call->statements->len == 0 || !qd_call_init_write(call, on_written, error))
        return;

    call->private->write_statements = g_array_new(FALSE, FALSE, sizeof(QdWriteStatement));
    for (guint i = 0; i < call->statements->len; i++) {
        const QdCallStatement *statement = &g_array_index(call->statements, QdCallStatement, i);
        QdWriteStatement write = { .language = statement->language,
                                   .base = call->options.base,
                                   .dataset = call->options.dataset,
                                   .text = statement->text,
                                   .parameters = statement->parameters };

        if (statement->run_text != NULL) {
            write.text = statement->run_text;
            write.dataset = statement->run_dataset;
            write.parameters = NULL;
        }
        write.n_text_bytes = strlen(write.text);

        g_array_append_val(call->private->write_statements, write);
    }
    call->private->item.statements = call->private->write_statements;
    call->private->item.tell = tell;
}

void
qd_call_write_update(QdCall *call)
{
    if (call->statements->len == 0) {
        call->result.generation = qd_writer_get_generation(call->private->context->writer);
        qd_call_finish(call);
        return;
    }
    qd_registry_set_state(call->private->context->registry, &call->private->entry, "writing", FALSE);
    qd_writer_submit(call->private->context->writer, &call->private->item);
}

#define OPTIONS (QD_TAKES(TIMEOUT) | QD_TAKES(DURABILITY) | QD_TAKES(ERROR_DETAILS) | QD_TAKES(BASE) | QD_TAKES(DATASET))

const QdCallClass qd_update_call = {
    .name = "Update", .options = OPTIONS, .obeys_access = TRUE, .run = qd_call_run_update, .write = qd_call_write_update
};
const QdCallClass qd_batch_call = {
    .name = "Batch", .options = OPTIONS, .obeys_access = TRUE, .run = qd_call_run_update, .write = qd_call_write_update
};
