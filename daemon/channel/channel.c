/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The loop of the state machine: what a thread that has a channel does with it, until it waits for something, and its end.
 */
#include "daemon/channel/channel.h"

#include <sched.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "daemon/base/error.h"
#include "daemon/base/mailbox.h"
#include "daemon/base/thread.h"
#include "daemon/channel/channel-private.h"
#include "daemon/channel/cursor-output.h"
#include "daemon/read/client.h"
#include "daemon/read/run.h"
#include "daemon/runtime/context.h"
#include "daemon/runtime/workers.h"
#include "daemon/write/writer.h"

/* After so many waits awake it is asked whether the client has the same core; then so many waits leave it to the client. */
#define AWAKE 16
#define YIELDS 500

static void channel_process(QdChannel *self, gboolean has_slot);

void
qd_channels_handle_event(QdChannels *self, uint64_t token, uint32_t events)
{
    QdChannel *channel = qd_channels_get(self, (guint) (token & 0xffffffff));

    if (channel == NULL || !qd_channel_seize(channel, token >> 32))
        return;

    channel->input.readable = TRUE;
    if ((events & (EPOLLHUP | EPOLLERR)) && token >> 32 == __atomic_load_n(&channel->ownership, __ATOMIC_RELAXED) >> 32 &&
        (qd_transport_is_pipe(channel->transport) || (events & EPOLLERR) || !(events & EPOLLIN)))
        qd_channel_note_peer(channel, QD_PEER_GONE);
    channel_process(channel, FALSE);
}

static QdChannel *
get_channel(QdTask *task)
{
    return (QdChannel *) ((char *) task - offsetof(QdChannel, task));
}

/* A slot is held, unless it was kicked. */
static void
run_channel_task(QdTask *task, QdWorkers *workers)
{
    QdChannel *self = get_channel(task);

    channel_process(self, self->state == QD_CHANNEL_QUEUED);
}

/* Its time has come in the queue: it ends without a slot. */
static void
end_late_channel(QdTask *task, QdWorkers *workers)
{
    get_channel(task)->work.is_late = TRUE;
    channel_process(get_channel(task), FALSE);
}

void
qd_channel_init_task(QdChannel *self)
{
    self->task = (QdTask){ .client = self->client, .watch_fd = -1, .run = run_channel_task, .late = end_late_channel };
}

void
qd_channel_clear(QdChannel *self)
{
    if (self->work.request != NULL)
        qd_channel_end_request(self);
    qd_channel_drop_writes(self);
    qd_channel_free_spare_writes(self);
    qd_channel_drop_transaction(self);
    while (!g_queue_is_empty(&self->input.requests))
        qd_channel_free_request(self, g_queue_pop_head(&self->input.requests));
    self->input.n_request_bytes = 0;
    qd_channels_discharge_pages(self->context->channels, self->client, self->page_size);
    qd_channel_clear_statement(self);
    qd_channel_clear_output(self);
    self->output.cursor = qd_cursor_output_free(self->output.cursor);
    qd_channel_drop_chain(self);
    qd_channel_leave_session(self);
    __atomic_store_n(&self->input.awaited_usec, 0, __ATOMIC_RELAXED);
    g_clear_pointer(&self->input.bytes, g_byte_array_unref);
    if (self->fd >= 0)
        (void) close(self->fd);
    self->fd = -1;
}

/* The owner ends the channel; its slot gets a new generation, which makes all old events void. */
void
qd_channel_destroy(QdChannel *self)
{
    QdChannels *channels = self->context->channels;
    uint64_t generation = (__atomic_load_n(&self->ownership, __ATOMIC_RELAXED) >> 32) + 1;

    qd_channel_clear(self);
    qd_client_discharge(self->client, QD_CHARGE_CHANNEL);
    g_clear_pointer(&self->client, qd_client_unref);
    qd_channels_discharge_transport(channels, self->transport);

    qd_channel_set_state(self, QD_CHANNEL_NONE);
    __atomic_store_n(&self->output.blocked_usec, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&self->ownership, (generation & 0xffffffff) << 32 | QD_CHANNEL_FREE, __ATOMIC_RELEASE);
    qd_channels_give_slot(channels, self);
    if (qd_channels_is_draining(channels))
        qd_mailbox_post(self->context->mailbox, self->context->hooks.activity, self->context->hooks.user_data);
}

