/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What full-text patterns call beside FTS5's own functions.
 *
 *     queryd_match_text(v)           TEXT: the query text of a string; one that matches nothing for any other value; an error for
 * NULL queryd_match_offsets(table)    of FTS5, in a query with MATCH: "start,length start,length…", in code points from 1
 *
 * Place: room functions, internal to functions.
 */
#pragma once

#include "daemon/functions/value.h"

/* @ev: of the connection; outlives @db */
gboolean qd_match_calls_register(sqlite3 *db, QdEvaluation *ev, GError **error);
