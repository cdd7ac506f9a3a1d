/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sorts rows of a few 64-bit integers, more than memory holds, by one or several orders of their columns. Sorted runs go to a
 * temporary file and are merged while they are read.
 *
 * Place: room quads. Values compare as signed integers. The arguments of qd_sorter_new() bound its memory.
 */
#pragma once

#include <glib.h>

#include "daemon/base/error.h"

#define QD_SORTER_MAX_COLUMNS 4
#define QD_SORTER_MAX_ORDERS 3

typedef struct QdSorter QdSorter;

/* All columns by their index, the most significant first. */
typedef struct QdSorterOrder {
    guint8 columns[QD_SORTER_MAX_COLUMNS];
} QdSorterOrder;

/**
 * qd_sorter_new:
 * @orders: (nullable): each is the one before with one column moved to the front, which costs one more column to sort by. NULL:
 *          one order, from the first column to the last
 * @n_memory_rows: how many are sorted at once; twice as many are held
 * @directory: where the file goes, copied
 */
QdSorter *qd_sorter_new(guint n_columns, const QdSorterOrder *orders, guint n_orders, gsize n_memory_rows, const char *directory);
QdSorter *qd_sorter_free(QdSorter *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdSorter, qd_sorter_free)

gboolean qd_sorter_add(QdSorter *self, const gint64 *row, GError **error);
guint64 qd_sorter_get_n_rows(const QdSorter *self);
/* Bytes in the temporary file. */
guint64 qd_sorter_get_file_bytes(const QdSorter *self);

/* After the last row: reading begins, in the first order. */
gboolean qd_sorter_finish(QdSorter *self, GError **error);
/* Reading begins again, in the next order. */
gboolean qd_sorter_turn(QdSorter *self, GError **error);
/* @ret_row: (out): the next row, its columns as they were added, valid until the next call; NULL at the end */
gboolean qd_sorter_next(QdSorter *self, const gint64 **ret_row, GError **error);
