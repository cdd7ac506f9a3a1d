/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The columns in the file beside the quads.
 *
 * Place: room tally. Those of another stamp are not used, and so not looked at. Wrong ones are dropped by write/write-columns.h.
 */
#pragma once

#include "daemon/tally/tally-reader.h"

/**
 * qd_tally_check:
 * @reader: of @db, which is in a transaction
 * @messages: what is wrong is added, as (owned) texts
 * @wrong: the predicates of these are added, as gint64
 *
 * Returns: SQLITE_OK, also where something is wrong; or an error of SQLite
 */
int qd_tally_check(QdTallyReader *reader, sqlite3 *db, GPtrArray *messages, GArray *wrong);
