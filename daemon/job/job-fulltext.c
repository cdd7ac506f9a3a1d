/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SetFullText: settings of the full-text index and the index itself, in one transaction.
 */
#include "daemon/base/name-set.h"
#include "daemon/call/call-descriptor.h"
#include "daemon/call/call-private.h"
#include "daemon/job/job-classes.h"
#include "daemon/job/jobs.h"
#include "daemon/notify/changes.h"
#include "daemon/quads/fts.h"
#include "daemon/runtime/context.h"
#include "daemon/write/writer.h"

static gboolean
change(QdConnection *connection, QdWriteItem *item, void *user_data, GError **error)
{
    const QdFtsChange *what = user_data;

    if (!qd_fts_change(connection, what, error))
        return FALSE;
    if (what->add == NULL && what->remove == NULL && what->tokenizer == NULL && !what->has_all && !what->rebuild)
        return TRUE;
    /* what a full-text pattern finds in any graph may be other solutions now */
    qd_changes_add_table(item->outcome.changed, "queryd_fts");
    qd_name_set_make_all(item->outcome.changed->graphs);
    qd_name_set_make_all(item->outcome.changed->predicates);
    return TRUE;
}

static void
run_full_text(QdCall *call, GError **error)
{
    const QdFullTextOptions *options = &call->options.full_text;
    QdFtsChange what = {
        .tokenizer = options->tokenizer,
        .add = options->add,
        .remove = options->remove,
        .has_all = options->has_all,
        .all = options->all,
        .rebuild = options->rebuild,
        .compare = options->check,
    };
    g_autoptr(GError) local_error = NULL;
    QdWriteItem item;

    if (!qd_client_check_write_all(call->client, error))
        return;
    qd_write_item_init(&item);
    item.cancelled = &call->private->entry.cancelled;
    (void) qd_writer_run_exclusive(call->private->context->writer, &item, TRUE, change, &what, &local_error);
    qd_write_item_clear(&item);
    /* SQLite says no more than that it was interrupted */
    if (local_error != NULL && !qd_call_is_cancelled(call, error))
        g_propagate_error(error, g_steal_pointer(&local_error));
}

const QdCallClass qd_full_text_call = {
    .name = "SetFullText",
    .place = QD_CALL_ON_JOB,
    .options = QD_TAKES(FULL_TEXT),
    .run = run_full_text,
};
