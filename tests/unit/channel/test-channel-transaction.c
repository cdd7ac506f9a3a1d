/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BEGIN to COMMIT on a channel: taking the writer's role, having it, and every way to lose it.
 */
#include <sys/epoll.h>

#include "daemon/write/writer.h"
#include "tests/unit/channel/channel-fixture.h"

#define INSERT "INSERT INTO t(a) VALUES (9)"

static const QdExecutionOptions writes = { .access_write = TRUE };

static void
assert_count(ChannelFixture *self, const char *expected)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open(self, "SELECT 1 FROM t WHERE a = 9", 0);

    channel_peer_fetch(peer, 1);
    channel_fixture_settle(self);
    channel_peer_assert(peer, expected);
}

/* With an open transaction, in which a row was inserted. */
static ChannelPeer *
open_transaction(ChannelFixture *self)
{
    ChannelPeer *peer = channel_peer_open_with(self, INSERT, &writes);

    channel_peer_send(peer, QW_KIND_BEGIN, 0, 1);
    channel_peer_fetch(peer, 2);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "E1 E2");
    channel_peer_assert_state(peer, QD_CHANNEL_IDLE);
    return peer;
}

static void
test_commit(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = open_transaction(self);

    assert_count(self, "E1");
    channel_peer_send(peer, QW_KIND_COMMIT, 0, 3);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "E3");
    assert_count(self, "R1/1 E1");
    channel_peer_send(peer, QW_KIND_COMMIT, 0, 4);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "X4/BadParameter");
}

static void
test_rollback(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = open_transaction(self);

    channel_peer_send(peer, QW_KIND_BEGIN, 0, 3);
    channel_peer_send(peer, QW_KIND_ROLLBACK, 0, 4);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "X3/BadParameter E4");
    assert_count(self, "E1");
}

/* BEGIN waits while another client's transaction has the role: the writer has the channel. */
static void
test_begin_waits(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) first = open_transaction(self);
    g_autoptr(ChannelPeer) second = channel_peer_open_with(self, INSERT, &writes);

    channel_peer_send(second, QW_KIND_BEGIN, 0, 1);
    channel_fixture_settle(self);
    channel_peer_assert_state(second, QD_CHANNEL_WRITING);
    channel_peer_event(second, EPOLLIN);
    channel_peer_kick(second);
    channel_peer_assert_state(second, QD_CHANNEL_WRITING);
    channel_peer_assert(second, "");

    channel_peer_send(first, QW_KIND_COMMIT, 0, 3);
    channel_fixture_settle(self);
    channel_peer_assert(first, "E3");
    channel_peer_assert(second, "E1");
    channel_peer_assert_state(second, QD_CHANNEL_IDLE);
}

/* CancelQuery ends the waiting, and needs no slot for its answer. The transaction that was waited for goes on. */
static void
test_begin_cancelled(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) first = open_transaction(self);
    g_autoptr(ChannelPeer) second = channel_peer_open_with(self, INSERT, &writes);

    channel_peer_send(second, QW_KIND_BEGIN, 0, 1);
    channel_fixture_settle(self);
    channel_fixture_use_up_slots(self);
    qd_registry_cancel_all(self->engine.engine->context.registry);
    (void) qd_writer_sweep(self->engine.engine->context.writer);
    channel_peer_assert_state(second, QD_CHANNEL_KICKED);
    channel_fixture_settle(self);
    channel_peer_assert(second, "X1/Cancelled");
    channel_fixture_give_slots(self);
    channel_peer_send(first, QW_KIND_COMMIT, 0, 3);
    channel_peer_fetch(second, 2);
    channel_fixture_settle(self);
    channel_peer_assert(first, "E3");
    channel_peer_assert(second, "E2");
}

static void
wait_until(uint64_t usec)
{
    while ((uint64_t) g_get_monotonic_time() < usec)
        ;
}

