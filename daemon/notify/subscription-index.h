/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds, among many watched queries, those that a commit has touched, without looking at the others.
 *
 * Place: room notify, used on the main thread. Watches lie in buckets, one for each table or predicate that they read.
 * Invariant: a watch that is touched is reported once until qd_subscription_index_rearm(), however many commits follow. So the
 * cost of a commit does not depend on the number of watches.
 */
#pragma once

#include "daemon/notify/read-set.h"

typedef struct QdSubscriptionIndex QdSubscriptionIndex;
typedef struct QdWatch QdWatch;

typedef void (*QdWatchFunc)(gpointer data, const QdChanges *changes, gpointer user_data);

QdSubscriptionIndex *qd_subscription_index_new(void);
/* All watches must have been removed. */
QdSubscriptionIndex *qd_subscription_index_free(QdSubscriptionIndex *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdSubscriptionIndex, qd_subscription_index_free)

/* @reads: (transfer full). @data: what @func is given. Returns: (transfer none): until it is removed */
QdWatch *qd_subscription_index_add(QdSubscriptionIndex *self, QdReadSet *reads, gpointer data);
void qd_subscription_index_remove(QdSubscriptionIndex *self, QdWatch *watch);
/* Another set of what it reads: (transfer full). */
void qd_subscription_index_set_reads(QdSubscriptionIndex *self, QdWatch *watch, QdReadSet *reads);

/* (transfer none): until the next qd_subscription_index_set_reads() */
const QdReadSet *qd_watch_get_reads(const QdWatch *self);

/* Calls @func for each watch that @changes touch and that was not reported yet. @func must not add or remove watches. */
void qd_subscription_index_touch(QdSubscriptionIndex *self, const QdChanges *changes, QdWatchFunc func, gpointer user_data);
/* From now on all are reported again. */
void qd_subscription_index_rearm(QdSubscriptionIndex *self);
