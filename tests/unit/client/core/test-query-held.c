/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cursors that hold a channel: which one gives it up, and that a cursor is its caller's or another thread's, never both.
 */
#include "client-lib/core/query-held.h"

#define N_HELD 4u
#define N_ROUNDS 20000u

typedef struct Item {
    QueryHeld held;
    guint n_set_aside; /* atomic */
    gboolean refuses;
    guint n_users; /* not atomic: two at once are a data race, too */
} Item;

typedef struct Fixture {
    Item items[N_HELD];
} Fixture;

static gboolean
set_aside(gpointer owner, gint64 deadline_usec)
{
    Item *item = owner;

    g_assert_cmpuint(item->n_users++, ==, 0);
    (void) g_atomic_int_add(&item->n_set_aside, 1);
    if (!item->refuses)
        query_held_remove(&item->held);
    g_assert_cmpuint(--item->n_users, ==, 0);
    return !item->refuses;
}

static void
set_up(Fixture *self, gconstpointer data)
{
    for (guint i = 0; i < N_HELD; i++) {
        query_held_init(&self->items[i].held, &self->items[i], set_aside);
        query_held_add(&self->items[i].held);
    }
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    for (guint i = 0; i < N_HELD; i++)
        query_held_remove(&self->items[i].held);
    g_assert_cmpuint(query_held_get_n(), ==, 0);
}

static void
assert_set_aside(Fixture *self, const char *expected)
{
    g_autoptr(GString) found = g_string_new(NULL);

    for (guint i = 0; i < N_HELD; i++)
        g_string_append_printf(found, "%u", self->items[i].n_set_aside);
    g_assert_cmpstr(found->str, ==, expected);
}

static void
test_longest_unread_first(Fixture *self, gconstpointer data)
{
    query_held_touch(&self->items[0].held);
    query_held_touch(&self->items[0].held); /* the last one already */
    query_held_touch(&self->items[2].held);
    g_assert_true(query_held_reduce(2, 1000));
    assert_set_aside(self, "0101");
    g_assert_cmpuint(query_held_get_n(), ==, 2);

    query_held_remove(&self->items[1].held); /* is not in there: nothing happens */
    query_held_touch(&self->items[1].held);
    g_assert_true(query_held_reduce(1, 1000));
    assert_set_aside(self, "1101");
}

static void
test_pinned_stays(Fixture *self, gconstpointer data)
{
    query_held_pin(&self->items[0].held);
    query_held_pin(&self->items[0].held);
    query_held_unpin(&self->items[0].held);
    self->items[1].refuses = TRUE;
    g_assert_true(query_held_reduce(0, 1000));
    assert_set_aside(self, "0111");
    g_assert_cmpuint(query_held_get_n(), ==, 2);
    g_assert_false(query_held_reduce(0, 1000)); /* each is tried once a round */
    assert_set_aside(self, "0211");

    query_held_unpin(&self->items[0].held);
    self->items[1].refuses = FALSE;
    g_assert_true(query_held_reduce(0, 1000));
    assert_set_aside(self, "1311");
}

static gpointer
reduce_often(gpointer data)
{
    gint *stop = data;

    while (!g_atomic_int_get(stop))
        (void) query_held_reduce(0, 1000);
    return NULL;
}

/* A thread reads and another one sets aside, as often as they can. */
static void
test_never_both(Fixture *self, gconstpointer data)
{
    Item *item = &self->items[0];
    gint stop = 0;
    GThread *thread = g_thread_new("reduce", reduce_often, &stop);
    guint n_rounds = 0;

    while (n_rounds < N_ROUNDS || g_atomic_int_get(&item->n_set_aside) == 0) {
        query_held_pin(&item->held);
        g_assert_cmpuint(item->n_users++, ==, 0);
        query_held_remove(&item->held);
        query_held_add(&item->held);
        query_held_touch(&item->held);
        g_assert_cmpuint(--item->n_users, ==, 0);
        query_held_unpin(&item->held);
        n_rounds++;
        if (n_rounds % 100 == 0)
            g_thread_yield();
    }
    g_atomic_int_set(&stop, 1);
    (void) g_thread_join(thread);
    g_assert_cmpuint(item->n_set_aside, >, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) g_test_add("/client/query-held/" path, Fixture, NULL, set_up, func, tear_down)
    ADD("longest-unread-first", test_longest_unread_first);
    ADD("pinned-stays", test_pinned_stays);
    ADD("never-both", test_never_both);
    return g_test_run();
}
