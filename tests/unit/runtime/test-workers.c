/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads, queue and slots: what runs at once, what waits, who goes first, events and the sweep.
 */
#include "daemon/runtime/workers.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "daemon/base/limits.h"
#include "daemon/read/client.h"

#define PATIENCE_USEC (20 * G_USEC_PER_SEC)

typedef struct Fixture {
    QdLimits limits;
    QdWorkers *workers;
    QdClient *client;
    QdClient *other;
    GAsyncQueue *running; /* of Work: it has begun */
    GAsyncQueue *go;      /* one entry lets one work end */
    GAsyncQueue *events;
    GAsyncQueue *sweeps;
    gint n_running; /* atomic */
    gint n_most;    /* atomic: the most at once */
} Fixture;

typedef struct Work {
    QdTask task; /* first */
    Fixture *fixture;
    int number;
} Work;

static void
on_event(void *user_data, uint64_t token, uint32_t events)
{
    Fixture *self = user_data;

    g_async_queue_push(self->events, GUINT_TO_POINTER((guint) token));
}

static void
on_sweep(void *user_data)
{
    Fixture *self = user_data;

    g_async_queue_push(self->sweeps, self);
}

static void
set_up(Fixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;

    qd_limits_init(&self->limits);
    self->limits.values[QD_LIMIT_RUNNING] = 2;
    self->limits.values[QD_LIMIT_RUNNING_PER_CLIENT] = 3;
    self->running = g_async_queue_new();
    self->go = g_async_queue_new();
    self->events = g_async_queue_new();
    self->sweeps = g_async_queue_new();
    self->client = qd_client_new("one");
    self->other = qd_client_new("two");
    self->workers = qd_workers_new(&self->limits, on_event, on_sweep, self, &error);
    g_assert_no_error(error);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    qd_workers_free(self->workers);
    g_async_queue_unref(self->running);
    g_async_queue_unref(self->go);
    g_async_queue_unref(self->events);
    g_async_queue_unref(self->sweeps);
    qd_client_unref(self->client);
    qd_client_unref(self->other);
}

static void
run_work(QdTask *task, QdWorkers *workers)
{
    Work *work = (Work *) task;
    Fixture *self = work->fixture;
    gint n = g_atomic_int_add(&self->n_running, 1) + 1;
    gint most = g_atomic_int_get(&self->n_most);

    while (n > most && !g_atomic_int_compare_and_exchange(&self->n_most, most, n))
        most = g_atomic_int_get(&self->n_most);
    g_async_queue_push(self->running, work);
    (void) g_async_queue_pop(self->go);
    (void) g_atomic_int_add(&self->n_running, -1);
    qd_workers_give_slot(workers, task->client);
}

static void
push(Fixture *self, Work *work, int number, QdClient *client, gboolean sliced)
{
    *work = (Work){ .task = { .client = client, .watch_fd = -1, .sliced = sliced, .run = run_work },
                    .fixture = self,
                    .number = number };
    g_assert_true(qd_workers_push(self->workers, &work->task, TRUE));
}

/* The next work that begins, or -1 when none does: asked only when nothing can begin. */
static int
pop_running(Fixture *self)
{
    Work *work = g_async_queue_timeout_pop(self->running, PATIENCE_USEC);

    g_assert_nonnull(work);
    return work->number;
}

static void
let_go(Fixture *self, guint n)
{
    for (guint i = 0; i < n; i++)
        g_async_queue_push(self->go, self);
}

/* All have ended when their slots are back. */
static void
wait_for_slots(Fixture *self)
{
    gint64 until = g_get_monotonic_time() + PATIENCE_USEC;

    while (qd_workers_get_n_running(self->workers) > 0 && g_get_monotonic_time() < until)
        g_thread_yield();
    g_assert_cmpuint(qd_workers_get_n_running(self->workers), ==, 0);
}

static void
test_slots_of_a_client(Fixture *self, gconstpointer data)
{
    Work works[6];

    self->limits.values[QD_LIMIT_RUNNING_PER_CLIENT] = 1; /* and two more for what is fresh */
    for (int i = 0; i < 5; i++)
        push(self, &works[i], i, self->client, FALSE);
    for (int i = 0; i < 3; i++)
        g_assert_cmpint(pop_running(self), <, 3);
    /* two wait for their own; another client does not */
    push(self, &works[5], 5, self->other, FALSE);
    g_assert_cmpint(pop_running(self), ==, 5);
    g_assert_cmpuint(qd_workers_get_n_queued(self->workers), ==, 2);
    g_assert_true(qd_workers_has_waiting(self->workers));
    let_go(self, 6);
    g_assert_cmpint(pop_running(self) + pop_running(self), ==, 3 + 4);
    wait_for_slots(self);
    g_assert_cmpint(self->n_most, <=, 4);
}

