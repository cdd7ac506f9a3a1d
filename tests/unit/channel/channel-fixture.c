/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each thread of the workers runs a task that waits; the queue and the events are the test's then.
 */
#include "tests/unit/channel/channel-fixture.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client-lib/wire/wire-error.h"
#include "daemon/call/call-classes.h"
#include "daemon/read/pool.h"
#include "daemon/runtime/workers.h"
#include "daemon/write/writer.h"

/* More slots than a client may have. */
#define MANY_SLOTS 1000

static void
hold_thread(QdTask *task, QdWorkers *workers)
{
    ChannelFixture *self = (ChannelFixture *) ((char *) (task - task->watch_token) - offsetof(ChannelFixture, holds));

    hand_over_push(self->held, task);
    (void) hand_over_pop(self->go);
}

static void
hold_threads(ChannelFixture *self)
{
    for (guint i = 0; i < CHANNEL_FIXTURE_THREADS; i++) {
        self->holds[i] = (QdTask){ .watch_fd = -1, .watch_token = i, .run = hold_thread };
        qd_workers_push_always(self->workers, &self->holds[i], TRUE);
    }
    for (guint i = 0; i < CHANNEL_FIXTURE_THREADS; i++)
        (void) hand_over_pop(self->held);
}

void
channel_fixture_set_up(ChannelFixture *self, gconstpointer data)
{
    self->held = hand_over_new();
    self->go = hand_over_new();
    self->tokens = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    engine_fixture_set_up(&self->engine, data);
    engine_fixture_execute(&self->engine, "INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'z')");
    self->engine.store.limits.values[QD_LIMIT_RUNNING] = 1;
    engine_fixture_restart(&self->engine);
    self->workers = self->engine.engine->context.workers;
    self->channels = self->engine.engine->context.channels;
    hold_threads(self);
}

void
channel_fixture_tear_down(ChannelFixture *self, gconstpointer data)
{
    channel_fixture_settle(self);
    g_assert_cmpuint(qd_workers_get_n_running(self->workers), ==, 0);
    for (guint i = 0; i < CHANNEL_FIXTURE_THREADS; i++)
        hand_over_push(self->go, self);
    engine_fixture_tear_down(&self->engine, data);
    hand_over_free(self->held);
    hand_over_free(self->go);
    g_array_unref(self->tokens);
}

void
channel_fixture_set_limit(ChannelFixture *self, QdLimit limit, uint64_t value)
{
    self->engine.store.limits.values[limit] = value;
    qd_engine_set_limits(self->engine.engine, &self->engine.store.limits);
}

void
channel_fixture_settle(ChannelFixture *self)
{
    gboolean served = TRUE;

    while (served) {
        served = qd_workers_serve_event(self->workers, 0);
        served = qd_workers_serve_task(self->workers) || served;
    }
}

gboolean
channel_fixture_serve_task(ChannelFixture *self)
{
    return qd_workers_serve_task(self->workers);
}

void
channel_fixture_use_up_slots(ChannelFixture *self)
{
    g_assert_true(qd_client_charge_many(self->engine.client, QD_CHARGE_RUNNING, MANY_SLOTS, G_MAXINT32));
}

void
channel_fixture_give_slots(ChannelFixture *self)
{
    qd_client_discharge_many(self->engine.client, QD_CHARGE_RUNNING, MANY_SLOTS);
}

/* Peers ----------------------------------------------------------------------------------------------------------------- */

/* The channel that has just been opened. */
static QdChannel *
find_channel(ChannelFixture *self)
{
    QdChannel *channel;

    for (guint i = 0; (channel = qd_channels_get(self->channels, i)) != NULL; i++) {
        uint64_t token = qd_channel_get_token(channel);
        gboolean known = channel->client == NULL;

        for (guint k = 0; k < self->tokens->len; k++)
            known = known || g_array_index(self->tokens, uint64_t, k) == token;
        if (known)
            continue;
        g_array_append_val(self->tokens, token);
        return channel;
    }
    g_assert_not_reached();
}

