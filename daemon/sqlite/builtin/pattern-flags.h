/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The flags by which SQLite knows LIKE and GLOB: without them no index serves a pattern that begins with a prefix.
 *
 * Place: room sqlite, internal to it. SQLite has no call that sets them for a function of ours; how they are had is said
 * in docs/decisions/long-steps.md. It is tried once in the process, on a database in memory, whether they have their effect.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

#include "daemon/sqlite/builtin/builtin.h"

typedef struct QdPatternFunction {
    /* where the pattern is NULL it calls qd_pattern_flags_visit() */
    QdSqlCall *call;
    const void *data; /* begins with the wildcards as SQLite keeps them: for any characters, for one, and that of a set, or 0 */
} QdPatternFunction;

/**
 * qd_pattern_flags_register:
 * @db: borrowed; no statement of it runs
 * @like: becomes like(), with two and three arguments; its data outlives @db
 * @glob: becomes glob(); likewise
 * @error: (nullable): location for an error
 *
 * Each is registered only where SQLite goes on to use an index for a prefix: else the function stays SQLite's.
 *
 * Thread: the one that uses @db.
 *
 * Returns: FALSE on failure
 */
gboolean qd_pattern_flags_register(sqlite3 *db, const QdPatternFunction *like, const QdPatternFunction *glob, GError **error);

/* qd_pattern_flags_visit: what qd_pattern_flags_register() has to do within a call. Nothing in any other call. */
void qd_pattern_flags_visit(sqlite3_context *context, sqlite3_value *first_arg);
