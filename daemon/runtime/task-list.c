/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lanes in a ring, and how long a task waits. A lane lives in its client, so that nothing is looked up or allocated. A client that
 * floods the queue keeps another one waiting for one of its tasks at most.
 */
#include "daemon/runtime/task-list.h"

#include "daemon/base/error.h"
#include "daemon/base/limits.h"

void
qd_task_list_init(QdTaskList *list, guint which)
{
    *list = (QdTaskList){ .which = which };
    list->end = &list->first;
}

static void
append_lane(QdTaskList *list, QdTaskLane *lane)
{
    lane->next = NULL;
    *list->end = lane;
    list->end = &lane->next;
}

/* @link: what points to the lane */
static void
unlink_lane(QdTaskList *list, QdTaskLane **link)
{
    QdTaskLane *lane = *link;

    *link = lane->next;
    if (list->end == &lane->next)
        list->end = link;
}

/* @link, @task_link: what points to the lane, and to a task in it. An empty lane goes. */
static QdTask *
unlink_task(QdTaskList *list, QdTaskLane **link, QdTask **task_link)
{
    QdTaskLane *lane = *link;
    QdTask *task = *task_link;

    *task_link = task->next;
    if (lane->end == &task->next)
        lane->end = task_link;
    task->next = NULL;
    if (--lane->n == 0)
        unlink_lane(list, link);
    return task;
}

void
qd_task_list_push(QdTaskList *list, QdTask *task)
{
    QdTaskLane *lane = task->client != NULL ? &task->client->task_lanes[list->which] : &list->unowned;

    if (lane->n++ == 0) {
        lane->first = NULL;
        lane->end = &lane->first;
        append_lane(list, lane);
    }
    task->next = NULL;
    *lane->end = task;
    lane->end = &task->next;
}

guint
qd_task_list_count(const QdTaskList *list, const QdClient *client)
{
    return client != NULL ? client->task_lanes[list->which].n : list->unowned.n;
}

/* What holds for one of a client's tasks holds for all. */
QdTask *
qd_task_list_pop(QdTaskList *list, QdTaskFunc may_run, void *data)
{
    for (QdTaskLane **link = &list->first; *link != NULL; link = &(*link)->next) {
        QdTaskLane *lane = *link;
        QdTask *task;

        if (!may_run(lane->first, data))
            continue;
        task = unlink_task(list, link, &lane->first);
        if (lane->n > 0) {
            unlink_lane(list, link);
            append_lane(list, lane);
        }
        return task;
    }
    return NULL;
}

/* Any task for which @is_it is TRUE; turns stay as they are. NULL: there is none. */
static QdTask *
take(QdTaskList *list, QdTaskFunc is_it, void *data)
{
    for (QdTaskLane **link = &list->first; *link != NULL; link = &(*link)->next)
        for (QdTask **task_link = &(*link)->first; *task_link != NULL; task_link = &(*task_link)->next)
            if (is_it(*task_link, data))
                return unlink_task(list, link, task_link);
    return NULL;
}

void
qd_task_begin_wait(QdTask *self, uint64_t timeout_msec, uint64_t begun_usec)
{
    self->queued_usec = (uint64_t) g_get_monotonic_time();
    self->timeout_msec = timeout_msec;
    self->due_usec = timeout_msec > 0 ? begun_usec + 1000 * timeout_msec : 0;
}

uint64_t
qd_task_end_wait(QdTask *self)
{
    uint64_t since_usec = self->queued_usec;

    self->queued_usec = 0;
    return since_usec > 0 ? (uint64_t) g_get_monotonic_time() - since_usec : 0;
}

void
qd_task_set_late_error(const QdTask *self, GError **error)
{
    qd_error_set(error, QW_ERROR_TIMEOUT,
                 "request waited for a free thread until its %" G_GUINT64_FORMAT
                 " ms were over ('query_timeout_ms', 'update_timeout_ms' or the caller's 'timeout_ms'): "
                 "too many others run (limits 'running' and 'running_per_client')",
                 self->timeout_msec);
}

void
qd_task_set_full_error(const QdLimits *limits, GError **error)
{
    qd_limit_set_error(error, limits, QD_LIMIT_RUN_QUEUE, "too many requests wait, of which a client has three times what is free");
}

static gboolean
is_late(const QdTask *task, void *data)
{
    return task->due_usec > 0 && *(const uint64_t *) data >= task->due_usec;
}

static gboolean
is_same(const QdTask *task, void *data)
{
    return task == data;
}

gboolean
qd_task_list_has_late(const QdTaskList *list, uint64_t now_usec)
{
    for (const QdTaskLane *lane = list->first; lane != NULL; lane = lane->next)
        for (const QdTask *task = lane->first; task != NULL; task = task->next)
            if (is_late(task, &now_usec))
                return TRUE;
    return FALSE;
}

QdTask *
qd_task_list_pop_late(QdTaskList *list, uint64_t now_usec)
{
    return take(list, is_late, &now_usec);
}

gboolean
qd_task_list_remove(QdTaskList *list, const QdTask *task)
{
    return take(list, is_same, (void *) task) != NULL;
}

static gboolean
is_own(const QdTask *task, G_GNUC_UNUSED void *data)
{
    return task->drop != NULL;
}

void
qd_task_list_drop(QdTaskList *list)
{
    QdTask *task;

    while ((task = take(list, is_own, NULL)) != NULL)
        task->drop(task);
}
