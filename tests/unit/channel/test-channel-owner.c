/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The owner of a channel: parked, seized, kicked, in the queue; and which state may follow which.
 */
#include <sys/epoll.h>

#include "daemon/runtime/workers.h"
#include "tests/unit/channel/channel-fixture.h"

#define QUERY "SELECT a, b FROM t"
/* More than a pipe takes. */
#define LARGE "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 100000) SELECT x, printf('%0100d', x) FROM c"

/* Each row: what may follow, in the order of the states. */
static const char *const following[QD_N_CHANNEL_STATES] = {
    [QD_CHANNEL_NONE] = "-s-------",      /* opened */
    [QD_CHANNEL_SERVED] = "n-ibq-lw-",    /* ended, parked, queued, lingering, handed over */
    [QD_CHANNEL_IDLE] = "-s---k---",      /* an event, a kick */
    [QD_CHANNEL_BLOCKED] = "-s---k---",   /* the same */
    [QD_CHANNEL_QUEUED] = "-s---k---",    /* a slot, a deadline or an event; a kick */
    [QD_CHANNEL_KICKED] = "-s---k---",    /* a turn; another kick */
    [QD_CHANNEL_LINGERING] = "-s-------", /* a request, or none in time */
    [QD_CHANNEL_WRITING] = "-s---k--a",   /* all were refused, or done, by another thread or by this one */
    [QD_CHANNEL_ANSWERED] = "--i-qk-w-",  /* parked, something else came, or another update */
};

static void
test_table(ChannelFixture *self, gconstpointer data)
{
    static const char letters[] = "nsibqklwa";
    char row[QD_N_CHANNEL_STATES + 1] = { 0 };

    for (QdChannelState before = 0; before < QD_N_CHANNEL_STATES; before++) {
        for (QdChannelState state = 0; state < QD_N_CHANNEL_STATES; state++)
            row[state] = qd_channel_state_may_follow(state, before) ? letters[state] : '-';
        g_assert_cmpstr(row, ==, following[before]);
    }
}

/* It is said, and the daemon goes on. */
static void
test_impossible(ChannelFixture *self, gconstpointer data)
{
    QdChannel channel = { .state = QD_CHANNEL_LINGERING };

    g_test_expect_message(G_LOG_DOMAIN, G_LOG_LEVEL_CRITICAL, "a channel that was 'lingering' became 'writing'");
    qd_channel_set_state(&channel, QD_CHANNEL_WRITING);
    g_test_assert_expected_messages();
    g_assert_cmpint(channel.state, ==, QD_CHANNEL_WRITING);
    qd_channel_set_state(&channel, QD_CHANNEL_KICKED);
}

static void
test_peer_only_goes(ChannelFixture *self, gconstpointer data)
{
    QdChannel channel = { .input.peer = QD_PEER_TALKS };

    qd_channel_note_peer(&channel, QD_PEER_GONE);
    qd_channel_note_peer(&channel, QD_PEER_SILENT);
    g_assert_cmpint(channel.input.peer, ==, QD_PEER_GONE);
}

/* Parked, seized by an event, and parked again. */
static void
test_park_and_seize(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open(self, QUERY, 0);

    for (uint32_t serial = 1; serial < 4; serial++) {
        channel_peer_assert_state(peer, QD_CHANNEL_IDLE);
        channel_peer_fetch(peer, serial);
        channel_fixture_settle(self);
    }
    channel_peer_assert(peer, "R1/3 E1 R2/3 E2 R3/3 E3");
    channel_peer_event(peer, EPOLLIN); /* for nothing */
    channel_peer_assert_state(peer, QD_CHANNEL_IDLE);
    channel_peer_assert(peer, "");
}

static void
fetch_and_tell(ChannelPeer *peer)
{
    channel_peer_assert_state(peer, QD_CHANNEL_SERVED);
    channel_peer_fetch(peer, 3);
    channel_peer_event(peer, EPOLLIN);
    channel_peer_kick(peer);
    channel_peer_assert_state(peer, QD_CHANNEL_SERVED);
}

