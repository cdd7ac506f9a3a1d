/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tasks that wait: a lane for each client, served in turns.
 *
 * Place: room runtime, private to workers.c, which guards the lists by its mutex.
 * Invariant: of one client the tasks come out in the order in which they went in; of n clients that wait each is every n-th.
 */
#pragma once

#include "daemon/read/client.h"
#include "daemon/runtime/workers.h"

typedef struct QdTaskList {
    QdTaskLane *first; /* the one whose turn it is; lanes in here are not empty */
    QdTaskLane **end;
    QdTaskLane unowned; /* of the tasks without a client */
    guint which;        /* of a client's lanes */
} QdTaskList;

typedef gboolean (*QdTaskFunc)(const QdTask *task, void *data);

/* @which: 0 or 1: a client has a lane in each of two lists */
void qd_task_list_init(QdTaskList *list, guint which);
void qd_task_list_push(QdTaskList *list, QdTask *task);
/* How many of its client wait. */
guint qd_task_list_count(const QdTaskList *list, const QdClient *client);
/* The first task of the first lane for which @may_run is TRUE; its lane goes to the end. NULL: there is none. */
QdTask *qd_task_list_pop(QdTaskList *list, QdTaskFunc may_run, void *data);
/* Whether the time of one has come. */
gboolean qd_task_list_has_late(const QdTaskList *list, uint64_t now_usec);
/* Returns: (nullable): one whose time has come, which is out */
QdTask *qd_task_list_pop_late(QdTaskList *list, uint64_t now_usec);
/* Returns: whether it was in */
gboolean qd_task_list_remove(QdTaskList *list, const QdTask *task);
/* The workers have stopped: `drop` of those that are the queue's own. */
void qd_task_list_drop(QdTaskList *list);
