/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which predicates had no column in the file when one was wanted: those are stored when there is time.
 *
 * Place: room tally. Of this process; few. What is forgotten is missed again. Thread: any.
 */
#pragma once

#include <glib.h>

/* From so many quads on. */
void qd_tally_missed_set_least(gint64 n_quads);

void qd_tally_missed_note(gint64 predicate, gint64 n_quads);
/* Every predicate: after a load. */
void qd_tally_missed_note_all(void);

gboolean qd_tally_missed_any(void);

/* Adds what was missed to @predicates (of gint64), and forgets it. Returns: whether it is every predicate */
gboolean qd_tally_missed_take(GArray *predicates);