/* What happens while a thread has it is left to that thread, which looks before it lets go. */
static void
test_event_while_served(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open(self, QUERY, 0);

    channel_peer_fetch(peer, 1);
    channel_fixture_settle(self);
    channel_peer_fetch(peer, 2);
    channel_peer_hook_query(peer, fetch_and_tell);
    channel_peer_event(peer, EPOLLIN);
    channel_peer_assert(peer, "R1/3 E1 R2/3 E2 R3/3 E3");
    channel_peer_assert_state(peer, QD_CHANNEL_IDLE);
}

/* However often it is kicked, it is in the queue once; there an event takes it out. */
static void
test_kick_idle(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open(self, QUERY, 0);

    channel_fixture_use_up_slots(self);
    channel_peer_kick(peer);
    channel_peer_kick(peer);
    channel_peer_assert_state(peer, QD_CHANNEL_KICKED);
    g_assert_cmpuint(qd_workers_get_n_queued(self->workers), ==, 1);
    g_assert_true(channel_fixture_serve_task(self));
    channel_peer_assert_state(peer, QD_CHANNEL_IDLE);

    channel_peer_kick(peer);
    channel_peer_event(peer, EPOLLIN);
    channel_peer_assert_state(peer, QD_CHANNEL_IDLE);
    g_assert_false(channel_fixture_serve_task(self));
    channel_fixture_give_slots(self);
}

/* A look at what waits for a slot does not run it. */
static void
test_kick_queued(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open(self, QUERY, 0);

    channel_fixture_use_up_slots(self);
    channel_peer_fetch(peer, 1);
    channel_peer_event(peer, EPOLLIN);
    channel_peer_assert_state(peer, QD_CHANNEL_QUEUED);
    channel_peer_kick(peer);
    channel_peer_assert_state(peer, QD_CHANNEL_KICKED);
    g_assert_true(channel_fixture_serve_task(self));
    channel_peer_assert_state(peer, QD_CHANNEL_QUEUED);
    g_assert_false(channel_fixture_serve_task(self));
    channel_peer_assert(peer, "");

    channel_fixture_give_slots(self);
    g_assert_true(channel_fixture_serve_task(self));
    channel_peer_assert(peer, "R1/3 E1");
    channel_peer_assert_state(peer, QD_CHANNEL_IDLE);
}

/* An event of a channel that is gone is nothing to the next one in its slot, nor is a kick. */
static void
test_old_events(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) first = channel_peer_open(self, QUERY, 0);
    g_autoptr(ChannelPeer) second = NULL;

    channel_peer_hang_up(first);
    channel_peer_event(first, EPOLLIN | EPOLLHUP);
    channel_peer_assert_state(first, QD_CHANNEL_NONE);
    channel_peer_event(first, EPOLLIN | EPOLLHUP);
    channel_peer_kick(first);
    channel_peer_assert_state(first, QD_CHANNEL_NONE);

    second = channel_peer_open(self, QUERY, 0);
    g_assert_true(second->channel == first->channel);
    g_assert_cmpuint(second->token, !=, first->token);
    channel_peer_event(first, EPOLLHUP | EPOLLERR);
    channel_peer_assert_state(second, QD_CHANNEL_IDLE);
    qd_channel_kick(second->channel, first->token >> 32);
    channel_peer_assert_state(second, QD_CHANNEL_IDLE);
    channel_peer_fetch(second, 1);
    channel_fixture_settle(self);
    channel_peer_assert(second, "R1/3 E1");
}