/* One deadline for both: BEGIN waits for a slot, then for the role. */
static void
test_begin_waits_twice(ChannelFixture *self, gconstpointer data)
{
    const QdExecutionOptions options = { .access_write = TRUE, .has_timeout = TRUE, .timeout_msec = 400 };
    g_autoptr(ChannelPeer) first = open_transaction(self);
    g_autoptr(ChannelPeer) second = channel_peer_open_with(self, INSERT, &options);
    uint64_t begin_usec = (uint64_t) g_get_monotonic_time();

    channel_fixture_use_up_slots(self);
    channel_peer_send(second, QW_KIND_BEGIN, 0, 1);
    channel_fixture_settle(self);
    wait_until(begin_usec + 200000);
    channel_fixture_give_slots(self);
    channel_fixture_settle(self);
    channel_peer_assert(second, "");
    wait_until(begin_usec + 401000);
    (void) qd_writer_sweep(self->engine.engine->context.writer);
    channel_fixture_settle(self);
    channel_peer_assert(second, "X1/Timeout");
    channel_peer_send(first, QW_KIND_ROLLBACK, 0, 3);
    channel_fixture_settle(self);
    channel_peer_assert(first, "E3");
}

/* The peer has gone before it had its answer: the role that comes goes back at once. */
static void
test_begin_hang_up(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) first = open_transaction(self);
    g_autoptr(ChannelPeer) second = channel_peer_open_with(self, INSERT, &writes);

    channel_peer_send(second, QW_KIND_BEGIN, 0, 1);
    channel_fixture_settle(self);
    channel_peer_hang_up(second);
    channel_peer_event(second, EPOLLIN | EPOLLHUP);
    channel_peer_assert_state(second, QD_CHANNEL_WRITING);
    channel_peer_send(first, QW_KIND_ROLLBACK, 0, 3);
    channel_fixture_settle(self);
    channel_peer_assert(first, "E3");
    channel_peer_assert_state(second, QD_CHANNEL_NONE);
    channel_peer_fetch(first, 4);
    channel_fixture_settle(self);
    channel_peer_assert(first, "E4");
}

static void
test_begin_refused(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open_with(self, INSERT, &writes);

    channel_fixture_set_limit(self, QD_LIMIT_WRITE_QUEUE, 0);
    channel_peer_send(peer, QW_KIND_BEGIN, 0, 1);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "X1/Busy");
    g_assert_null(peer->channel->transaction);
    channel_peer_assert_state(peer, QD_CHANNEL_IDLE);
}

/* The role is free again, and what was written is gone. */
static void
assert_over(ChannelFixture *self)
{
    g_autoptr(ChannelPeer) other = channel_peer_open_with(self, INSERT, &writes);

    assert_count(self, "E1");
    channel_peer_fetch(other, 1);
    channel_fixture_settle(self);
    channel_peer_assert(other, "E1");
}

static void
test_hang_up(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = open_transaction(self);

    channel_peer_hang_up(peer);
    channel_fixture_settle(self);
    channel_peer_assert_state(peer, QD_CHANNEL_NONE);
    assert_over(self);
}

/* The client has no slot, and its request has to wait for one. */
static void
send_without_slot(ChannelFixture *self, ChannelPeer *peer, QwKind kind)
{
    channel_fixture_use_up_slots(self);
    channel_peer_send(peer, kind, 0, 3);
    channel_fixture_settle(self);
}

static void
have_slots(ChannelFixture *self)
{
    channel_fixture_give_slots(self);
    channel_fixture_set_limit(self, QD_LIMIT_RUN_QUEUE, 256);
}

static void
assert_rolled_back(ChannelFixture *self, const ChannelPeer *peer)
{
    g_assert_null(peer->channel->transaction);
    have_slots(self);
    assert_over(self);
}

/* An error at COMMIT says that nothing was kept. The library gives the channel to others then. */
static void
test_commit_cancelled(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = open_transaction(self);

    send_without_slot(self, peer, QW_KIND_COMMIT);
    channel_peer_assert_state(peer, QD_CHANNEL_QUEUED);
    channel_peer_cancel(peer, 3);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "X3/Cancelled");
    assert_rolled_back(self, peer);
}

static void
test_commit_refused(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = open_transaction(self);

    channel_fixture_set_limit(self, QD_LIMIT_RUN_QUEUE, 0);
    send_without_slot(self, peer, QW_KIND_COMMIT);
    channel_peer_assert(peer, "X3/Busy");
    assert_rolled_back(self, peer);
}

