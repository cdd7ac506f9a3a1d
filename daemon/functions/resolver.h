/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What SQL functions need to know of the world: terms of the dictionary, and what is fixed for one execution.
 *
 * Place: room functions. The resolver reads the store's dictionary; read/evaluation.c connects them and starts the context
 * before each execution. Thread: the one that runs the connection.
 */
#pragma once

#include "daemon/base/limits.h"
#include "daemon/rdf/term.h"

typedef struct QdResolver {
    /* The term of an id > 0. Borrowed until the next call. FALSE with an error when there is none, or reading failed. */
    gboolean (*get_term)(gpointer data, gint64 id, QdTerm *ret_term, GError **error);
    /* The dictionary's id of a term. FALSE without an error: not stored. */
    gboolean (*find_id)(gpointer data, const QdTerm *term, gint64 *ret_id, GError **error);
    gpointer data;
    /* (nullable): the id of a term, for which find_id will be asked soon. */
    void (*note_id)(gpointer data, const QdTerm *term, gint64 id);
    /* (nullable): no term is borrowed any more. Worth a call after a large one. */
    void (*release)(gpointer data);
} QdResolver;

typedef struct QdEvaluationContext {
    const QdLimits *limits;            /* (nullable): NULL: the defaults */
    gint64 now_usec;                   /* NOW(): µs since 1970 */
    guint64 next_bnode;                /* the serial of the next fresh blank node (QD_TAG_BNODE_FRESH) */
    int (*interrupted)(gpointer data); /* (nullable): asked in long work, as SQLite's progress handler; not 0 ends it */
    gpointer data;
} QdEvaluationContext;

/* qd_evaluation_context_start: a new execution: the clock is read, blank nodes are fresh. */
void qd_evaluation_context_start(QdEvaluationContext *self);
