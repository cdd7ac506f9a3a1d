/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * snippet(), highlight() and bm25() of FTS5, so that a deadline ends them.
 *
 * Place: room sqlite; every connection registers it. They are SQLite's own, called by ours.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

/**
 * qd_fts_calls_register:
 * @db: borrowed; no statement of it runs, and its guard lets all pass
 * @error: (nullable): location for an error
 *
 * Where SQLite's own are not found in its memory, or there is no FTS5, nothing changes.
 *
 * Thread: the one that uses @db.
 *
 * Returns: FALSE on failure
 */
gboolean qd_fts_calls_register(sqlite3 *db, GError **error);

/* (transfer none) (nullable): by which FTS5 gives and takes functions; NULL: there is no FTS5. Thread: the one that uses @db. */
fts5_api *qd_fts_calls_get_api(sqlite3 *db);
