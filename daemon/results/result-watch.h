/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Since when what a result has read is unchanged.
 *
 * Place: room results, below the memory, whose mutex it is used under. Each table and each predicate that a remembered result has
 * read is a cell with the number of its last change. A write sets a number in each cell that it touches, however many results
 * have read it.
 * Invariant: the cells are as new as the database only where the log stands where our last write has left it. Anything else (a
 * write of another program, VACUUM, another database in place of this one) moves the log, and then everything has changed.
 */
#pragma once

#include "daemon/notify/read-set.h"

typedef struct QdResultCell QdResultCell;
typedef struct QdResultWatch QdResultWatch;

QdResultWatch *qd_result_watch_new(const char *database_path);
/* All cells have been released. */
QdResultWatch *qd_result_watch_free(QdResultWatch *self);

/* The number of changes so far. A result that is read from now on has all of them. Thread: any, without the mutex. */
guint64 qd_result_watch_get_number(const QdResultWatch *self);

/* Writes ------------------------------------------------------------------------------------------------------------------- */

/* Our write transaction has begun: it has the lock. */
void qd_result_watch_begin_write(QdResultWatch *self);
/* It has ended. @changes: (nullable): NULL: nothing was committed. @is_logged: the commit has written something */
void qd_result_watch_end_write(QdResultWatch *self, const QdChanges *changes, gboolean is_logged);
/* All is forgotten: from here on nothing is known of the database. */
void qd_result_watch_forget(QdResultWatch *self);

/* Results ------------------------------------------------------------------------------------------------------------------ */

/* FALSE: the cells are not as new as the database just now. If another program has written, all of them have changed afterwards. */
gboolean qd_result_watch_catch_up(QdResultWatch *self);
/* (transfer full): what @reads names. qd_result_watch_release() */
GPtrArray *qd_result_watch_take_cells(QdResultWatch *self, const QdReadSet *reads);
void qd_result_watch_release(QdResultWatch *self, GPtrArray *cells);
/* Whether everything has changed since the change with this number: the schema, too, so that a text may read something else. */
gboolean qd_result_watch_all_changed(const QdResultWatch *self, guint64 number);
/* Whether none of @cells has changed since the change with this number. */
gboolean qd_result_watch_is_unchanged(const QdResultWatch *self, const GPtrArray *cells, guint64 number);
