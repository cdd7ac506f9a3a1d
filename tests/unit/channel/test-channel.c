/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ends of a request, in each state of its channel: CANCEL, CancelQuery, hang-up, nonsense; results that are not read, and
 * lingering.
 */
#include <sys/epoll.h>

#include "tests/unit/channel/channel-fixture.h"

#include "daemon/read/run.h"
#include "daemon/runtime/workers.h"

#define QUERY "SELECT a, b FROM t"
/* More than a socket takes. */
#define LARGE "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 100000) SELECT x, printf('%0100d', x) FROM c"

/* Cancel ---------------------------------------------------------------------------------------------------------------- */

/* CANCEL names a request: the others, before it and after it, have their results. */
static void
test_cancel_in_pipeline(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open(self, QUERY, 0);

    for (uint32_t serial = 1; serial <= 3; serial++)
        channel_peer_fetch(peer, serial);
    channel_peer_cancel(peer, 2);
    channel_peer_cancel(peer, 77);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "R1/3 E1 X2/Cancelled R3/3 E3");
}

/* Needs no slot: it is heard while the request waits for one. */
static void
test_cancel_queued(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open(self, QUERY, 0);

    channel_fixture_use_up_slots(self);
    channel_peer_fetch(peer, 1);
    channel_fixture_settle(self);
    channel_peer_assert_state(peer, QD_CHANNEL_QUEUED);
    channel_peer_cancel(peer, 1);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "X1/Cancelled");
    channel_peer_assert_state(peer, QD_CHANNEL_IDLE);
    channel_fixture_give_slots(self);
    channel_peer_fetch(peer, 1); /* the same serial, another request */
    channel_fixture_settle(self);
    channel_peer_assert(peer, "R1/3 E1");
}

static void
cancel_all(ChannelPeer *peer)
{
    qd_registry_cancel_all(peer->fixture->engine.engine->context.registry);
    channel_peer_assert_state(peer, QD_CHANNEL_SERVED);
}

/* From within a step, as CancelQuery does from another thread. The next request is not meant. */
static void
test_cancel_running(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open(self, LARGE, 0);

    channel_peer_fetch(peer, 1);
    channel_fixture_settle(self);
    channel_peer_assert_state(peer, QD_CHANNEL_BLOCKED);
    channel_peer_hook_query(peer, cancel_all);
    while (peer->channel->state == QD_CHANNEL_BLOCKED) {
        channel_peer_drop_input(peer);
        channel_fixture_settle(self);
    }
    channel_peer_assert_last(peer, "X1/Cancelled");
    channel_peer_assert_state(peer, QD_CHANNEL_IDLE);
    g_assert_cmpint(peer->channel->entry.cancelled, ==, QD_CANCEL_NONE);
}

/* A result that stands still, since its peer does not read: the error is there when the peer reads on. */
static void
test_cancel_blocked(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open(self, LARGE, 0);

    channel_peer_fetch(peer, 1);
    channel_fixture_settle(self);
    channel_peer_assert_state(peer, QD_CHANNEL_BLOCKED);
    g_assert_nonnull(peer->channel->work.run);
    qd_registry_cancel_all(self->engine.engine->context.registry);
    channel_peer_assert_state(peer, QD_CHANNEL_KICKED);
    g_assert_true(channel_fixture_serve_task(self));
    channel_peer_assert_state(peer, QD_CHANNEL_BLOCKED);
    g_assert_null(peer->channel->work.run); /* its snapshot is free */
    do {
        channel_peer_drop_input(peer);
        channel_fixture_settle(self);
    } while (peer->channel->state == QD_CHANNEL_BLOCKED);
    channel_peer_assert_last(peer, "X1/Cancelled");
    channel_peer_assert_state(peer, QD_CHANNEL_IDLE);
}

/* Hang-up --------------------------------------------------------------------------------------------------------------- */

static void
test_hang_up_idle(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open(self, QUERY, 0);

    channel_peer_hang_up(peer);
    channel_fixture_settle(self);
    channel_peer_assert_state(peer, QD_CHANNEL_NONE);
    g_assert_cmpuint(qd_channels_get_n(self->channels), ==, 0);
}

