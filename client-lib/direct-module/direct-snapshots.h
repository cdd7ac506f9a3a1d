/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The unfinished results of a direct connection, and the thread that ends those that are too old.
 *
 * Place: internal to libquery-client. An application may forget a cursor; its snapshot would keep the daemon's write-ahead log
 * from being reset for ever. The thread exists only while there are unfinished results and sleeps until the oldest is due.
 */
#pragma once

#include "client-lib/direct/query-direct-table.h"

typedef struct QueryDirectSnapshots QueryDirectSnapshots;

QueryDirectSnapshots *direct_snapshots_new(void);
/* There are no unfinished results any more. Waits for the thread. */
void direct_snapshots_free(QueryDirectSnapshots *self);

/* @run is unfinished; it is ended @age_msec from now, if it is still here. From any thread. */
void direct_snapshots_add(QueryDirectSnapshots *self, QueryDirectRun *run, guint64 age_msec);
void direct_snapshots_remove(QueryDirectSnapshots *self, QueryDirectRun *run);

/* Ends the snapshot of @run, called by the thread. FALSE when it is just being worked on: it looks at its age itself. */
gboolean direct_run_expire(QueryDirectRun *run);
