/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cache of columns: what is found, what goes for what, and what threads do with it at once.
 */
#include "daemon/tally/tally-cache.h"

#define BYTES 100
#define N_THREADS 4
#define N_TURNS 2000

/* As a reader makes one, which is charged first. */
static QdTallyColumn *
make_column(gint64 stamp, QdTallyOrder order, gsize n_bytes)
{
    QdTallyColumn *column;

    if (!qd_tally_cache_charge(n_bytes, 10 * BYTES))
        return NULL;
    column = g_new0(QdTallyColumn, 1);
    *column = (QdTallyColumn){ .n_users = 1, .stamp = stamp, .order = order, .n_bytes = n_bytes };
    return column;
}

static void
keep(gint64 stamp, QdTallyOrder order, gsize n_bytes)
{
    g_autoptr(QdTallyColumn) column = make_column(stamp, order, n_bytes);

    g_assert_nonnull(column);
    qd_tally_cache_add(column, BYTES);
}

static gboolean
is_kept(gint64 stamp, QdTallyOrder order)
{
    g_autoptr(QdTallyColumn) column = qd_tally_cache_find(stamp, order);

    g_assert_true(column == NULL || (column->stamp == stamp && column->order == order));
    return column != NULL;
}

/* All that was charged has been given back: there is room for as much as there may be. */
static void
check_empty(void)
{
    g_assert_true(qd_tally_cache_charge(BYTES, BYTES));
    qd_tally_cache_discharge(BYTES);
}

static void
test_found(void)
{
    qd_tally_cache_add_user();
    keep(7, QD_TALLY_BY_SUBJECT, 10);
    keep(0, QD_TALLY_BY_SUBJECT, 10); /* without a stamp */
    g_assert_true(is_kept(7, QD_TALLY_BY_SUBJECT));
    g_assert_false(is_kept(7, QD_TALLY_BY_OBJECT));
    g_assert_false(is_kept(8, QD_TALLY_BY_SUBJECT));
    g_assert_false(is_kept(0, QD_TALLY_BY_SUBJECT));
    qd_tally_cache_remove_user();
    check_empty();
}

static void
test_oldest_goes(void)
{
    qd_tally_cache_add_user();
    keep(1, QD_TALLY_BY_SUBJECT, 40);
    keep(2, QD_TALLY_BY_SUBJECT, 40);
    g_assert_true(is_kept(1, QD_TALLY_BY_SUBJECT)); /* so the other one was used longest ago */
    keep(3, QD_TALLY_BY_SUBJECT, 40);
    g_assert_true(is_kept(1, QD_TALLY_BY_SUBJECT));
    g_assert_false(is_kept(2, QD_TALLY_BY_SUBJECT));
    g_assert_true(is_kept(3, QD_TALLY_BY_SUBJECT));
    keep(4, QD_TALLY_BY_SUBJECT, BYTES + 1); /* larger than all */
    g_assert_false(is_kept(4, QD_TALLY_BY_SUBJECT));
    g_assert_true(is_kept(3, QD_TALLY_BY_SUBJECT));
    qd_tally_cache_remove_user();
    check_empty();
}

static void
test_last_user(void)
{
    qd_tally_cache_add_user();
    qd_tally_cache_add_user();
    keep(1, QD_TALLY_BY_OBJECT, 10);
    qd_tally_cache_remove_user();
    g_assert_true(is_kept(1, QD_TALLY_BY_OBJECT));
    qd_tally_cache_remove_user();
    g_assert_false(is_kept(1, QD_TALLY_BY_OBJECT));
    check_empty();
}

static void
test_charges(void)
{
    QdTallyColumn *used;

    qd_tally_cache_add_user();
    keep(1, QD_TALLY_BY_SUBJECT, 40);
    keep(2, QD_TALLY_BY_SUBJECT, 40);
    g_assert_true(qd_tally_cache_charge(50, BYTES)); /* the older one goes for it */
    g_assert_false(is_kept(1, QD_TALLY_BY_SUBJECT));
    g_assert_true(is_kept(2, QD_TALLY_BY_SUBJECT));
    qd_tally_cache_discharge(50);

    used = qd_tally_cache_find(2, QD_TALLY_BY_SUBJECT);
    g_assert_false(qd_tally_cache_charge(70, BYTES)); /* what is in use goes from the cache, but stays in memory */
    g_assert_false(is_kept(2, QD_TALLY_BY_SUBJECT));
    g_assert_cmpint(used->n_users, ==, 1);
    g_assert_true(qd_tally_cache_charge(60, BYTES));
    qd_tally_cache_discharge(60);
    used = qd_tally_column_unref(used);
    qd_tally_cache_remove_user();
    check_empty();
}

static gpointer
thread_main(gpointer data)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(GPOINTER_TO_UINT(data));

    for (guint i = 0; i < N_TURNS; i++) {
        gint64 stamp = g_rand_int_range(random, 1, 6);
        QdTallyOrder order = (QdTallyOrder) g_rand_int_range(random, 0, QD_TALLY_N_ORDERS);
        g_autoptr(QdTallyColumn) found = qd_tally_cache_find(stamp, order);
        g_autoptr(QdTallyColumn) made = found == NULL ? make_column(stamp, order, (gsize) stamp * 10) : NULL;

        g_assert_true(found == NULL || (found->stamp == stamp && found->order == order));
        if (made != NULL)
            qd_tally_cache_add(made, BYTES);
    }
    return NULL;
}

/* Each reference and each charge is given back, in any order of the threads. */
static void
test_threads(void)
{
    GThread *threads[N_THREADS];

    qd_tally_cache_add_user();
    for (guint i = 0; i < N_THREADS; i++)
        threads[i] = g_thread_new("tally", thread_main, GUINT_TO_POINTER(i + 1));
    for (guint i = 0; i < N_THREADS; i++)
        (void) g_thread_join(threads[i]);
    qd_tally_cache_remove_user();
    for (gint64 stamp = 1; stamp < 6; stamp++)
        g_assert_false(is_kept(stamp, QD_TALLY_BY_SUBJECT));
    check_empty();
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/tally/cache/found", test_found);
    g_test_add_func("/tally/cache/oldest-goes", test_oldest_goes);
    g_test_add_func("/tally/cache/last-user", test_last_user);
    g_test_add_func("/tally/cache/charges", test_charges);
    g_test_add_func("/tally/cache/threads", test_threads);
    return g_test_run();
}
