/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A group: updates that run in one transaction, each of them failing alone.
 *
 * Place: room write, private to the writer; for the holder of its role.
 */
#pragma once

#include <glib.h>

typedef struct QdWriteItem QdWriteItem;
typedef struct QdWriter QdWriter;

#define QD_WRITE_GROUP_MAX 512

typedef enum QdMemberResult {
    QD_MEMBER_OK,
    QD_MEMBER_FAILED,
    QD_MEMBER_ENDED_TRANSACTION, /* or has changed what only its end can undo */
} QdMemberResult;

/* Inside the transaction that is open. */
QdMemberResult qd_write_execute_in_savepoint(QdWriter *self, QdWriteItem *item);

/*
 * Runs @first, and what waits or comes soon if it can be with it. Each has its result or error then; none was answered.
 *
 * @items: (out): all of them, QD_WRITE_GROUP_MAX at most
 *
 * Returns: how many
 */
guint qd_write_group_run(QdWriter *self, QdWriteItem *first, QdWriteItem **items, gboolean relaxed);

/* Ends the transaction. @item: (nullable): all of it is this one's work, and what ends it ends the commit, too. FALSE: it is to be
 * rolled back. */
gboolean qd_write_commit(QdWriter *self, QdWriteItem *item, GError **error);

/* The answers of a group are out: the next one is held open, as long as the last commit took. */
void qd_write_begin_linger(QdWriter *self);
gboolean qd_write_is_lingering(const QdWriter *self);
/* Looks once for what they have written, which is in the queue then. Returns: whether to look at the queue again */
gboolean qd_write_linger(QdWriter *self);
/* Before everything that may take long. */
void qd_write_end_linger(QdWriter *self);
