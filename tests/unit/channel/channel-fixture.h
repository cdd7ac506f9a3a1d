/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Channels of a real engine whose worker threads are held. The test's thread takes their turns, so each order of events is one
 * that the test has chosen.
 *
 * Place: tests of the room channel. The peers are real descriptors. What a peer sends is there for the daemon at once, and the
 * daemon's answers for the peer, so nothing is waited for.
 */
#pragma once

#include "daemon/channel/channel-private.h"
#include "daemon/runtime/workers.h"
#include "tests/unit/engine/engine-fixture.h"
#include "tests/unit/write/hand-over.h"

/* As many threads as there are with the limit `running` at its least. */
#define CHANNEL_FIXTURE_THREADS 7

typedef struct ChannelFixture {
    EngineFixture engine;
    QdWorkers *workers;
    QdChannels *channels;
    QdTask holds[CHANNEL_FIXTURE_THREADS];
    HandOver *held; /* a thread is held */
    HandOver *go;   /* a thread may go on */
    GArray *tokens; /* of uint64_t: of the channels that were opened */
} ChannelFixture;

typedef struct ChannelPeer ChannelPeer;
typedef void (*ChannelFunc)(ChannelPeer *peer);

/* The client's side of a channel. */
struct ChannelPeer {
    ChannelFixture *fixture;
    QdChannel *channel; /* the slot, which may have another channel later */
    uint64_t token;
    int fd;
    GByteArray *in; /* not parsed yet */
    ChannelFunc hook;
    ChannelPeer *other; /* (not owned) (nullable): for the hook */
};

/* With table t(a, b), which has the rows (1, 'x'), (2, 'y') and (3, 'z'). For g_test_add(), after engine_fixture_init(). */
void channel_fixture_set_up(ChannelFixture *self, gconstpointer data);
void channel_fixture_tear_down(ChannelFixture *self, gconstpointer data);
void channel_fixture_set_limit(ChannelFixture *self, QdLimit limit, uint64_t value);

/* Turns: events and tasks until there are none; only the tasks that may run; one task. Returns: whether there was one */
void channel_fixture_settle(ChannelFixture *self);
gboolean channel_fixture_serve_task(ChannelFixture *self);
/* From here on the client has no slot, until it has them again. */
void channel_fixture_use_up_slots(ChannelFixture *self);
void channel_fixture_give_slots(ChannelFixture *self);

/* (transfer full): a channel of two ways for an SQL statement, idle. @timeout_msec: 0: the default */
ChannelPeer *channel_peer_open(ChannelFixture *self, const char *sql, uint32_t timeout_msec);
/* The same with other options: those of an update begin with access_write. */
ChannelPeer *channel_peer_open_with(ChannelFixture *self, const char *sql, const QdExecutionOptions *options);
/* A pipe, whose statement runs at once. */
ChannelPeer *channel_peer_open_pipe(ChannelFixture *self, const char *sql);
ChannelPeer *channel_peer_free(ChannelPeer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ChannelPeer, channel_peer_free)

void channel_peer_send(ChannelPeer *self, QwKind kind, uint32_t count, uint32_t serial);
void channel_peer_fetch(ChannelPeer *self, uint32_t serial);
void channel_peer_cancel(ChannelPeer *self, uint32_t serial);
void channel_peer_prepare(ChannelPeer *self, uint32_t serial, const char *sql);
/* It sends no more, but reads on. */
void channel_peer_shut(ChannelPeer *self);
/* Something that no client says. */
void channel_peer_send_nonsense(ChannelPeer *self);
void channel_peer_hang_up(ChannelPeer *self);

/* What has come from the daemon: "R1/3 E1 X2/Timeout". These are rows, ends and errors with their serial, then so many rows, or
 * the error's name; "EOF" when the daemon has closed. */
void channel_peer_assert(ChannelPeer *self, const char *expected);

/* Takes what there is from the descriptor; the last record of all that came. */
void channel_peer_drop_input(ChannelPeer *self);
void channel_peer_assert_last(ChannelPeer *self, const char *expected);

/* As other threads do. */
void channel_peer_kick(ChannelPeer *self);
void channel_peer_event(ChannelPeer *self, uint32_t events);
void channel_peer_assert_state(const ChannelPeer *self, QdChannelState state);
/*
 * Calls @func once, from within a step of the connection on which the peer's queries, or all updates, run. That is at the next
 * row, or at the end of the next statement.
 */
void channel_peer_hook_query(ChannelPeer *self, ChannelFunc func);
void channel_peer_hook_update(ChannelPeer *self, ChannelFunc func);
/* Waits until the time of its request, which waits in the queue, has come, and tells the workers. */
void channel_peer_wait_until_late(ChannelPeer *self);
/* Its request, which waits in the queue, is due as long after its begin as its deadline is. */
void channel_peer_assert_due(const ChannelPeer *self);
