/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which entry of a small cache makes room: against a list of entries with the time of their last use.
 */
#include <glib.h>

#include "client-lib/wire/wire-recent.h"

#define N_PLACES 5
#define N_NUMBERS 12

static gint numbers[N_NUMBERS];

static void
assert_order(const QwRecent *self, const char *expected)
{
    g_autoptr(GString) order = g_string_new(NULL);

    for (guint i = 0; i < self->n; i++)
        g_string_append_c(order, (char) ('a' + ((gint *) self->items[i] - numbers)));
    g_assert_cmpstr(order->str, ==, expected);
}

static void
test_order(void)
{
    void *items[3];
    QwRecent self = { .items = items, .max = 3 };

    g_assert_null(qw_recent_pop(&self));
    for (guint i = 0; i < 3; i++)
        g_assert_null(qw_recent_add(&self, &numbers[i]));
    assert_order(&self, "abc");
    qw_recent_use(&self, 0);
    assert_order(&self, "bca");
    qw_recent_use(&self, 2);
    assert_order(&self, "bca");
    qw_recent_use(&self, 1);
    assert_order(&self, "bac");
    g_assert_true(qw_recent_add(&self, &numbers[3]) == &numbers[1]);
    assert_order(&self, "acd");
    g_assert_true(qw_recent_remove(&self, 1) == &numbers[2]);
    g_assert_null(qw_recent_add(&self, &numbers[4]));
    assert_order(&self, "ade");
    g_assert_true(qw_recent_remove(&self, 2) == &numbers[4]);
    g_assert_true(qw_recent_pop(&self) == &numbers[0]);
    g_assert_true(qw_recent_pop(&self) == &numbers[3]);
    g_assert_null(qw_recent_pop(&self));
}

static gint
find(const QwRecent *self, const gint *number)
{
    for (guint i = 0; i < self->n; i++)
        if (self->items[i] == number)
            return (gint) i;
    return -1;
}

/* As a cache does: the time of each number's last use is known, and the least recently used one comes out. */
static void
test_random(void)
{
    void *items[N_PLACES];
    QwRecent self = { .items = items, .max = N_PLACES };
    guint used[N_NUMBERS] = { 0 }; /* 0: it is not in */

    for (guint now = 1; now < 20000; now++) {
        guint i = (guint) g_test_rand_int_range(0, N_NUMBERS);
        gint index = find(&self, &numbers[i]);
        const gint *out = NULL;

        g_assert_true((index >= 0) == (used[i] > 0));
        if (index >= 0 && g_test_rand_bit()) {
            g_assert_true(qw_recent_remove(&self, (guint) index) == &numbers[i]);
            used[i] = 0;
            continue;
        }
        if (index >= 0)
            qw_recent_use(&self, (guint) index);
        else
            out = qw_recent_add(&self, &numbers[i]);
        used[i] = now;
        for (guint k = 0; out != NULL && k < N_NUMBERS; k++)
            g_assert_true(used[k] == 0 || used[k] >= used[out - numbers]);
        if (out != NULL)
            used[out - numbers] = 0;
        g_assert_true(items[self.n - 1] == &numbers[i]);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/wire/wire-recent/order", test_order);
    g_test_add_func("/wire/wire-recent/random", test_random);
    return g_test_run();
}
