/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A database that is missing or empty, and was not always: SQLite would make a new one, and delete the log beside it.
 *
 * Place: room store, before the database is opened.
 */
#pragma once

#include <glib.h>

/**
 * qd_lost_content_check:
 * @path: of the database
 * @ret_has_log: (out): whether something may be salvaged; set on failure only
 *
 * Errors: CORRUPT: the message says by what that is known, and what to do
 *
 * Returns: FALSE: it had content
 */
gboolean qd_lost_content_check(const char *path, gboolean *ret_has_log, GError **error);