static void
test_commit_text_refused(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open_with(self, "COMMIT", &writes);

    channel_peer_send(peer, QW_KIND_BEGIN, 0, 1);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "E1");
    channel_fixture_set_limit(self, QD_LIMIT_RUN_QUEUE, 0);
    send_without_slot(self, peer, QW_KIND_FETCH);
    channel_peer_assert(peer, "X3/Busy");
    assert_rolled_back(self, peer);
}

/* It needs no slot to be done all the same. */
static void
test_rollback_refused(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = open_transaction(self);

    channel_fixture_set_limit(self, QD_LIMIT_RUN_QUEUE, 0);
    send_without_slot(self, peer, QW_KIND_ROLLBACK);
    channel_peer_assert(peer, "E3");
    assert_rolled_back(self, peer);
}

/* Another request that is refused leaves it open. */
static void
test_update_refused(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = open_transaction(self);

    channel_fixture_set_limit(self, QD_LIMIT_RUN_QUEUE, 0);
    send_without_slot(self, peer, QW_KIND_FETCH);
    channel_peer_assert(peer, "X3/Busy");
    g_assert_nonnull(peer->channel->transaction);
    have_slots(self);
    channel_peer_send(peer, QW_KIND_COMMIT, 0, 4);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "E4");
    assert_count(self, "R1/1 E1");
}

/* COMMIT has waited for a slot beyond its deadline. In a transaction all time is the transaction's: it is done. */
static void
test_commit_late(ChannelFixture *self, gconstpointer data)
{
    const QdExecutionOptions options = { .access_write = TRUE, .has_timeout = TRUE, .timeout_msec = 100 };
    g_autoptr(ChannelPeer) peer = channel_peer_open_with(self, INSERT, &options);
    uint64_t begin_usec;

    channel_peer_send(peer, QW_KIND_BEGIN, 0, 1);
    channel_peer_fetch(peer, 2);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "E1 E2");
    begin_usec = (uint64_t) g_get_monotonic_time();
    send_without_slot(self, peer, QW_KIND_COMMIT);
    channel_peer_assert_state(peer, QD_CHANNEL_QUEUED);
    wait_until(begin_usec + 101000);
    channel_fixture_give_slots(self);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "E3");
    g_assert_null(peer->channel->transaction);
    assert_count(self, "R1/1 E1");
}

/* Nothing came for too long: a sweep kicks the channel. What the client still sends for it is never executed outside. */
static void
test_idle(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = open_transaction(self);

    __atomic_store_n(&peer->channel->transaction_due_usec, 1, __ATOMIC_RELAXED); /* as if it were long ago */
    qd_channels_sweep(self->channels);
    channel_peer_assert_state(peer, QD_CHANNEL_KICKED);
    g_assert_true(channel_fixture_serve_task(self));
    channel_peer_assert_state(peer, QD_CHANNEL_IDLE);
    g_assert_cmpuint(peer->channel->transaction_due_usec, ==, 0);
    assert_over(self);

    channel_peer_fetch(peer, 3);
    channel_peer_send(peer, QW_KIND_COMMIT, 0, 4);
    channel_peer_fetch(peer, 5);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "X3/Timeout X4/Timeout E5");
}

int
main(int argc, char **argv)
{
    engine_fixture_init(&argc, &argv);
#define ADD(path, func) \
    g_test_add("/channel/channel-transaction/" path, ChannelFixture, NULL, channel_fixture_set_up, func, channel_fixture_tear_down)
    ADD("commit", test_commit);
    ADD("rollback", test_rollback);
    ADD("begin/waits", test_begin_waits);
    ADD("begin/cancelled", test_begin_cancelled);
    ADD("begin/waits-twice", test_begin_waits_twice);
    ADD("begin/hang-up", test_begin_hang_up);
    ADD("begin/refused", test_begin_refused);
    ADD("hang-up", test_hang_up);
    ADD("commit-cancelled", test_commit_cancelled);
    ADD("commit-refused", test_commit_refused);
    ADD("commit-text-refused", test_commit_text_refused);
    ADD("commit-late", test_commit_late);
    ADD("rollback-refused", test_rollback_refused);
    ADD("update-refused", test_update_refused);
    ADD("idle", test_idle);
    return g_test_run();
}
