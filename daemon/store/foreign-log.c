/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file alone is an older state of the same database, or a part of a newer one where a checkpoint was cut off. SQLite counts the
 * changes of the schema. No program lowers that count, not by VACUUM nor by a backup that is written into the file. So a log with a
 * lower count is of another database. Other findings are none: a Restore puts all of another store into the log.
 */
#include "daemon/store/foreign-log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/error.h"
#include "daemon/base/fd.h"

#define LOG_HEADER_BYTES 32

/* FALSE: it cannot be read, or has no schema. */
static gboolean
count_changes(const QdConnectionInfo *info, const QdLimits *limits, gint64 *ret_n)
{
    g_autoptr(QdConnection) connection = qd_connection_open(info, QD_CONNECTION_READER, limits, NULL);
    gint64 n_tables = 0;

    return connection != NULL && qd_connection_get_int64(connection, "SELECT count(*) FROM sqlite_schema", &n_tables, NULL) &&
           n_tables > 0 && qd_connection_get_int64(connection, "PRAGMA schema_version", ret_n, NULL);
}

static gboolean
is_foreign(const QdConnectionInfo *info, const QdLimits *limits)
{
    g_autofree char *log = g_strconcat(info->path, "-wal", NULL);
    QdConnectionInfo file_info = *info;
    gint64 n_file = 0;
    gint64 n_whole = 0;
    struct stat st;

    if (stat(log, &st) < 0 || st.st_size <= LOG_HEADER_BYTES)
        return FALSE;
    file_info.immutable = TRUE;
    /* an empty file is not opened with its log: SQLite would delete that */
    return count_changes(&file_info, limits, &n_file) && count_changes(info, limits, &n_whole) && n_whole < n_file;
}

gboolean
qd_foreign_log_check(const QdConnectionInfo *info, const QdLimits *limits, GError **error)
{
    if (!is_foreign(info, limits))
        return TRUE;
    qd_error_set(error, QW_ERROR_CORRUPT, "the log beside it, '%s-wal', is of another database, and has to be moved away",
                 info->path);
    return FALSE;
}

static gboolean
sync_directory_of(const char *path)
{
    g_autofree char *directory = g_path_get_dirname(path);
    g_auto(QdFd) fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return fd >= 0 && fsync(fd) == 0;
}

/* (transfer full): a name that is not taken */
static char *
find_name(const char *log)
{
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    g_autofree char *time = g_date_time_format(now, "%Y%m%dT%H%M%SZ");
    char *name = g_strdup_printf("%s.foreign-%s", log, time);

    for (guint i = 2; access(name, F_OK) == 0; i++) {
        g_free(name);
        name = g_strdup_printf("%s.foreign-%s-%u", log, time, i);
    }
    return name;
}

gboolean
qd_foreign_log_set_aside(const char *path, const QdLimits *limits, char **ret_aside, GError **error)
{
    const QdConnectionInfo info = { .path = path };
    g_autofree char *log = g_strconcat(path, "-wal", NULL);
    g_autofree char *index = g_strconcat(path, "-shm", NULL);
    g_autofree char *aside = NULL;

    if (!is_foreign(&info, limits))
        return TRUE;
    aside = find_name(log);
    if (rename(log, aside) < 0 || !sync_directory_of(path)) {
        qd_error_set_errno(error, errno, "cannot set the log of another database aside, '%s'", log);
        return FALSE;
    }
    (void) unlink(index);
    if (ret_aside != NULL)
        *ret_aside = g_steal_pointer(&aside);
    return TRUE;
}
