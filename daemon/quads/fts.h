/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The full-text index: an FTS5 table over the string literals that are objects of the chosen predicates.
 *
 * Place: room quads, beside quads, which tells it of each quad that comes or goes. One for each connection that writes.
 * Invariants: outside of a change queryd_fts has exactly the rows of the view queryd_fts_content, and none of them twice. It
 * holds no texts of its own; its rowid is the literal's id. Without a chosen predicate there is no such table, and nothing is
 * done.
 */
#pragma once

#include "daemon/quads/dictionary.h"

typedef struct QdFts QdFts;

/* The connection's own: (transfer none). */
QdFts *qd_fts_get(QdConnection *connection, GError **error);

/* Reads what is indexed; nothing is pending. In a transaction of the writer. */
gboolean qd_fts_begin(QdFts *self, GError **error);
/* A quad with predicate @p and object @o has come or gone. */
gboolean qd_fts_note(QdFts *self, gint64 p, gint64 o, GError **error);
/* Brings the index up to date with what was noted. */
gboolean qd_fts_finish(QdFts *self, GError **error);
/* The same by looking at all literals: after a load that noted nothing. */
gboolean qd_fts_catch_up(QdFts *self, GError **error);
/* There are no quads any more. */
gboolean qd_fts_clear(QdFts *self, GError **error);

/* What is to be done, in this order. */
typedef struct QdFtsChange {
    const char *tokenizer;     /* (nullable): another one: "unicode61", "porter", "trigram" */
    char **add;                /* (nullable): IRIs of predicates */
    char **remove;             /* (nullable) */
    gboolean has_all;          /* @all is given: */
    gboolean all;              /* whether objects of every predicate are indexed */
    gboolean rebuild, compare; /* rebuild the index; compare it with the literals */
} QdFtsChange;

/**
 * qd_fts_change:
 * @writer: in a transaction
 *
 * Errors: BAD_PARAMETER: no IRI, a predicate that is not indexed, an unknown tokenizer; CORRUPT: @compare found a difference
 */
gboolean qd_fts_change(QdConnection *writer, const QdFtsChange *change, GError **error);

/* Appends a message for each difference between index and literals, in words: any connection. */
gboolean qd_fts_check(QdConnection *connection, GPtrArray *messages, GError **error);
