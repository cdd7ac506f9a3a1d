/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Updates of channels: whose they are while the writer has them, how they are answered, and what may happen meanwhile.
 */
#include <sys/epoll.h>

#include "daemon/write/writer.h"
#include "tests/unit/channel/channel-fixture.h"

#define INSERT "INSERT INTO t(a) VALUES (9)"

static const QdExecutionOptions writes = { .access_write = TRUE };

static gint64
count_rows(ChannelFixture *self)
{
    QdWriter *writer = self->engine.engine->context.writer;

    return store_get_int64(qd_writer_get_connection(writer), "SELECT count(*) FROM t WHERE a = 9");
}

/* An update that has run before, so that the writer has its connection. */
static ChannelPeer *
open_insert(ChannelFixture *self)
{
    ChannelPeer *peer = channel_peer_open_with(self, INSERT, &writes);

    channel_peer_fetch(peer, 1);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "E1");
    return peer;
}

/* All that are there go to the writer at once, and are answered in their order. */
static void
test_pipeline(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = open_insert(self);

    for (uint32_t serial = 2; serial <= 6; serial++)
        channel_peer_fetch(peer, serial);
    channel_peer_cancel(peer, 4);
    channel_peer_event(peer, EPOLLIN);
    channel_peer_assert(peer, "E2 E3 X4/Cancelled E5 E6");
    channel_peer_assert_state(peer, QD_CHANNEL_IDLE);
    g_assert_cmpint(count_rows(self), ==, 5);
}

static void
disturb(ChannelPeer *peer)
{
    channel_peer_assert_state(peer, QD_CHANNEL_WRITING);
    channel_peer_event(peer, EPOLLIN);
    channel_peer_kick(peer);
    channel_peer_assert_state(peer, QD_CHANNEL_WRITING);
}

/* Events and kicks wait until the writer is done; then a worker looks. */
static void
test_event_while_writing(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = open_insert(self);

    channel_peer_hook_update(peer, disturb);
    channel_peer_fetch(peer, 2);
    channel_peer_event(peer, EPOLLIN);
    channel_peer_assert_state(peer, QD_CHANNEL_QUEUED);
    channel_peer_assert(peer, "E2");
    channel_fixture_settle(self);
    channel_peer_assert_state(peer, QD_CHANNEL_IDLE);
    channel_peer_assert(peer, "");
}

static void
fetch_next(ChannelPeer *peer)
{
    channel_peer_fetch(peer, 3);
}

/* The leader has answered, sees the next update of a client that writes one after the other, and leads it, too. */
static void
test_linger(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = open_insert(self);

    peer->channel->spin = (QwSpin){ .credit = QW_SPIN_CREDIT_MAX - 1 };
    channel_peer_hook_update(peer, fetch_next);
    channel_peer_fetch(peer, 2);
    channel_peer_event(peer, EPOLLIN);
    channel_peer_assert(peer, "E2 E3");
    channel_peer_assert_state(peer, QD_CHANNEL_IDLE);
    g_assert_cmpuint(peer->channel->spin.credit, ==, QW_SPIN_CREDIT_MAX / 2);
    g_assert_cmpint(count_rows(self), ==, 3);
}

/* Without credit the leader leaves it to the others: the next one comes by an event. */
static void
test_no_linger(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = open_insert(self);

    peer->channel->spin = (QwSpin){ 0 };
    channel_peer_hook_update(peer, fetch_next);
    channel_peer_fetch(peer, 2);
    channel_peer_event(peer, EPOLLIN);
    channel_peer_assert(peer, "E2");
    channel_peer_assert_state(peer, QD_CHANNEL_IDLE);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "E3");
}

/* Updates, then a query, or another statement: the leader gives the channel to the queue. */
static void
test_query_behind(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = open_insert(self);

    channel_peer_fetch(peer, 2);
    channel_peer_prepare(peer, 3, "SELECT count(*) FROM t");
    channel_peer_fetch(peer, 4);
    channel_peer_event(peer, EPOLLIN);
    channel_peer_assert_state(peer, QD_CHANNEL_QUEUED);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "E2 S3 R4/1 E4");
    channel_peer_assert_state(peer, QD_CHANNEL_IDLE);
}

static void
hang_up(ChannelPeer *peer)
{
    channel_peer_assert_state(peer, QD_CHANNEL_WRITING);
    channel_peer_hang_up(peer);
    channel_peer_event(peer, EPOLLIN | EPOLLHUP);
}

