/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The way from worker threads to the main thread: a queue and an eventfd.
 *
 * Place: room base. Invariant: functions posted run on the main thread, in order, exactly once.
 */
#pragma once

#include <glib.h>

typedef struct QdMailbox QdMailbox;
typedef void (*QdMailFunc)(void *data);

QdMailbox *qd_mailbox_new(GError **error);
QdMailbox *qd_mailbox_free(QdMailbox *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdMailbox, qd_mailbox_free)

/* The descriptor that becomes readable when something waits. Borrowed. */
int qd_mailbox_get_fd(const QdMailbox *self);

/* From any thread: @func(@data) will be called by qd_mailbox_dispatch(). Never fails, never blocks. */
void qd_mailbox_post(QdMailbox *self, QdMailFunc func, void *data);

/* Main thread only: runs all that waits. */
void qd_mailbox_dispatch(QdMailbox *self);
