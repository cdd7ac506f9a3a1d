/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lists of tasks, and how long a task waits.
 */
#include "daemon/runtime/task-list.h"

#include "daemon/base/error.h"

void
qd_task_list_push(QdTaskList *list, QdTask *task)
{
    task->next = NULL;
    *list->end = task;
    list->end = &task->next;
}

QdTask *
qd_task_list_unlink(QdTaskList *list, QdTask **link)
{
    QdTask *task = *link;

    *link = task->next;
    if (list->end == &task->next)
        list->end = link;
    task->next = NULL;
    return task;
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

static gboolean
is_late(const QdTask *task, uint64_t now_usec)
{
    return task->due_usec > 0 && now_usec >= task->due_usec;
}

gboolean
qd_task_list_has_late(const QdTaskList *list, uint64_t now_usec)
{
    for (const QdTask *task = list->first; task != NULL; task = task->next)
        if (is_late(task, now_usec))
            return TRUE;
    return FALSE;
}

QdTask *
qd_task_list_pop_late(QdTaskList *list, uint64_t now_usec)
{
    for (QdTask **link = &list->first; *link != NULL; link = &(*link)->next)
        if (is_late(*link, now_usec))
            return qd_task_list_unlink(list, link);
    return NULL;
}

gboolean
qd_task_list_remove(QdTaskList *list, const QdTask *task)
{
    for (QdTask **link = &list->first; *link != NULL; link = &(*link)->next)
        if (*link == task)
            return qd_task_list_unlink(list, link) != NULL;
    return FALSE;
}
