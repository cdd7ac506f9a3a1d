/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From ids to numbers: an array over the range of the ids, or a hash table where these lie far apart. Their room is reserved
 * at first. It is filled when so many numbers have been asked for that to search the sorted ids for them has taken as long.
 *
 * Place: room tally, internal to it. In SQLite's memory, which counts for the query.
 */
#pragma once

#include "daemon/tally/tally-vector.h"

#define QD_TALLY_HASH_FACTOR 0x9e3779b97f4a7c15

/* From a key to its number; 0: it has none. */
typedef struct QdTallyLookup {
    gint64 least;
    guint64 span; /* of the ids from the least to the greatest */
    guint shift;  /* of a hash; 64: @counts is an array over the span */
    gsize n_places;
    gint64 *keys;
    guint64 *counts;
    gboolean is_searched; /* the places are not filled yet, */
    gsize n_searches;     /* as so many searches are left */
    const gint64 *sorted; /* all ids, to be searched */
    gsize n_sorted;
    const QdTallyVector *vector; /* (nullable): that has them; else their numbers are their indices, plus 1 */
} QdTallyLookup;

/* Of a table with 2^(64 - @shift) slots. */
static inline gsize
qd_tally_get_slot(gint64 key, guint shift)
{
    return (gsize) (((guint64) key * QD_TALLY_HASH_FACTOR) >> shift);
}

void qd_tally_lookup_clear(QdTallyLookup *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(QdTallyLookup, qd_tally_lookup_clear)

/* The numbers of @vector, which outlives it, for about @n_gets look-ups. @self: all 0; to be cleared on failure, too. Returns: as
 * qd_tally_vector_combine() */
int qd_tally_lookup_init(QdTallyLookup *self, const QdTallyVector *vector, double n_gets);
/* The same: for each of @n sorted @keys its index plus 1. */
int qd_tally_lookup_init_places(QdTallyLookup *self, const gint64 *keys, gsize n, double n_gets);
/* Whether to search @n ids for so many look-ups takes less time than to fill places with them. */
gboolean qd_tally_lookup_has_few_gets(gsize n, double n_gets);

/* The number of @key while the places are not filled. */
guint64 qd_tally_lookup_search(QdTallyLookup *self, gint64 key);

static inline gsize
qd_tally_lookup_find_slot(const QdTallyLookup *self, gint64 key)
{
    gsize slot = qd_tally_get_slot(key, self->shift);

    while (self->counts[slot] != 0 && self->keys[slot] != key)
        slot = (slot + 1) & (self->n_places - 1);
    return slot;
}

/* The number of @key; 0: it has none. */
static inline guint64
qd_tally_lookup_get(QdTallyLookup *self, gint64 key)
{
    guint64 place = (guint64) key - (guint64) self->least;

    if (place >= self->span)
        return 0;
    if (self->is_searched)
        return qd_tally_lookup_search(self, key);
    return self->counts[self->shift == 64 ? place : qd_tally_lookup_find_slot(self, key)];
}
