/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The dictionary: terms that do not live in line, by id and by value, in the tables queryd_term and queryd_term_hash.
 *
 * Place: room quads. One for each connection, made at first use; it sees what the connection's transaction sees.
 * Invariants: a term has one id, an id one term, for ever: numbers come from a counter that only grows. A language tag is kept
 * as it came first and found in any case. What was interned and rolled back is forgotten by qd_dictionary_begin().
 */
#pragma once

#include "daemon/quads/term-key.h"
#include "daemon/rdf/term.h"
#include "daemon/sqlite/connection.h"

typedef struct QdDictionary QdDictionary;

/* How many calls of qd_dictionary_get_term() a term outlives. */
#define QD_DICTIONARY_N_BORROWED 16

/* The connection's own: (transfer none). The file has to be a store. */
QdDictionary *qd_dictionary_get(QdConnection *connection, GError **error);

/* The database of its connection. (transfer none) */
sqlite3 *qd_dictionary_get_db(const QdDictionary *self);

/**
 * qd_dictionary_get_term:
 * @id: any id
 * @ret_term: (out): borrowed until QD_DICTIONARY_N_BORROWED more calls
 *
 * Errors: CORRUPT: @id stands for no term; and SQLite's own
 */
gboolean qd_dictionary_get_term(QdDictionary *self, gint64 id, QdTerm *ret_term, GError **error);

/* qd_dictionary_release: no term is borrowed any more: the memory of large ones is free again. */
void qd_dictionary_release(QdDictionary *self);

/**
 * qd_dictionary_get_given_term:
 * @id: any id, which an argument of a function may be
 * @ret_term: (out): borrowed until QD_DICTIONARY_N_BORROWED more calls
 *
 * As qd_dictionary_get_term(), but an id that no quad has either says nothing of the file.
 *
 * Errors: BAD_PARAMETER: neither a term nor a quad has @id; CORRUPT: a quad has it; and SQLite's own
 */
gboolean qd_dictionary_get_given_term(QdDictionary *self, gint64 id, QdTerm *ret_term, GError **error);

/**
 * qd_dictionary_find_id:
 * @ret_id: (out): in line or of the dictionary; a blank node is found by the label that it is given: "b" and its serial
 *
 * Returns: FALSE without an error when the term is not stored
 */
gboolean qd_dictionary_find_id(QdDictionary *self, const QdTerm *term, gint64 *ret_id, GError **error);

/* @id: of @term, as qd_dictionary_get_term() gave it: it will be asked for soon, and is then found without reading the store. */
void qd_dictionary_note_id(QdDictionary *self, const QdTerm *term, gint64 id);

/* Writing: in a transaction of the writer's connection, with its guard at QD_POLICY_INTERNAL. ------------------------------- */

/* Reads the counters again, and forgets what was cached of a write that may have been rolled back. */
gboolean qd_dictionary_begin(QdDictionary *self, GError **error);
/* Writes the counters; without it ids are given again. */
gboolean qd_dictionary_finish(QdDictionary *self, GError **error);

/* qd_dictionary_intern: the id of @term, which is stored if it was not. A blank node's label has to be that of a stored one. */
gboolean qd_dictionary_intern(QdDictionary *self, const QdTerm *term, gint64 *ret_id, GError **error);

/* A blank node that was never there before. */
gint64 qd_dictionary_make_bnode(QdDictionary *self);

/* For bulk-load ------------------------------------------------------------------------------------------------------- */

/* A new term with all that its rows need; its datatype by id. */
typedef struct QdStoredTerm {
    QdTerm term; /* the qualifier of a TYPED one is not looked at */
    gint64 id;
    gint64 datatype_id;
    guint64 hash; /* the low half of its key */
    gboolean has_number;
    double number;
} QdStoredTerm;

/* The secret of the store's keys. */
const QdTermKey *qd_dictionary_get_secret(const QdDictionary *self);
/* So many numbers, from *@ret_sequence and *@ret_bnode on. Returns: the last sequence that was in use before */
guint64 qd_dictionary_reserve(QdDictionary *self, guint64 n_terms, guint64 n_bnodes, guint64 *ret_sequence, guint64 *ret_bnode);
/* @ret_id: (out): the id of an equal term that is stored, or 0 */
gboolean qd_dictionary_find_stored(QdDictionary *self, const QdStoredTerm *term, gint64 *ret_id, GError **error);
/* The term's row and that of its hash. */
gboolean qd_dictionary_append(QdDictionary *self, const QdStoredTerm *term, GError **error);
