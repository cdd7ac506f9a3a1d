/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looking for damage, table by table, so that it can be interrupted and taken up again.
 *
 * Place: room recover. Each table is read in a snapshot of its own, which holds up no checkpoint for longer than that.
 */
#pragma once

#include "daemon/sqlite/connection.h"

typedef struct QdIntegrity {
    GHashTable *done;    /* names of tables */
    GPtrArray *messages; /* of char*: what is damaged, at most a few dozen */
    gboolean finished;   /* all tables are done */
} QdIntegrity;

void qd_integrity_init(QdIntegrity *self);
void qd_integrity_clear(QdIntegrity *self);

/**
 * qd_integrity_run:
 * @connection: a reader of its own
 * @quick: indexes are not compared with their tables
 * @stop: asked every few milliseconds
 *
 * Checks the tables that are not done yet. Interrupted by @stop it returns true, too, and is not finished.
 */
gboolean qd_integrity_run(QdIntegrity *self, QdConnection *connection, gboolean quick, gboolean (*stop)(gpointer data),
                          gpointer data, GError **error);

typedef void (*QdIntegrityFunc)(const char *message, gpointer data);

/**
 * qd_integrity_query:
 * @sql: a PRAGMA that checks
 * @func: told what it says, row by row
 *
 * From now on @db maps no page of the database: one that the disk refuses is an error to who reads it, and a SIGBUS to who has it
 * mapped.
 *
 * Returns: SQLite's code: SQLITE_DONE; one of damage, when it could not go on for that; or what kept it from reading a page, such
 * as no memory or a disk that refuses: then what was told is not worth anything
 */
int qd_integrity_query(sqlite3 *db, const char *sql, QdIntegrityFunc func, gpointer data);
/* Whether a message of SQLite's check tells of damage, not only of a row that breaks a constraint. */
gboolean qd_integrity_is_damage(const char *message);

/* From now on checks on @db compute no CHECK constraint. Returns: SQLite's code */
int qd_integrity_ignore_checks(sqlite3 *db);
