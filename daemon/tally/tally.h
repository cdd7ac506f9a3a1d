/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts of patterns over whole predicates, without their rows. queryd_tally(program, ids) has a row for each value of one
 * variable: the value, and in how many solutions of the pattern it occurs.
 *
 *     SELECT value, n FROM queryd_tally('=*s00s01', queryd_tally_ids(?1, ?2))      ?s ?1 ?a . ?s ?2 ?b, by ?s
 *     SELECT n FROM queryd_tally('#S00s01', queryd_tally_ids(?1, ?2))              how many solutions ?s ?1 ?a . ?a ?2 ?b has
 *
 * docs/decisions/tally.md says what it is for; tally-program.h has the programs. The pattern is a tree, so the number of its
 * solutions is a sum of products. From the leaves to the root, each variable needs one number for each value.
 *
 * Place: room tally. It reads queryd_quad and queryd_predicate by the connection that it is registered on, in its snapshot.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

/* @cache_bytes: as of qd_tally_reader_new() */
gboolean qd_tally_register(sqlite3 *db, guint64 cache_bytes, GError **error);
