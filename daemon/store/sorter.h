/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sorts rows of a few 64-bit integers, more than memory holds: sorted runs in a temporary file, merged while they are read.
 *
 * Place: layer 2. Rows compare as signed integers, column by column. Memory is bounded by what qd_sorter_new() is told.
 */
#pragma once

#include <glib.h>

#include "daemon/base/error.h"

#define QD_SORTER_MAX_COLUMNS 4

typedef struct QdSorter QdSorter;

/* @n_memory_rows: how many are sorted at once; twice as many are held. @directory: where the file goes, copied */
QdSorter *qd_sorter_new(guint n_columns, gsize n_memory_rows, const char *directory);
QdSorter *qd_sorter_free(QdSorter *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdSorter, qd_sorter_free)

gboolean qd_sorter_add(QdSorter *self, const gint64 *row, GError **error);
guint64 qd_sorter_get_n_rows(const QdSorter *self);
/* Bytes in the temporary file. */
guint64 qd_sorter_get_file_bytes(const QdSorter *self);

/* After the last row: reading begins. */
gboolean qd_sorter_finish(QdSorter *self, GError **error);
/* @ret_row: (out): the next row, valid until the next call; NULL at the end */
gboolean qd_sorter_next(QdSorter *self, const gint64 **ret_row, GError **error);
