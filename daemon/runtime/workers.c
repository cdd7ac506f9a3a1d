/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads and the run queue.
 *
 * A request goes from the client's write() straight to the worker that epoll wakes; the queue is for what cannot run at once.
 */
#include "daemon/runtime/workers.h"

#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "daemon/base/error.h"
#include "daemon/base/limits.h"
#include "daemon/base/thread.h"
#include "daemon/runtime/run-slots.h"
#include "daemon/runtime/task-list.h"

/* For the leader of the writer, which has no slot. */
#define LEADER_THREADS 1
/* For what needs no slot: the answers of updates, the ends of what waits too long, sweeps. */
#define FREE_THREADS 1
#define SWEEP_NSEC 100000000L
#define LOOK_SEC 2
#define TOKEN_QUEUE UINT64_MAX
#define TOKEN_TIMER (UINT64_MAX - 1)
/* So often the tasks that have run before go first, so that a flood of short ones cannot starve them. */
#define SLICED_TURN 8
/* A core that served a request a moment ago may be wanted again. */
#define QUIET_USEC 50000u

/* What calls the owner of the workers. */
typedef struct Hooks {
    QdWorkersEventFunc event_func;
    QdWorkersSweepFunc sweep_func;
    void *user_data;
} Hooks;

typedef struct Threads {
    guint n;
    guint n_base; /* without those beside */
    guint n_max;
    pthread_t *handles;
} Threads;

struct QdWorkers {
    const QdLimits *limits;
    Hooks hooks;
    int epoll_fd;
    int queue_fd;
    int timer_fd;
    Threads threads;

    pthread_mutex_t mutex;
    QdTaskList fresh;
    QdTaskList sliced;
    QdRunSlots slots;
    guint n_taken;
    gboolean has_late; /* a task in the queue has waited for its whole time */
    gint n_queued;     /* atomic, written under the mutex */
    gint n_lingering;  /* atomic */
    gint max_lingering;
    gint stopping;
    gint sweep_is_due;
    uint64_t last_progress_usec; /* atomic: a thread took something, or had nothing to take */
};

/* Under the mutex. */
static gboolean
take_slot_for(const QdTask *task, void *data)
{
    QdWorkers *self = data;

    if (!qd_run_slots_take(&self->slots, task->client, task->sliced))
        return FALSE;
    if (task->client != NULL)
        qd_run_slots_note_use(&self->slots);
    return TRUE;
}

/* Under the mutex. */
static QdTask *
pop_late(QdWorkers *self)
{
    uint64_t now = (uint64_t) g_get_monotonic_time();
    QdTask *task = qd_task_list_pop_late(&self->fresh, now);

    if (task == NULL)
        task = qd_task_list_pop_late(&self->sliced, now);
    self->has_late = task != NULL;
    return task;
}

/*
 * Two pushes may wake one thread only: the event of the second joins the first, which is not fetched yet. So a thread that
 * takes a task out ensures that the rest finds a thread, too.
 */
static QdTask *
workers_pop(QdWorkers *self, gboolean *ret_is_late)
{
    QdTask *task = NULL;
    gboolean wake = FALSE;

    *ret_is_late = FALSE;
    if (g_atomic_int_get(&self->n_queued) == 0)
        return NULL;

    pthread_mutex_lock(&self->mutex);
    if (self->has_late)
        task = pop_late(self);
    *ret_is_late = task != NULL;
    if (task == NULL && self->n_taken % SLICED_TURN == SLICED_TURN - 1)
        task = qd_task_list_pop(&self->sliced, take_slot_for, self);
    if (task == NULL)
        task = qd_task_list_pop(&self->fresh, take_slot_for, self);
    if (task == NULL)
        task = qd_task_list_pop(&self->sliced, take_slot_for, self);
    if (task != NULL) {
        self->n_taken++;
        wake = g_atomic_int_add(&self->n_queued, -1) > 1 && self->slots.n_running < self->threads.n;
    }
    pthread_mutex_unlock(&self->mutex);
    if (wake)
        (void) eventfd_write(self->queue_fd, 1);
    return task;
}

