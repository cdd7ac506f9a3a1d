/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * In how many solutions each pair of values of two variables occurs, which a way of columns leads from one to the other.
 *
 * Place: room tally, internal to it. The pairs of one value of the first variable are made at a time. So there are never
 * more in memory than the other variable has values. They come in order of the first value.
 */
#pragma once

#include "daemon/tally/tally-vector.h"

#define QD_TALLY_STEPS_MAX 8

typedef struct QdTallyPairs QdTallyPairs;

/* @start (nullable) (transfer full): the values of the first variable, each with its number; NULL: all of the first column's
 * keys. Returns: (transfer full) */
QdTallyPairs *qd_tally_pairs_new(QdTallyVector *start);
QdTallyPairs *qd_tally_pairs_free(QdTallyPairs *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdTallyPairs, qd_tally_pairs_free)

/* A step further, from the keys of @column (transfer full) to their values. @weights (nullable) (transfer full): numbers of these;
 * NULL: 1 each. @n_values: how many there may be. FALSE: there are too many steps. */
gboolean qd_tally_pairs_add_step(QdTallyPairs *self, QdTallyColumn *column, QdTallyVector *weights, gsize n_values);

/* After the last step: the first pair. Returns: as qd_tally_vector_combine(), and SQLITE_CORRUPT: there are more values */
int qd_tally_pairs_begin(QdTallyPairs *self);
/* The next pair. Returns: as the last, but not SQLITE_NOMEM. */
int qd_tally_pairs_advance(QdTallyPairs *self);
/* FALSE: there are no more. */
gboolean qd_tally_pairs_get(const QdTallyPairs *self, gint64 *ret_first, gint64 *ret_second, guint64 *ret_count);
