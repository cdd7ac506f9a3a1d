/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The life of channels: table, ownership, the loop of the state machine.
 */
#include "daemon/channel/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/channel/channel-private.h"
#include "daemon/read/bind.h"

/* Large pipes are a scarce right of the user: beyond these every new one would get 8 KiB. */
#define PIPE_MAX_LARGE 32
#define SLICE_USEC 2000

struct QdChannels {
    QdContext *context;
    pthread_mutex_t mutex;
    GPtrArray *slots;   /* of QdChannel, all that ever were; reused, freed at the end */
    GArray *free_slots; /* of guint */
    guint n_open;
    gint n_pipes;
    gint n_ring_bytes;
    gint draining;
    GPtrArray *answered; /* of QdChannel: owned by the leader of the writer's group */
};

static void channel_process(QdChannel *self, gboolean has_slot);
static void run_channel_task(QdTask *task, QdWorkers *workers);

uint64_t
qd_channel_get_token(const QdChannel *self)
{
    return (__atomic_load_n(&self->state, __ATOMIC_RELAXED) & UINT64_C(0xffffffff00000000)) | self->index;
}

/* TRUE: the caller owns the channel. FALSE: gone, or its owner will look again. */
static gboolean
channel_acquire(QdChannel *self, uint64_t generation)
{
    uint64_t state = __atomic_load_n(&self->state, __ATOMIC_ACQUIRE);

    for (;;) {
        uint64_t wanted = state | ((state & QD_CHANNEL_OWNED) ? QD_CHANNEL_PENDING : QD_CHANNEL_OWNED);

        if (state >> 32 != generation || (state & QD_CHANNEL_FREE))
            return FALSE;
        if (__atomic_compare_exchange_n(&self->state, &state, wanted, FALSE, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return !(state & QD_CHANNEL_OWNED);
    }
}

/* The same, and takes it out of the queue if that is its owner. The slot may belong to a later channel by then, which is as
 * good: it looks, finds nothing, and goes back. */
static gboolean
channel_seize(QdChannel *self, uint64_t generation)
{
    if (channel_acquire(self, generation))
        return TRUE;
    if (!qd_workers_take_back(self->context->workers, &self->task))
        return FALSE;

    self->task.client = self->client;
    self->task.run = run_channel_task;
    return TRUE;
}

/* TRUE: released. FALSE: something happened meanwhile, the caller still owns it. */
static gboolean
channel_release(QdChannel *self)
{
    uint64_t owned = (__atomic_load_n(&self->state, __ATOMIC_RELAXED) & ~(uint64_t) QD_CHANNEL_PENDING);
    uint64_t expected = owned;

    if (__atomic_compare_exchange_n(&self->state, &expected, owned & ~(uint64_t) QD_CHANNEL_OWNED, FALSE, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED))
        return TRUE;

    __atomic_and_fetch(&self->state, ~(uint64_t) QD_CHANNEL_PENDING, __ATOMIC_ACQ_REL);
    self->readable = TRUE;
    return FALSE;
}

QdChannel *
qd_channels_get(QdChannels *self, guint index)
{
    QdChannel *channel = NULL;

    pthread_mutex_lock(&self->mutex);
    if (index < self->slots->len)
        channel = self->slots->pdata[index];
    pthread_mutex_unlock(&self->mutex);
    return channel;
}

void
qd_channels_handle_event(QdChannels *self, uint64_t token, uint32_t events)
{
    QdChannel *channel = qd_channels_get(self, (guint) (token & 0xffffffff));

    if (channel == NULL || !channel_seize(channel, token >> 32))
        return;

    channel->readable = TRUE;
    if ((events & (EPOLLHUP | EPOLLERR)) && token >> 32 == __atomic_load_n(&channel->state, __ATOMIC_RELAXED) >> 32)
        channel->broken = qd_transport_is_pipe(channel->transport) || (events & EPOLLERR) || !(events & EPOLLIN);
    channel_process(channel, FALSE);
}

static void
run_channel_task(QdTask *task, QdWorkers *workers)
{
    channel_process((QdChannel *) ((char *) task - offsetof(QdChannel, task)), TRUE);
}

void
qd_channel_push(QdChannel *self, gboolean wake)
{
    qd_channel_begin_wait(self);
    qd_workers_push_always(self->context->workers, &self->task, wake);
}

/* The task of a kick: it needs no slot. */
static void
look_at_channel(QdTask *task, QdWorkers *workers)
{
    QdChannel *self = (QdChannel *) ((char *) task - offsetof(QdChannel, task));

    task->client = self->client;
    task->run = run_channel_task;
    channel_process(self, FALSE);
}

/* Its time has come in the queue, also in that of a kick: it ends without a slot. */
static void
end_late_channel(QdTask *task, QdWorkers *workers)
{
    ((QdChannel *) ((char *) task - offsetof(QdChannel, task)))->is_late = TRUE;
    look_at_channel(task, workers);
}

/* From any thread: makes a worker look at the channel, unless its owner does. Also when its client has no slot left: what is over
 * ends all the same. */
static void
channel_kick(QdChannel *self, uint64_t generation)
{
    if (!channel_seize(self, generation))
        return;

    self->readable = TRUE;
    self->task.client = NULL;
    self->task.run = look_at_channel;
    qd_channel_push(self, TRUE);
}

static void
kick_entry(QdEntry *entry)
{
    QdChannel *self = entry->owner;

    channel_kick(self, __atomic_load_n(&self->state, __ATOMIC_ACQUIRE) >> 32);
}

static void
channel_clear(QdChannel *self)
{
    if (self->current != NULL)
        qd_channel_end_request(self);
    qd_channel_drop_writes(self);
    qd_channel_free_spare_writes(self);
    qd_channel_drop_transaction(self);
    while (!g_queue_is_empty(&self->requests))
        qd_channel_free_request(self, g_queue_pop_head(&self->requests));
    self->n_request_bytes = 0;
    qd_statement_clear(&self->statement);
    qd_channel_clear_output(self);
    qd_channel_drop_chain(self);
    g_clear_pointer(&self->in, g_byte_array_unref);
    if (self->fd >= 0)
        (void) close(self->fd);
    self->fd = -1;
}

static void
discharge_transport(QdChannels *self, QdTransport transport)
{
    if (qd_transport_is_pipe(transport))
        g_atomic_int_add(&self->n_pipes, -1);
}

/* The owner ends the channel; its slot gets a new generation, which makes all old events void. */
static void
channel_destroy(QdChannel *self)
{
    QdChannels *channels = self->context->channels;
    uint64_t generation = (__atomic_load_n(&self->state, __ATOMIC_RELAXED) >> 32) + 1;

    channel_clear(self);
    qd_client_discharge(self->client, QD_CHARGE_CHANNEL);
    g_clear_pointer(&self->client, qd_client_unref);
    discharge_transport(channels, self->transport);

    __atomic_store_n(&self->blocked_usec, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&self->state, (generation & 0xffffffff) << 32 | QD_CHANNEL_FREE, __ATOMIC_RELEASE);
    pthread_mutex_lock(&channels->mutex);
    g_array_append_val(channels->free_slots, self->index);
    channels->n_open--;
    pthread_mutex_unlock(&channels->mutex);
    if (g_atomic_int_get(&channels->draining))
        qd_mailbox_post(self->context->mailbox, self->context->hooks.activity, self->context->hooks.user_data);
}

/* Ends a result that nobody reads, or that was cancelled while it waited. */
static void
channel_check_run(QdChannel *self)
{
    uint64_t since = __atomic_load_n(&self->blocked_usec, __ATOMIC_RELAXED);
    const QdLimits *limits = &self->context->limits;
    gint cancelled = g_atomic_int_get(&self->entry.cancelled);
    g_autoptr(GError) error = NULL;
    uint64_t now;

    if (self->run == NULL)
        return;

    now = (uint64_t) g_get_monotonic_time();

    if (cancelled == QD_CANCEL_EVICT)
        qd_limit_set_error(&error, limits, QD_LIMIT_WAL_BYTES,
                           "result ended, since it was the oldest and the write-ahead log is too big");
    else if (cancelled)
        qd_error_set(&error, QW_ERROR_CANCELLED, "query was cancelled");
    else if (self->is_late)
        qd_task_set_late_error(&self->task, &error);
    else if (since > 0 && now - since > 1000 * qd_limits_get(limits, QD_LIMIT_READER_IDLE_MSEC))
        qd_limit_set_error(&error, limits, QD_LIMIT_READER_IDLE_MSEC, "reader took no byte of the result");
    else if (now - qd_run_get_start_usec(self->run) > 1000 * qd_limits_get(limits, QD_LIMIT_SNAPSHOT_AGE_MSEC))
        qd_limit_set_error(&error, limits, QD_LIMIT_SNAPSHOT_AGE_MSEC, "result is too old");
    if (error == NULL)
        return;

    qd_channel_fail_request(self, error);
    if (since > 0) /* the time to take the error begins */
        __atomic_store_n(&self->blocked_usec, now, __ATOMIC_RELAXED);
}

/* Arms the descriptor and lets go. Returns: false when there is something to do already. */
static gboolean
channel_park(QdChannel *self, gboolean blocked)
{
    uint32_t events = qd_channel_get_input_events(self) | (blocked ? EPOLLOUT : 0);

    if (!self->ended && qd_channel_has_room(self) && g_atomic_int_get(&self->context->channels->draining)) {
        /* what was sent before is still there to be read, then the end */
        (void) shutdown(self->fd, SHUT_RD);
        self->readable = TRUE;
        qd_channel_read(self);
        return FALSE;
    }
    if (blocked && __atomic_load_n(&self->blocked_usec, __ATOMIC_RELAXED) == 0) {
        __atomic_store_n(&self->blocked_usec, (uint64_t) g_get_monotonic_time(), __ATOMIC_RELAXED);
        qd_registry_set_state(self->context->registry, &self->entry, "blocked", self->run != NULL);
    }
    if (blocked)
        qd_workers_request_sweep(self->context->workers);
    else
        qd_channel_clear_output(self);

    qd_workers_arm(self->context->workers, self->fd, qd_channel_get_token(self), events);
    return channel_release(self);
}

gboolean
qd_channel_has_input(const QdChannel *self)
{
    return self->requests.length > 0 || self->ended || self->broken;
}

/*
 * Waits awake for the next request, for a moment and without a slot: a client that asks one thing after the other then finds
 * this thread, and no core has to be woken for it. At most so many threads do as leave a core for the others.
 */
static gboolean
channel_linger(QdChannel *self)
{
    QdWorkers *workers = self->context->workers;
    uint64_t now = (uint64_t) g_get_monotonic_time();
    uint64_t end_usec = now + QW_SPIN_USEC;

    if (!qw_spin_pays(&self->spin) || self->ended || !qd_workers_begin_linger(workers)) {
        self->answered_usec = now;
        return FALSE;
    }

    do
        qd_channel_read(self);
    while (!qd_channel_has_input(self) && !qd_workers_has_waiting(workers) && (uint64_t) g_get_monotonic_time() < end_usec);

    qd_workers_end_linger(workers);
    qw_spin_note_awake(&self->spin, self->requests.length > 0);
    self->answered_usec = self->requests.length > 0 ? 0 : now;
    return qd_channel_has_input(self);
}

void
qd_channel_park(QdChannel *self)
{
    if (qd_channel_can_resume(self) || !channel_park(self, FALSE))
        qd_channel_push(self, TRUE);
}

void
qd_channels_add_answered(QdChannels *self, QdChannel *channel)
{
    g_ptr_array_add(self->answered, channel);
}

GPtrArray *
qd_channels_get_answered(QdChannels *self)
{
    return self->answered;
}

static gboolean
has_work(const QdChannel *self)
{
    return self->run != NULL || self->current != NULL || self->requests.length > 0;
}

/* What a thread has while it works on a channel. */
typedef struct Turn {
    gboolean has_slot;
    gboolean leads; /* the writer's role */
} Turn;

/* One unit of work, with a slot. Returns: false when the channel is somebody else's now. */
static gboolean
channel_work(QdChannel *self, Turn *turn)
{
    if (qd_channel_next_is_write(self)) {
        if (self->transaction == NULL)
            return qd_channel_start_writes(self, &turn->leads);
        qd_channel_run_writes(self);
        return TRUE;
    }
    if (self->run == NULL)
        return qd_channel_start_request(self, &turn->leads);
    if (qd_channel_continue_run(self))
        return TRUE;

    (void) qd_channel_flush(self);
    qd_registry_set_state(self->context->registry, &self->entry, "queued", self->run != NULL);
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
    qd_channel_begin_wait(self);
    if (qd_workers_push(self->context->workers, &self->task, FALSE))
        return SLOT_QUEUED;

    qd_channel_end_wait(self);
    qd_channel_take_request(self);
    qd_limit_set_error(&error, &self->context->limits, QD_LIMIT_RUN_QUEUE, "too many requests wait");
    qd_channel_fail_request(self, error);
    return SLOT_REFUSED;
}

/* A request that was cancelled before it ran, is late, or was not taken in, needs no slot to hear so. */
static gboolean
channel_drop_cancelled(QdChannel *self)
{
    const QdRequest *next = self->current != NULL ? self->current : g_queue_peek_head(&self->requests);
    g_autoptr(GError) error = NULL;

    if (self->run != NULL)
        return FALSE;
    if (next->error == NULL && !next->cancelled && !self->is_late &&
        (self->current == NULL || g_atomic_int_get(&self->entry.cancelled) == QD_CANCEL_NONE))
        return FALSE;

    qd_channel_take_request(self);
    if (self->current->error == NULL && self->is_late)
        qd_task_set_late_error(&self->task, &self->current->error);
    else if (self->current->error == NULL)
        qd_error_set(&self->current->error, QW_ERROR_CANCELLED, "request was cancelled");
    error = g_steal_pointer(&self->current->error);
    qd_channel_fail_request(self, error);
    return TRUE;
}

/* How long the client took from an answer to its next request. */
static void
note_gap(QdChannel *self)
{
    if (self->requests.length == 0 || self->answered_usec == 0)
        return;

    qw_spin_note_asleep(&self->spin, (uint64_t) g_get_monotonic_time() - self->answered_usec);
    self->answered_usec = 0;
}

/* Returns: true while the caller still owns the channel. */
static gboolean
channel_turn(QdChannel *self, Turn *turn)
{
    int sent = self->broken ? -1 : qd_channel_flush(self);

    if (self->readable || qd_channel_can_resume(self)) {
        self->readable = FALSE;
        qd_channel_read(self);
        note_gap(self);
    }
    channel_check_run(self);
    qd_channel_watch_transaction(self);
    qd_channel_watch_chain(self);
    if (sent < 0 || self->broken) {
        channel_destroy(self);
        return FALSE;
    }
    if (sent == 0)
        return !channel_park(self, TRUE);
    if (!qd_channel_output_is_empty(self))
        return TRUE;
    if (!g_queue_is_empty(&self->writes)) {
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
    if (self->ended || qd_transport_is_pipe(self->transport)) {
        channel_destroy(self);
        return FALSE;
    }
    if (turn->has_slot) {
        qd_workers_give_slot(self->context->workers, self->client);
        turn->has_slot = FALSE;
        if (channel_linger(self))
            return TRUE;
    }
    return !channel_park(self, FALSE);
}

static void
channel_process(QdChannel *self, gboolean has_slot)
{
    QdContext *context = self->context;
    g_autoptr(QdClient) client = qd_client_ref(self->client);
    Turn turn = { .has_slot = has_slot };

    qd_channel_end_wait(self);
    self->slice_end_usec = (uint64_t) g_get_monotonic_time() + SLICE_USEC;
    while (channel_turn(self, &turn))
        ;
    if (turn.has_slot)
        qd_workers_give_slot(context->workers, client);
    if (turn.leads)
        qd_writer_lead(context->writer);
}

/* Making channels ----------------------------------------------------------------------------------------------------- */

/* Some are kept for clients that have few: many processes of one application do not take them all. */
static gboolean
charge_channel(QdChannels *self, QdClient *client, GError **error)
{
    const QdLimits *limits = &self->context->limits;
    uint64_t most = qd_limits_get(limits, QD_LIMIT_CHANNELS);
    uint64_t kept = most / 4;
    gboolean full;

    if (!qd_client_charge(client, QD_CHARGE_CHANNEL, qd_limits_get(limits, QD_LIMIT_CHANNELS_PER_CLIENT))) {
        qd_limit_set_error(error, limits, QD_LIMIT_CHANNELS_PER_CLIENT, "too many open channels of client '%s'", client->label);
        return FALSE;
    }
    pthread_mutex_lock(&self->mutex);
    if (qd_client_count_channels(client) <= qd_limits_get(limits, QD_LIMIT_CHANNELS_FEW))
        kept = 0;
    full = self->n_open >= most - kept;
    self->n_open += full ? 0 : 1;
    pthread_mutex_unlock(&self->mutex);
    if (full) {
        qd_client_discharge(client, QD_CHARGE_CHANNEL);
        qd_limit_set_error(error, limits, QD_LIMIT_CHANNELS,
                           kept > 0 ? "too many open channels beside a quarter, which is kept for clients with few"
                                    : "too many open channels");
    }
    return !full;
}

static void
discharge_channel(QdChannels *self, QdClient *client)
{
    pthread_mutex_lock(&self->mutex);
    self->n_open--;
    pthread_mutex_unlock(&self->mutex);
    qd_client_discharge(client, QD_CHARGE_CHANNEL);
}

static gboolean
open_transport(QdChannels *self, QdTransport transport, int ret_fds[2], GError **error)
{
    gboolean is_pipe = qd_transport_is_pipe(transport);
    gboolean large_pipe = is_pipe && g_atomic_int_add(&self->n_pipes, 1) < PIPE_MAX_LARGE;

    if (qd_transport_open(transport, large_pipe, ret_fds, error))
        return TRUE;

    discharge_transport(self, transport);
    return FALSE;
}

static QdChannel *
take_slot(QdChannels *self)
{
    QdChannel *channel;

    pthread_mutex_lock(&self->mutex);
    if (self->free_slots->len > 0) {
        guint index = g_array_index(self->free_slots, guint, self->free_slots->len - 1);

        g_array_set_size(self->free_slots, self->free_slots->len - 1);
        channel = self->slots->pdata[index];
    } else {
        channel = g_new0(QdChannel, 1);
        channel->index = self->slots->len;
        channel->state = UINT64_C(1) << 32 | QD_CHANNEL_FREE;
        channel->context = self->context;
        g_ptr_array_add(self->slots, channel);
    }
    pthread_mutex_unlock(&self->mutex);
    return channel;
}

static void
setup_channel(QdChannel *channel, QdClient *client, const QdChannelSetup *setup, int fd)
{
    guint index = channel->index;
    uint64_t state = __atomic_load_n(&channel->state, __ATOMIC_ACQUIRE);

    channel->index = index;
    channel->fd = fd;
    channel->transport = setup->transport;
    channel->page_size = setup->page_size;
    channel->error_details = setup->options.error_details;
    channel->refuses_control = setup->options.refuses_control;
    channel->client = qd_client_ref(client);
    channel->task = (QdTask){ .client = channel->client, .watch_fd = -1, .run = run_channel_task, .late = end_late_channel };
    channel->entry = (QdEntry){
        .language = qd_language_get_name(setup->language), .client = channel->client, .kick = kick_entry, .owner = channel
    };
    channel->in = g_byte_array_new();
    channel->chain.chunks = (QwChunks){ 0 };
    channel->chain.is_refused = channel->chain.is_held = FALSE;
    g_queue_init(&channel->requests);
    g_queue_init(&channel->writes);
    g_queue_init(&channel->spare_writes);
    channel->readable = channel->ended = channel->broken = FALSE;
    channel->last_reader = NULL;
    channel->spin = (QwSpin){ 0 };
    channel->counters = (QdCounts){ 0 };
    channel->settings = 0;
    channel->spent_usec = 0;
    channel->is_late = FALSE;
    channel->answered_usec = 0;
    channel->transaction = NULL;
    __atomic_store_n(&channel->transaction_due_usec, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&channel->blocked_usec, 0, __ATOMIC_RELAXED);
    channel->statement = (QdStatement){
        .prepared = TRUE,
        .text = g_strndup(setup->text, setup->n_text_bytes),
        .n_text_bytes = setup->n_text_bytes,
        .base = g_strdup(setup->options.base),
        .language = setup->language,
        .signature = setup->shape.signature,
        .n_parameters = setup->shape.n_parameters,
        .writes = setup->shape.writes,
        .control = setup->shape.control,
        .options = setup->options,
    };
    channel->statement.options.base = NULL; /* the call's */
    __atomic_store_n(&channel->state, (state & ~(uint64_t) QD_CHANNEL_FREE) | QD_CHANNEL_OWNED, __ATOMIC_RELEASE);
}

/* A pipe has nobody to ask for rows: its FETCH is there from the start, and its SCHEMA first in the stream. */
static void
start_pipe(QdChannel *channel, const QdChannelSetup *setup)
{
    QdRequest *request = g_new0(QdRequest, 1);
    gsize n_bytes = 0;

    request->kind = QW_KIND_FETCH;
    request->received_usec = (uint64_t) g_get_monotonic_time();
    if (setup->parameters != NULL && setup->shape.n_parameters > 0) {
        request->body = g_bytes_unref_to_data(g_bytes_ref(setup->parameters), &n_bytes);
        request->n_bytes = n_bytes;
        request->count = 1;
    }
    g_queue_push_tail(&channel->requests, request);
    qd_channel_put_schema(channel, &setup->shape, 0);
}

gboolean
qd_channels_open(QdChannels *self, QdClient *client, const QdChannelSetup *setup, int *ret_fd, GError **error)
{
    QdChannel *channel;
    int fds[2];
    int r;

    if (g_atomic_int_get(&self->draining)) {
        qd_error_set(error, QW_ERROR_CLOSED, "the daemon is stopping");
        return FALSE;
    }
    if (!charge_channel(self, client, error))
        return FALSE;
    if (!open_transport(self, setup->transport, fds, error)) {
        discharge_channel(self, client);
        return FALSE;
    }
    if ((uint64_t) fds[0] > qd_limits_get(&self->context->limits, QD_LIMIT_DESCRIPTORS) / 10 * 8) {
        qd_limit_set_error(error, &self->context->limits, QD_LIMIT_DESCRIPTORS, "too many open descriptors");
        (void) close(fds[0]);
        (void) close(fds[1]);
        discharge_transport(self, setup->transport);
        discharge_channel(self, client);
        return FALSE;
    }

    channel = take_slot(self);
    setup_channel(channel, client, setup, fds[0]);
    r = qd_workers_watch(self->context->workers, channel->fd, qd_channel_get_token(channel));
    if (r < 0) {
        qd_error_set_errno(error, -r, "cannot watch a descriptor");
        (void) close(fds[1]);
        channel_destroy(channel);
        return FALSE;
    }
    *ret_fd = fds[1];
    if (qd_transport_is_pipe(setup->transport))
        start_pipe(channel, setup);
    qd_channel_push(channel, FALSE);
    return TRUE;
}

/* Rings --------------------------------------------------------------------------------------------------------------- */

gboolean
qd_channels_charge_ring(QdChannels *self, QdClient *client, guint n_bytes)
{
    const QdLimits *limits = &self->context->limits;
    gint before;

    if (!qd_client_charge_many(client, QD_CHARGE_RING, n_bytes, qd_limits_get(limits, QD_LIMIT_RING_PER_CLIENT_BYTES)))
        return FALSE;
    before = g_atomic_int_add(&self->n_ring_bytes, (gint) n_bytes);
    if ((uint64_t) before + n_bytes <= qd_limits_get(limits, QD_LIMIT_RING_BYTES))
        return TRUE;

    qd_channels_discharge_ring(self, client, n_bytes);
    return FALSE;
}

void
qd_channels_discharge_ring(QdChannels *self, QdClient *client, guint n_bytes)
{
    g_atomic_int_add(&self->n_ring_bytes, -(gint) n_bytes);
    qd_client_discharge_many(client, QD_CHARGE_RING, n_bytes);
}

/* The table ----------------------------------------------------------------------------------------------------------- */

QdChannels *
qd_channels_new(QdContext *context)
{
    QdChannels *self = g_new0(QdChannels, 1);

    self->context = context;
    self->slots = g_ptr_array_new_with_free_func(g_free);
    self->free_slots = g_array_new(FALSE, FALSE, sizeof(guint));
    self->answered = g_ptr_array_new();
    pthread_mutex_init(&self->mutex, NULL);
    return self;
}

QdChannels *
qd_channels_free(QdChannels *self)
{
    if (self == NULL)
        return NULL;

    for (guint i = 0; i < self->slots->len; i++) {
        QdChannel *channel = self->slots->pdata[i];

        if (channel->client != NULL) {
            channel_clear(channel);
            qd_client_discharge(channel->client, QD_CHARGE_CHANNEL);
            qd_client_unref(channel->client);
        }
    }
    g_ptr_array_unref(self->slots);
    g_array_unref(self->free_slots);
    g_ptr_array_unref(self->answered);
    pthread_mutex_destroy(&self->mutex);
    g_free(self);
    return NULL;
}

void
qd_channels_sweep(QdChannels *self)
{
    uint64_t now = (uint64_t) g_get_monotonic_time();
    guint n;
    gboolean again = FALSE;

    pthread_mutex_lock(&self->mutex);
    n = self->slots->len;
    pthread_mutex_unlock(&self->mutex);
    for (guint i = 0; i < n; i++) {
        QdChannel *channel = qd_channels_get(self, i);
        uint64_t generation = __atomic_load_n(&channel->state, __ATOMIC_ACQUIRE) >> 32;
        uint64_t since = __atomic_load_n(&channel->blocked_usec, __ATOMIC_RELAXED);
        uint64_t due = __atomic_load_n(&channel->transaction_due_usec, __ATOMIC_RELAXED);
        uint64_t piece = __atomic_load_n(&channel->chain.usec, __ATOMIC_RELAXED);

        if (piece != 0) {
            again = TRUE;
            if (now > piece + 1000 * qd_limits_get(&self->context->limits, QD_LIMIT_REQUEST_IDLE_MSEC))
                channel_kick(channel, generation);
        }
        if (due != 0) {
            again = TRUE;
            if (now >= due || qd_writer_is_awaited(self->context->writer))
                channel_kick(channel, generation);
        }
        if (since == 0)
            continue;
        again = TRUE;
        if (now - since > 1000 * MIN(qd_limits_get(&self->context->limits, QD_LIMIT_READER_IDLE_MSEC),
                                     qd_limits_get(&self->context->limits, QD_LIMIT_SNAPSHOT_AGE_MSEC)))
            channel_kick(channel, generation);
    }
    if (again)
        qd_workers_request_sweep(self->context->workers);
}

void
qd_channels_drain(QdChannels *self)
{
    g_atomic_int_set(&self->draining, TRUE);
    for (guint i = 0;; i++) {
        QdChannel *channel = qd_channels_get(self, i);
        uint64_t generation;

        if (channel == NULL)
            return;
        generation = __atomic_load_n(&channel->state, __ATOMIC_ACQUIRE) >> 32;
        channel_kick(channel, generation);
    }
}

guint
qd_channels_get_n(QdChannels *self)
{
    guint n;

    pthread_mutex_lock(&self->mutex);
    n = self->n_open;
    pthread_mutex_unlock(&self->mutex);
    return n;
}
