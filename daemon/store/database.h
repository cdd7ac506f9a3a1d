/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The database file of a store: its directory, its lock, its internal schema.
 *
 * Place: room store. Invariant: while a QdDatabase is open no other queryd has the same directory open.
 */
#pragma once

#include <glib.h>
#include <sys/stat.h>

#include "daemon/base/limits.h"
#include "daemon/recover/recovery.h"
#include "daemon/sqlite/connection.h"

typedef struct QdDatabase QdDatabase;

/* What to do with a damaged file. */
typedef struct QdDatabaseRepair {
    gboolean damaged;         /* known before it is opened */
    const gint *cancelled;    /* (nullable) atomic */
    void (*begins)(gpointer); /* from within: the salvage, which may take long, begins */
    gpointer data;
    QdRecoveryResult result; /* (out): its aside is NULL when nothing was salvaged; clear it */
    guint n_kept_payloads;   /* (out): files of payloads that a new database was found with */
    char *kept_folder;       /* (out) (transfer full) (nullable): where they are kept */
    char **foreign;          /* (out) (transfer full) (nullable): logs and journals of other databases, which were set aside */
} QdDatabaseRepair;

/**
 * qd_database_open:
 * @directory: the store's directory; made, with its parents, when missing
 * @limits: limits for connections
 * @error: (nullable): location for an error
 *
 * Takes the lock, opens or creates the file, checks its header and internal schema, counts the start.
 *
 * Errors: BUSY (another queryd, named by its process id), CORRUPT, UNSUPPORTED (newer schema, unsuitable file system),
 * ACCESS_DENIED, DISK_FULL
 *
 * Returns: (transfer full): the database, or NULL
 */
QdDatabase *qd_database_open(const char *directory, const QdLimits *limits, GError **error);
/* The same, but a damaged file is salvaged. @setup: (nullable): of each connection to the file; @repair: (nullable) */
QdDatabase *qd_database_open_repaired(const char *directory, const QdLimits *limits, QdConnectionSetup setup,
                                      QdDatabaseRepair *repair, GError **error);
QdDatabase *qd_database_free(QdDatabase *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdDatabase, qd_database_free)

/*
 * A client may pass us a descriptor of the database's own file (of its index: qd_index_locks_init()). When that is closed, in
 * any thread, the kernel drops all POSIX locks that this process has on the file, SQLite's among them. Another program, such as
 * sqlite3, then takes the log for abandoned and deletes it with its commits. So a lock of an open file description, which
 * stays, stands beside SQLite's. Once all of the opening is done; lifted before the last connection is closed, which wants the
 * file for itself.
 */
void qd_database_guard(QdDatabase *self);
void qd_database_lift_guard(QdDatabase *self);

/*
 * Whether the files that the guarded store has open still have their names; qd_file_watch_check() for the holder of the writer's
 * role. A store without a guard is not looked at.
 */
gboolean qd_database_check_files(const QdDatabase *self, gboolean thoroughly, GError **error);
/* The writer's connection is open and has read, or is closed now. */
void qd_database_note_log(const QdDatabase *self, gboolean is_open);

/* (nullable) (transfer full): the path of the store's file that @st is of; payloads may be read, and are none of these. */
char *qd_database_find_own_file(const QdDatabase *self, const struct stat *st);

const char *qd_database_get_path(const QdDatabase *self);
const char *qd_database_get_directory(const QdDatabase *self);
/* The file at qd_replace_get_path() in the place of a database that cannot be opened. BUSY while another queryd has the store.
 * @ret_aside: (out): path of the old file */
gboolean qd_database_replace(const char *directory, const char *word, char **ret_aside, GError **error);
/* How the file has to be opened. */
QdConnectionInfo qd_database_get_info(const QdDatabase *self);
gboolean qd_database_is_read_only(const QdDatabase *self);
/* Whether the next start is likely to open a read-only store for writing. */
gboolean qd_database_can_be_written(const QdDatabase *self);
/* Ends an error's message in a read-only store: ": " and the reason, and what to do where systemd's sandbox is likely to be it. */
const char *qd_database_get_read_only_hint(const QdDatabase *self);
/*
 * Before each update, outside of a transaction: what a full disk had no room for when the store was opened. Counts the start and
 * makes the ballast, each once. Thread: the holder of the writer's role. Errors: DISK_FULL, and others of a write
 */
gboolean qd_database_prepare_update(QdDatabase *self, QdConnection *writer, const QdLimits *limits, GError **error);
/* How often this store was opened for writing, this time included: the upper 24 bits of a generation. */
guint64 qd_database_get_start_counter(const QdDatabase *self);
/* Steals the read-write connection that opening needed; NULL in a read-only store, and the second time. (transfer full) */
QdConnection *qd_database_steal_writer(QdDatabase *self);

/* What the file system has free above the floor; INT64_MAX when that is not known. */
gint64 qd_database_get_spare_bytes(const QdDatabase *self, const QdLimits *limits);
/* FALSE: what an orderly end deletes, the next start might not get back. */
gboolean qd_database_can_make_log(const QdDatabase *self, const QdLimits *limits);
/* false with DISK_FULL when the file system has less free space than the floor. */
gboolean qd_database_check_free_space(const QdDatabase *self, const QdLimits *limits, GError **error);
