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

#include "daemon/rdf/term.h"

/* The terms of the values of a connection's tallies: those of a whole column are kept with it. */
typedef struct QdTallyTerms QdTallyTerms;

/* @cache_bytes: as of qd_tally_reader_new(). @ret_terms: (out) (transfer none): lives as long as the connection */
gboolean qd_tally_register(sqlite3 *db, guint64 cache_bytes, QdTallyTerms **ret_terms, GError **error);

typedef struct QdTallyReader QdTallyReader;
/* For columns without a program, by the same connection @db: qd_tally_reader_free(). */
QdTallyReader *qd_tally_terms_make_reader(QdTallyTerms *self, sqlite3 *db);

/* The term of @id where it is the value of the row under way and is kept. @ret_term: (out): borrowed until the next row
 * Returns: FALSE where the dictionary has to be asked, of whose answer qd_tally_terms_record() is to hear. */
gboolean qd_tally_terms_find(QdTallyTerms *self, gint64 id, QdTerm *ret_term);
void qd_tally_terms_record(QdTallyTerms *self, gint64 id, const QdTerm *term);

/* An id whose term is to be read, too, for later statements. qd_tally_terms_record_missing() hears of it, and the next is asked for
 * before anything else is. FALSE: none */
gboolean qd_tally_terms_get_missing(QdTallyTerms *self, gint64 *ret_id);
void qd_tally_terms_record_missing(QdTallyTerms *self, const QdTerm *term);
