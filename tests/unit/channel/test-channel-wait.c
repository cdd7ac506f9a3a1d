/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Waiting for a slot: what its clock counts, and what the next request or channel inherits of it.
 */
#include <sys/epoll.h>

#include "tests/unit/channel/channel-fixture.h"

#define QUERY "SELECT a, b FROM t"
#define FAR_MSEC 600000

/* The peer's FETCH waits for a slot, and its time comes there; then it says nonsense, so that the channel ends while it is late. */
static void
die_late(ChannelFixture *self, ChannelPeer *peer)
{
    channel_peer_fetch(peer, 1);
    channel_peer_event(peer, EPOLLIN);
    g_assert_cmpuint(peer->channel->task.queued_usec, >, 0);
    channel_peer_send_nonsense(peer);
    channel_peer_kick(peer);
    channel_peer_wait_until_late(peer);
    g_assert_true(channel_fixture_serve_task(self));
    channel_peer_assert(peer, "X1/Timeout X0/BadParameter EOF");
}

/* A FETCH waits until the client has its slots again. @spent_usec: of its deadline, when it comes. */
static void
fetch_after_waiting(ChannelFixture *self, ChannelPeer *peer, uint32_t serial, uint64_t spent_usec)
{
    const QdRequest *request;

    channel_peer_fetch(peer, serial);
    channel_fixture_settle(self);
    request = g_queue_peek_head(&peer->channel->input.requests);
    g_assert_cmpuint(request->begun_usec + spent_usec, ==, request->received_usec);
    channel_peer_assert_due(peer);
    channel_fixture_give_slots(self);
    channel_fixture_settle(self);
}

/* The state of a channel in its slot of the table does not pass to the next one. */
static void
test_slot_is_clean(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) first = channel_peer_open(self, QUERY, 1);
    g_autoptr(ChannelPeer) second = NULL;

    channel_fixture_use_up_slots(self);
    die_late(self, first);
    channel_fixture_give_slots(self);

    second = channel_peer_open(self, QUERY, FAR_MSEC);
    g_assert_true(second->channel == first->channel);
    channel_fixture_use_up_slots(self);
    channel_peer_fetch(second, 1);
    channel_fixture_settle(self);
    channel_peer_assert_due(second);
    channel_peer_assert(second, "");
    channel_fixture_give_slots(self);
    channel_fixture_settle(self);
    channel_peer_assert(second, "R1/3 E1");
}

/* A clock runs in the queue only: a request that found it full leaves none running, nor does a kick that found nothing to
 * do. */
static void
test_clock_stops(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open(self, QUERY, FAR_MSEC);

    channel_fixture_use_up_slots(self);
    channel_fixture_set_limit(self, QD_LIMIT_RUN_QUEUE, 0);
    channel_peer_fetch(peer, 1);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "X1/Busy");
    g_assert_cmpuint(peer->channel->task.queued_usec, ==, 0);

    channel_peer_kick(peer);
    g_assert_cmpuint(peer->channel->task.queued_usec, >, 0);
    for (uint64_t now = (uint64_t) g_get_monotonic_time(); (uint64_t) g_get_monotonic_time() == now;)
        ;
    g_assert_true(channel_fixture_serve_task(self));
    g_assert_cmpuint(peer->channel->task.queued_usec, ==, 0);

    channel_fixture_set_limit(self, QD_LIMIT_RUN_QUEUE, 16);
    fetch_after_waiting(self, peer, 2, 0);
    channel_peer_assert(peer, "R2/3 E2");
}

/* A kick needs no slot; what the channel does afterwards does, also when the kick met a request that was late. */
static void
test_slot_after_late_kick(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open(self, QUERY, 1);

    channel_fixture_use_up_slots(self);
    channel_peer_fetch(peer, 1);
    channel_peer_event(peer, EPOLLIN);
    channel_peer_kick(peer);
    channel_peer_wait_until_late(peer);
    g_assert_true(channel_fixture_serve_task(self));
    channel_peer_assert(peer, "X1/Timeout");

    peer->channel->statement.execution.timeout_msec = FAR_MSEC;
    channel_peer_fetch(peer, 2);
    channel_peer_event(peer, EPOLLIN);
    g_assert_true(peer->channel->task.client == self->engine.client);
    g_assert_false(channel_fixture_serve_task(self));
    channel_fixture_give_slots(self);
    g_assert_true(channel_fixture_serve_task(self));
    channel_peer_assert(peer, "R2/3 E2");
}

static void
assert_begun_when_received(ChannelPeer *peer)
{
    g_assert_cmpint(peer->channel->work.request->kind, ==, QW_KIND_FETCH);
    g_assert_cmpuint(qd_channel_get_begun_usec(peer->channel), ==, peer->channel->work.request->received_usec);
}

/* What PREPARE waits and takes counts for the deadline of the FETCH that came with it. */
static void
test_prepare_counts(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open(self, QUERY, FAR_MSEC);

    channel_peer_fetch(peer, 1);
    channel_fixture_settle(self);
    channel_fixture_use_up_slots(self);
    channel_peer_prepare(peer, 2, "SELECT b FROM t");
    channel_peer_fetch(peer, 3);
    channel_fixture_settle(self);
    channel_fixture_give_slots(self);
    channel_peer_hook_query(peer, assert_begun_when_received);
    channel_fixture_settle(self);
    g_assert_null(peer->hook);
    channel_peer_assert_last(peer, "E3");
}

/* What the call of Prepare took, and what it was under way, counts for the first request and for no other. */
static void
test_call_counts(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open(self, QUERY, FAR_MSEC);

    peer->channel->first_spent_usec = 1000;
    channel_fixture_use_up_slots(self);
    fetch_after_waiting(self, peer, 1, 1000);
    channel_peer_assert(peer, "R1/3 E1");

    channel_fixture_use_up_slots(self);
    fetch_after_waiting(self, peer, 2, 0);
    channel_peer_assert(peer, "R2/3 E2");
}

int
main(int argc, char **argv)
{
    engine_fixture_init(&argc, &argv);
#define ADD(path, func) \
    g_test_add("/channel/channel-wait/" path, ChannelFixture, NULL, channel_fixture_set_up, func, channel_fixture_tear_down)
    ADD("slot-is-clean", test_slot_is_clean);
    ADD("clock-stops", test_clock_stops);
    ADD("slot-after-late-kick", test_slot_after_late_kick);
    ADD("prepare-counts", test_prepare_counts);
    ADD("call-counts", test_call_counts);
    return g_test_run();
}
