/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looking for damage, table by table, so that it can be interrupted and taken up again.
 *
 * Place: layer 2. Each table is read in a snapshot of its own, which holds up no checkpoint for longer than that.
 */
#pragma once

#include "daemon/store/connection.h"

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

/* sqlite3_step() of a PRAGMA that checks. @ret_message: (out): with SQLITE_ROW what it says, until the next call. @ret_failure:
 * (out): SQLite's code, when it could not read a page for another reason than damage, such as no memory or a disk that refuses;
 * else 0. What it says then is not worth anything: pages that it has not seen "are never used". */
int qd_integrity_step(sqlite3_stmt *stmt, const char **ret_message, int *ret_failure);
/* Whether a message of SQLite's check tells of damage, not only of a row that breaks a constraint. */
gboolean qd_integrity_is_damage(const char *message);
