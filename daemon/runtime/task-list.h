/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tasks that wait, in the order in which they came.
 *
 * Place: room runtime, private to workers.c, which guards the lists by its mutex.
 */
#pragma once

#include "daemon/runtime/workers.h"

typedef struct QdTaskList {
    QdTask *first;
    QdTask **end;
} QdTaskList;

/* All zero but for the end: an empty one. */
void qd_task_list_push(QdTaskList *list, QdTask *task);
/* @link: what points to the task. Returns: the task, which is out */
QdTask *qd_task_list_unlink(QdTaskList *list, QdTask **link);
/* Whether the time of one has come. */
gboolean qd_task_list_has_late(const QdTaskList *list, uint64_t now_usec);
/* Returns: (nullable): one whose time has come, which is out */
QdTask *qd_task_list_pop_late(QdTaskList *list, uint64_t now_usec);
/* Returns: whether it was in */
gboolean qd_task_list_remove(QdTaskList *list, const QdTask *task);
