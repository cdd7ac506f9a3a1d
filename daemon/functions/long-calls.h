/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite's functions of large values, in pieces: each piece asks whether the statement shall end. printf() and format() have a file
 * of their own (format-call.c), where a piece is a conversion.
 *
 * Place: room functions, internal to functions; qd_functions_register_linear() registers them. Same results as SQLite's.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

gboolean qd_long_calls_register(sqlite3 *db, GError **error);
gboolean qd_format_call_register(sqlite3 *db, GError **error);
