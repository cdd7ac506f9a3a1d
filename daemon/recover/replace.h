/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Another file in the place of a store's database, the old one kept aside.
 *
 * Place: room recover. The new file gets a name that says what has to be done; from then on a crash changes nothing: the next
 * start finishes it. No process may have the database open, and the caller holds the store's lock.
 * Invariant: at every moment the old database, with its log and its rollback journal, and the new one are there in full.
 */
#pragma once

#include <glib.h>

/* Of the files beside the database that SQLite plays back into it. */
#define QD_REPLACE_LOG_SUFFIX "-wal"
#define QD_REPLACE_JOURNAL_SUFFIX "-journal"

/* Where a new file is written; what is left there by a crash is deleted by the next start. */
char *qd_replace_get_path(const char *directory);

/**
 * qd_replace_begin:
 * @directory: of the store
 * @word: what becomes of the old file: "corrupt", "replaced"
 * @ret_aside: (out): the old file's later path
 *
 * From here on the file at qd_replace_get_path(), which is durable, is the store's.
 */
gboolean qd_replace_begin(const char *directory, const char *word, char **ret_aside, GError **error);
/* Does what is left to do, if anything. */
gboolean qd_replace_finish(const char *directory, GError **error);

/**
 * qd_replace_set_aside:
 * @directory: of the store
 * @suffix: of its log or its journal, which is of another database
 * @ret_aside: (out) (transfer full): its new path
 * @error: (nullable): location for an error
 *
 * Renames it to "queryd.db.foreign-TIME" and @suffix.
 */
gboolean qd_replace_set_aside(const char *directory, const char *suffix, char **ret_aside, GError **error);
