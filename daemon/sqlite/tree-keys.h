/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the leaves of a table's tree end, from the pages above them: ranges of rowids of about the same size.
 *
 * Place: room sqlite, for scans in ranges (read/ranges/). Leaves are not read, so a table of 1 GB costs some hundred pages.
 * Invariant: the ranges follow one another, and together they are all rowids. A damaged page makes the last range longer.
 */
#pragma once

#include <glib.h>

typedef struct QdSnapshot QdSnapshot;
typedef struct QdTreeKeys QdTreeKeys;

/* @snapshot has begun, and outlives it. Returns: (nullable): NULL: the root is a leaf, or no table's. */
QdTreeKeys *qd_tree_keys_new(const QdSnapshot *snapshot, guint32 root);
QdTreeKeys *qd_tree_keys_free(QdTreeKeys *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdTreeKeys, qd_tree_keys_free)

/* How large the leaves are together, roughly. */
guint64 qd_tree_keys_guess_bytes(const QdTreeKeys *self);
/* The last rowid of the next leaves, which have about @n_bytes; G_MAXINT64 for those at the end. FALSE: there are no more. */
gboolean qd_tree_keys_next(QdTreeKeys *self, guint64 n_bytes, gint64 *ret_last);
