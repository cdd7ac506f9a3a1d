/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows come back in order, whether memory held them or not.
 */
#include "daemon/quads/sorter.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/quads/spool.h"

#define N_COLUMNS 3

static int
compare(const void *a, const void *b)
{
    const gint64 *row_a = a;
    const gint64 *row_b = b;

    for (guint c = 0; c < N_COLUMNS; c++)
        if (row_a[c] != row_b[c])
            return row_a[c] < row_b[c] ? -1 : 1;
    return 0;
}

static gint64
make_value(guint column)
{
    switch (g_test_rand_int_range(0, 4)) {
    case 0:
        return G_MININT64 + g_test_rand_int_range(0, 3);
    case 1:
        return g_test_rand_int_range(-3, 3);
    case 2:
        return (gint64) ((guint64) (guint32) g_test_rand_int() << 32 | (guint32) g_test_rand_int());
    default:
        return G_MAXINT64 - column;
    }
}

/* @data: rows; memory holds 1000 */
static void
test_order(gconstpointer data)
{
    gsize n = GPOINTER_TO_SIZE(data);
    g_autoptr(QdSorter) sorter = qd_sorter_new(N_COLUMNS, NULL, 1, 1000, g_get_tmp_dir());
    g_autofree gint64 *rows = g_new(gint64, n * N_COLUMNS + 1);
    g_autoptr(GError) error = NULL;
    const gint64 *row;

    for (gsize i = 0; i < n; i++) {
        for (guint c = 0; c < N_COLUMNS; c++)
            rows[i * N_COLUMNS + c] = make_value(c);
        g_assert_true(qd_sorter_add(sorter, rows + i * N_COLUMNS, &error));
    }
    qsort(rows, n, N_COLUMNS * sizeof(gint64), compare);
    g_assert_cmpuint(qd_sorter_get_n_rows(sorter), ==, n);
    g_assert_true(qd_sorter_finish(sorter, &error));
    g_assert_cmpint(qd_sorter_get_file_bytes(sorter) > 0, ==, n > 1000);
    for (gsize i = 0; i < n; i++) {
        g_assert_true(qd_sorter_next(sorter, &row, &error));
        g_assert_cmpmem(row, N_COLUMNS * sizeof(gint64), rows + i * N_COLUMNS, N_COLUMNS * sizeof(gint64));
    }
    for (guint i = 0; i < 2; i++) {
        g_assert_true(qd_sorter_next(sorter, &row, &error));
        g_assert_null(row);
    }
}

/* The same rows in three orders, one after the other. @data: rows; memory holds 1000 */
static void
test_orders(gconstpointer data)
{
    static const QdSorterOrder orders[] = { { { 2, 0, 1 } }, { { 1, 2, 0 } }, { { 0, 1, 2 } } };
    gsize n = GPOINTER_TO_SIZE(data);
    g_autoptr(QdSorter) sorter = qd_sorter_new(N_COLUMNS, orders, G_N_ELEMENTS(orders), 1000, g_get_tmp_dir());
    g_autofree gint64 *rows = g_new(gint64, n * N_COLUMNS);
    g_autofree gint64 *turned = g_new(gint64, n * N_COLUMNS);
    g_autoptr(GError) error = NULL;

    for (gsize i = 0; i < n; i++) {
        for (guint c = 0; c < N_COLUMNS; c++)
            rows[i * N_COLUMNS + c] = make_value(c);
        g_assert_true(qd_sorter_add(sorter, rows + i * N_COLUMNS, &error));
    }
    g_assert_true(qd_sorter_finish(sorter, &error));
    for (guint order = 0; order < G_N_ELEMENTS(orders); order++) {
        const gint64 *row;

        if (order > 0)
            g_assert_true(qd_sorter_turn(sorter, &error));
        for (gsize i = 0; i < n * N_COLUMNS; i++)
            turned[i] = rows[i / N_COLUMNS * N_COLUMNS + orders[order].columns[i % N_COLUMNS]];
        qsort(turned, n, N_COLUMNS * sizeof(gint64), compare);
        for (gsize i = 0; i < n; i++) {
            g_assert_true(qd_sorter_next(sorter, &row, &error));
            for (guint c = 0; c < N_COLUMNS; c++)
                g_assert_cmpint(row[orders[order].columns[c]], ==, turned[i * N_COLUMNS + c]);
        }
        g_assert_true(qd_sorter_next(sorter, &row, &error));
        g_assert_null(row);
    }
}

static void
test_no_directory(void)
{
    g_autoptr(QdSorter) sorter = qd_sorter_new(1, NULL, 1, 2, "/nonexistent");
    g_autoptr(GError) error = NULL;
    const gint64 row = 1;

    g_assert_true(qd_sorter_add(sorter, &row, &error));
    g_assert_true(qd_sorter_add(sorter, &row, &error));
    g_assert_false(qd_sorter_add(sorter, &row, &error));
    g_assert_error(error, QD_ERROR, QW_ERROR_INTERNAL);
}

static void
test_spool(void)
{
    static const gsize sizes[] = { 0, 1, 100, 3000000, 7, 1048576, 1048577, 5 };
    g_autoptr(QdSpool) spool = qd_spool_new(g_get_tmp_dir());
    g_autoptr(GError) error = NULL;
    guint64 total = 0;

    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autofree char *data = g_malloc(sizes[i] + 1);

        memset(data, 'a' + (int) i, sizes[i]);
        g_assert_true(qd_spool_write(spool, data, sizes[i], &error));
        total += sizes[i];
    }
    g_assert_cmpuint(qd_spool_get_n_bytes(spool), ==, total);
    g_assert_true(qd_spool_finish(spool, &error));
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        const char *data = qd_spool_read(spool, sizes[i], &error);

        g_assert_no_error(error);
        for (gsize k = 0; k < sizes[i]; k++)
            g_assert_cmpint(data[k], ==, 'a' + (int) i);
    }
    g_assert_null(qd_spool_read(spool, 1, &error));
    g_assert_error(error, QD_ERROR, QW_ERROR_INTERNAL);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/quads/sorter/order/0", GSIZE_TO_POINTER(0), test_order);
    g_test_add_data_func("/quads/sorter/order/1", GSIZE_TO_POINTER(1), test_order);
    g_test_add_data_func("/quads/sorter/order/1000", GSIZE_TO_POINTER(1000), test_order);
    g_test_add_data_func("/quads/sorter/order/1001", GSIZE_TO_POINTER(1001), test_order);
    g_test_add_data_func("/quads/sorter/order/123456", GSIZE_TO_POINTER(123456), test_order);
    g_test_add_data_func("/quads/sorter/orders/2", GSIZE_TO_POINTER(2), test_orders);
    g_test_add_data_func("/quads/sorter/orders/1000", GSIZE_TO_POINTER(1000), test_orders);
    g_test_add_data_func("/quads/sorter/orders/54321", GSIZE_TO_POINTER(54321), test_orders);
    g_test_add_func("/quads/sorter/no-directory", test_no_directory);
    g_test_add_func("/quads/spool/pieces", test_spool);
    return g_test_run();
}
