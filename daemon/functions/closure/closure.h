/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Repeated paths as a table: queryd_closure(seed, steps, graph) has a row for each node that the path leads to from one seed.
 *
 *     SELECT n.n, c.node FROM seeds AS n CROSS JOIN queryd_closure(n.n, ?1, 0) AS c
 *     queryd_steps(kind, direction, predicate, …)   makes ?1: kind '*', '+' or '?', direction 1 (forward) or -1 (inverse); 2 or -2
 *                                                   where the next link goes on from this one, so that both are one step.
 *                                                   After links 3 (-3): only nodes where a link of the predicate begins (ends); 4
 * (-4): where none does; 5: the other end of that link
 *
 * Breadth first, a set for each seed, rows as they are found. Both ends of a path may be free without a table of all pairs.
 * What a node leads to is read once for all seeds of a statement. Only nodes are stored, in SQLite's memory, which counts for
 * the query.
 *
 * Place: room functions, which registers it. It knows of the store that queryd_quad(s, p, o, g) can be read.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

gboolean qd_closure_register(sqlite3 *db, GError **error);
