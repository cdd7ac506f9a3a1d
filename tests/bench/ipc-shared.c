/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared memory under a mutex that both processes take: with a condition variable, and with an event descriptor.
 */
#include <pthread.h>

#include "tests/bench/ipc.h"

typedef struct Queue {
    pthread_mutex_t mutex;
    pthread_cond_t filled;
    guint32 n_put; /* guarded by mutex, as all below */
    guint32 n_taken;
    IpcMessage slots[IPC_DEPTH_MAX];
} Queue;

/* One queue per receiving side. */
typedef struct Shared {
    Queue queues[2];
} Shared;

static void
queue_init(Queue *self)
{
    pthread_mutexattr_t mutex_attributes;
    pthread_condattr_t cond_attributes;

    pthread_mutexattr_init(&mutex_attributes);
    pthread_mutexattr_setpshared(&mutex_attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&self->mutex, &mutex_attributes);
    pthread_condattr_init(&cond_attributes);
    pthread_condattr_setpshared(&cond_attributes, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&self->filled, &cond_attributes);
}

static void
open_shared(IpcEnd *end)
{
    Shared *shared = ipc_map_shared(end->bench, sizeof *shared);

    queue_init(&shared->queues[IPC_CLIENT]);
    queue_init(&shared->queues[IPC_SERVER]);
    end->shared = shared;
}

static void
open_polling(IpcEnd *end)
{
    open_shared(end);
    ipc_events_open(end);
}

static Queue *
queue_of(IpcEnd *end, IpcSide receiver)
{
    return &((Shared *) end->shared)->queues[receiver];
}

/* Under the mutex. */
static void
put(Queue *self, const IpcMessage *message)
{
    memcpy(&self->slots[self->n_put % IPC_DEPTH_MAX], message, sizeof *message);
    self->n_put++;
}

/* Under the mutex, when there is one. */
static void
take(Queue *self, IpcMessage *ret_message)
{
    memcpy(ret_message, &self->slots[self->n_taken % IPC_DEPTH_MAX], sizeof *ret_message);
    self->n_taken++;
}

static void
send_by_condition(IpcEnd *end, const IpcMessage *message)
{
    Queue *queue = queue_of(end, 1 - end->side);

    pthread_mutex_lock(&queue->mutex);
    put(queue, message);
    pthread_mutex_unlock(&queue->mutex);
    pthread_cond_signal(&queue->filled);
}

static void
receive_by_condition(IpcEnd *end, IpcMessage *ret_message)
{
    Queue *queue = queue_of(end, end->side);

    pthread_mutex_lock(&queue->mutex);
    while (queue->n_put == queue->n_taken)
        pthread_cond_wait(&queue->filled, &queue->mutex);
    take(queue, ret_message);
    pthread_mutex_unlock(&queue->mutex);
}

static void
send_polling(IpcEnd *end, const IpcMessage *message)
{
    Queue *queue = queue_of(end, 1 - end->side);
    gboolean was_empty;

    pthread_mutex_lock(&queue->mutex);
    was_empty = queue->n_put == queue->n_taken;
    put(queue, message);
    pthread_mutex_unlock(&queue->mutex);
    if (was_empty)
        ipc_events_notify_peer(end);
}

static gboolean
try_receive(Queue *queue, IpcMessage *ret_message)
{
    gboolean there_is;

    pthread_mutex_lock(&queue->mutex);
    there_is = queue->n_put != queue->n_taken;
    if (there_is)
        take(queue, ret_message);
    pthread_mutex_unlock(&queue->mutex);
    return there_is;
}

static void
receive_polling(IpcEnd *end, IpcMessage *ret_message)
{
    while (!try_receive(queue_of(end, end->side), ret_message))
        ipc_events_wait(end);
}

const IpcWay ipc_shared_condition = { .open = open_shared, .send = send_by_condition, .receive = receive_by_condition };
const IpcWay ipc_shared_polling = {
    .open = open_polling, .enter = ipc_events_enter, .send = send_polling, .receive = receive_polling
};
