/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Run slots in chosen orders: what the limits allow, what becomes long, and what runs beside the others.
 */
#include "daemon/base/limits.h"
#include "daemon/runtime/run-slots.h"

#include <pthread.h>

#define N_HOLDERS 6

/* A thread that does one thing after another, when it is asked to. */
typedef struct Holder {
    QdRunSlots *slots;
    GThread *thread;
    GAsyncQueue *asked;
    GAsyncQueue *answers;
} Holder;

typedef struct Fixture {
    QdLimits limits;
    QdRunSlots slots;
    QdClient *client;
    QdClient *other;
    Holder holders[N_HOLDERS];
} Fixture;

typedef enum What { TAKE, TAKE_SLICED, GIVE, BECOME_LONG, GET_REST, USE, GET_OTHERS, LEAVE } What;

typedef struct Question {
    What what;
    QdClient *client;
    uint64_t now_usec; /* of GET_REST */
} Question;

static guint
answer(QdRunSlots *slots, const Question *question)
{
    switch (question->what) {
    case TAKE:
    case TAKE_SLICED:
        return qd_run_slots_take(slots, question->client, question->what == TAKE_SLICED);
    case GIVE:
        qd_run_slots_give(slots, question->client);
        return 0;
    case BECOME_LONG:
        return qd_run_slots_become_long(slots, question->client);
    case GET_REST:
        return (guint) qd_run_slots_get_rest_usec(slots, question->now_usec);
    case USE:
        qd_run_slots_note_use(slots);
        return 0;
    case GET_OTHERS:
        return qd_run_slots_get_others_usec(slots) > 0;
    case LEAVE:
        qd_run_slots_leave(slots);
        return 0;
    }
    return 0;
}

/* Held by the thread whose turn it is: ThreadSanitizer does not see the lock of a GAsyncQueue. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static gpointer
holder_main(gpointer data)
{
    Holder *self = data;
    What what;

    (void) pthread_mutex_lock(&turn);
    qd_run_slots_enter(self->slots);
    (void) pthread_mutex_unlock(&turn);
    do {
        const Question *question = g_async_queue_pop(self->asked);
        guint number;

        (void) pthread_mutex_lock(&turn);
        what = question->what; /* the question is gone when it has its answer */
        number = answer(self->slots, question);
        (void) pthread_mutex_unlock(&turn);
        g_async_queue_push(self->answers, GUINT_TO_POINTER(number + 1));
    } while (what != LEAVE);
    return NULL;
}

/* Waits for the answer: so no two threads are in the slots at once. */
static guint
ask_at(Fixture *self, guint holder, What what, QdClient *client, uint64_t now_usec)
{
    Question question = { what, client, now_usec };
    guint number;

    (void) pthread_mutex_unlock(&turn);
    g_async_queue_push(self->holders[holder].asked, &question);
    number = GPOINTER_TO_UINT(g_async_queue_pop(self->holders[holder].answers)) - 1;
    (void) pthread_mutex_lock(&turn);
    return number;
}

static guint
ask(Fixture *self, guint holder, What what, QdClient *client)
{
    return ask_at(self, holder, what, client, 0);
}

static void
set_up(Fixture *self, gconstpointer data)
{
    (void) pthread_mutex_lock(&turn);
    qd_limits_init(&self->limits);
    self->limits.values[QD_LIMIT_RUNNING] = 2;
    self->limits.values[QD_LIMIT_RUNNING_PER_CLIENT] = 10;
    self->limits.values[QD_LIMIT_RUNNING_BESIDE] = 1;
    qd_run_slots_init(&self->slots, &self->limits);
    self->slots.n_cores = 1;
    self->client = qd_client_new("one");
    self->other = qd_client_new("two");
    for (guint i = 0; i < N_HOLDERS; i++) {
        Holder *holder = &self->holders[i];

        *holder = (Holder){ .slots = &self->slots, .asked = g_async_queue_new(), .answers = g_async_queue_new() };
        holder->thread = g_thread_new("holder", holder_main, holder);
        (void) ask(self, i, GET_REST, NULL); /* it has entered */
    }
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    for (guint i = 0; i < N_HOLDERS; i++) {
        (void) ask(self, i, LEAVE, NULL);
        (void) g_thread_join(self->holders[i].thread);
        g_async_queue_unref(self->holders[i].asked);
        g_async_queue_unref(self->holders[i].answers);
    }
    g_assert_cmpuint(self->slots.n_running + self->slots.n_long + self->slots.n_beside, ==, 0);
    g_assert_false(qd_client_is_charged(self->client));
    for (guint i = 0; i < QD_N_CHARGES; i++)
        g_assert_cmpint(self->client->charges[i] + self->other->charges[i], ==, 0);
    qd_client_unref(self->client);
    qd_client_unref(self->other);
    qd_run_slots_clear(&self->slots);
    (void) pthread_mutex_unlock(&turn);
}

static void
tick(Fixture *self, guint n, guint n_over)
{
    for (guint i = 0; i < n; i++)
        qd_run_slots_count_tick(&self->slots, n_over);
}

