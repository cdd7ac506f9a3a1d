/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite itself, in this process, with the settings that docs/sql.md promises.
 *
 * Place: tests/sql.
 */
#pragma once

#include <sqlite3.h>

#include "tests/sql/outcome.h"

/* What has come up while one database was used. */
typedef struct ReferenceNotes {
    gboolean has_last; /* a row has the greatest rowid that there is: of the next ones SQLite chooses the rowid at random */
    guint n_looks;     /* so many pieces of work were done */
    gboolean too_long; /* more than a script may cost: the statement was interrupted */
} ReferenceNotes;

/* (transfer full): an empty database in memory. @notes: cleared; in use until the database is closed. */
sqlite3 *reference_open(ReferenceNotes *notes);
/* After so much work what runs on @db is interrupted, and @notes say so. */
void reference_limit_work(sqlite3 *db, ReferenceNotes *notes);
/* @text: one statement, in the transaction that is open or in one of its own. @bound: (nullable) a{sv}. (transfer full) */
Outcome *reference_execute(sqlite3 *db, const char *text, GVariant *bound);
/* In a transaction, as queryd does it (docs/sql.md): what fails leaves nothing. */
Outcome *reference_execute_whole(sqlite3 *db, const char *text, GVariant *bound);
/* Between BEGIN and COMMIT, or ROLLBACK after an error; the error is that of the first of them that fails. */
Outcome *reference_execute_between(sqlite3 *db, const char *text, GVariant *bound);
/* BEGIN and its like, which must not fail. */
void reference_command(sqlite3 *db, const char *text);
/* What queryd cannot drop itself when keys refer to it: everything of clients, by another program's hand. */
void reference_empty_store(const char *path);