static ChannelPeer *
open_peer(ChannelFixture *self, const char *sql, const QdExecutionOptions *options, QdTransport transport)
{
    g_autoptr(QdCall) call = qd_call_new(&qd_prepare_call, self->engine.client);
    ChannelPeer *peer = g_new0(ChannelPeer, 1);

    call->options.execution = *options;
    call->options.channel.transport = transport;
    qd_call_add_statement(call, QD_LANGUAGE_SQL, sql, NULL);
    engine_fixture_submit(&self->engine, call);
    channel_fixture_settle(self);
    engine_fixture_await(&self->engine, call);
    g_assert_no_error(call->result.error);
    peer->fixture = self;
    peer->in = g_byte_array_new();
    peer->fd = call->result.channel_fd;
    call->result.channel_fd = -1;
    peer->channel = find_channel(self);
    peer->token = qd_channel_get_token(peer->channel);
    return peer;
}

ChannelPeer *
channel_peer_open_with(ChannelFixture *self, const char *sql, const QdExecutionOptions *options)
{
    return open_peer(self, sql, options, QD_TRANSPORT_SOCKETPAIR);
}

ChannelPeer *
channel_peer_open_pipe(ChannelFixture *self, const char *sql)
{
    const QdExecutionOptions options = { 0 };

    return open_peer(self, sql, &options, QD_TRANSPORT_PIPE);
}

ChannelPeer *
channel_peer_open(ChannelFixture *self, const char *sql, uint32_t timeout_msec)
{
    const QdExecutionOptions options = { .has_timeout = timeout_msec > 0, .timeout_msec = timeout_msec };

    return channel_peer_open_with(self, sql, &options);
}

ChannelPeer *
channel_peer_free(ChannelPeer *self)
{
    if (self == NULL)
        return NULL;

    channel_peer_hang_up(self);
    g_byte_array_unref(self->in);
    g_free(self);
    return NULL;
}

void
channel_peer_hang_up(ChannelPeer *self)
{
    if (self->fd >= 0)
        (void) close(self->fd);
    self->fd = -1;
}

static void
send_all(ChannelPeer *self, const void *data, gsize n_bytes)
{
    g_assert_cmpint(send(self->fd, data, n_bytes, MSG_DONTWAIT | MSG_NOSIGNAL), ==, (gssize) n_bytes);
}

void
channel_peer_send(ChannelPeer *self, QwKind kind, uint32_t count, uint32_t serial)
{
    uint8_t record[QW_HEADER_SIZE];

    send_all(self, record, qw_record_encode(record, kind, count, serial, NULL, 0));
}

void
channel_peer_fetch(ChannelPeer *self, uint32_t serial)
{
    channel_peer_send(self, QW_KIND_FETCH, 0, serial);
}

void
channel_peer_cancel(ChannelPeer *self, uint32_t serial)
{
    channel_peer_send(self, QW_KIND_CANCEL, serial, 0);
}

void
channel_peer_prepare(ChannelPeer *self, uint32_t serial, const char *sql)
{
    uint8_t data[1024];
    uint8_t record[QW_HEADER_SIZE + sizeof data];
    QwBodyWriter body = { .data = data, .capacity = sizeof data };

    qw_prepare_put_head(&body, "sql", sql, strlen(sql));
    send_all(self, record, qw_record_encode(record, QW_KIND_PREPARE, 0, serial, data, body.used));
}

void
channel_peer_shut(ChannelPeer *self)
{
    g_assert_cmpint(shutdown(self->fd, SHUT_WR), ==, 0);
}

void
channel_peer_send_nonsense(ChannelPeer *self)
{
    static const uint8_t nonsense[QW_HEADER_SIZE] = { 16, 0, 0, 0, '?' };

    send_all(self, nonsense, sizeof nonsense);
}

/* Returns: whether the daemon has closed */
static gboolean
receive(ChannelPeer *self)
{
    uint8_t buffer[65536];
    ssize_t n;

    while ((n = recv(self->fd, buffer, sizeof buffer, MSG_DONTWAIT)) > 0)
        g_byte_array_append(self->in, buffer, (guint) n);
    return n == 0 || errno != EAGAIN;
}

static char *
describe(const QwHeader *header, const uint8_t *body)
{
    QwErrorBody error;

    if (header->kind == QW_KIND_ROWS)
        return g_strdup_printf("R%u/%u", header->serial, header->count);
    if (header->kind != QW_KIND_ERROR)
        return g_strdup_printf("%c%u", header->kind, header->serial);
    g_assert_cmpint(qw_error_decode(body, header->size - QW_HEADER_SIZE, &error), ==, 0);
    return g_strdup_printf("X%u/%s", header->serial, qw_error_get_name(error.code));
}