/* Ends a result that is not read, or that was cancelled while it waited. */
static void
channel_check_run(QdChannel *self)
{
    uint64_t since = __atomic_load_n(&self->output.blocked_usec, __ATOMIC_RELAXED);
    const QdLimits *limits = &self->context->limits;
    gint cancelled = g_atomic_int_get(&self->entry.cancelled);
    g_autoptr(GError) error = NULL;
    uint64_t now;

    if (self->work.run == NULL)
        return;

    now = (uint64_t) g_get_monotonic_time();

    if (cancelled == QD_CANCEL_EVICT)
        qd_limit_set_error(&error, limits, QD_LIMIT_WAL_BYTES,
                           "result ended, since it was the oldest and the write-ahead log is too big");
    else if (cancelled)
        qd_error_set(&error, QW_ERROR_CANCELLED, "query was cancelled");
    else if (self->work.is_late)
        qd_task_set_late_error(&self->task, &error);
    else if (since > 0 && now > since + 1000 * qd_limits_get(limits, QD_LIMIT_READER_IDLE_MSEC))
        qd_limit_set_error(&error, limits, QD_LIMIT_READER_IDLE_MSEC, "reader took no byte of the result");
    else if (now > qd_run_get_start_usec(self->work.run) + 1000 * qd_limits_get(limits, QD_LIMIT_SNAPSHOT_AGE_MSEC))
        qd_limit_set_error(&error, limits, QD_LIMIT_SNAPSHOT_AGE_MSEC, "result is too old");
    if (error == NULL)
        return;

    qd_channel_fail_request(self, error);
    if (since > 0) /* the time to take the error begins */
        __atomic_store_n(&self->output.blocked_usec, now, __ATOMIC_RELAXED);
}

/* A client on this thread's core takes it away for each request. */
static void
note_core(QdChannel *self)
{
    QdChannelWaits *waits = &self->waits;
    uint64_t n_lost;

    if (++waits->n_awake < AWAKE)
        return;
    n_lost = qd_thread_count_preemptions();
    if (n_lost >= waits->n_lost + AWAKE / 2 && n_lost <= waits->n_lost + 2 * AWAKE)
        waits->n_yields = YIELDS;
    waits->n_awake = 0;
    waits->n_lost = n_lost;
}

static void
wait_awake(QdChannel *self, uint64_t end_usec)
{
    do
        qd_channel_read(self);
    while (!qd_channel_has_input(self) && !qd_workers_has_waiting(self->context->workers) &&
           (uint64_t) g_get_monotonic_time() < end_usec);
    if (self->input.requests.length > 0)
        note_core(self);
}

/* Its client sleeps again, with the next request sent, when this thread has the core back. Else it would be the client's turn only
 * after this thread has had as much of the core. */
static void
wait_for_core(QdChannel *self, uint64_t end_usec)
{
    self->waits.n_yields--;
    do {
        (void) sched_yield();
        qd_channel_read(self);
    } while (!qd_channel_has_input(self) && !qd_workers_has_waiting(self->context->workers) &&
             (uint64_t) g_get_monotonic_time() < end_usec);
}

/*
 * Waits awake for the next request, for a moment and without a slot. A client that asks one thing after the other then finds
 * this thread, and no core has to be woken for it. At most so many threads do as leave a core for the others.
 */
static gboolean
channel_linger(QdChannel *self)
{
    QdWorkers *workers = self->context->workers;
    uint64_t now = (uint64_t) g_get_monotonic_time();
    uint64_t end_usec = now + qw_spin_get_usec(&self->spin);
    gboolean is_caught;

    if (!qw_spin_pays(&self->spin) || self->input.peer != QD_PEER_TALKS || !qd_workers_begin_linger(workers)) {
        self->answered_usec = now;
        return FALSE;
    }

    qd_channel_set_state(self, QD_CHANNEL_LINGERING);
    if (self->waits.n_yields > 0)
        wait_for_core(self, end_usec);
    else
        wait_awake(self, end_usec);
    qd_workers_end_linger(workers);
    qd_channel_set_state(self, QD_CHANNEL_SERVED);
    is_caught = self->input.requests.length > 0 && qw_spin_is_caught(end_usec, (uint64_t) g_get_monotonic_time());
    qw_spin_note_awake(&self->spin, is_caught);
    if (!is_caught)
        self->waits.n_yields = 0; /* another program has the core, too */
    self->answered_usec = self->input.requests.length > 0 ? 0 : now;
    return qd_channel_has_input(self);
}

static gboolean
has_work(const QdChannel *self)
{
    return self->work.run != NULL || self->work.request != NULL || self->input.requests.length > 0;
}

/* What a thread has while it works on a channel. */
typedef struct Turn {
    gboolean has_slot;
    gboolean leads; /* the writer's role */
} Turn;

/* One unit of work, with a slot. Returns: false when the channel has another owner now. */
static gboolean
channel_work(QdChannel *self, Turn *turn)
{
    if (qd_channel_next_is_write(self)) {
        if (self->transaction == NULL)
            return qd_channel_start_writes(self, &turn->leads);
        qd_channel_run_writes(self);
        return TRUE;
    }
    if (self->work.run == NULL) {
        if (!qd_channel_start_request(self, &turn->leads))
            return FALSE;
        if (!self->work.schema_waits)
            return TRUE;
    }
    if (qd_channel_continue_run(self))
        return TRUE;

    (void) qd_channel_flush(self);
    qd_channel_push(self, FALSE);
    return FALSE;
}

