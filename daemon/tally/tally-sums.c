/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table has at least twice as many slots as values. When it grows all values are put in again, in blocks between which
 * deadlines are asked for.
 */
#include "daemon/tally/tally-sums.h"

#include <string.h>

#include "daemon/base/interrupt.h"

#define POLL_EVERY 8192
#define SLOTS_MIN 256
#define SLOTS_PER_ENTRY 2
#define CLEARED_SHARE 8 /* of the slots: more values are forgotten by clearing all */

static gboolean
must_end(gsize i)
{
    return i % POLL_EVERY == 0 && qd_interrupt_poll();
}

/* The table with @n_slots, a power of two. */
static int
set_slots(QdTallySums *self, gsize n_slots)
{
    for (gsize i = 0; i < n_slots; i += POLL_EVERY) {
        if (must_end(i))
            return SQLITE_INTERRUPT;
        memset(self->slots + i, 0, MIN(POLL_EVERY, n_slots - i) * sizeof *self->slots);
    }
    self->n_slots = n_slots;
    self->shift = 64;
    for (gsize n = n_slots; n > 1; n /= 2)
        self->shift--;
    for (gsize i = 0; i < self->n; i++) {
        gsize slot = qd_tally_get_slot(self->entries[i].value, self->shift);

        if (must_end(i))
            return SQLITE_INTERRUPT;
        while (self->slots[slot] != 0)
            slot = (slot + 1) & (n_slots - 1);
        self->slots[slot] = (guint32) (i + 1);
    }
    return SQLITE_OK;
}

int
qd_tally_sums_init(QdTallySums *self, gsize n_max)
{
    self->n_max = n_max;
    for (self->n_reserved = SLOTS_MIN; self->n_reserved < SLOTS_PER_ENTRY * n_max;)
        self->n_reserved *= 2;
    self->slots = sqlite3_malloc64(self->n_reserved * sizeof *self->slots);
    self->entries = sqlite3_malloc64(MAX(n_max, 1) * sizeof *self->entries);
    return self->slots != NULL && self->entries != NULL ? set_slots(self, SLOTS_MIN) : SQLITE_NOMEM;
}

void
qd_tally_sums_clear(QdTallySums *self)
{
    sqlite3_free(self->slots);
    sqlite3_free(self->entries);
    *self = (QdTallySums){ 0 };
}

int
qd_tally_sums_insert(QdTallySums *self, gsize slot, gint64 value, guint64 count)
{
    if (self->n == self->n_max)
        return SQLITE_CORRUPT;
    self->entries[self->n++] = (QdTallySum){ value, count };
    self->slots[slot] = (guint32) self->n;
    return SLOTS_PER_ENTRY * self->n > self->n_slots && self->n_slots < self->n_reserved ? set_slots(self, 2 * self->n_slots)
                                                                                         : SQLITE_OK;
}

void
qd_tally_sums_forget(QdTallySums *self)
{
    if (self->n > self->n_slots / CLEARED_SHARE) {
        memset(self->slots, 0, self->n_slots * sizeof *self->slots);
    } else {
        for (gsize i = 0; i < self->n; i++) {
            gsize slot = qd_tally_get_slot(self->entries[i].value, self->shift);

            while (self->slots[slot] != 0) {
                self->slots[slot] = 0;
                slot = (slot + 1) & (self->n_slots - 1);
            }
        }
    }
    self->n = 0;
}
