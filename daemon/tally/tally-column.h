/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The quads of one predicate in the default graph as arrays, sorted by subject or by object.
 *
 * Place: room tally. Values of keys[i] are values[begins[i]] to values[begins[i + 1] - 1], ascending as the keys are.
 * Invariant: a column never changes, but for texts that come; threads share it by counting its users.
 */
#pragma once

#include <glib.h>

typedef enum QdTallyOrder {
    QD_TALLY_BY_SUBJECT,
    QD_TALLY_BY_OBJECT,
    QD_TALLY_N_ORDERS,
} QdTallyOrder;

/* The texts of a column's keys: tally-texts.h. */
typedef struct QdTallyTexts QdTallyTexts;

/* All columns of the process, those in use as well, take at most so many times the cache. */
#define QD_TALLY_LIVE_FACTOR 2

typedef struct QdTallyColumn {
    gint n_users; /* atomic */
    gint64 stamp; /* of the predicate's quads: other quads have another */
    QdTallyOrder order;
    gsize n_keys;
    gsize n_pairs;
    gint64 *keys;
    gint64 *values;
    guint32 *begins;     /* n_keys + 1 */
    QdTallyTexts *texts; /* (nullable) (atomic): may come once */
    gsize n_bytes;
} QdTallyColumn;

/* What a column may have. */
typedef struct QdTallyColumnRoom {
    gsize n_keys, n_pairs;
    guint64 cache_bytes; /* as of qd_tally_reader_new() */
} QdTallyColumnRoom;

/* An empty column with so much room; NULL: there is no memory. */
QdTallyColumn *qd_tally_column_new(const QdTallyColumnRoom *room, QdTallyOrder order, gint64 stamp);

/* Adds a pair, which is above all that it has; the caller looks at the room. */
static inline void
qd_tally_column_add(QdTallyColumn *self, gint64 key, gint64 value)
{
    if (self->n_keys == 0 || self->keys[self->n_keys - 1] != key)
        self->keys[self->n_keys++] = key;
    self->values[self->n_pairs++] = value;
    self->begins[self->n_keys] = (guint32) self->n_pairs;
}

QdTallyColumn *qd_tally_column_ref(QdTallyColumn *self);
/* Returns NULL; takes NULL. */
QdTallyColumn *qd_tally_column_unref(QdTallyColumn *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdTallyColumn, qd_tally_column_unref)
