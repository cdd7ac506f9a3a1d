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
#define SEARCH_SHARE 16 /* a search takes as long as so many places to be filled */

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

gboolean
qd_tally_lookup_has_few_gets(gsize n, double n_gets)
{
    return n_gets * SEARCH_SHARE < (double) n;
}

static guint64
get_number(const QdTallyLookup *self, gsize i)
{
    return self->vector != NULL ? qd_tally_vector_get_count(self->vector, i) : i + 1;
}

/* Room for all ids: an array, or a hash table. */
static int
reserve(QdTallyLookup *self)
{
    self->n_places = 1;
    self->shift = 64;
    if (self->span != 0 && self->span <= MAX(DENSE_MIN, DENSE_SHARE * self->n_sorted)) {
        self->n_places = self->span;
    } else {
        for (; self->n_places < 2 * self->n_sorted; self->n_places *= 2)
            self->shift--;
        self->keys = sqlite3_malloc64(self->n_places * sizeof *self->keys);
    }
    self->counts = sqlite3_malloc64(self->n_places * sizeof *self->counts);
    return self->counts == NULL || (self->shift < 64 && self->keys == NULL) ? SQLITE_NOMEM : SQLITE_OK;
}

static int
fill(QdTallyLookup *self)
{
    for (gsize i = 0; i < self->n_places; i += POLL_EVERY) {
        if (must_end(i))
            return SQLITE_INTERRUPT;
        memset(self->counts + i, 0, MIN(POLL_EVERY, self->n_places - i) * sizeof *self->counts);
    }
    for (gsize i = 0; i < self->n_sorted; i++) {
        gint64 key = self->sorted[i];
        gsize slot = self->shift == 64 ? (gsize) (key - self->least) : qd_tally_lookup_find_slot(self, key);

        if (must_end(i))
            return SQLITE_INTERRUPT;
        if (self->shift < 64)
            self->keys[slot] = key;
        self->counts[slot] = get_number(self, i);
    }
    self->is_searched = FALSE;
    self->sorted = NULL;
    self->vector = NULL;
    return SQLITE_OK;
}

/* What is interrupted stays as it was: who asks is interrupted, too. */
guint64
qd_tally_lookup_search(QdTallyLookup *self, gint64 key)
{
    gsize i;

    if (self->n_searches > 0 && --self->n_searches == 0 && fill(self) == SQLITE_OK)
        return qd_tally_lookup_get(self, key);
    i = qd_tally_vector_bisect(self->sorted, 0, self->n_sorted, key);
    return i < self->n_sorted && self->sorted[i] == key ? get_number(self, i) : 0;
}

static int
init(QdTallyLookup *self, const gint64 *keys, gsize n, double n_gets)
{
    int r;

    if (n == 0)
        return SQLITE_OK;
    self->sorted = keys;
    self->n_sorted = n;
    self->least = keys[0];
    self->span = (guint64) keys[n - 1] - (guint64) self->least + 1;
    r = reserve(self);
    self->is_searched = qd_tally_lookup_has_few_gets(n, n_gets);
    self->n_searches = n / SEARCH_SHARE + 1;
    return r == SQLITE_OK && !self->is_searched ? fill(self) : r;
}

int
qd_tally_lookup_init(QdTallyLookup *self, const QdTallyVector *vector, double n_gets)
{
    self->vector = vector;
    return init(self, vector->keys, vector->n, n_gets);
}

int
qd_tally_lookup_init_places(QdTallyLookup *self, const gint64 *keys, gsize n, double n_gets)
{
    return init(self, keys, n, n_gets);
}
