/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The texts of a column's keys, kept beside it: functions of strings then need no look-up in the dictionary for each value.
 *
 * Place: room tally, internal to it. They are recorded while a first statement goes through all rows of the column and looks its
 * terms up. Invariant: what is kept never changes; ids in line have no text. A column that is made of an earlier one takes
 * over its texts, so keys that came since have none.
 */
#pragma once

#include "daemon/rdf/term.h"
#include "daemon/tally/tally-vector.h"

#define QD_TALLY_TEXTS_MIN 1024 /* keys: the dictionary keeps as many texts of those used last itself */

/* A statement's way through the rows of a vector. */
typedef struct QdTallyReading {
    const QdTallyVector *vector;
    gsize position;          /* of the row */
    gsize place;             /* of its key among those of the texts */
    QdTallyTexts *recording; /* (nullable) */
    gboolean cannot_record;  /* what is missing will not come */
    guint64 n_bytes_max;     /* of texts, and of all columns */
    guint64 cache_bytes;
} QdTallyReading;

/* At the first row of @vector. */
void qd_tally_reading_init(QdTallyReading *self, const QdTallyVector *vector, guint64 cache_bytes);
void qd_tally_reading_clear(QdTallyReading *self);

/* To the next row; after the last one what was recorded is kept. */
void qd_tally_reading_advance(QdTallyReading *self);

/* The term of @id if it is the row's and its text is kept. @ret_term: (out): borrowed until the reading is cleared */
gboolean qd_tally_reading_find(QdTallyReading *self, gint64 id, QdTerm *ret_term);
/* @term is what the dictionary has for @id. */
void qd_tally_reading_record(QdTallyReading *self, gint64 id, const QdTerm *term);

/* The texts of @from, an earlier column, are those of @to, which is not in use yet, where few of its keys have none. */
void qd_tally_texts_carry(QdTallyColumn *from, QdTallyColumn *to);

/* The term of @id where the column's texts have it. *@place: where the last one was found. @ret_term: (out): borrowed from the
 * column */
gboolean qd_tally_texts_find(QdTallyColumn *column, gint64 id, gsize *place, QdTerm *ret_term);

/* Takes NULL, returns NULL. */
QdTallyTexts *qd_tally_texts_free(QdTallyTexts *self);
/* As they are charged to the cache. */
guint64 qd_tally_texts_get_n_bytes(const QdTallyTexts *self);
