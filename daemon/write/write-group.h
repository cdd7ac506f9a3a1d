/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A group: updates that run in one transaction, each of them failing alone.
 *
 * Place: room write, private to the writer; for the holder of its role.
 */
#pragma once

#include "daemon/write/writer-private.h"

#define QD_WRITE_GROUP_MAX 512

typedef enum QdMemberResult {
    QD_MEMBER_OK,
    QD_MEMBER_FAILED,
    QD_MEMBER_ENDED_TRANSACTION, /* or has left something behind that only its end can undo */
} QdMemberResult;

/* Inside the transaction that is open. */
QdMemberResult qd_write_execute_in_savepoint(QdWriter *self, QdWriteItem *item);

/*
 * Runs @first, and what waits or comes soon if it can be with it. Each has its result or error then; nobody was told.
 *
 * @items: (out): all of them, QD_WRITE_GROUP_MAX at most
 *
 * Returns: how many
 */
guint qd_write_group_run(QdWriter *self, QdWriteItem *first, QdWriteItem **items, gboolean relaxed);

/* Answers those who were told; for who is likely to write at once the next group is held open, as long as the last commit took. */
/* Under the mutex: @item is the one that was taken out of the queue. */
void qd_write_note_holder(QdWriter *self, const QdWriteItem *item);
void qd_write_begin_linger(QdWriter *self);
/* Looks whether they have. Returns: whether to look at the queue again */
gboolean qd_write_linger(QdWriter *self);
/* Before everything that may take long. */
void qd_write_end_linger(void *writer);
