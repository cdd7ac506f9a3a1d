/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One block holds a column and its arrays.
 */
#include "daemon/tally/tally-column.h"

#include "daemon/tally/tally-cache.h"
#include "daemon/tally/tally-texts.h"

QdTallyColumn *
qd_tally_column_ref(QdTallyColumn *self)
{
    g_atomic_int_inc(&self->n_users);
    return self;
}

QdTallyColumn *
qd_tally_column_unref(QdTallyColumn *self)
{
    if (self != NULL && g_atomic_int_dec_and_test(&self->n_users)) {
        (void) qd_tally_texts_free(self->texts);
        qd_tally_cache_discharge(self->n_bytes);
        g_free(self);
    }
    return NULL;
}

/* Room for so many; NULL without memory. Not SQLite's memory: it outlives the query that made it, and has a limit of its own. */
QdTallyColumn *
qd_tally_column_new(const QdTallyColumnRoom *room, QdTallyOrder order, gint64 stamp)
{
    gsize n_bytes = sizeof(QdTallyColumn) + (room->n_keys + room->n_pairs) * sizeof(gint64) + (room->n_keys + 1) * sizeof(guint32);
    QdTallyColumn *self;

    if (!qd_tally_cache_charge(n_bytes, QD_TALLY_LIVE_FACTOR * room->cache_bytes))
        return NULL;
    self = g_try_malloc(n_bytes);
    if (self == NULL) {
        qd_tally_cache_discharge(n_bytes);
        return NULL;
    }
    *self = (QdTallyColumn){ .n_users = 1, .stamp = stamp, .order = order, .n_bytes = n_bytes };
    self->keys = (gint64 *) (self + 1);
    self->values = self->keys + room->n_keys;
    self->begins = (guint32 *) (self->values + room->n_pairs);
    self->begins[0] = 0;
    return self;
}