/* Two more than the limit for what is fresh; what has run before only up to the limit. */
static void
test_slots_in_all(Fixture *self, gconstpointer data)
{
    Work works[6];

    push(self, &works[0], 0, self->client, TRUE);
    push(self, &works[1], 1, self->other, TRUE);
    g_assert_cmpint(pop_running(self) + pop_running(self), ==, 1);
    push(self, &works[2], 2, self->client, TRUE);
    push(self, &works[3], 3, self->client, FALSE);
    push(self, &works[4], 4, self->other, FALSE);
    g_assert_cmpint(pop_running(self) + pop_running(self), ==, 3 + 4);
    g_assert_cmpuint(qd_workers_get_n_queued(self->workers), ==, 1);
    g_assert_true(qd_workers_is_alive(self->workers, 1));
    let_go(self, 5);
    g_assert_cmpint(pop_running(self), ==, 2);
    wait_for_slots(self);
}

/* A slot taken by hand counts like that of a task; what turns out long needs one of fewer. */
static void
test_slot_by_hand(Fixture *self, gconstpointer data)
{
    self->limits.values[QD_LIMIT_RUNNING_PER_CLIENT] = 1;
    g_assert_true(qd_workers_take_slot(self->workers, self->client, TRUE));
    g_assert_cmpint(qd_workers_become_long(self->workers, self->client), ==, QD_LONG_GRANTED);
    g_assert_false(qd_workers_take_slot(self->workers, self->client, TRUE));
    g_assert_cmpuint(qd_workers_get_n_running(self->workers), ==, 1);
    qd_workers_give_slot(self->workers, self->client);

    g_assert_true(qd_workers_take_slot(self->workers, self->client, FALSE));
    g_assert_cmpint(qd_workers_become_long(self->workers, self->client), ==, QD_LONG_GRANTED);
    qd_workers_give_slot(self->workers, self->client);

    g_assert_true(qd_workers_take_slot(self->workers, self->client, TRUE));
    qd_workers_give_slot(self->workers, self->client);
    g_assert_true(qd_workers_take_slot(self->workers, NULL, FALSE));
    g_assert_cmpuint(qd_workers_get_n_running(self->workers), ==, 0);
}

static void
test_queue_is_bounded(Fixture *self, gconstpointer data)
{
    Work works[4];
    Work surplus = { .task = { .client = self->client, .watch_fd = -1, .sliced = TRUE, .run = run_work }, .fixture = self };

    self->limits.values[QD_LIMIT_RUNNING_PER_CLIENT] = 1;
    self->limits.values[QD_LIMIT_RUN_QUEUE] = 2;
    push(self, &works[0], 0, self->client, TRUE);
    g_assert_cmpint(pop_running(self), ==, 0);
    push(self, &works[1], 1, self->client, TRUE);
    push(self, &works[2], 2, self->client, TRUE);
    g_assert_false(qd_workers_push(self->workers, &surplus.task, TRUE));
    works[3] = surplus;
    works[3].number = 3;
    qd_workers_push_always(self->workers, &works[3].task, TRUE);
    let_go(self, 4);
    for (int i = 1; i < 4; i++)
        g_assert_cmpint(pop_running(self), ==, i);
    wait_for_slots(self);
}

/* Fresh ones pass those that have run before, but not forever. */
static void
test_short_ones_first(Fixture *self, gconstpointer data)
{
    Work blockers[4];
    Work sliced;
    Work fresh[20];
    int place = 0;

    for (int i = 0; i < 4; i++)
        push(self, &blockers[i], 100, i % 2 == 0 ? self->client : self->other, FALSE);
    for (int i = 0; i < 4; i++)
        g_assert_cmpint(pop_running(self), ==, 100);
    push(self, &sliced, 200, self->client, TRUE);
    for (int i = 0; i < 20; i++)
        push(self, &fresh[i], i, i % 2 == 0 ? self->client : self->other, FALSE);
    for (;;) {
        let_go(self, 1);
        if (pop_running(self) == 200)
            break;
        place++;
    }
    g_assert_cmpint(place, >=, 1);
    g_assert_cmpint(place, <, 8);
    let_go(self, (guint) (20 + 4 - place));
    for (int i = place; i < 20; i++)
        g_assert_cmpint(pop_running(self), <, 100);
    wait_for_slots(self);
}

