/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Columns of predicates are stored in the file: those that a query has missed, those of a load, or all.
 *
 * Place: room write. What they are: tally/tally-file.h. They are read and packed on the caller's thread, and written by short
 * transactions of the writer. So updates wait for one of 1 MiB at most.
 */
#pragma once

#include <glib.h>

typedef struct QdConnection QdConnection;
typedef struct QdLimits QdLimits;
typedef struct QdPool QdPool;
typedef struct QdWriter QdWriter;

typedef struct QdColumnWork {
    QdWriter *writer; /* (nullable): for a check: the store cannot be written */
    QdPool *pool;
    const QdLimits *limits;
    gboolean is_of_all;           /* regardless of what is missed or stored: each one is read from the quads again */
    gboolean (*stop)(void *data); /* asked now and then: TRUE: the rest stays missed */
    void *data;
    const gint *cancelled; /* (nullable) atomic: the writer is not waited for any more */
} QdColumnWork;

/* From here on what queries miss is noted: a process that does not write never begins. */
void qd_write_columns_begin(const QdLimits *limits);
/* Whether there is something to store: a query has missed it, or a load has changed much. Thread: any, as of the next two. */
gboolean qd_write_columns_are_wanted(void);
/* A load has changed much. */
void qd_write_columns_want(void);

/**
 * qd_write_columns_check:
 * @connection: of @work's pool; a reader
 * @messages: what is wrong is added, as (owned) texts
 *
 * Compares the stored columns with the quads. The wrong ones are dropped, and their predicates get other stamps, since what was
 * read of them may be in memory. Then everything counts as changed. A store that cannot be written keeps them.
 *
 * Returns: FALSE with @error: they could not be compared, or not dropped
 */
gboolean qd_write_columns_check(const QdColumnWork *work, QdConnection *connection, GPtrArray *messages, GError **error);

/* Blocks: a thread of a job or of its own. Returns: FALSE with @error: nothing of it is lost but time */
gboolean qd_write_columns(const QdColumnWork *work, GError **error);
