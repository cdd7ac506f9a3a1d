/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sqlite/guard/compile-seat.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LATE_USEC 20000

static const char one = 'a', two = 'b', three = 'c';

/* FALSE: there is none. */
static gboolean
take_at_once(QdCompileSeat *self, const void *owner)
{
    qd_compile_seat_take(self, owner, (uint64_t) g_get_monotonic_time());
    return self->is_taken;
}

/* As many as there are cores. */
static QdCompileSeat *
take_all(const void *owner)
{
    QdCompileSeat *seats = g_new(QdCompileSeat, g_get_num_processors());

    for (guint i = 0; i < g_get_num_processors(); i++)
        g_assert_true(take_at_once(&seats[i], owner));
    return seats;
}

static void
give_all(QdCompileSeat *seats)
{
    for (guint i = 0; i < g_get_num_processors(); i++)
        qd_compile_seat_give(&seats[i]);
    g_free(seats);
}

static void
test_as_many_as_cores(void)
{
    QdCompileSeat *seats = take_all(&one);
    QdCompileSeat more;

    g_assert_false(take_at_once(&more, &one));
    qd_compile_seat_give(&more);
    qd_compile_seat_give(&seats[0]);
    g_assert_true(take_at_once(&seats[0], &one));
    g_assert_false(take_at_once(&more, &one));
    qd_compile_seat_give(&more);
    give_all(seats);
}

static void
test_an_owner_without_a_seat(void)
{
    guint n = g_get_num_processors();
    g_autofree char *owners = g_malloc0(n);
    g_autofree QdCompileSeat *first = g_new(QdCompileSeat, n);
    QdCompileSeat *seats = take_all(&one);
    QdCompileSeat more;

    for (guint i = 0; i < n; i++) {
        g_assert_true(take_at_once(&first[i], &owners[i]));
        g_assert_false(take_at_once(&more, &owners[i]));
        qd_compile_seat_give(&more);
    }
    g_assert_false(take_at_once(&more, &two)); /* twice as many as there are cores */
    qd_compile_seat_give(&more);
    for (guint i = 0; i < n; i++)
        qd_compile_seat_give(&first[i]);
    give_all(seats);
}

static void
test_its_end(void)
{
    QdCompileSeat *seats = take_all(&one);
    uint64_t end_usec = (uint64_t) g_get_monotonic_time() + LATE_USEC;
    QdCompileSeat late;

    qd_compile_seat_take(&late, &one, end_usec);
    g_assert_false(late.is_taken);
    g_assert_cmpuint((uint64_t) g_get_monotonic_time(), >=, end_usec);
    qd_compile_seat_give(&late);
    give_all(seats);
}

static void
test_no_owner(void)
{
    QdCompileSeat *seats = take_all(&one);
    QdCompileSeat none;

    qd_compile_seat_take(&none, NULL, UINT64_MAX); /* it does not wait */
    g_assert_false(none.is_taken);
    qd_compile_seat_give(&none);
    give_all(seats);
}

/* Threads that wait -------------------------------------------------------------------------------------------------------- */

typedef struct Waiter {
    const void *owner;
    GThread *thread;
    gint tid;    /* atomic; 0: not begun */
    guint place; /* among those that got a seat */
} Waiter;

static gint n_places; /* atomic */

static gpointer
wait_for_seat(gpointer data)
{
    Waiter *self = data;
    QdCompileSeat seat;

    g_atomic_int_set(&self->tid, (gint) syscall(SYS_gettid));
    qd_compile_seat_take(&seat, self->owner, UINT64_MAX);
    g_assert_true(seat.is_taken);
    self->place = (guint) g_atomic_int_add(&n_places, 1); /* with one seat that goes round they come here one by one */
    qd_compile_seat_give(&seat);
    return NULL;
}

static gboolean
is_asleep(gint tid)
{
    g_autofree char *path = g_strdup_printf("/proc/self/task/%d/stat", tid);
    g_autofree char *text = NULL;
    char state = 0;

    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_assert_cmpint(sscanf(text, "%*d (%*[^)]) %c", &state), ==, 1);
    return state == 'S';
}

static void
start(Waiter *self)
{
    self->thread = g_thread_new("waiter", wait_for_seat, self);
    while (g_atomic_int_get(&self->tid) == 0 || !is_asleep(g_atomic_int_get(&self->tid)))
        g_thread_yield();
}

/* The owner that holds none goes before one that holds some and has waited longer. */
static void
test_turns(void)
{
    Waiter waiters[] = { { .owner = &one }, { .owner = &one }, { .owner = &two } };
    guint n = g_get_num_processors();
    g_autofree char *owners = g_malloc0(n);
    g_autofree QdCompileSeat *others = g_new(QdCompileSeat, n);
    QdCompileSeat *seats = take_all(&one);

    for (guint i = 0; i < n; i++)
        g_assert_true(take_at_once(&others[i], i > 0 ? (const void *) &owners[i] : &three));
    for (gsize i = 0; i < G_N_ELEMENTS(waiters); i++)
        start(&waiters[i]);
    qd_compile_seat_give(&others[0]);
    g_thread_join(waiters[2].thread); /* while the two others wait */
    for (guint i = 1; i < n; i++)
        qd_compile_seat_give(&others[i]);
    g_assert_cmpint(g_atomic_int_get(&n_places), ==, 1);
    qd_compile_seat_give(&seats[0]);
    g_thread_join(waiters[0].thread);
    g_thread_join(waiters[1].thread);
    g_assert_cmpuint(waiters[2].place, ==, 0);
    for (guint i = 1; i < n; i++)
        qd_compile_seat_give(&seats[i]);
    g_free(seats);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/compile-seat/as-many-as-cores", test_as_many_as_cores);
    g_test_add_func("/compile-seat/an-owner-without-a-seat", test_an_owner_without_a_seat);
    g_test_add_func("/compile-seat/its-end", test_its_end);
    g_test_add_func("/compile-seat/no-owner", test_no_owner);
    g_test_add_func("/compile-seat/turns", test_turns);
    return g_test_run();
}
