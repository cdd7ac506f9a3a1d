/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A step that does not come back: the interrupter answers at the deadline, and what the step gives later is dropped.
 *
 * The hook within the step waits for the answer on the peer's descriptor. Without that answer these tests do not end.
 */
#include <errno.h>
#include <poll.h>

#include "daemon/base/error.h"
#include "daemon/runtime/context.h"
#include "tests/unit/channel/channel-fixture.h"

#define QUERY "SELECT a, b FROM t"
/* More than a socket takes. */
#define LARGE "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 100000) SELECT x, printf('%0100d', x) FROM c"
#define TIMEOUT_MSEC 200

static void
wait_for(ChannelPeer *peer, short events)
{
    struct pollfd pfd = { .fd = peer->fd, .events = events };

    while (poll(&pfd, 1, -1) < 0)
        g_assert_cmpint(errno, ==, EINTR);
}

static void
wait_for_answer(ChannelPeer *peer)
{
    wait_for(peer, POLLIN);
    channel_peer_assert_state(peer, QD_CHANNEL_SERVED);
    channel_peer_assert(peer, "X1/Timeout");
}

static void
wait_for_end(ChannelPeer *peer)
{
    wait_for_answer(peer);
    wait_for(peer, POLLIN);
    channel_peer_assert(peer, "EOF");
}

static void
hang(ChannelFixture *self, ChannelPeer *peer, ChannelFunc func)
{
    channel_peer_fetch(peer, 7);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "R7/3 E7");
    channel_peer_hook_query(peer, func);
}

/* The channel goes on, also with what was asked meanwhile. */
static void
test_answer(ChannelFixture *self, gconstpointer data)
{
    uint64_t n_timeouts = self->engine.engine->context.counters.n_timeouts;
    g_autoptr(ChannelPeer) peer = channel_peer_open(self, QUERY, TIMEOUT_MSEC);

    hang(self, peer, wait_for_answer);
    channel_peer_fetch(peer, 1);
    channel_peer_fetch(peer, 2);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "R2/3 E2");
    channel_peer_assert_state(peer, QD_CHANNEL_IDLE);
    channel_peer_fetch(peer, 3);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "R3/3 E3");
    g_assert_cmpuint(self->engine.engine->context.counters.n_timeouts, ==, n_timeouts + 1);
}

/* A channel whose thread stays away is of no use to its client. */
static void
test_end(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open(self, QUERY, TIMEOUT_MSEC);

    hang(self, peer, wait_for_end);
    channel_peer_fetch(peer, 1);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "EOF");
    channel_peer_assert_state(peer, QD_CHANNEL_NONE);
}

static void
wait_behind_schema(ChannelPeer *peer)
{
    wait_for(peer, POLLIN);
    channel_peer_assert(peer, "S1 X2/Timeout");
}

/* The answer to PREPARE, which waits for the first rows, precedes the error. */
static void
test_prepare(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open(self, QUERY, 0);

    channel_fixture_set_limit(self, QD_LIMIT_QUERY_TIMEOUT_MSEC, TIMEOUT_MSEC);
    hang(self, peer, wait_behind_schema);
    channel_peer_prepare(peer, 1, QUERY " WHERE a > 1");
    channel_peer_fetch(peer, 2);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "");
    channel_peer_fetch(peer, 3);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "R3/2 E3");
}

/* A peer that does not read what was sent before gets no error in the middle of it. */
static void
test_slow_reader(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open(self, LARGE, 0);
    g_autoptr(GError) error = NULL;

    qd_error_set(&error, QW_ERROR_TIMEOUT, "query took too long");
    channel_peer_fetch(peer, 1);
    channel_fixture_settle(self);
    channel_peer_assert_state(peer, QD_CHANNEL_BLOCKED);
    g_assert_false(qd_channel_tell(peer->channel, error));
    g_assert_false(qd_channel_was_told(peer->channel));
    while (peer->channel->state == QD_CHANNEL_BLOCKED) {
        channel_peer_drop_input(peer);
        channel_fixture_settle(self);
    }
    channel_peer_assert_last(peer, "E1");
}

int
main(int argc, char **argv)
{
    engine_fixture_init(&argc, &argv);
#define ADD(path, func) \
    g_test_add("/channel/channel-tell/" path, ChannelFixture, NULL, channel_fixture_set_up, func, channel_fixture_tear_down)
    ADD("answer", test_answer);
    ADD("end", test_end);
    ADD("prepare", test_prepare);
    ADD("slow-reader", test_slow_reader);
    return g_test_run();
}
