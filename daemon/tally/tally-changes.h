/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What small changes of predicates were: from the stamp before a change to the one after it, the pairs that came and went.
 *
 * Place: room tally. The writer notes changes; a reader that misses a column makes it from an earlier one instead of from the file.
 * Only this process knows them, and few: what is not known is read from the file.
 * Invariant: a change describes all that differs between two stamps in the default graph. One that was rolled back does no harm,
 * since no snapshot ever has its stamp.
 */
#pragma once

#include "daemon/tally/tally-column.h"

/* A pair that came, or went. */
typedef struct QdTallyPairChange {
    gint64 s, o;
    gboolean is_gone;
} QdTallyPairChange;

/* More in one transaction are not noted. */
#define QD_TALLY_CHANGES_MAX 1024

/* @changes: (array length=n): in their order, copied; may be none. Nothing is kept where no column with @before, nor a change that
 * leads to it, is. Thread: any, as of the next. */
void qd_tally_changes_note(gint64 before, gint64 after, const QdTallyPairChange *changes, guint n);

/* Without connections nothing is kept, as of columns. */
void qd_tally_changes_clear(void);

/**
 * qd_tally_changes_make_column:
 * @stamp: of the column that is wanted
 * @room: what the statistics say of it
 * @ret_column: (out) (transfer full) (nullable): NULL: no earlier column is known that leads to it
 *
 * Returns: SQLITE_OK, SQLITE_NOMEM or SQLITE_INTERRUPT
 */
int qd_tally_changes_make_column(gint64 stamp, QdTallyOrder order, const QdTallyColumnRoom *room, QdTallyColumn **ret_column);

/* Whether anything is kept that a change could lead to: a writer without it notes nothing. */
gboolean qd_tally_changes_are_wanted(void);
