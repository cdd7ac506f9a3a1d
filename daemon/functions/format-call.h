/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * printf() and format(), a conversion at a time: each asks whether the statement shall end.
 *
 * Place: room functions, internal to functions; qd_functions_register_linear() registers them. Same results as SQLite's.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

gboolean qd_format_call_register(sqlite3 *db, GError **error);