/* It was accepted: it is done, although no answer can be given. */
static void
test_hang_up_while_writing(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = open_insert(self);

    channel_peer_hook_update(peer, hang_up);
    channel_peer_fetch(peer, 2);
    channel_peer_event(peer, EPOLLIN);
    channel_fixture_settle(self);
    channel_peer_assert_state(peer, QD_CHANNEL_NONE);
    g_assert_cmpint(count_rows(self), ==, 2);
}

/* The writer's queue is full: all are refused on this thread, which still has the channel. */
static void
test_refused(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = open_insert(self);

    channel_fixture_set_limit(self, QD_LIMIT_WRITE_QUEUE, 0);
    channel_peer_fetch(peer, 2);
    channel_peer_fetch(peer, 3);
    channel_peer_event(peer, EPOLLIN);
    channel_peer_assert(peer, "X2/Busy X3/Busy");
    channel_peer_assert_state(peer, QD_CHANNEL_IDLE);
    channel_fixture_set_limit(self, QD_LIMIT_WRITE_QUEUE, 16);
    channel_peer_fetch(peer, 4);
    channel_peer_event(peer, EPOLLIN);
    channel_peer_assert(peer, "E4");
}

/* There is room for the first of three: it is taken, and the others are refused. */
static void
test_refused_in_part(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = open_insert(self);

    channel_fixture_set_limit(self, QD_LIMIT_WRITE_QUEUE_PER_CLIENT, 1);
    channel_peer_fetch(peer, 2);
    channel_peer_fetch(peer, 3);
    channel_peer_fetch(peer, 4);
    channel_peer_event(peer, EPOLLIN);
    channel_peer_assert(peer, "E2 X3/Busy X4/Busy");
    channel_peer_assert_state(peer, QD_CHANNEL_IDLE);
    g_assert_cmpint(count_rows(self), ==, 2);
}

static void
fetch_next_in_vain(ChannelPeer *peer)
{
    channel_fixture_set_limit(peer->fixture, QD_LIMIT_WRITE_QUEUE, 0);
    channel_peer_fetch(peer, 3);
}

/* The leader waits for the next update, which is refused: it answers that, too. */
static void
test_linger_refused(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = open_insert(self);

    peer->channel->spin = (QwSpin){ .credit = QW_SPIN_CREDIT_MAX };
    channel_peer_hook_update(peer, fetch_next_in_vain);
    channel_peer_fetch(peer, 2);
    channel_peer_event(peer, EPOLLIN);
    channel_peer_assert(peer, "E2 X3/Busy");
    channel_peer_assert_state(peer, QD_CHANNEL_IDLE);
}

/* Two clients' channels in one group: the one that leads answers both, and has neither afterwards. */
static void
join_group(ChannelPeer *peer)
{
    ChannelPeer *other = peer->other;

    channel_peer_fetch(other, 2);
    channel_peer_event(other, EPOLLIN);
    channel_peer_assert_state(other, QD_CHANNEL_WRITING);
}

static void
test_answered_together(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = open_insert(self);
    g_autoptr(ChannelPeer) other = open_insert(self);

    peer->other = other;
    channel_peer_hook_update(peer, join_group);
    channel_peer_fetch(peer, 2);
    channel_peer_event(peer, EPOLLIN);
    channel_peer_assert(peer, "E2");
    channel_peer_assert(other, "E2");
    channel_peer_assert_state(peer, QD_CHANNEL_IDLE);
    channel_peer_assert_state(other, QD_CHANNEL_IDLE);
}

int
main(int argc, char **argv)
{
    engine_fixture_init(&argc, &argv);
#define ADD(path, func) \
    g_test_add("/channel/channel-write/" path, ChannelFixture, NULL, channel_fixture_set_up, func, channel_fixture_tear_down)
    ADD("pipeline", test_pipeline);
    ADD("event-while-writing", test_event_while_writing);
    ADD("linger/next-update", test_linger);
    ADD("linger/no-credit", test_no_linger);
    ADD("query-behind", test_query_behind);
    ADD("hang-up", test_hang_up_while_writing);
    ADD("refused", test_refused);
    ADD("refused/in-part", test_refused_in_part);
    ADD("linger/refused", test_linger_refused);
    ADD("answered-together", test_answered_together);
    return g_test_run();
}
