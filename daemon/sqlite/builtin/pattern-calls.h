/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * LIKE and GLOB that ask whether the statement shall end.
 *
 * Place: room sqlite; daemon/read registers them on every connection that it opens. Same results as SQLite's, and an
 * index serves a prefix as before: where that cannot be had, the function stays SQLite's own.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

gboolean qd_pattern_calls_register(sqlite3 *db, GError **error);

/**
 * qd_pattern_match:
 * @is_glob: as GLOB, else as LIKE without ESCAPE
 * @pattern: at most as long as the limit of the connection allows
 *
 * What the function gives of two texts, without a statement.
 *
 * Returns: 1, 0; -1: qd_interrupt_poll() says that the statement shall end
 */
int qd_pattern_match(gboolean is_glob, const char *pattern, const char *text);
