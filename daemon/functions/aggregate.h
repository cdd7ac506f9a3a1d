/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The set functions of SPARQL 1.1 §18.5.1 as SQL aggregates: SQLite's own overflow, and know no errors.
 *
 * queryd_sum, queryd_avg: a member that is no number, NULL too, makes the result NULL. queryd_min, queryd_max: by sort key, NULL
 * drops out. queryd_sample: the first that is not NULL. queryd_group_concat(v [, separator]): one blank node or NULL makes it NULL.
 * queryd_group_list(v) collects texts for queryd_list_join(list, separator): what GROUP_CONCAT(DISTINCT …; SEPARATOR) needs, since
 * SQLite has DISTINCT for one argument only.
 *
 * Place: room functions, internal to functions.
 */
#pragma once

#include "daemon/functions/value.h"

/* qd_aggregate_register: @ev outlives the functions. */
gboolean qd_aggregate_register(sqlite3 *db, QdEvaluation *ev, GError **error);