/* Where as many long ones run as may, fresh ones still find a thread. */
/* A client that floods the queue keeps another one waiting for one of its tasks at most. */
static void
test_clients_take_turns(Fixture *self, gconstpointer data)
{
    Work blockers[5];
    Work works[10];
    int places[10] = { 0 };

    self->limits.values[QD_LIMIT_RUNNING_PER_CLIENT] = 8;
    for (int i = 0; i < 5; i++) {
        push(self, &blockers[i], 100, i < 4 ? self->client : self->other, FALSE);
        g_assert_cmpint(pop_running(self), ==, 100);
    }
    for (int i = 0; i < 10; i++)
        push(self, &works[i], i, i < 8 ? self->client : self->other, FALSE);
    let_go(self, 1); /* the fifth was one more, as the first of its client */
    for (int i = 0; i < 10; i++) {
        let_go(self, 1);
        places[pop_running(self)] = i;
    }
    g_assert_cmpint(places[8], <=, 2);
    g_assert_cmpint(places[9], <=, 4);
    for (int i = 1; i < 8; i++)
        g_assert_cmpint(places[i], >, places[i - 1]);
    let_go(self, 4);
    wait_for_slots(self);
}

/* It does not fill the queue either. */
static void
test_a_client_leaves_places(Fixture *self, gconstpointer data)
{
    Work works[13];
    Work surplus = { .task = { .client = self->client, .watch_fd = -1, .run = run_work }, .fixture = self };
    guint n = 0;

    self->limits.values[QD_LIMIT_RUN_QUEUE] = 8;
    self->limits.values[QD_LIMIT_RUNNING_PER_CLIENT] = 1;
    for (int i = 0; i < 3; i++)
        push(self, &works[n++], i, self->client, FALSE);
    for (int i = 0; i < 3; i++)
        (void) pop_running(self);
    for (int i = 0; i < 7; i++)
        push(self, &works[n++], i, self->client, FALSE);
    g_assert_false(qd_workers_push(self->workers, &surplus.task, TRUE));
    push(self, &works[n++], 7, self->other, FALSE);
    g_assert_cmpint(pop_running(self), ==, 7);
    let_go(self, n);
    for (int i = 0; i < 7; i++)
        (void) pop_running(self);
    wait_for_slots(self);
}

static void
test_long_ones_leave_room(Fixture *self, gconstpointer data)
{
    Work works[5];

    for (int i = 0; i < 3; i++)
        push(self, &works[i], i, i == 0 ? self->client : self->other, TRUE);
    g_assert_cmpint(pop_running(self) + pop_running(self), ==, 1);
    push(self, &works[3], 3, self->client, FALSE);
    push(self, &works[4], 4, self->client, FALSE);
    g_assert_cmpint(pop_running(self) + pop_running(self), ==, 3 + 4);
    g_assert_cmpuint(qd_workers_get_n_queued(self->workers), ==, 1);
    let_go(self, 5);
    g_assert_cmpint(pop_running(self), ==, 2);
    wait_for_slots(self);
}

static void
test_events(Fixture *self, gconstpointer data)
{
    g_auto(QdFd) fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    eventfd_t value;

    g_assert_cmpint(qd_workers_watch(self->workers, fd, 77), ==, 0);
    g_assert_cmpint(qd_workers_watch(self->workers, fd, 78), <, 0);
    g_assert_cmpint(eventfd_write(fd, 1), ==, 0);
    for (guint i = 0; i < 3; i++) {
        /* one event for each arming, although the descriptor stays readable */
        qd_workers_arm(self->workers, fd, 77, EPOLLIN);
        g_assert_cmpuint(GPOINTER_TO_UINT(g_async_queue_timeout_pop(self->events, PATIENCE_USEC)), ==, 77);
        g_assert_cmpint(g_async_queue_length(self->events), ==, 0);
    }
    g_assert_cmpint(eventfd_read(fd, &value), ==, 0);
}

static void
run_again(QdTask *task, QdWorkers *workers)
{
    Work *work = (Work *) task;

    if (g_atomic_int_get(&work->fixture->n_most) == 0)
        qd_workers_push_always(workers, task, FALSE);
    else
        g_async_queue_push(work->fixture->running, work);
}