static void
give_all(Fixture *self, guint n)
{
    for (guint i = 0; i < n; i++)
        (void) ask(self, i, GIVE, self->client);
}

static void
test_limits(Fixture *self, gconstpointer data)
{
    for (guint i = 0; i < 2 + QD_RUN_SLOTS_SPARE; i++)
        g_assert_true(ask(self, i, TAKE, self->client));
    g_assert_false(ask(self, 4, TAKE, self->client));
    g_assert_true(ask(self, 4, TAKE, NULL)); /* needs no slot */
    give_all(self, 4);
}

/* One client has all: another one's first short one runs nevertheless, and no second one, and none that has run before. */
static void
test_first_of_a_client(Fixture *self, gconstpointer data)
{
    g_assert_true(ask(self, 0, TAKE, self->other));
    g_assert_cmpuint(ask(self, 0, BECOME_LONG, self->other), ==, QD_LONG_GRANTED);
    for (guint i = 1; i < 2 + QD_RUN_SLOTS_SPARE; i++)
        g_assert_true(ask(self, i, TAKE, self->client));
    g_assert_false(ask(self, 4, TAKE_SLICED, self->other));
    g_assert_false(ask(self, 4, TAKE, self->client));
    g_assert_true(ask(self, 4, TAKE, self->other));
    g_assert_false(ask(self, 5, TAKE, self->other));
    (void) ask(self, 0, GIVE, self->other);
    (void) ask(self, 4, GIVE, self->other);
    for (guint i = 1; i < 2 + QD_RUN_SLOTS_SPARE; i++)
        (void) ask(self, i, GIVE, self->client);
}

static void
test_limit_of_a_client(Fixture *self, gconstpointer data)
{
    self->limits.values[QD_LIMIT_RUNNING_PER_CLIENT] = 1;
    for (guint i = 0; i < 1 + QD_RUN_SLOTS_SPARE; i++)
        g_assert_true(ask(self, i, TAKE, self->client));
    g_assert_false(ask(self, 3, TAKE, self->client));
    g_assert_true(ask(self, 3, TAKE, self->other));
    (void) ask(self, 3, GIVE, self->other);
    give_all(self, 3);
}

/* What has run before needs one of the long slots; a refusal leaves nothing charged. */
static void
test_sliced(Fixture *self, gconstpointer data)
{
    g_assert_true(ask(self, 0, TAKE_SLICED, self->client));
    g_assert_true(ask(self, 1, TAKE_SLICED, self->client));
    g_assert_false(ask(self, 2, TAKE_SLICED, self->client));
    g_assert_cmpint(self->client->charges[QD_CHARGE_RUNNING], ==, 2);
    g_assert_true(ask(self, 2, TAKE, self->client));
    (void) ask(self, 0, GIVE, self->client);
    g_assert_cmpuint(ask(self, 2, BECOME_LONG, self->client), ==, QD_LONG_GRANTED);
    g_assert_cmpuint(ask(self, 2, BECOME_LONG, self->client), ==, QD_LONG_GRANTED); /* it is one */
    (void) ask(self, 1, GIVE, self->client);
    (void) ask(self, 2, GIVE, self->client);
}

static void
test_beside(Fixture *self, gconstpointer data)
{
    for (guint i = 0; i < 4; i++)
        g_assert_true(ask(self, i, TAKE, self->client));
    g_assert_cmpuint(ask(self, 0, BECOME_LONG, self->client), ==, QD_LONG_GRANTED);
    g_assert_cmpuint(ask(self, 1, BECOME_LONG, self->client), ==, QD_LONG_GRANTED);
    g_assert_cmpuint(ask(self, 2, BECOME_LONG, self->client), ==, QD_LONG_DENIED);
    tick(self, 1, 0);
    g_assert_false(qd_run_slots_make_room(&self->slots)); /* it may leave its thread soon */
    tick(self, 1, 0);
    g_assert_true(qd_run_slots_make_room(&self->slots)); /* only one may run beside */
    g_assert_cmpuint(self->slots.n_beside, ==, 1);
    g_assert_cmpuint(self->slots.n_running, ==, 3);
    g_assert_cmpuint(ask(self, 2, BECOME_LONG, self->client), ==, QD_LONG_DENIED); /* the one that does */
    g_assert_cmpuint(ask(self, 3, BECOME_LONG, self->client), ==, QD_LONG_REFUSED);
    g_assert_true(ask(self, 4, TAKE, self->client)); /* its slot came free */

    (void) ask(self, 0, GIVE, self->client);
    g_assert_cmpuint(ask(self, 2, BECOME_LONG, self->client), ==, QD_LONG_GRANTED); /* and it runs beside no more */
    g_assert_cmpuint(self->slots.n_beside, ==, 0);
    for (guint i = 1; i < 5; i++)
        (void) ask(self, i, GIVE, self->client);
}

