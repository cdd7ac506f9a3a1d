/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Nothing is tuned: the services are what one writes first.
 */
#include "tests/bench/reference-database.h"

#include <stdio.h>
#include <unistd.h>

#include "tests/bench/bench.h"

void
reference_database_open(ReferenceDatabase *self, const char *path)
{
    *self = (ReferenceDatabase){ 0 };
    if (sqlite3_open_v2(path, &self->db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        sqlite3_busy_timeout(self->db, REFERENCE_BUSY_MSEC) == SQLITE_OK &&
        sqlite3_prepare_v2(self->db, "SELECT * FROM " BENCH_TABLE " WHERE id = ?", -1, &self->lookup, NULL) == SQLITE_OK)
        return;

    (void) fprintf(stderr, "reference service: '%s': %s\n", path, sqlite3_errmsg(self->db));
    _exit(2);
}

gboolean
reference_database_prepare(ReferenceDatabase *self, const char *sql)
{
    (void) sqlite3_finalize(self->stmt);
    self->stmt = NULL;
    return sqlite3_prepare_v2(self->db, sql, -1, &self->stmt, NULL) == SQLITE_OK;
}

gboolean
reference_database_step(ReferenceDatabase *self)
{
    if (self->stmt == NULL)
        return FALSE;
    if (sqlite3_step(self->stmt) == SQLITE_ROW)
        return TRUE;

    (void) sqlite3_finalize(self->stmt);
    self->stmt = NULL;
    return FALSE;
}

gboolean
reference_database_look_up(ReferenceDatabase *self, gint64 id)
{
    (void) sqlite3_bind_int64(self->lookup, 1, id);
    return sqlite3_step(self->lookup) == SQLITE_ROW;
}