/* At the end of the daemon: what was sent is served, then the channel closes. */
static void
test_drain(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) idle = channel_peer_open(self, QUERY, 0);
    g_autoptr(ChannelPeer) busy = channel_peer_open(self, QUERY, 0);

    channel_fixture_use_up_slots(self);
    channel_peer_fetch(busy, 1);
    channel_peer_fetch(busy, 2);
    channel_peer_event(busy, EPOLLIN);
    qd_channels_drain(self->channels);
    channel_peer_assert_state(idle, QD_CHANNEL_KICKED);
    channel_peer_assert_state(busy, QD_CHANNEL_KICKED);
    channel_fixture_settle(self);
    channel_peer_assert(idle, "EOF");
    channel_peer_assert(busy, "");
    channel_fixture_give_slots(self);
    channel_fixture_settle(self);
    channel_peer_assert(busy, "R1/3 E1 R2/3 E2 EOF");
    g_assert_cmpuint(qd_channels_get_n(self->channels), ==, 0);
}

/* A pipe whose reader has stopped: nothing can be read from it, and it is not asked for the end again and again. */
static void
test_drain_blocked_pipe(ChannelFixture *self, gconstpointer data)
{
    g_autoptr(ChannelPeer) peer = channel_peer_open_pipe(self, LARGE);

    channel_peer_assert_state(peer, QD_CHANNEL_BLOCKED);
    qd_channels_drain(self->channels);
    channel_peer_assert_state(peer, QD_CHANNEL_KICKED);
    channel_fixture_settle(self);
    channel_peer_assert_state(peer, QD_CHANNEL_BLOCKED);
    channel_peer_hang_up(peer);
    channel_fixture_settle(self);
    channel_peer_assert_state(peer, QD_CHANNEL_NONE);
}

static void
on_query(const QdQueryInfo *info, void *user_data)
{
    g_string_append_printf(user_data, "%s;", info->state);
}

/* What ListQueries says of all requests. */
static void
assert_words(ChannelFixture *self, const char *expected)
{
    g_autoptr(GString) words = g_string_new(NULL);

    qd_engine_foreach_query(self->engine.engine, on_query, words);
    g_assert_cmpstr(words->str, ==, expected);
}

/* They follow the state: a result that has waited for its reader runs again. */
static void
test_words(ChannelFixture *self, gconstpointer data)
{
    static const QdChannelState states[] = { QD_CHANNEL_SERVED, QD_CHANNEL_BLOCKED, QD_CHANNEL_SERVED,  QD_CHANNEL_QUEUED,
                                             QD_CHANNEL_SERVED, QD_CHANNEL_WRITING, QD_CHANNEL_ANSWERED };
    static const char *const words[] = { "running", "blocked", "running", "queued", "running", "writing", "writing" };
    g_autoptr(ChannelPeer) peer = channel_peer_open_pipe(self, LARGE);
    QdChannel channel = { .entry.owner = &channel };

    assert_words(self, "blocked;");
    channel_peer_hang_up(peer);
    channel_fixture_settle(self);
    assert_words(self, "");

    for (guint i = 0; i < G_N_ELEMENTS(states); i++) {
        qd_channel_set_state(&channel, states[i]);
        g_assert_cmpstr(qd_channel_describe_entry(&channel.entry), ==, words[i]);
    }
}

int
main(int argc, char **argv)
{
    engine_fixture_init(&argc, &argv);
#define ADD(path, func) \
    g_test_add("/channel/channel-owner/" path, ChannelFixture, NULL, channel_fixture_set_up, func, channel_fixture_tear_down)
    ADD("states/table", test_table);
    ADD("states/impossible", test_impossible);
    ADD("states/peer-only-goes", test_peer_only_goes);
    ADD("states/words", test_words);
    ADD("park-and-seize", test_park_and_seize);
    ADD("event-while-served", test_event_while_served);
    ADD("kick/idle", test_kick_idle);
    ADD("kick/queued", test_kick_queued);
    ADD("old-events", test_old_events);
    ADD("drain/all", test_drain);
    ADD("drain/blocked-pipe", test_drain_blocked_pipe);
    return g_test_run();
}
