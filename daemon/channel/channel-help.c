/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Help for scans in ranges: a task that executes some of them on a thread that has nothing else to do.
 *
 * Invariant: it holds a run slot of its client. It leaves within some milliseconds when anything waits for a thread or a core, or
 * when another request was served.
 */
#include "daemon/base/thread.h"
#include "daemon/channel/channel-private.h"
#include "daemon/read/client.h"
#include "daemon/read/ranges/scan-ranges.h"
#include "daemon/runtime/context.h"
#include "daemon/runtime/workers.h"

typedef struct Help {
    QdTask task;
    QdContext *context;
    QdClient *client;   /* (owned reference) */
    QdScanShare *share; /* (owned) (nullable) */
    uint64_t begun_usec;
} Help;

static gboolean
is_to_leave(void *data)
{
    const Help *self = data;

    return qd_workers_is_crowded(self->context->workers, self->begun_usec);
}

static void
drop_help(QdTask *task)
{
    Help *self = (Help *) task;

    if (self->share != NULL)
        qd_scan_share_refuse(self->share);
    qd_client_unref(self->client);
    g_free(self);
}

static void
run_help(QdTask *task, QdWorkers *workers)
{
    Help *self = (Help *) task;
    guint n_done;

    if (qd_workers_take_slot_to_help(workers, self->client)) {
        qd_workers_note_batch();
        self->begun_usec = qd_thread_get_coarse_usec();
        n_done = qd_scan_share_help(g_steal_pointer(&self->share), is_to_leave, self);
        __atomic_add_fetch(&self->context->counters.n_helped_ranges, n_done, __ATOMIC_RELAXED);
        qd_workers_give_slot(workers, self->client);
    }
    drop_help(task);
}

gboolean
qd_channel_help_scan(void *data, QdScanShare *share)
{
    QdChannel *channel = data;
    QdWorkers *workers = channel->context->workers;
    Help *self;

    if (!qd_workers_has_idle(workers))
        return FALSE;
    if (share == NULL)
        return TRUE;
    self = g_new0(Help, 1);
    self->task = (QdTask){ .watch_fd = -1, .run = run_help, .drop = drop_help };
    self->context = channel->context;
    self->client = qd_client_ref(channel->client);
    self->share = share;
    qd_workers_push_always(workers, &self->task, TRUE);
    return TRUE;
}