/* It is taken out of the queue, and nothing of it runs. */
static void
test_hang_up_queued(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open(self, QUERY, 0);

    channel_fixture_use_up_slots(self);
    channel_peer_fetch(peer, 1);
    channel_fixture_settle(self);
    channel_peer_assert_state(peer, QD_CHANNEL_QUEUED);
    channel_peer_hang_up(peer);
    channel_fixture_settle(self);
    channel_peer_assert_state(peer, QD_CHANNEL_NONE);
    g_assert_cmpuint(qd_workers_get_n_queued(self->workers), ==, 0);
    channel_fixture_give_slots(self);
}

static void
test_hang_up_blocked(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open(self, LARGE, 0);

    channel_peer_fetch(peer, 1);
    channel_fixture_settle(self);
    channel_peer_assert_state(peer, QD_CHANNEL_BLOCKED);
    channel_peer_hang_up(peer);
    channel_fixture_settle(self);
    channel_peer_assert_state(peer, QD_CHANNEL_NONE);
    g_assert_cmpuint(qd_registry_get_n(self->engine.engine->context.registry), ==, 0);
}

static void
hang_up(ChannelPeer *peer)
{
    channel_peer_hang_up(peer);
    channel_peer_event(peer, EPOLLIN | EPOLLHUP);
    channel_peer_kick(peer);
}

static void
test_hang_up_while_served(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open(self, QUERY, 0);

    channel_peer_fetch(peer, 1);
    channel_fixture_settle(self);
    channel_peer_hook_query(peer, hang_up);
    channel_peer_fetch(peer, 2);
    channel_peer_event(peer, EPOLLIN);
    channel_peer_assert_state(peer, QD_CHANNEL_NONE);
}

/* A peer that has sent all it wants gets all of it. */
static void
test_shut(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open(self, QUERY, 0);

    channel_peer_fetch(peer, 1);
    channel_peer_fetch(peer, 2);
    channel_peer_shut(peer);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "R1/3 E1 R2/3 E2 EOF");
    channel_peer_assert_state(peer, QD_CHANNEL_NONE);
}

static void
test_nonsense(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open(self, QUERY, 0);

    channel_peer_fetch(peer, 1);
    channel_peer_send_nonsense(peer);
    channel_fixture_settle(self);
    channel_peer_assert(peer, "R1/3 E1 X0/BadParameter EOF");
    channel_peer_assert_state(peer, QD_CHANNEL_NONE);
}

/* Lingering ------------------------------------------------------------------------------------------------------------- */

static void
fetch_next(ChannelPeer *peer)
{
    channel_peer_fetch(peer, 3);
}

/* A request that came while the answer to the one before was made. */
static ChannelPeer *
fetch_twice(ChannelFixture *self, guint credit, guint n_yields)
{
    ChannelPeer *peer = channel_peer_open(self, QUERY, 0);

    channel_peer_fetch(peer, 1);
    channel_fixture_settle(self);
    peer->channel->spin = (QwSpin){ .credit = credit };
    peer->channel->waits.n_yields = n_yields;
    channel_peer_hook_query(peer, fetch_next);
    channel_peer_fetch(peer, 2);
    channel_peer_event(peer, EPOLLIN);
    channel_peer_assert(peer, "R1/3 E1 R2/3 E2 R3/3 E3");
    channel_peer_assert_state(peer, QD_CHANNEL_IDLE);
    return peer;
}

static gboolean
may_wait_awake(void)
{
    if (g_get_num_processors() >= 2)
        return TRUE;
    g_test_skip("no thread waits awake on a single core");
    return FALSE;
}

/* It is found without an event, and waiting for another one is in vain. */
static void
test_linger(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = may_wait_awake() ? fetch_twice(self, QW_SPIN_CREDIT_MAX - 1, 0) : NULL;

    if (peer != NULL) /* one more, then half of that */
        g_assert_cmpuint(peer->channel->spin.credit, ==, QW_SPIN_CREDIT_MAX / 2);
}

/* With a client on the same core the wait leaves it to the client, until one is in vain. */
static void
test_linger_on_one_core(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = may_wait_awake() ? fetch_twice(self, QW_SPIN_CREDIT_MAX, 5) : NULL;

    if (peer == NULL)
        return;
    g_assert_cmpuint(peer->channel->waits.n_yields, ==, 0);
    g_assert_cmpuint(peer->channel->waits.n_awake, ==, 0);
}