/* Under the mutex. */
static void
enqueue(QdWorkers *self, QdTask *task)
{
    qd_task_list_push(task->sliced ? &self->sliced : &self->fresh, task);
    (void) g_atomic_int_add(&self->n_queued, 1);
    if (task->watch_fd >= 0)
        qd_workers_arm(self, task->watch_fd, task->watch_token, task->watch_events);
}

gboolean
qd_workers_take_back(QdWorkers *self, QdTask *task)
{
    gboolean taken;

    pthread_mutex_lock(&self->mutex);
    taken = qd_task_list_remove(&self->fresh, task) || qd_task_list_remove(&self->sliced, task);
    if (taken)
        (void) g_atomic_int_add(&self->n_queued, -1);
    pthread_mutex_unlock(&self->mutex);
    return taken;
}

/* Under the mutex. Clients that fill the queue leave a part of it to others, as with memory. */
static gboolean
has_place(const QdWorkers *self, const QdClient *client)
{
    int64_t n_free = (int64_t) qd_limits_get(self->limits, QD_LIMIT_RUN_QUEUE) - g_atomic_int_get(&self->n_queued);
    guint n = qd_task_list_count(&self->fresh, client) + qd_task_list_count(&self->sliced, client);

    return n_free > 0 && n <= QD_LIMIT_SHARE * n_free;
}

static gboolean
push(QdWorkers *self, QdTask *task, gboolean wake, gboolean is_bounded)
{
    gboolean has_room;

    pthread_mutex_lock(&self->mutex);
    has_room = !is_bounded || has_place(self, task->client);
    if (has_room)
        enqueue(self, task);
    pthread_mutex_unlock(&self->mutex);
    if (has_room && wake)
        (void) eventfd_write(self->queue_fd, 1);
    return has_room;
}

void
qd_workers_push_always(QdWorkers *self, QdTask *task, gboolean wake)
{
    (void) push(self, task, wake, FALSE);
}

gboolean
qd_workers_push(QdWorkers *self, QdTask *task, gboolean wake)
{
    return push(self, task, wake, TRUE);
}

gboolean
qd_workers_take_slot(QdWorkers *self, QdClient *client, gboolean sliced)
{
    gboolean taken;

    pthread_mutex_lock(&self->mutex);
    taken = qd_run_slots_take(&self->slots, client, sliced);
    if (taken)
        qd_run_slots_note_use(&self->slots);
    pthread_mutex_unlock(&self->mutex);
    return taken;
}

gboolean
qd_workers_take_slot_to_help(QdWorkers *self, QdClient *client)
{
    gboolean taken;

    pthread_mutex_lock(&self->mutex);
    taken = qd_run_slots_take(&self->slots, client, FALSE);
    pthread_mutex_unlock(&self->mutex);
    return taken;
}

void
qd_workers_give_slot(QdWorkers *self, QdClient *client)
{
    if (client == NULL)
        return;

    pthread_mutex_lock(&self->mutex);
    qd_run_slots_give(&self->slots, client);
    pthread_mutex_unlock(&self->mutex);
}

gboolean
qd_workers_has_waiting(QdWorkers *self)
{
    return g_atomic_int_get(&self->n_queued) > 0;
}

/* Under the mutex: cores without a query. */
static gint
count_idle(const QdWorkers *self)
{
    return (gint) self->slots.n_cores - (gint) (self->slots.n_running + self->slots.n_beside);
}

gboolean
qd_workers_has_idle(QdWorkers *self)
{
    uint64_t now = qd_thread_get_coarse_usec();
    gboolean is_idle;

    if (qd_workers_has_waiting(self))
        return FALSE;
    pthread_mutex_lock(&self->mutex);
    is_idle = count_idle(self) > 0 && now >= qd_run_slots_get_others_usec(&self->slots) + QUIET_USEC;
    pthread_mutex_unlock(&self->mutex);
    return is_idle;
}