/* A client's long ones leave the slots for its short ones, even where others' slots are free; half of the places are for it. */
static void
test_beside_of_a_client(Fixture *self, gconstpointer data)
{
    self->limits.values[QD_LIMIT_RUNNING] = 10;
    self->limits.values[QD_LIMIT_RUNNING_PER_CLIENT] = 1;
    self->limits.values[QD_LIMIT_RUNNING_BESIDE] = 4;
    for (guint i = 0; i < 1 + QD_RUN_SLOTS_SPARE; i++)
        g_assert_true(ask(self, i, TAKE, self->client));
    g_assert_cmpuint(ask(self, 0, BECOME_LONG, self->client), ==, QD_LONG_GRANTED);
    g_assert_false(ask(self, 3, TAKE, self->client));
    tick(self, 2, 0);
    g_assert_true(qd_run_slots_make_room(&self->slots));
    g_assert_cmpuint(self->slots.n_beside, ==, 2);
    for (guint i = 3; i < 3 + QD_RUN_SLOTS_SPARE; i++)
        g_assert_true(ask(self, i, TAKE, self->client));
    tick(self, 2, 0);
    g_assert_false(qd_run_slots_make_room(&self->slots)); /* the other two are for others */
    (void) ask(self, 0, GIVE, self->client);
    g_assert_cmpuint(ask(self, 1, BECOME_LONG, self->client), ==, QD_LONG_GRANTED); /* it leaves its place beside */
    g_assert_cmpuint(self->slots.n_beside, ==, 1);
    g_assert_cmpint(self->client->charges[QD_CHARGE_RUNNING], ==, 3);
    g_assert_true(qd_run_slots_make_room(&self->slots));
    for (guint i = 1; i < 5; i++)
        (void) ask(self, i, GIVE, self->client);
}

/* Those that run beside share about one core; the others rest while one is to end. */
static void
test_rest(Fixture *self, gconstpointer data)
{
    for (guint i = 0; i < 3; i++)
        g_assert_true(ask(self, i, TAKE, self->client));
    g_assert_cmpuint(ask(self, 0, GET_REST, NULL), ==, 0);
    tick(self, 2, 1);
    g_assert_cmpuint(ask(self, 0, GET_REST, NULL), >, 0);
    tick(self, 1, 0);
    g_assert_true(qd_run_slots_make_room(&self->slots));
    g_assert_cmpuint(ask(self, 0, GET_REST, NULL), >, 0);
    g_assert_cmpuint(ask(self, 1, GET_REST, NULL), ==, 0);
    self->slots.n_cores = 8;
    g_assert_cmpuint(ask(self, 0, GET_REST, NULL), ==, 0);
    give_all(self, 3);
}

/* As many as there are cores go on at any time, all in their turn, and each rests until it is its turn. */
static void
test_turns(Fixture *self, gconstpointer data)
{
    guint n_gone[5] = { 0 };

    self->limits.values[QD_LIMIT_RUNNING] = 5;
    self->slots.n_cores = 2;
    for (guint i = 0; i < 5; i++)
        g_assert_true(ask(self, i, TAKE_SLICED, self->client));
    for (uint64_t now = 1000000; now < 1400000; now += 1000) {
        guint n = 0;

        for (guint i = 0; i < 5; i++) {
            guint rest = ask_at(self, i, GET_REST, NULL, now);

            g_assert_cmpuint(rest, <=, 24000);
            g_assert_cmpuint(rest > 0 ? ask_at(self, i, GET_REST, NULL, now + rest) : 0, ==, 0);
            n += rest == 0 ? 1 : 0;
            n_gone[i] += rest == 0 ? 1 : 0;
        }
        g_assert_cmpuint(n, ==, 2);
    }
    for (guint i = 0; i < 5; i++)
        g_assert_cmpuint(n_gone[i], ==, 160); /* two fifths of 400 */
    self->slots.n_cores = 5;
    g_assert_cmpuint(ask(self, 0, GET_REST, NULL), ==, 0);
    give_all(self, 5);
}

#define ADD(path, func) g_test_add("/runtime/run-slots/" path, Fixture, NULL, set_up, func, tear_down)

/* What a thread serves itself says nothing about others. */
static void
test_others(Fixture *self, gconstpointer data)
{
    g_assert_cmpuint(ask(self, 0, GET_OTHERS, NULL), ==, 0);
    ask(self, 0, USE, NULL);
    ask(self, 0, USE, NULL);
    g_assert_cmpuint(ask(self, 0, GET_OTHERS, NULL), ==, 0);
    g_assert_cmpuint(ask(self, 1, GET_OTHERS, NULL), ==, 1);
    ask(self, 1, USE, NULL);
    g_assert_cmpuint(ask(self, 0, GET_OTHERS, NULL), ==, 1);
    ask(self, 0, USE, NULL);
    g_assert_cmpuint(ask(self, 0, GET_OTHERS, NULL), ==, 1);
    g_assert_cmpuint(ask(self, 1, GET_OTHERS, NULL), ==, 1);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("limits", test_limits);
    ADD("first-of-a-client", test_first_of_a_client);
    ADD("limit-of-a-client", test_limit_of_a_client);
    ADD("sliced", test_sliced);
    ADD("beside", test_beside);
    ADD("beside-of-a-client", test_beside_of_a_client);
    ADD("rest", test_rest);
    ADD("turns", test_turns);
    ADD("others", test_others);
    return g_test_run();
}
