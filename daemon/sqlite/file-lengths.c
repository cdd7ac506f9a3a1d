/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sqlite/file-lengths.h"

#include <sys/stat.h>

#include "daemon/base/error.h"
#include "daemon/sqlite/vfs/database-file.h"
#include "daemon/sqlite/vfs/log-file.h"

static void
set_log_error(sqlite3 *db, sqlite3_int64 n_bytes, sqlite3_int64 n_expected, GError **error)
{
    qd_error_set(error, QW_ERROR_READ_ONLY,
                 "the log '%s-wal' was shortened, deleted or replaced by another program while the database was open: it has "
                 "%" G_GINT64_FORMAT " bytes of %" G_GINT64_FORMAT
                 ". Nothing is written; restart the daemon, which opens what the database and the log still hold",
                 sqlite3_db_filename(db, "main"), (gint64) n_bytes, (gint64) n_expected);
}

static void
set_database_error(sqlite3 *db, sqlite3_int64 n_bytes, GError **error)
{
    qd_error_set(error, QW_ERROR_CORRUPT,
                 "the database '%s' was shortened by another program while it was open: it has %" G_GINT64_FORMAT
                 " bytes. Nothing is written; restart the daemon, which salvages the rest, or put a backup in its place: queryctl "
                 "restore FILE",
                 sqlite3_db_filename(db, "main"), (gint64) n_bytes);
}

gboolean
qd_file_lengths_check_log(sqlite3 *db, gboolean only_needed, GError **error)
{
    sqlite3_file *log = NULL;
    sqlite3_int64 n_bytes;
    sqlite3_int64 n_expected;

    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) != SQLITE_OK || log == NULL ||
        !qd_log_file_is_log(log) || qd_log_file_is_whole(log, only_needed, &n_bytes, &n_expected))
        return TRUE;
    set_log_error(db, n_bytes, n_expected, error);
    return FALSE;
}

gboolean
qd_file_lengths_check_database(sqlite3 *db, GError **error)
{
    sqlite3_file *file = NULL;
    sqlite3_int64 n_bytes;

    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
        qd_database_file_is_whole(file, &n_bytes))
        return TRUE;
    set_database_error(db, n_bytes, error);
    return FALSE;
}

gboolean
qd_file_lengths_check_kinds(const char *path, GError **error)
{
    static const char *const suffixes[] = { "", "-wal", "-shm" };

    for (guint i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        g_autofree char *name = g_strconcat(path, suffixes[i], NULL);
        struct stat st;

        if (stat(name, &st) < 0 || S_ISREG(st.st_mode))
            continue;
        qd_error_set(error, QW_ERROR_READ_ONLY,
                     "'%s' is %s, and no file: another program has replaced it. Nothing is read or written; put the file, or a "
                     "backup, in its place, and restart the daemon",
                     name,
                     S_ISFIFO(st.st_mode)  ? "a FIFO"
                     : S_ISDIR(st.st_mode) ? "a folder"
                                           : "a device or a socket");
        return FALSE;
    }
    return TRUE;
}
