/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The columns that this process keeps, for all of its connections; those used longest ago go first.
 *
 * Place: room tally, internal to it. A column is found by its stamp (queryd_predicate): 64 random bits, which each change of a
 * predicate's quads replaces in the same transaction. So what is found is what the snapshot has, in any store. Without connections
 * nothing is kept: a daemon at rest has none.
 */
#pragma once

#include "daemon/tally/tally-column.h"

/* Each connection that may use it is a user. Thread: any, as for all of these. */
void qd_tally_cache_add_user(void);
/* TRUE: it was the last one. */
gboolean qd_tally_cache_remove_user(void);

/* Whether any column is kept, and whether one of this stamp is. */
gboolean qd_tally_cache_is_empty(void);
gboolean qd_tally_cache_has(gint64 stamp);

/* Counts @n_bytes for a column, cached or not, until it is discharged. What is cached goes for it. FALSE: all columns together
 * would take more than @n_bytes_max. */
gboolean qd_tally_cache_charge(guint64 n_bytes, guint64 n_bytes_max);
void qd_tally_cache_discharge(guint64 n_bytes);

/* (transfer full) (nullable) */
QdTallyColumn *qd_tally_cache_find(gint64 stamp, QdTallyOrder order);
/* Keeps @texts (transfer full) with @column where this is kept, and both fit into @n_bytes_max. */
void qd_tally_cache_add_texts(QdTallyColumn *column, QdTallyTexts *texts, guint64 n_bytes_max);
/* Keeps @column (transfer none) where it has a stamp and fits into @n_bytes_max, with others or instead of them. */
void qd_tally_cache_add(QdTallyColumn *column, guint64 n_bytes_max);
