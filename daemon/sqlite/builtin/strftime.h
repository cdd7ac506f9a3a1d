/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * strftime() with a limit on its format.
 *
 * Place: room sqlite; daemon/read registers it on every connection that it opens. It is SQLite's own, called by ours.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

#include "daemon/base/limits.h"

/**
 * qd_strftime_register:
 * @db: borrowed; no statement of it runs
 * @limits: borrowed, outlives @db
 * @error: (nullable): location for an error
 *
 * Where SQLite's own is not found in its memory, strftime() stays as it is, without a limit.
 *
 * Thread: the one that uses @db.
 *
 * Returns: FALSE on failure
 */
gboolean qd_strftime_register(sqlite3 *db, const QdLimits *limits, GError **error);
