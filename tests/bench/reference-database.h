/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite as the reference services have it: defaults, one statement under way, and one for look-ups.
 *
 * Place: tests/bench, in a service's process.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

typedef struct ReferenceDatabase {
    sqlite3 *db;
    sqlite3_stmt *stmt; /* NULL after its last row */
    sqlite3_stmt *lookup;
} ReferenceDatabase;

/* A daemon that comes or goes has the file for itself for a moment. */
#define REFERENCE_BUSY_MSEC 5000

/* Ends the process when it cannot be opened. */
void reference_database_open(ReferenceDatabase *self, const char *path);

gboolean reference_database_prepare(ReferenceDatabase *self, const char *sql);

/* TRUE with a row in self->stmt. */
gboolean reference_database_step(ReferenceDatabase *self);

/* TRUE with the row in self->lookup, which the caller resets. */
gboolean reference_database_look_up(ReferenceDatabase *self, gint64 id);
