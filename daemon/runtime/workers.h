/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Worker threads: they wait for channels in one epoll descriptor and take tasks from one run queue.
 *
 * Place: room runtime. There are as many threads as queries may run, and four more. Two ensure that requests are always read, one
 * is for the leader of the writer, and one for what needs no slot. A query that can neither leave its thread nor be one of the long
 * ones gets a thread in addition (limit running_beside). Invariant: a task in the queue is owned by the queue. The thread that
 * takes it out owns it, and holds a run slot for it.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

#include "daemon/read/long-verdict.h"

typedef struct QdClient QdClient;
typedef struct QdLimits QdLimits;
typedef struct QdWorkers QdWorkers;
typedef struct QdTask QdTask;

/* Embedded in what is to be run. */
struct QdTask {
    QdTask *next;
    QdClient *client; /* (nullable) (not owned): charged for the slot; NULL: no slot is needed */
    gboolean sliced;  /* it has run before and did not finish: short ones go first */
    int watch_fd;     /* while it waits in the queue, events of this descriptor are reported; -1: none */
    uint32_t watch_events;
    uint64_t watch_token;
    uint64_t queued_usec;  /* monotonic: since when it waits; 0: it does not (qd_task_begin_wait) */
    uint64_t timeout_msec; /* of waiting and of what it does; 0: none */
    uint64_t due_usec;     /* monotonic: it waits no longer for a slot, `late` is called then; 0: never */
    /* called with a slot of @client, which it gives back */
    void (*run)(QdTask *task, QdWorkers *workers);
    /* called without a slot */
    void (*late)(QdTask *task, QdWorkers *workers);
    /* (nullable): the workers have stopped before it was taken out of the queue */
    void (*drop)(QdTask *task);
};

/* An event of a descriptor registered with @token (see qd_workers_watch). */
typedef void (*QdWorkersEventFunc)(void *user_data, uint64_t token, uint32_t events);
typedef void (*QdWorkersSweepFunc)(void *user_data);

QdWorkers *qd_workers_new(const QdLimits *limits, QdWorkersEventFunc event_func, QdWorkersSweepFunc sweep_func, void *user_data,
                          GError **error);
/* Waits until the threads have ended; the queue must be empty of what others own. */
void qd_workers_stop(QdWorkers *self);
QdWorkers *qd_workers_free(QdWorkers *self);

/* Before @self goes into the queue: waiting there counts for its deadline, which has run since @begun_usec (monotonic). */
void qd_task_begin_wait(QdTask *self, uint64_t timeout_msec, uint64_t begun_usec);
/* It is out of the queue, with a slot or without. Returns: µs that it has waited */
uint64_t qd_task_end_wait(QdTask *self);
/* BUSY: it was not pushed. */
void qd_task_set_full_error(const QdLimits *limits, GError **error);
/* TIMEOUT: for `late`. */
void qd_task_set_late_error(const QdTask *self, GError **error);

/*
 * What a thread of the workers does again and again: serves one event and, if one may run, one task of the queue. Public for
 * tests, which hold all threads and take their turns themselves. Thread: a worker, or one that has no slot.
 * Returns: whether there was one
 */
gboolean qd_workers_serve_event(QdWorkers *self, int timeout_msec);
gboolean qd_workers_serve_task(QdWorkers *self);

/* Registers @fd; a hang-up is reported even before it is armed. Returns: 0 or negative errno. */
int qd_workers_watch(QdWorkers *self, int fd, uint64_t token);
/* Arms @fd for one event. */
void qd_workers_arm(QdWorkers *self, int fd, uint64_t token, uint32_t events);

/* Puts a task into the queue, and wakes a thread when @wake. Returns: false when the queue is full (limit run_queue), or
 * has QD_LIMIT_SHARE times as many of the task's client as places that are free. */
gboolean qd_workers_push(QdWorkers *self, QdTask *task, gboolean wake);
/* The same without the limit, for what has been accepted before. */
void qd_workers_push_always(QdWorkers *self, QdTask *task, gboolean wake);
/* Takes @task out of the queue, where its time had not come. Returns: true: the caller owns it now. */
gboolean qd_workers_take_back(QdWorkers *self, QdTask *task);

/* Takes a run slot for @client; false: push a task instead. A worker thread holds one slot at most. */
gboolean qd_workers_take_slot(QdWorkers *self, QdClient *client, gboolean sliced);
/* For what another thread does for @client: it is no request (qd_workers_has_idle). */
gboolean qd_workers_take_slot_to_help(QdWorkers *self, QdClient *client);
void qd_workers_give_slot(QdWorkers *self, QdClient *client);

/* A task waits for a slot: a run that has used up its slice should yield. */
gboolean qd_workers_has_waiting(QdWorkers *self);
/* A query more would have a core to itself, nothing waits, and no other thread than this one has served a request for 50 ms. */
gboolean qd_workers_has_idle(QdWorkers *self);
/* A task waits, more queries run than there are cores, or requests came since @since_usec (qd_thread_get_coarse_usec). */
gboolean qd_workers_is_crowded(QdWorkers *self, uint64_t since_usec);
/* Until this thread is done with its task the kernel shall treat it as a batch job: others go first. */
void qd_workers_note_batch(void);
/*
 * What this thread runs for @client has turned out long. GRANTED: it may go on, as a batch job. Else as many long ones run as
 * may: it should leave the thread to a short one and come back as sliced. If it cannot, DENIED: it goes on, and another thread
 * is started when one is missed. REFUSED: there are already as many of those as the limit allows.
 */
QdLongVerdict qd_workers_become_long(QdWorkers *self, QdClient *client);
/* For how long the query of this thread shall rest after a tick's work. It runs beside the others or is long, and there are more
 * than cores. All of them at once would keep every thread from its end, each for as many slices as there are. 0: it goes on. */
uint64_t qd_workers_get_rest_usec(QdWorkers *self);
/* At each tick of the interrupter: keeps two threads for short tasks, regardless of the others. No task waits beyond its
 * time. @n_over: statements that are to end, for which the others rest. */
void qd_workers_look(QdWorkers *self, guint n_over);

/* TRUE: the caller may wait awake for a moment; then it must end so. As many threads may as leave half of the cores. */
gboolean qd_workers_begin_linger(QdWorkers *self);
void qd_workers_end_linger(QdWorkers *self);

/* Asks for a sweep (sweep_func on some worker) within a quarter of a second. */
void qd_workers_request_sweep(QdWorkers *self);
/* A sweep in two seconds, unless there is one before. */
void qd_workers_request_look(QdWorkers *self);

/* FALSE when a task has been waiting for a thread for longer than @max_usec although a slot was free. */
gboolean qd_workers_is_alive(QdWorkers *self, uint64_t max_usec);
guint qd_workers_get_n_running(QdWorkers *self);
guint qd_workers_get_n_queued(QdWorkers *self);
