/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checkpoints beside the writer: a thread with a connection of its own copies the write-ahead log into the database while commits
 * go on.
 *
 * Place: room write, the writer's. The thread is there while there is work, and for a moment after it.
 * Invariant: a pass begins only while the log holds pages that no checkpoint has copied. Else the writer could restart the log
 * just then. SQLite before 3.51.3 may take what comes into it for copied, and lose it (its "WAL-reset bug").
 */
#pragma once

#include "daemon/base/limits.h"

typedef struct QdConnection QdConnection;
typedef struct QdDatabase QdDatabase;
typedef struct QdCheckpointer QdCheckpointer;

/* @database, @limits: (not owned) */
QdCheckpointer *qd_checkpointer_new(const QdDatabase *database, const QdLimits *limits);
/* The writer's role is free. */
QdCheckpointer *qd_checkpointer_free(QdCheckpointer *self);

/* The rest is for the holder of the writer's role. */

/* After a commit, which has left @n_pages in the log: a pass may begin, on another thread. Returns: TRUE when the holder calls
 * qd_checkpointer_finish() now: it takes little time, the log has grown by too much meanwhile, or there is no thread */
gboolean qd_checkpointer_note(QdCheckpointer *self, guint n_pages);
/* A checkpoint on @connection, the writer's, when no pass runs any more. Returns: bytes of a log that could not be copied as a
 * whole, since an old snapshot is being read, or 0. A long log waits for those that read it: qd_checkpointer_empty_log() */
uint64_t qd_checkpointer_finish(QdCheckpointer *self, QdConnection *connection);
/* Waits a quarter of a second, at most, for those that read. Returns: whether the log is empty now */
gboolean qd_checkpointer_empty_log(QdCheckpointer *self, QdConnection *connection);
/* Before any checkpoint that is not its own: until no pass runs. None begins before the next qd_checkpointer_note(). */
void qd_checkpointer_wait(QdCheckpointer *self);
/* The same, and its connection is closed. */
void qd_checkpointer_rest(QdCheckpointer *self);
/* A writer's connection that was just opened: a log that restarts is cut to what it needs between checkpoints. */
void qd_checkpointer_bound_log(const QdCheckpointer *self, QdConnection *connection);
/* When commits have paused: a log of @n_pages, if that is more than between checkpoints, is copied and truncated, unless it is
 * being read. Returns: whether it was */
gboolean qd_checkpointer_shrink_log(QdCheckpointer *self, QdConnection *connection, guint n_pages);

/* Any thread. */
uint64_t qd_checkpointer_get_n_passes(const QdCheckpointer *self);
