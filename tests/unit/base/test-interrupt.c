/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Watches of a thread: when they look, that an end stays, and that the innermost is asked.
 */
#include "daemon/base/interrupt.h"

typedef struct Fixture {
    guint n_looks;
    gboolean answer;
} Fixture;

static gboolean
look(void *data)
{
    Fixture *fixture = data;

    fixture->n_looks++;
    return fixture->answer;
}

static void
test_due(void)
{
    Fixture fixture = { 0 };
    QdInterrupt watch = { .look = look, .data = &fixture };

    g_assert_false(qd_interrupt_poll());
    qd_interrupt_begin(&watch);
    g_assert_false(qd_interrupt_poll());
    g_assert_cmpuint(fixture.n_looks, ==, 0);

    g_atomic_int_set(&watch.is_due, TRUE);
    g_assert_false(qd_interrupt_poll());
    g_assert_false(qd_interrupt_poll());
    g_assert_cmpuint(fixture.n_looks, ==, 1);

    fixture.answer = TRUE;
    g_assert_false(qd_interrupt_poll());
    g_atomic_int_set(&watch.is_due, TRUE);
    g_assert_true(qd_interrupt_poll());
    g_assert_true(qd_interrupt_poll());
    g_assert_cmpuint(fixture.n_looks, ==, 2);
    qd_interrupt_end(&watch);
    g_assert_false(qd_interrupt_poll());
}

static void
test_always_due(void)
{
    Fixture fixture = { 0 };
    QdInterrupt watch = { .is_always_due = TRUE, .look = look, .data = &fixture };

    qd_interrupt_begin(&watch);
    g_assert_false(qd_interrupt_poll());
    g_assert_false(qd_interrupt_poll());
    g_assert_cmpuint(fixture.n_looks, ==, 2);
    qd_interrupt_end(&watch);
}

static void
test_nested(void)
{
    Fixture outer_fixture = { .answer = TRUE };
    Fixture inner_fixture = { 0 };
    QdInterrupt outer = { .is_due = TRUE, .look = look, .data = &outer_fixture };
    QdInterrupt inner = { .is_due = TRUE, .look = look, .data = &inner_fixture };

    qd_interrupt_begin(&outer);
    qd_interrupt_begin(&inner);
    g_assert_false(qd_interrupt_poll());
    qd_interrupt_end(&inner);
    g_assert_true(qd_interrupt_poll());
    qd_interrupt_end(&outer);
    g_assert_cmpuint(inner_fixture.n_looks, ==, 1);
    g_assert_cmpuint(outer_fixture.n_looks, ==, 1);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/base/interrupt/due", test_due);
    g_test_add_func("/base/interrupt/always-due", test_always_due);
    g_test_add_func("/base/interrupt/nested", test_nested);
    return g_test_run();
}
