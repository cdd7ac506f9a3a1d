/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite's string functions whose own versions take quadratic time, which no progress handler can interrupt.
 *
 * Place: room functions; read/evaluation.c registers them on every connection it opens. Same results as SQLite's, linear in
 * their arguments.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

gboolean qd_functions_register_linear(sqlite3 *db, GError **error);