gboolean
qd_workers_is_crowded(QdWorkers *self, uint64_t since_usec)
{
    gboolean is_crowded;

    if (qd_workers_has_waiting(self))
        return TRUE;
    pthread_mutex_lock(&self->mutex);
    is_crowded = count_idle(self) < 0 || self->slots.recent[0].usec > since_usec;
    pthread_mutex_unlock(&self->mutex);
    return is_crowded;
}

void
qd_workers_note_batch(void)
{
    qd_run_slot_set_batch(TRUE);
}

QdLongVerdict
qd_workers_become_long(QdWorkers *self, QdClient *client)
{
    QdLongVerdict verdict;

    pthread_mutex_lock(&self->mutex);
    verdict = qd_run_slots_become_long(&self->slots, client);
    pthread_mutex_unlock(&self->mutex);
    qd_run_slot_set_batch(TRUE);
    return verdict;
}

uint64_t
qd_workers_get_rest_usec(QdWorkers *self)
{
    uint64_t now = (uint64_t) g_get_monotonic_time();
    uint64_t usec;

    pthread_mutex_lock(&self->mutex);
    usec = qd_run_slots_get_rest_usec(&self->slots, now);
    pthread_mutex_unlock(&self->mutex);
    return usec;
}

static gboolean start_thread(QdWorkers *self);

/* Under the mutex: what runs beside the others has got a thread in its place. */
static gboolean
make_room(QdWorkers *self)
{
    gboolean made = qd_run_slots_make_room(&self->slots);

    while (self->threads.n < MIN(self->threads.n_base + self->slots.n_beside, self->threads.n_max) && start_thread(self))
        ;
    return made;
}

void
qd_workers_look(QdWorkers *self, guint n_over)
{
    uint64_t now = (uint64_t) g_get_monotonic_time();
    gboolean wake = FALSE;

    if (pthread_mutex_trylock(&self->mutex) != 0) /* the next tick will do: this thread waits for none that the kernel puts off */
        return;
    qd_run_slots_count_tick(&self->slots, n_over);
    self->has_late = qd_task_list_has_late(&self->fresh, now) || qd_task_list_has_late(&self->sliced, now);
    if (!g_atomic_int_get(&self->stopping))
        wake = (make_room(self) && g_atomic_int_get(&self->n_queued) > 0) || self->has_late;
    pthread_mutex_unlock(&self->mutex);
    if (wake)
        (void) eventfd_write(self->queue_fd, 1);
}

gboolean
qd_workers_begin_linger(QdWorkers *self)
{
    if (g_atomic_int_add(&self->n_lingering, 1) < self->max_lingering)
        return TRUE;

    qd_workers_end_linger(self);
    return FALSE;
}

void
qd_workers_end_linger(QdWorkers *self)
{
    (void) g_atomic_int_add(&self->n_lingering, -1);
}

void
qd_workers_request_sweep(QdWorkers *self)
{
    struct itimerspec when = { .it_value = { .tv_nsec = SWEEP_NSEC } };

    if (g_atomic_int_compare_and_exchange(&self->sweep_is_due, FALSE, TRUE))
        (void) timerfd_settime(self->timer_fd, 0, &when, NULL);
}

void
qd_workers_request_look(QdWorkers *self)
{
    const struct itimerspec late = { .it_value = { .tv_sec = LOOK_SEC } };
    const struct itimerspec soon = { .it_value = { .tv_nsec = SWEEP_NSEC } };

    if (g_atomic_int_get(&self->sweep_is_due))
        return;
    (void) timerfd_settime(self->timer_fd, 0, &late, NULL);
    if (g_atomic_int_get(&self->sweep_is_due)) /* it was requested meanwhile */
        (void) timerfd_settime(self->timer_fd, 0, &soon, NULL);
}

