/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers that are added up for each of a few values. A hash table that grows finds them. They stay in the order in which they
 * came.
 *
 * Place: room tally, internal to it. In SQLite's memory, which counts for the query. All of it is reserved at first, and touched
 * as values come. So adding never lacks memory.
 */
#pragma once

#include "daemon/tally/tally-lookup.h"

typedef struct QdTallySum {
    gint64 value;
    guint64 count;
} QdTallySum;

typedef struct QdTallySums {
    QdTallySum *entries;
    gsize n, n_max;
    guint32 *slots;            /* index of an entry, plus 1 */
    gsize n_slots, n_reserved; /* the first of those that are reserved are in use */
    guint shift;
} QdTallySums;

/* @self: all 0; to be cleared on failure, too. @n_max: values. Returns: SQLITE_OK, SQLITE_NOMEM or SQLITE_INTERRUPT */
int qd_tally_sums_init(QdTallySums *self, gsize n_max);
void qd_tally_sums_clear(QdTallySums *self);

/* A value that is not there yet, at a free @slot. Returns: SQLITE_OK, SQLITE_CORRUPT (more values than were said) or
 * SQLITE_INTERRUPT */
int qd_tally_sums_insert(QdTallySums *self, gsize slot, gint64 value, guint64 count);

/* Returns: SQLITE_OK, SQLITE_TOOBIG (the sum), or as the last */
static inline int
qd_tally_sums_add(QdTallySums *self, gint64 value, guint64 count)
{
    gsize slot = qd_tally_get_slot(value, self->shift);

    while (self->slots[slot] != 0) {
        QdTallySum *entry = &self->entries[self->slots[slot] - 1];

        if (entry->value == value)
            return __builtin_add_overflow(entry->count, count, &entry->count) ? SQLITE_TOOBIG : SQLITE_OK;
        slot = (slot + 1) & (self->n_slots - 1);
    }
    return qd_tally_sums_insert(self, slot, value, count);
}

/* To no values. */
void qd_tally_sums_forget(QdTallySums *self);