/* A queue that is never empty does not keep threads from reading requests. */
static void
test_events_beside_a_full_queue(Fixture *self, gconstpointer data)
{
    g_auto(QdFd) fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    Work works[16];

    g_assert_cmpint(qd_workers_watch(self->workers, fd, 77), ==, 0);
    for (int i = 0; i < 16; i++) {
        works[i] = (Work){ .task = { .watch_fd = -1, .run = run_again }, .fixture = self, .number = i };
        qd_workers_push_always(self->workers, &works[i].task, TRUE);
    }
    for (guint i = 0; i < 20; i++) {
        qd_workers_arm(self->workers, fd, 77, EPOLLIN);
        g_assert_cmpuint(GPOINTER_TO_UINT(g_async_queue_timeout_pop(self->events, PATIENCE_USEC)), ==, 77);
    }
    g_atomic_int_set(&self->n_most, 1);
    for (int i = 0; i < 16; i++)
        (void) pop_running(self);
}

/* However often it is asked for while it is due, it comes once. */
static void
test_sweep(Fixture *self, gconstpointer data)
{
    for (guint i = 0; i < 5; i++)
        qd_workers_request_sweep(self->workers);
    g_assert_nonnull(g_async_queue_timeout_pop(self->sweeps, PATIENCE_USEC));
    g_assert_cmpint(g_async_queue_length(self->sweeps), ==, 0);
    qd_workers_request_sweep(self->workers);
    g_assert_nonnull(g_async_queue_timeout_pop(self->sweeps, PATIENCE_USEC));
}

/* With more long ones than cores those that are not to end make way for those that are. */
static void
test_rest(Fixture *self, gconstpointer data)
{
    guint n = g_get_num_processors() + 1;

    if (n > 64) {
        g_test_skip("more cores than queries may run");
        return;
    }
    self->limits.values[QD_LIMIT_RUNNING] = self->limits.values[QD_LIMIT_RUNNING_PER_CLIENT] = n;
    for (guint i = 0; i < n; i++) {
        qd_workers_look(self->workers, 1);
        g_assert_cmpuint(qd_workers_get_rest_usec(self->workers), ==, 0);
        g_assert_true(qd_workers_take_slot(self->workers, self->client, FALSE));
    }
    g_assert_cmpuint(qd_workers_get_rest_usec(self->workers), >, 0);
    qd_workers_look(self->workers, 0);
    g_assert_cmpuint(qd_workers_get_rest_usec(self->workers), ==, 0);
    while (n-- > 0)
        qd_workers_give_slot(self->workers, self->client);
}

static void
count_work(QdTask *task, QdWorkers *workers)
{
    Work *work = (Work *) task;

    qd_workers_give_slot(workers, task->client);
    g_async_queue_push(work->fixture->running, work);
}

/* No wake-up is lost: each task of many runs, once. */
static void
test_many(Fixture *self, gconstpointer data)
{
    const guint n = 20000;
    g_autofree Work *works = g_new0(Work, n);
    g_autofree guint8 *seen = g_new0(guint8, n);

    self->limits.values[QD_LIMIT_RUN_QUEUE] = n;
    for (guint i = 0; i < n; i++) {
        works[i] = (Work){ .task = { .client = i % 3 == 0 ? self->other : self->client, .sliced = i % 5 == 0, .run = count_work },
                           .fixture = self,
                           .number = (int) i };
        g_assert_true(qd_workers_push(self->workers, &works[i].task, TRUE));
    }
    for (guint i = 0; i < n; i++)
        seen[pop_running(self)]++;
    for (guint i = 0; i < n; i++)
        g_assert_cmpuint(seen[i], ==, 1);
    wait_for_slots(self);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) g_test_add("/runtime/workers/" path, Fixture, NULL, set_up, func, tear_down)
    ADD("slots/of-a-client", test_slots_of_a_client);
    ADD("slots/in-all", test_slots_in_all);
    ADD("slots/by-hand", test_slot_by_hand);
    ADD("queue-is-bounded", test_queue_is_bounded);
    ADD("short-ones-first", test_short_ones_first);
    ADD("clients-take-turns", test_clients_take_turns);
    ADD("a-client-leaves-places", test_a_client_leaves_places);
    ADD("long-ones-leave-room", test_long_ones_leave_room);
    ADD("events", test_events);
    ADD("events-beside-a-full-queue", test_events_beside_a_full_queue);
    ADD("sweep", test_sweep);
    ADD("rest", test_rest);
    ADD("many", test_many);
    return g_test_run();
}