static void
handle_event(QdWorkers *self, const struct epoll_event *event)
{
    uint64_t expirations;

    if (event->data.u64 == TOKEN_QUEUE) /* edge-triggered: each write is an event, whether the earlier ones were read or not */
        return;
    if (event->data.u64 == TOKEN_TIMER) {
        if (read(self->timer_fd, &expirations, sizeof expirations) > 0) {
            g_atomic_int_set(&self->sweep_is_due, FALSE);
            self->hooks.sweep_func(self->hooks.user_data);
        }
    } else {
        self->hooks.event_func(self->hooks.user_data, event->data.u64, event->events);
    }
}

/* @ret_is_push: (out): it is the queue that has something */
static gboolean
serve_event(QdWorkers *self, int timeout_msec, gboolean *ret_is_push)
{
    struct epoll_event event;

    *ret_is_push = FALSE;
    if (epoll_wait(self->epoll_fd, &event, 1, timeout_msec) != 1)
        return FALSE;

    qd_thread_need_memory();
    handle_event(self, &event);
    qd_run_slot_set_batch(FALSE);
    *ret_is_push = event.data.u64 == TOKEN_QUEUE;
    return TRUE;
}

gboolean
qd_workers_serve_event(QdWorkers *self, int timeout_msec)
{
    gboolean is_push;

    return serve_event(self, timeout_msec, &is_push);
}

gboolean
qd_workers_serve_task(QdWorkers *self)
{
    gboolean is_late;
    QdTask *task = workers_pop(self, &is_late);

    if (task == NULL)
        return FALSE;

    qd_thread_need_memory();
    if (is_late)
        task->late(task, self);
    else
        task->run(task, self);
    qd_run_slot_set_batch(FALSE);
    return TRUE;
}

/*
 * Events and the queue take turns: scans that keep the queue full would keep every thread from ever reading a request. A thread
 * that a push has woken has had its turn of events: it looks for no other one first.
 */
static void *
worker_main(void *data)
{
    QdWorkers *self = data;
    gboolean is_push = FALSE;

    (void) pthread_setname_np(pthread_self(), "queryd-worker");
    pthread_mutex_lock(&self->mutex);
    qd_run_slots_enter(&self->slots);
    pthread_mutex_unlock(&self->mutex);
    while (!g_atomic_int_get(&self->stopping)) {
        __atomic_store_n(&self->last_progress_usec, (uint64_t) g_get_monotonic_time(), __ATOMIC_RELAXED);
        if (qd_workers_has_waiting(self)) {
            gboolean served = !is_push && qd_workers_serve_event(self, 0);

            is_push = FALSE;
            if (qd_workers_serve_task(self) || served)
                continue;
        }
        (void) serve_event(self, -1, &is_push);
    }
    pthread_mutex_lock(&self->mutex);
    qd_run_slots_leave(&self->slots);
    pthread_mutex_unlock(&self->mutex);
    /* the next thread has to see it too */
    (void) eventfd_write(self->queue_fd, 1);
    return NULL;
}

static gboolean
start_thread(QdWorkers *self)
{
    int r = pthread_create(&self->threads.handles[self->threads.n], NULL, worker_main, self);

    if (r != 0) {
        errno = r;
        return FALSE;
    }
    self->threads.n++;
    return TRUE;
}

static gboolean
open_descriptors(QdWorkers *self, GError **error)
{
    struct epoll_event queue_event = { .events = EPOLLIN | EPOLLET, .data.u64 = TOKEN_QUEUE };
    struct epoll_event timer_event = { .events = EPOLLIN | EPOLLET, .data.u64 = TOKEN_TIMER };

    self->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    self->queue_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    self->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (self->epoll_fd < 0 || self->queue_fd < 0 || self->timer_fd < 0 ||
        epoll_ctl(self->epoll_fd, EPOLL_CTL_ADD, self->queue_fd, &queue_event) < 0 ||
        epoll_ctl(self->epoll_fd, EPOLL_CTL_ADD, self->timer_fd, &timer_event) < 0) {
        qd_error_set_errno(error, errno, "cannot set up worker threads");
        return FALSE;
    }
    return TRUE;
}

