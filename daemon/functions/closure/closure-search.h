/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The nodes that a repeated path leads to: a path in one graph, then one seed after another.
 *
 * A path is packed: its kind ('*', '+' or '?'), then for each link a direction and a predicate's id in host order. Conditions on
 * the nodes that are rows may follow: a kind of them, and an id, each. Memory for nodes
 * is SQLite's, which counts for the query. Result codes are SQLite's; after a failure the seed has to be started again.
 *
 * Place: internal to closure.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

#define QD_CLOSURE_STEP_BYTES 9
#define QD_CLOSURE_LINKS_MAX 60
#define QD_CLOSURE_CONDITIONS_MAX 8
#define QD_CLOSURE_PATH_BYTES (1 + (QD_CLOSURE_LINKS_MAX + QD_CLOSURE_CONDITIONS_MAX) * QD_CLOSURE_STEP_BYTES)
/* Directions; of a link that the next one goes on from. */
#define QD_CLOSURE_FORWARD 1
#define QD_CLOSURE_BACKWARD (-1)
#define QD_CLOSURE_FORWARD_ON 2
#define QD_CLOSURE_BACKWARD_ON (-2)
/* Conditions: a link of the predicate begins at the node (or, negative, ends there), or none does; and which its other end is. */
#define QD_CLOSURE_HAS 3
#define QD_CLOSURE_HAS_NOT 4
#define QD_CLOSURE_OTHER_END 5

typedef struct QdClosure QdClosure;

/* Those that read links. They are in use only within one call, so all searches of a connection share them. */
typedef struct QdClosureStatements {
    sqlite3 *db;
    sqlite3_stmt *forward; /* (nullable): made when it is needed, as the next one */
    sqlite3_stmt *forward_named;
    sqlite3_stmt *backward;
    sqlite3_stmt *exact;
} QdClosureStatements;

void qd_closure_statements_clear(QdClosureStatements *self);

/* @statements: (not owned): outlive it */
QdClosure *qd_closure_new(QdClosureStatements *statements);
QdClosure *qd_closure_free(QdClosure *self);

/* Of another path or graph than before, what is known is forgotten. Returns: FALSE if @steps (nullable) is no path */
gboolean qd_closure_set_path(QdClosure *self, const guint8 *steps, gsize n_steps, gint64 graph);
gboolean qd_closure_has_path(const QdClosure *self, const guint8 *steps, gsize n_steps, gint64 graph);
/* Whether the path may have no length: then each seed leads to itself. */
gboolean qd_closure_has_seeds(const QdClosure *self);
/* @target: the one node that is asked for, or 0 for all. */
int qd_closure_start(QdClosure *self, gint64 seed, gint64 target);
/* @ret_node: the next one, each once, in the order found; 0 at the end */
int qd_closure_next(QdClosure *self, gint64 *ret_node);
/* How many nodes there are in all, without a target. */
int qd_closure_count(QdClosure *self, guint64 *ret_n);
