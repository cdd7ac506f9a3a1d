/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the guard share.
 *
 * Place: room sqlite, folder guard. Invariant: a denial that is recorded is never replaced by a later one.
 */
#pragma once

#include "daemon/sqlite/guard/guard.h"

/* The end of each READ_ONLY. */
#define QD_GUARD_FOR_READING " in a query that was opened for reading"
#define QD_GUARD_NO_TEMPORARY "temporary objects are not allowed: use WITH, or a table that the same transaction drops"

/* Records the reason, if it is the first. Returns: SQLITE_DENY */
int qd_guard_deny(QdGuard *self, QwError code, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* The same for a statement that takes too long to compile. */
int qd_guard_deny_for_time(QdGuard *self);

/* SQLite's answer for PRAGMA @name, or @name=@argument (nullable), of @database (nullable: not named). */
int qd_guard_check_pragma(QdGuard *self, const char *name, const char *argument, const char *database);
