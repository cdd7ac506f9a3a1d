/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The terms of a variable's values in rows of several variables: those that are kept with a column of which the values are keys.
 *
 * Place: room tally, internal to it. Rows look terms up in any order, and not all. A statement may
 * look up half as many as the column has keys. Then those of all keys are read, in their order, for the next statement.
 */
#pragma once

#include "daemon/tally/tally-reader.h"
#include "daemon/tally/tally-texts.h"

typedef struct QdTallySource {
    gint64 predicate;   /* 0: none, the values have no such column */
    gint64 stamp;       /* of its column, */
    QdTallyOrder order; /* whose keys the values are */
    gboolean is_known;  /* whether it is cached */
    QdTallyColumn *column;
    gsize place;    /* among its texts */
    gsize n_missed; /* of @n_keys */
    gsize n_keys;
    QdTallyVector all; /* while they are read */
    QdTallyReading reading;
    gboolean is_reading, is_read;
} QdTallySource;

void qd_tally_source_init(QdTallySource *self, gint64 predicate, gint64 stamp, QdTallyOrder order);
void qd_tally_source_clear(QdTallySource *self);

/* @ret_term: (out): borrowed until the source is cleared. Returns: FALSE where the dictionary has to be asked */
gboolean qd_tally_source_find(QdTallySource *self, QdTallyReader *reader, guint64 cache_bytes, gint64 id, QdTerm *ret_term);

/* The next key of which the term is to be read; FALSE: none. */
gboolean qd_tally_source_get_missing(QdTallySource *self, gint64 *ret_id);
/* The term of that key. */
void qd_tally_source_record(QdTallySource *self, const QdTerm *term);
