/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When waiting awake starts, when it ends, and that what fails is tried less and less often.
 */
#include "client-lib/wire/wire-spin.h"

#include <glib.h>

/* Returns: how many quick answers it takes until waiting awake is tried. */
static guint
count_until_tried(QwSpin *spin)
{
    guint n = 0;

    while (!qw_spin_pays(spin)) {
        qw_spin_note_asleep(spin, QW_SPIN_QUICK_USEC);
        g_assert_cmpuint(++n, <=, QW_SPIN_NEEDED_MAX);
    }
    return n;
}

static void
test_starts_after_quick_answers(void)
{
    QwSpin spin = { 0 };

    g_assert_false(qw_spin_pays(&spin));
    g_assert_cmpuint(count_until_tried(&spin), ==, QW_SPIN_NEEDED_MIN);
}

static void
test_slow_answer_starts_anew(void)
{
    QwSpin spin = { 0 };

    for (guint i = 0; i < 100; i++) {
        for (guint k = 1; k < QW_SPIN_NEEDED_MIN; k++)
            qw_spin_note_asleep(&spin, 1);
        qw_spin_note_asleep(&spin, QW_SPIN_QUICK_USEC + 1);
        g_assert_false(qw_spin_pays(&spin));
    }
}

static void
test_failing_tries_get_rare(void)
{
    QwSpin spin = { 0 };
    guint expected = QW_SPIN_NEEDED_MIN;

    for (guint i = 0; i < 20; i++) {
        g_assert_cmpuint(count_until_tried(&spin), ==, expected);
        qw_spin_note_awake(&spin, false);
        g_assert_false(qw_spin_pays(&spin));
        expected = MIN(2 * expected, QW_SPIN_NEEDED_MAX);
    }
}

static void
test_pause_is_no_answer(void)
{
    QwSpin spin = { 0 };
    guint n_bursts = 0;

    for (guint i = 0; i < 20; i++) {
        (void) count_until_tried(&spin);
        qw_spin_note_awake(&spin, false);
    }
    for (; !qw_spin_pays(&spin); n_bursts++) {
        for (guint i = 0; i < 60; i++)
            qw_spin_note_asleep(&spin, 1);
        qw_spin_note_asleep(&spin, QW_SPIN_PAUSE_USEC);
        g_assert_cmpuint(n_bursts, <=, QW_SPIN_NEEDED_MAX / 60);
    }
    g_assert_cmpuint(n_bursts, >, 1);
}

static void
test_some_misses_are_forgiven(void)
{
    QwSpin spin = { 0 };

    (void) count_until_tried(&spin);
    for (guint i = 0; i < 1000; i++)
        qw_spin_note_awake(&spin, true);
    qw_spin_note_awake(&spin, false);
    g_assert_true(qw_spin_pays(&spin));
    qw_spin_note_awake(&spin, false);
    g_assert_true(qw_spin_pays(&spin));
    qw_spin_note_awake(&spin, false);
    g_assert_false(qw_spin_pays(&spin));
}

static void
test_late_answer_is_not_caught(void)
{
    g_assert_true(qw_spin_is_caught(1000, 900));
    g_assert_true(qw_spin_is_caught(1000, 1000 + QW_SPIN_USEC_MIN - 1));
    g_assert_false(qw_spin_is_caught(1000, 1000 + QW_SPIN_USEC_MIN));
}

/* Beside others that want the core it ends at once, and is tried less often than after a slow answer. */
static void
test_lost_core_is_not_forgiven(void)
{
    QwSpin lost = { 0 };
    QwSpin slow = { 0 };

    g_assert_false(qw_spin_has_lost_core(1000, 1000 + QW_SPIN_LOST_USEC));
    g_assert_true(qw_spin_has_lost_core(1000, 1000 + QW_SPIN_LOST_USEC + 1));
    for (guint i = 0; i < 20; i++) {
        (void) count_until_tried(&lost);
        for (guint k = 0; k <= QW_SPIN_CREDIT_MAX; k++)
            qw_spin_note_awake(&lost, true);
        qw_spin_note_lost(&lost);
        g_assert_false(qw_spin_pays(&lost));
        g_assert_cmpuint(count_until_tried(&lost), ==, 4 * QW_SPIN_NEEDED_MIN);
        qw_spin_note_lost(&lost);
    }
    (void) count_until_tried(&slow);
    qw_spin_note_awake(&slow, false);
    g_assert_cmpuint(count_until_tried(&slow), ==, 2 * QW_SPIN_NEEDED_MIN);
}

/* Where waking a core takes long, the peer's answer to the first try comes late, too. */
static void
test_lasts_as_long_as_waits_asleep(void)
{
    QwSpin spin = { 0 };

    g_assert_cmpuint(qw_spin_get_usec(&spin), ==, QW_SPIN_USEC_MIN);
    qw_spin_note_asleep(&spin, QW_SPIN_USEC_MIN + 70);
    g_assert_cmpuint(qw_spin_get_usec(&spin), ==, QW_SPIN_USEC_MIN + 70);
    qw_spin_note_asleep(&spin, QW_SPIN_QUICK_USEC);
    g_assert_cmpuint(qw_spin_get_usec(&spin), ==, QW_SPIN_USEC_MAX);
    for (guint i = 0; i < 30; i++)
        qw_spin_note_asleep(&spin, 1);
    qw_spin_note_asleep(&spin, QW_SPIN_QUICK_USEC + 1);
    g_assert_cmpuint(qw_spin_get_usec(&spin), ==, QW_SPIN_USEC_MIN);
}

/* Of a hundred answers one is slow: a try that needs 512 quick ones comes all the same. */
static void
test_few_slow_answers_do_not_prevent_a_try(void)
{
    QwSpin spin = { .needed = QW_SPIN_NEEDED_MAX };
    guint n = 0;

    while (!qw_spin_pays(&spin)) {
        qw_spin_note_asleep(&spin, ++n % 100 == 0 ? QW_SPIN_QUICK_USEC + 1 : QW_SPIN_QUICK_USEC);
        g_assert_cmpuint(n, <, 2 * QW_SPIN_NEEDED_MAX);
    }
    g_assert_cmpuint(n, >, QW_SPIN_NEEDED_MAX);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/wire/spin/starts-after-quick-answers", test_starts_after_quick_answers);
    g_test_add_func("/wire/spin/slow-answer-starts-anew", test_slow_answer_starts_anew);
    g_test_add_func("/wire/spin/pause-is-no-answer", test_pause_is_no_answer);
    g_test_add_func("/wire/spin/failing-tries-get-rare", test_failing_tries_get_rare);
    g_test_add_func("/wire/spin/some-misses-are-forgiven", test_some_misses_are_forgiven);
    g_test_add_func("/wire/spin/late-answer-is-not-caught", test_late_answer_is_not_caught);
    g_test_add_func("/wire/spin/lost-core-is-not-forgiven", test_lost_core_is_not_forgiven);
    g_test_add_func("/wire/spin/lasts-as-long-as-waits-asleep", test_lasts_as_long_as_waits_asleep);
    g_test_add_func("/wire/spin/few-slow-answers-do-not-prevent-a-try", test_few_slow_answers_do_not_prevent_a_try);
    return g_test_run();
}
