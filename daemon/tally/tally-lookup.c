/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Places are cleared in blocks, between which deadlines are asked for.
 */
#include "daemon/tally/tally-lookup.h"

#include <string.h>

#include "daemon/base/interrupt.h"

#define POLL_EVERY 8192
#define DENSE_SHARE 4   /* an array over the range of ids may have so many places for each */
#define DENSE_MIN 65536 /* places that it may always have */

static gboolean
must_end(gsize i)
{
    return i % POLL_EVERY == 0 && qd_interrupt_poll();
}

void
qd_tally_lookup_clear(QdTallyLookup *self)
{
    sqlite3_free(self->keys);
    sqlite3_free(self->counts);
    *self = (QdTallyLookup){ 0 };
}

int
qd_tally_lookup_init(QdTallyLookup *self, const QdTallyVector *vector)
{
    gsize n_places = 1;

    if (vector->n == 0)
        return SQLITE_OK;
    self->least = vector->keys[0];
    self->span = (guint64) vector->keys[vector->n - 1] - (guint64) self->least + 1;
    self->shift = 64;
    if (self->span != 0 && self->span <= MAX(DENSE_MIN, DENSE_SHARE * vector->n)) {
        n_places = self->span;
    } else {
        for (; n_places < 2 * vector->n; n_places *= 2)
            self->shift--;
        self->mask = n_places - 1;
        self->keys = sqlite3_malloc64(n_places * sizeof *self->keys);
    }
    self->counts = sqlite3_malloc64(n_places * sizeof *self->counts);
    if (self->counts == NULL || (self->shift < 64 && self->keys == NULL))
        return SQLITE_NOMEM;
    for (gsize i = 0; i < n_places; i += POLL_EVERY) {
        if (must_end(i))
            return SQLITE_INTERRUPT;
        memset(self->counts + i, 0, MIN(POLL_EVERY, n_places - i) * sizeof *self->counts);
    }
    for (gsize i = 0; i < vector->n; i++) {
        gsize slot = self->shift == 64 ? (gsize) (vector->keys[i] - self->least) : qd_tally_lookup_find_slot(self, vector->keys[i]);

        if (must_end(i))
            return SQLITE_INTERRUPT;
        if (self->shift < 64)
            self->keys[slot] = vector->keys[i];
        self->counts[slot] = qd_tally_vector_get_count(vector, i);
    }
    return SQLITE_OK;
}
