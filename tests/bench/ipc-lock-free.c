/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A ring in shared memory without any lock: one writer, one reader, two counters. A side that finds it empty says that it will
 * sleep, looks once more and sleeps, on a futex, by io_uring or in epoll_wait(). The writer makes a system call only then.
 */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/bench/ipc-uring.h"
#include "tests/bench/ipc.h"

#define CACHE_LINE 64

/* Counters on lines of their own: each is written by one side only. */
typedef struct Ring {
    guint32 n_put __attribute__((aligned(CACHE_LINE)));   /* the writer's; the futex */
    guint32 n_taken __attribute__((aligned(CACHE_LINE))); /* the reader's */
    guint32 is_waiting __attribute__((aligned(CACHE_LINE)));
    IpcMessage slots[IPC_DEPTH_MAX] __attribute__((aligned(CACHE_LINE)));
} Ring;

typedef struct Shared {
    Ring rings[2]; /* per receiving side */
} Shared;

static void
open_shared(IpcEnd *end)
{
    end->shared = ipc_map_shared(end->bench, sizeof(Shared));
}

static void
open_polling(IpcEnd *end)
{
    open_shared(end);
    ipc_events_open(end);
}

static Ring *
ring_of(IpcEnd *end, IpcSide receiver)
{
    return &((Shared *) end->shared)->rings[receiver];
}

/* Returns whether the reader has to be woken. */
static gboolean
put(Ring *self, const IpcMessage *message)
{
    guint32 n_put = self->n_put;

    memcpy(&self->slots[n_put % IPC_DEPTH_MAX], message, sizeof *message);
    __atomic_store_n(&self->n_put, n_put + 1, __ATOMIC_SEQ_CST);
    return __atomic_load_n(&self->is_waiting, __ATOMIC_SEQ_CST) != 0;
}

static gboolean
try_take(Ring *self, IpcMessage *ret_message)
{
    guint32 n_taken = self->n_taken;

    if (__atomic_load_n(&self->n_put, __ATOMIC_SEQ_CST) == n_taken)
        return FALSE;

    memcpy(ret_message, &self->slots[n_taken % IPC_DEPTH_MAX], sizeof *ret_message);
    __atomic_store_n(&self->n_taken, n_taken + 1, __ATOMIC_RELEASE);
    return TRUE;
}

static void
set_waiting(Ring *self, guint32 is_waiting)
{
    __atomic_store_n(&self->is_waiting, is_waiting, __ATOMIC_SEQ_CST);
}

static void
wait_by_futex(IpcEnd *end, Ring *ring)
{
    (void) syscall(SYS_futex, &ring->n_put, FUTEX_WAIT, ring->n_taken, NULL, NULL, 0);
}

static void
wait_by_uring(IpcEnd *end, Ring *ring)
{
    ipc_uring_wait(end, &ring->n_put, ring->n_taken);
}

static void
wait_by_event(IpcEnd *end, Ring *ring)
{
    ipc_events_wait(end);
}

static void
receive(IpcEnd *end, IpcMessage *ret_message, void (*wait)(IpcEnd *end, Ring *ring))
{
    Ring *ring = ring_of(end, end->side);

    while (!try_take(ring, ret_message)) {
        set_waiting(ring, 1);
        if (try_take(ring, ret_message)) {
            set_waiting(ring, 0);
            return;
        }
        wait(end, ring);
        set_waiting(ring, 0);
    }
}

static void
send_by_futex(IpcEnd *end, const IpcMessage *message)
{
    Ring *ring = ring_of(end, 1 - end->side);

    if (put(ring, message))
        (void) syscall(SYS_futex, &ring->n_put, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void
receive_by_futex(IpcEnd *end, IpcMessage *ret_message)
{
    receive(end, ret_message, wait_by_futex);
}

static void
receive_by_uring(IpcEnd *end, IpcMessage *ret_message)
{
    receive(end, ret_message, wait_by_uring);
}

/* Only to find out, before the fork, whether the kernel can; each process opens its own. */
static void
open_uring(IpcEnd *end)
{
    open_shared(end);
    ipc_uring_open(end);
}

static void
send_polling(IpcEnd *end, const IpcMessage *message)
{
    if (put(ring_of(end, 1 - end->side), message))
        ipc_events_notify_peer(end);
}

static void
receive_polling(IpcEnd *end, IpcMessage *ret_message)
{
    receive(end, ret_message, wait_by_event);
}

const IpcWay ipc_lock_free_futex = { .open = open_shared, .send = send_by_futex, .receive = receive_by_futex };
const IpcWay ipc_lock_free_uring = {
    .open = open_uring, .enter = ipc_uring_open, .send = send_by_futex, .receive = receive_by_uring
};
const IpcWay ipc_lock_free_polling = {
    .open = open_polling, .enter = ipc_events_enter, .send = send_polling, .receive = receive_polling
};
