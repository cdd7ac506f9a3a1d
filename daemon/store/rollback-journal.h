/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A rollback journal beside the database, which the daemon makes none of. SQLite plays it back at the opening. The journal
 * does not name its database: its pages replace those of the file that it lies beside.
 *
 * Place: room store, before the database is opened. Invariant: both files are only read.
 */
#pragma once

typedef enum QdRollbackJournal {
    QD_ROLLBACK_JOURNAL_NONE, /* or SQLite ignores it */
    QD_ROLLBACK_JOURNAL_OWN,  /* or it may be */
    QD_ROLLBACK_JOURNAL_FOREIGN,
} QdRollbackJournal;

/* @path: of the database. No connection of this process may be open on it */
QdRollbackJournal qd_rollback_journal_find(const char *path);
