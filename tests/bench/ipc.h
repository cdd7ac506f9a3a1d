/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ways for two processes to exchange messages, all with the same shape: an end sends and receives messages of one size.
 *
 * Place: tests/bench; group-ipc.c measures them. One file per way: ipc-*.c.
 * Invariant: at most IPC_DEPTH_MAX messages are under way in a direction, so no queue is ever full.
 */
#pragma once

#include "tests/bench/bench.h"

#define IPC_MESSAGE_BYTES 1024u
#define IPC_DEPTH_MAX 16u

typedef struct IpcMessage {
    guint64 sequence;
    guint8 payload[IPC_MESSAGE_BYTES - sizeof(guint64)];
} IpcMessage;

typedef enum IpcSide {
    IPC_CLIENT,
    IPC_SERVER,
} IpcSide;

typedef struct IpcWay IpcWay;

/* One process' view; made before the fork, then each process calls enter(). */
typedef struct IpcEnd {
    const IpcWay *way;
    const Bench *bench;
    IpcSide side;
    gpointer shared; /* of the ways with shared memory */
    int fds[2];      /* sockets, or event descriptors: one per side */
    int epoll;
    gpointer loop;                  /* of io_uring */
    guint8 part[IPC_MESSAGE_BYTES]; /* of the way by socket: what has come of the next message */
    gsize n_part;
} IpcEnd;

struct IpcWay {
    void (*open)(IpcEnd *end);
    void (*enter)(IpcEnd *end); /* (nullable): in each process, end->side is set */
    void (*send)(IpcEnd *end, const IpcMessage *message);
    void (*receive)(IpcEnd *end, IpcMessage *ret_message); /* waits */
};

extern const IpcWay ipc_socket_blocking;
extern const IpcWay ipc_socket_polling;
extern const IpcWay ipc_shared_condition;
extern const IpcWay ipc_shared_polling;
extern const IpcWay ipc_lock_free_futex;
extern const IpcWay ipc_lock_free_polling;
extern const IpcWay ipc_lock_free_uring;

/* Shared by the ways that sleep in epoll_wait(): an event descriptor per side, and how to wait for one's own. */
void ipc_events_open(IpcEnd *end);
void ipc_events_enter(IpcEnd *end);
void ipc_events_notify_peer(IpcEnd *end);
void ipc_events_wait(IpcEnd *end);

/* Makes @fd the only one of end->epoll. */
void ipc_epoll_open(IpcEnd *end, int fd);

/* Zeroed memory that a later fork shares. */
gpointer ipc_map_shared(const Bench *bench, gsize n_bytes);
