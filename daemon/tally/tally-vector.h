/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * In how many solutions each value of one variable occurs: sorted values, each with its number, which is never 0.
 *
 * Place: room tally, internal to it. A vector borrows the arrays of a column, or owns its own, in SQLite's memory, which counts for
 * the query.
 */
#pragma once

#include <sqlite3.h>

#include "daemon/tally/tally-column.h"

typedef struct QdTallyVector {
    const gint64 *keys;
    gsize n;
    const guint64 *counts; /* (nullable): see the next */
    const guint32 *begins; /* (nullable): counts are differences of these; neither: each is 1 */
    gint64 *own_keys;
    guint64 *own_counts;
    QdTallyColumn *column; /* (nullable) */
} QdTallyVector;

void qd_tally_vector_clear(QdTallyVector *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(QdTallyVector, qd_tally_vector_clear)

static inline guint64
qd_tally_vector_get_count(const QdTallyVector *self, gsize i)
{
    if (self->counts != NULL)
        return self->counts[i];
    return self->begins != NULL ? self->begins[i + 1] - self->begins[i] : 1;
}

/* @column (transfer full): its keys, each with how many values it has, or with 1. */
QdTallyVector qd_tally_vector_from_column(QdTallyColumn *column, gboolean counts);

/* Those of @column (transfer full) that are among their own values, or, not @equal, how many of these are others. */
int qd_tally_vector_compare_values(QdTallyColumn *column, gboolean equal, QdTallyVector *ret_vector);

/* How the numbers of two vectors of one variable become one. */
typedef enum QdTallyCombination {
    QD_TALLY_PRODUCT,  /* both bind it */
    QD_TALLY_SUM,      /* one or the other does */
    QD_TALLY_OPTIONAL, /* the left, with the right where it has some */
    QD_TALLY_MINUS,    /* the left where the right has none */
    QD_TALLY_EXISTS,   /* the left where the right has some */
} QdTallyCombination;

/* Returns: SQLITE_OK, SQLITE_NOMEM, SQLITE_INTERRUPT, or SQLITE_TOOBIG: a number does not fit into 64 bits. As the next two. */
int qd_tally_vector_combine(QdTallyCombination how, const QdTallyVector *a, const QdTallyVector *b, QdTallyVector *ret_vector);

/* For each key of @column (transfer full) the sum of what @inner has for its values. */
int qd_tally_vector_follow(QdTallyColumn *column, const QdTallyVector *inner, QdTallyVector *ret_vector);

/* The first place from @begin on whose key is not less than @key; @end: there is none. */
static inline gsize
qd_tally_vector_bisect(const gint64 *keys, gsize begin, gsize end, gint64 key)
{
    while (begin < end) {
        gsize middle = begin + (end - begin) / 2;

        if (keys[middle] < key)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* The same from @i on to @n, where it is likely to be near. */
gsize qd_tally_vector_seek(const gint64 *keys, gsize n, gsize i, gint64 key);

int qd_tally_vector_add_up(const QdTallyVector *self, guint64 *ret_sum);
