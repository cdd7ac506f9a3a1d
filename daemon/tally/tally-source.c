/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All keys of the column are gone through as a statement of one variable does it.
 */
#include "daemon/tally/tally-source.h"

#include "daemon/rdf/term-id.h"
#include "daemon/tally/tally-cache.h"

#define MISSED_SHARE 2 /* of the keys, from which on all are read */

void
qd_tally_source_init(QdTallySource *self, gint64 predicate, gint64 stamp, QdTallyOrder order)
{
    *self = (QdTallySource){ .predicate = stamp != 0 ? predicate : 0, .stamp = stamp, .order = order };
}

void
qd_tally_source_clear(QdTallySource *self)
{
    qd_tally_reading_clear(&self->reading);
    qd_tally_vector_clear(&self->all);
    (void) qd_tally_column_unref(self->column);
    *self = (QdTallySource){ 0 };
}

/* Errors are no matter: the dictionary has all terms. */
static void
begin_reading(QdTallySource *self, QdTallyReader *reader, guint64 cache_bytes)
{
    QdTallyColumn *column;

    self->is_read = TRUE;
    if (qd_tally_reader_get(reader, self->predicate, self->order, &column) != SQLITE_OK)
        return;
    (void) qd_tally_column_unref(self->column);
    self->column = column;
    self->all = qd_tally_vector_from_column(qd_tally_column_ref(column), FALSE);
    qd_tally_reading_init(&self->reading, &self->all, cache_bytes);
    self->is_reading = !self->reading.cannot_record;
}

/* Another term is not there. */
static void
miss(QdTallySource *self, QdTallyReader *reader, guint64 cache_bytes)
{
    QdTallyStatistics statistics;
    gboolean is_known;

    if (self->n_keys == 0 && qd_tally_reader_count(reader, self->predicate, &statistics, &is_known) == SQLITE_OK)
        self->n_keys = (gsize) (self->order == QD_TALLY_BY_SUBJECT ? statistics.n_subjects : statistics.n_objects);
    if (++self->n_missed >= MAX(self->n_keys, QD_TALLY_TEXTS_MIN) / MISSED_SHARE)
        begin_reading(self, reader, cache_bytes);
}

gboolean
qd_tally_source_find(QdTallySource *self, QdTallyReader *reader, guint64 cache_bytes, gint64 id, QdTerm *ret_term)
{
    if (self->predicate == 0 || self->is_reading)
        return FALSE;
    if (!self->is_known) {
        self->is_known = TRUE;
        self->column = qd_tally_cache_find(self->stamp, self->order);
    }
    if (self->column != NULL && qd_tally_texts_find(self->column, id, &self->place, ret_term))
        return TRUE;
    if (!self->is_read)
        miss(self, reader, cache_bytes);
    return FALSE;
}

gboolean
qd_tally_source_get_missing(QdTallySource *self, gint64 *ret_id)
{
    while (self->is_reading && self->reading.position < self->all.n) {
        gint64 id = self->all.keys[self->reading.position];

        if (!qd_term_id_is_inline(id) && !self->reading.cannot_record) {
            *ret_id = id;
            return TRUE;
        }
        qd_tally_reading_advance(&self->reading);
    }
    self->is_reading = FALSE;
    return FALSE;
}

void
qd_tally_source_record(QdTallySource *self, const QdTerm *term)
{
    qd_tally_reading_record(&self->reading, self->all.keys[self->reading.position], term);
    qd_tally_reading_advance(&self->reading);
}
