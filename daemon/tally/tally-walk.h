/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Solutions of a pattern of any shape, circles too, one variable after another. The values of a variable are those that all links
 * from earlier ones lead to. Of variables after the last one that is asked for, only the number of solutions is wanted.
 *
 * Place: room tally, internal to it. Lists of values are sorted: the shortest is gone through, the others are searched.
 */
#pragma once

#include "daemon/tally/tally-vector.h"

#define QD_TALLY_LEVELS_MAX 16 /* variables */
#define QD_TALLY_LINKS_MAX 4   /* of one variable */
#define QD_TALLY_ASKED_MAX 5   /* beside the first variable */

typedef struct QdTallyWalk QdTallyWalk;

/* @start (transfer full): the values of the first variable, each with its number. Returns: (transfer full) */
QdTallyWalk *qd_tally_walk_new(QdTallyVector *start);
QdTallyWalk *qd_tally_walk_free(QdTallyWalk *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdTallyWalk, qd_tally_walk_free)

/* The next variable. @optional: it is unbound where nothing leads to it. FALSE: there are too many. */
gboolean qd_tally_walk_add_level(QdTallyWalk *self, gboolean optional);
/* A link to it from an earlier variable, @from, by the keys of @column (transfer full). FALSE: there are too many. */
gboolean qd_tally_walk_add_link(QdTallyWalk *self, guint from, QdTallyColumn *column);
/* Numbers of its values. @weights (transfer full) */
void qd_tally_walk_set_weights(QdTallyWalk *self, QdTallyVector *weights);
/* @level is asked for, too. FALSE: there are too many. */
gboolean qd_tally_walk_ask(QdTallyWalk *self, guint level);

/* After that: the first row. @is_number: there is one row, with the number of all solutions. Returns: as qd_tally_vector_combine()
 */
int qd_tally_walk_begin(QdTallyWalk *self, gboolean is_number);
int qd_tally_walk_advance(QdTallyWalk *self);
gboolean qd_tally_walk_is_at_end(const QdTallyWalk *self);

gint64 qd_tally_walk_get_first(const QdTallyWalk *self);
/* The value of what was asked for as number @index; FALSE: it is unbound. */
gboolean qd_tally_walk_get(const QdTallyWalk *self, guint index, gint64 *ret_value);
guint64 qd_tally_walk_get_count(const QdTallyWalk *self);
