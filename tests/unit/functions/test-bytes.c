/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What grows: bounds, interruption, and whose memory it is.
 */
#include "daemon/base/error.h"
#include "daemon/functions/value.h"
#include "daemon/sqlite/memory.h"

#define MAX_BYTES 1000000

static const QdResolver resolver = { 0 };

/* The limit is asked before memory is taken. */
static void
test_limit(void)
{
    QdEvaluationContext context = { 0 };
    g_autoptr(QdEvaluation) ev = qd_evaluation_new(&resolver, &context, MAX_BYTES);
    g_autofree char *text = g_malloc0(MAX_BYTES);
    g_auto(QdBytes) bytes = { .ev = ev };
    int64_t before = qd_memory_get_thread_balance();

    g_assert_false(qd_bytes_append(&bytes, text, MAX_BYTES + 1));
    g_assert_error(ev->error, QD_ERROR, QW_ERROR_TOO_BIG);
    g_assert_cmpint(qd_memory_get_thread_balance() - before, ==, 0);
    qd_evaluation_reset(ev);

    for (guint i = 0; i < 1000; i++)
        g_assert_true(qd_bytes_append(&bytes, text, MAX_BYTES / 1000));
    g_assert_cmpuint(bytes.n, ==, MAX_BYTES);
    g_assert_cmpint(qd_memory_get_thread_balance() - before, >=, MAX_BYTES);
    g_assert_cmpuint(bytes.capacity, ==, MAX_BYTES);
    g_assert_false(qd_bytes_append(&bytes, text, 1));
    g_assert_cmpuint(bytes.n, ==, MAX_BYTES);
}

static int
count_down(gpointer data)
{
    return --*(gint *) data == 0;
}

static void
test_interrupt(void)
{
    gint left = 3;
    QdEvaluationContext context = { .interrupted = count_down, .data = &left };
    g_autoptr(QdEvaluation) ev = qd_evaluation_new(&resolver, &context, MAX_BYTES);
    g_auto(QdBytes) bytes = { .ev = ev };

    while (qd_bytes_append(&bytes, "abcdefgh", 8))
        g_assert_cmpuint(bytes.n, <, MAX_BYTES);
    g_assert_error(ev->error, QD_ERROR, QW_ERROR_CANCELLED);
}

static void
test_take_and_keep(void)
{
    QdEvaluationContext context = { 0 };
    g_autoptr(QdEvaluation) ev = qd_evaluation_new(&resolver, &context, MAX_BYTES);
    g_auto(QdBytes) bytes = { .ev = ev };
    int64_t before = qd_memory_get_thread_balance();
    const char *kept;
    guint8 *taken;
    gsize n;

    taken = qd_bytes_take(&bytes, &n); /* of nothing */
    g_assert_nonnull(taken);
    g_assert_cmpuint(n, ==, 0);
    sqlite3_free(taken);

    g_assert_true(qd_bytes_append(&bytes, "abc", 3));
    kept = qd_bytes_keep(&bytes, &n);
    g_assert_cmpmem(kept, n, "abc", 3);
    qd_bytes_empty(&bytes);
    g_assert_cmpuint(bytes.n, ==, 0);
    g_assert_nonnull(bytes.data); /* for the next */

    g_assert_true(qd_bytes_reserve(&bytes, QD_BYTES_KEPT + 1));
    bytes.n = QD_BYTES_KEPT + 1;
    kept = qd_bytes_keep(&bytes, &n);
    g_assert_nonnull(kept);
    g_assert_cmpuint(n, ==, QD_BYTES_KEPT + 1);
    g_assert_null(bytes.data);
    g_assert_cmpint(qd_memory_get_thread_balance() - before, >=, QD_BYTES_KEPT);
    qd_evaluation_trim(ev);
    g_assert_cmpint(qd_memory_get_thread_balance() - before, ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_assert_true(qd_memory_init(NULL));
    g_test_add_func("/functions/bytes/limit", test_limit);
    g_test_add_func("/functions/bytes/interrupt", test_interrupt);
    g_test_add_func("/functions/bytes/take-and-keep", test_take_and_keep);
    return g_test_run();
}