typedef enum SlotResult {
    SLOT_TAKEN,
    SLOT_QUEUED,  /* the queue owns the channel now */
    SLOT_REFUSED, /* the queue is full: the request has got its error, the channel lives on */
} SlotResult;

static SlotResult
channel_get_slot(QdChannel *self)
{
    g_autoptr(GError) error = NULL;

    if (qd_workers_take_slot(self->context->workers, self->client, self->task.sliced))
        return SLOT_TAKEN;
    if (qd_channel_try_push(self))
        return SLOT_QUEUED;

    qd_channel_take_request(self);
    qd_task_set_full_error(&self->context->limits, &error);
    qd_channel_refuse_request(self, error);
    return SLOT_REFUSED;
}

/* A request that was cancelled before it ran, is late, or was not taken in, needs no slot to hear so. */
static gboolean
channel_drop_cancelled(QdChannel *self)
{
    const QdRequest *next = self->work.request != NULL ? self->work.request : g_queue_peek_head(&self->input.requests);
    g_autoptr(GError) error = NULL;

    if (self->work.run != NULL)
        return FALSE;
    if (next->error == NULL && !next->cancelled && !self->work.is_late &&
        (self->work.request == NULL || g_atomic_int_get(&self->entry.cancelled) == QD_CANCEL_NONE))
        return FALSE;

    qd_channel_take_request(self);
    if (self->work.request->error == NULL && self->work.is_late)
        qd_task_set_late_error(&self->task, &self->work.request->error);
    else if (self->work.request->error == NULL)
        qd_error_set(&self->work.request->error, QW_ERROR_CANCELLED, "request was cancelled");
    error = g_steal_pointer(&self->work.request->error);
    qd_channel_refuse_request(self, error);
    return TRUE;
}

/* How long the client took from an answer to its next request. */
static void
note_gap(QdChannel *self)
{
    if (self->input.requests.length == 0 || self->answered_usec == 0)
        return;

    qw_spin_note_asleep(&self->spin, (uint64_t) g_get_monotonic_time() - self->answered_usec);
    self->answered_usec = 0;
}

/* Returns: true while the caller still owns the channel. */
static gboolean
channel_turn(QdChannel *self, Turn *turn)
{
    int sent = self->input.peer == QD_PEER_GONE ? -1 : qd_channel_flush(self);

    if (self->input.readable || qd_channel_can_resume(self)) {
        self->input.readable = FALSE;
        qd_channel_read(self);
        note_gap(self);
    }
    channel_check_run(self);
    qd_channel_watch_transaction(self);
    qd_channel_watch_input(self);
    if (sent < 0 || self->input.peer == QD_PEER_GONE) {
        qd_channel_destroy(self);
        return FALSE;
    }
    if (sent == 0)
        return !qd_channel_let_go(self, TRUE);
    if (!qd_channel_output_is_empty(self))
        return TRUE;
    if (!g_queue_is_empty(&self->writes.queue)) {
        qd_channel_continue_writes(self);
        return TRUE;
    }
    if (qd_channel_answer_begin(self))
        return TRUE;
    if (has_work(self)) {
        SlotResult result;

        if (channel_drop_cancelled(self))
            return TRUE;
        result = turn->has_slot ? SLOT_TAKEN : channel_get_slot(self);
        if (result != SLOT_TAKEN)
            return result == SLOT_REFUSED;
        turn->has_slot = TRUE;
        return channel_work(self, turn);
    }
    if (self->input.peer != QD_PEER_TALKS || qd_transport_is_pipe(self->transport)) {
        qd_channel_destroy(self);
        return FALSE;
    }
    if (turn->has_slot) {
        qd_workers_give_slot(self->context->workers, self->client);
        turn->has_slot = FALSE;
        if (channel_linger(self))
            return TRUE;
    }
    return !qd_channel_let_go(self, FALSE);
}

static void
channel_process(QdChannel *self, gboolean has_slot)
{
    QdContext *context = self->context;
    g_autoptr(QdClient) client = qd_client_ref(self->client);
    Turn turn = { .has_slot = has_slot };

    qd_channel_set_state(self, QD_CHANNEL_SERVED);
    qd_channel_end_wait(self);
    self->work.slice_end_usec = (uint64_t) g_get_monotonic_time() + QD_CHANNEL_SLICE_USEC;
    while (channel_turn(self, &turn))
        ;
    if (turn.has_slot)
        qd_workers_give_slot(context->workers, client);
    if (turn.leads)
        qd_writer_lead(context->writer);
}
