/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program as one statement of SQL, for what does not fit into memory: SQLite joins, sorts and spills.
 *
 * Place: room tally, internal to it. The rows are those of qd_tally_program_run(), in any order.
 */
#pragma once

#include "daemon/tally/tally-program.h"

/* (transfer full) (nullable): columns value and n. NULL: it is no program, or has no part whose column may be too large. A number
 * beyond 64 bits comes as a REAL or as SQLITE_ERROR. */
char *qd_tally_program_to_sql(const QdTallyProgram *self);