/* (transfer full): a text for each record that is whole. */
static GPtrArray *
take_records(ChannelPeer *self)
{
    GPtrArray *records = g_ptr_array_new_with_free_func(g_free);
    gsize offset = 0;
    QwHeader header;

    while (self->in->len - offset >= QW_HEADER_SIZE) {
        g_assert_cmpint(qw_header_decode(self->in->data + offset, QW_PAGE_SIZE_MAX, QW_TO_CLIENT, &header), ==, 0);
        if (self->in->len - offset < header.size)
            break;
        g_ptr_array_add(records, describe(&header, self->in->data + offset + QW_HEADER_SIZE));
        offset += header.size;
    }
    if (offset > 0)
        g_byte_array_remove_range(self->in, 0, (guint) offset);
    return records;
}

void
channel_peer_assert(ChannelPeer *self, const char *expected)
{
    gboolean closed = receive(self);
    g_autoptr(GPtrArray) records = take_records(self);
    g_autofree char *found = NULL;

    if (closed)
        g_ptr_array_add(records, g_strdup("EOF"));
    g_ptr_array_add(records, NULL);
    found = g_strjoinv(" ", (char **) records->pdata);
    g_assert_cmpstr(found, ==, expected);
}

void
channel_peer_drop_input(ChannelPeer *self)
{
    (void) receive(self);
}

void
channel_peer_assert_last(ChannelPeer *self, const char *expected)
{
    gboolean closed = receive(self);
    g_autoptr(GPtrArray) records = take_records(self);

    g_assert_false(closed);
    g_assert_cmpuint(records->len, >, 0);
    g_assert_cmpstr(records->pdata[records->len - 1], ==, expected);
}

void
channel_peer_kick(ChannelPeer *self)
{
    self->channel->entry.kick(&self->channel->entry);
}

void
channel_peer_event(ChannelPeer *self, uint32_t events)
{
    qd_channels_handle_event(self->fixture->channels, self->token, events);
}

void
channel_peer_assert_state(const ChannelPeer *self, QdChannelState state)
{
    g_assert_cmpint(self->channel->state, ==, state);
}

static int
on_statement(unsigned event, void *data, void *stmt, void *more)
{
    ChannelPeer *self = data;
    ChannelFunc hook = self->hook;

    self->hook = NULL;
    if (hook != NULL)
        hook(self);
    return 0;
}

/* Not of what the daemon asks for itself, as it does before it keeps a result that took long. */
static int
on_row(unsigned event, void *data, void *stmt, void *more)
{
    ChannelPeer *self = data;

    return self->channel->work.page != NULL ? on_statement(event, data, stmt, more) : 0;
}

void
channel_peer_hook_query(ChannelPeer *self, ChannelFunc func)
{
    sqlite3 *db = qd_connection_get_db(self->channel->work.last_reader->connection);

    self->hook = func;
    g_assert_cmpint(sqlite3_trace_v2(db, SQLITE_TRACE_ROW, on_row, self), ==, SQLITE_OK);
}

void
channel_peer_hook_update(ChannelPeer *self, ChannelFunc func)
{
    sqlite3 *db = qd_connection_get_db(qd_writer_get_connection(self->fixture->engine.engine->context.writer));

    self->hook = func;
    g_assert_cmpint(sqlite3_trace_v2(db, SQLITE_TRACE_PROFILE, on_statement, self), ==, SQLITE_OK);
}

void
channel_peer_wait_until_late(ChannelPeer *self)
{
    const QdTask *task = &self->channel->task;

    g_assert_cmpuint(task->due_usec, >, 0);
    while ((uint64_t) g_get_monotonic_time() < task->due_usec)
        ;
    qd_workers_look(self->fixture->workers, 0);
}

void
channel_peer_assert_due(const ChannelPeer *self)
{
    const QdTask *task = &self->channel->task;
    const QdRequest *request = g_queue_peek_head(&self->channel->input.requests);

    g_assert_cmpuint(task->queued_usec, >, 0);
    g_assert_cmpuint(task->due_usec, ==, request->begun_usec + 1000 * task->timeout_msec);
}
