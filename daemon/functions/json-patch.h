/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * json_patch() with an end: SQLite compares each member of the patch with each of the target, in one call that cannot be
 * interrupted.
 *
 * Place: room functions, internal to functions; qd_functions_register() registers it. Results are SQLite's own: a connection
 * without our functions makes them, up to the limit json_patch_steps.
 */
#pragma once

#include "daemon/functions/value.h"

gboolean qd_json_patch_register(sqlite3 *db, QdEvaluation *ev, GError **error);