QdWorkers *
qd_workers_new(const QdLimits *limits, QdWorkersEventFunc event_func, QdWorkersSweepFunc sweep_func, void *user_data,
               GError **error)
{
    QdWorkers *self = g_new0(QdWorkers, 1);
    gboolean started = TRUE;

    self->limits = limits;
    self->hooks.event_func = event_func;
    self->hooks.sweep_func = sweep_func;
    self->hooks.user_data = user_data;
    qd_run_slots_init(&self->slots, limits);
    self->max_lingering = (gint) self->slots.n_cores / 2; /* none on a single core */
    qd_task_list_init(&self->fresh, 0);
    qd_task_list_init(&self->sliced, 1);
    self->last_progress_usec = (uint64_t) g_get_monotonic_time();
    pthread_mutex_init(&self->mutex, NULL);
    self->threads.n_base = (guint) qd_limits_get(limits, QD_LIMIT_RUNNING) + QD_RUN_SLOTS_SPARE + QD_RUN_SLOTS_FIRST +
                           LEADER_THREADS + FREE_THREADS;
    self->threads.n_max = self->threads.n_base + (guint) qd_limit_get_info(QD_LIMIT_RUNNING_BESIDE)->max;
    self->threads.handles = g_new0(pthread_t, self->threads.n_max);
    if (!open_descriptors(self, error))
        return qd_workers_free(self);

    pthread_mutex_lock(&self->mutex);
    while (started && self->threads.n < self->threads.n_base)
        started = start_thread(self);
    pthread_mutex_unlock(&self->mutex);
    if (!started) {
        qd_error_set_errno(error, errno, "cannot start a worker thread");
        return qd_workers_free(self);
    }
    return self;
}

void
qd_workers_stop(QdWorkers *self)
{
    pthread_mutex_lock(&self->mutex); /* no thread is added after this */
    g_atomic_int_set(&self->stopping, TRUE);
    pthread_mutex_unlock(&self->mutex);
    (void) eventfd_write(self->queue_fd, 1);
    for (guint i = 0; i < self->threads.n; i++)
        (void) pthread_join(self->threads.handles[i], NULL);
    self->threads.n = 0;
    qd_task_list_drop(&self->fresh);
    qd_task_list_drop(&self->sliced);
}

QdWorkers *
qd_workers_free(QdWorkers *self)
{
    if (self == NULL)
        return NULL;

    qd_workers_stop(self);
    (void) close(self->epoll_fd);
    (void) close(self->queue_fd);
    (void) close(self->timer_fd);
    pthread_mutex_destroy(&self->mutex);
    g_free(self->threads.handles);
    qd_run_slots_clear(&self->slots);
    g_free(self);
    return NULL;
}

int
qd_workers_watch(QdWorkers *self, int fd, uint64_t token)
{
    struct epoll_event event = { .events = EPOLLONESHOT, .data.u64 = token };

    return epoll_ctl(self->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

void
qd_workers_arm(QdWorkers *self, int fd, uint64_t token, uint32_t events)
{
    struct epoll_event event = { .events = events | EPOLLONESHOT, .data.u64 = token };

    (void) epoll_ctl(self->epoll_fd, EPOLL_CTL_MOD, fd, &event);
}

gboolean
qd_workers_is_alive(QdWorkers *self, uint64_t max_usec)
{
    uint64_t last = __atomic_load_n(&self->last_progress_usec, __ATOMIC_RELAXED);
    gboolean stuck;

    pthread_mutex_lock(&self->mutex);
    stuck = g_atomic_int_get(&self->n_queued) > 0 && self->slots.n_running < qd_limits_get(self->limits, QD_LIMIT_RUNNING);
    pthread_mutex_unlock(&self->mutex);
    return !stuck || (uint64_t) g_get_monotonic_time() < last + max_usec;
}

guint
qd_workers_get_n_running(QdWorkers *self)
{
    guint n;

    pthread_mutex_lock(&self->mutex);
    n = self->slots.n_running + self->slots.n_beside;
    pthread_mutex_unlock(&self->mutex);
    return n;
}

guint
qd_workers_get_n_queued(QdWorkers *self)
{
    return (guint) g_atomic_int_get(&self->n_queued);
}
