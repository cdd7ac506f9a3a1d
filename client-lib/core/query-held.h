/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The open cursors of the process that hold a channel, or the snapshot of a direct connection, and how to get some of them back.
 *
 * Place: internal to libquery-client. The daemon bounds the channels and the unfinished results of a client. So a cursor that
 * is not being read gives up its channel when another request needs one. The rest of its result is read into a backlog, from
 * which the cursor goes on. An application may so have as many open cursors as it likes.
 * Invariant: a cursor is in here exactly while it is open, outside of a transaction, and has a channel or a direct run. It is
 * pinned by calls of its own, or claimed by one thread that sets it aside, never both.
 */
#pragma once

#include <glib.h>

/* Cursors that hold a channel, before the next one that needs a new channel makes room. Below both of the daemon's limits. */
#define QUERY_HELD_MAX 16u
/* Time for that while the daemon would give one more, and when it has refused. */
#define QUERY_HELD_EARLY_MSEC 200u
#define QUERY_HELD_LATE_MSEC 3000u

/**
 * QueryHeldFunc:
 * @owner: a cursor that is in here; this thread has claimed it
 * @deadline_usec: monotonic
 *
 * Gives its channel or snapshot up, when its rows come soon. Thread: any.
 *
 * Returns: whether it did
 */
typedef gboolean (*QueryHeldFunc)(gpointer owner, gint64 deadline_usec);

/* The part of a cursor that stands in the list. */
typedef struct QueryHeld {
    gint n_pins; /* atomic: calls under way; -1: claimed by a thread that sets it aside */
    gpointer owner;
    QueryHeldFunc set_aside;
    GList link;    /* its data is NULL outside of the list; changed under the list's mutex, by the thread that pins or claims */
    guint64 round; /* that last tried it */
} QueryHeld;

void query_held_init(QueryHeld *self, gpointer owner, QueryHeldFunc set_aside);

/* While it is pinned a cursor is its caller's alone; nests. Waits while another thread sets it aside. */
void query_held_pin(QueryHeld *self);
void query_held_unpin(QueryHeld *self);

void query_held_add(QueryHeld *self);
/* Also of one that is not in here. It is pinned or claimed. */
void query_held_remove(QueryHeld *self);
/* It was read: it is the last one to give its channel up. */
void query_held_touch(QueryHeld *self);
guint query_held_get_n(void);

/**
 * query_held_reduce:
 * @n_max: how many cursors may keep theirs
 * @budget_msec: how long it may take
 *
 * Sets the cursors aside that were not read for the longest, until at most @n_max hold a channel. Cursors with a call under way,
 * and those whose rows do not come soon, keep theirs. Thread: any.
 *
 * Returns: whether any has given its channel back
 */
gboolean query_held_reduce(guint n_max, guint budget_msec);

/* Waits until a channel may have become free or another cursor may be set aside, at most @timeout_msec. */
void query_held_wait(guint timeout_msec);
/* A channel has become free. */
void query_held_notify(void);