/* It ends at once when others wait for a thread, and at a hang-up. */
static void
test_linger_ends(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open(self, QUERY, 0);
    g_autoptr(ChannelPeer) other = channel_peer_open(self, QUERY, 0);

    channel_peer_fetch(peer, 1);
    channel_fixture_settle(self);
    peer->channel->spin = (QwSpin){ .credit = QW_SPIN_CREDIT_MAX };
    channel_peer_kick(other);
    channel_peer_fetch(peer, 2);
    channel_peer_event(peer, EPOLLIN);
    channel_peer_assert_state(peer, QD_CHANNEL_IDLE);
    channel_peer_assert_state(other, QD_CHANNEL_KICKED);
    channel_fixture_settle(self);

    peer->channel->spin = (QwSpin){ .credit = QW_SPIN_CREDIT_MAX };
    channel_peer_hook_query(peer, channel_peer_hang_up);
    channel_peer_fetch(peer, 3);
    channel_peer_event(peer, EPOLLIN);
    channel_peer_assert_state(peer, QD_CHANNEL_NONE);
}

/* Kept memory ----------------------------------------------------------------------------------------------------------- */

#define MIB (1024 * (gsize) 1024)

static void
test_kept_body(ChannelFixture *self, gconstpointer data)
{
    gpointer body = g_malloc(MIB);
    gsize n_bytes = 0;

    g_assert_null(qd_channels_take_body(self->channels, MIB, &n_bytes));
    qd_channels_give_body(self->channels, body, MIB);
    g_assert_true(qd_channels_take_body(self->channels, MIB / 2, &n_bytes) == body);
    g_assert_cmpuint(n_bytes, ==, MIB);
    g_assert_null(qd_channels_take_body(self->channels, MIB, &n_bytes));

    qd_channels_give_body(self->channels, body, MIB); /* too large for the one that comes, which is a sign that times change */
    g_assert_null(qd_channels_take_body(self->channels, MIB / 2 - 1, &n_bytes));
    g_assert_null(qd_channels_take_body(self->channels, MIB, &n_bytes));

    qd_channels_give_body(self->channels, g_malloc(MIB), MIB); /* too small */
    g_assert_null(qd_channels_take_body(self->channels, MIB + 1, &n_bytes));
    qd_channels_give_body(self->channels, g_malloc(8 * MIB), 8 * MIB); /* more than is kept */
    g_assert_null(qd_channels_take_body(self->channels, 8 * MIB, &n_bytes));

    qd_channels_give_body(self->channels, g_malloc(MIB), MIB);
    qd_channels_give_body(self->channels, g_malloc(1), 1); /* it takes no other one's place */
    body = qd_channels_take_body(self->channels, MIB, &n_bytes);
    g_assert_nonnull(body);
    qd_channels_give_body(self->channels, body, n_bytes);
    qd_channels_give_memory_back(self->channels);
    g_assert_null(qd_channels_take_body(self->channels, MIB, &n_bytes));
}

int
main(int argc, char **argv)
{
    engine_fixture_init(&argc, &argv);
#define ADD(path, func) \
    g_test_add("/channel/channel/" path, ChannelFixture, NULL, channel_fixture_set_up, func, channel_fixture_tear_down)
    ADD("cancel/in-pipeline", test_cancel_in_pipeline);
    ADD("cancel/queued", test_cancel_queued);
    ADD("cancel/running", test_cancel_running);
    ADD("cancel/blocked", test_cancel_blocked);
    ADD("hang-up/idle", test_hang_up_idle);
    ADD("hang-up/queued", test_hang_up_queued);
    ADD("hang-up/blocked", test_hang_up_blocked);
    ADD("hang-up/while-served", test_hang_up_while_served);
    ADD("shut", test_shut);
    ADD("nonsense", test_nonsense);
    ADD("linger/next-request", test_linger);
    ADD("linger/on-one-core", test_linger_on_one_core);
    ADD("linger/ends", test_linger_ends);
    ADD("kept-body", test_kept_body);
    return g_test_run();
}
