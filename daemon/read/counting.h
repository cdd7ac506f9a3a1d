/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * changes(), total_changes() and last_insert_rowid() as a client's own connection to SQLite would give them, on connections that
 * many clients share.
 *
 * Place: room read. session-counts.h keeps what a session has counted; a connection shows it while it works for it.
 * Invariant: while no session is shown or counted for, all three are 0.
 */
#pragma once

#include <glib.h>

typedef struct QdCompiled QdCompiled;
typedef struct QdConnection QdConnection;
typedef struct QdSession QdSession;

/* Of one session: what SQLite would keep for its connection. */
typedef struct QdCounts {
    gint64 changes;
    gint64 total_changes;
    gint64 last_insert_rowid;
} QdCounts;

/* The functions of @connection. FALSE with NO_MEMORY. */
gboolean qd_counting_register(QdConnection *connection, GError **error);

/* For a query: what @session (nullable: all are 0) has counted by now. */
void qd_counting_show(QdConnection *connection, QdSession *session);

/* Around the step of an update on the writer's connection. Its changes count for the session of @counters; as in SQLite, those
 * in triggers and of a failed update do, too. */
void qd_counting_begin(QdConnection *connection, const QdCounts *counters, const QdCompiled *compiled);
void qd_counting_end(QdConnection *connection, QdCounts *counters, const QdCompiled *compiled);
