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
 * @table: (nullable): NULL: all of the database
 * @quick: indexes are not compared with their tables. Then nothing depends on an order, and a collation that is not known is no
 * error
 * @func: called with each row of the check
 *
 * From now on @db maps no page of the database. A page that the disk refuses is an error to a reader, but a SIGBUS to a process
 * that has mapped it. Nor does it compute CHECK constraints: a row that breaks one is no damage.
 *
 * Returns: SQLite's code: SQLITE_DONE; damage that ended the check; or why a page could not be read, such as no memory or a
 * refusing disk. In the last case its findings are worth nothing
 */
int qd_integrity_query(sqlite3 *db, const char *table, gboolean quick, QdIntegrityFunc func, gpointer data);
/* Whether a message of SQLite's check is about damage, not only of a row that breaks a constraint. */
gboolean qd_integrity_is_damage(const char *message);
