/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stores that cannot be written: how they are read, and what to do about it.
 *
 * A store that was closed in order has no log, and is read as a file that does not change. Then SQLite ignores a rollback journal.
 * Else a part of it is in the log. SQLite reads that where it can open the log's index for reading only. It does not use what the
 * index contains. It makes one in the memory of each connection, by reading the log, and sees if another program begins to write.
 * That is for disks that cannot be written. Where rights are missing, another program that has them may be writing.
 */
#include "daemon/store/read-only.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/error.h"
#include "daemon/base/fd.h"
#include "daemon/store/foreign-log.h"
#include "daemon/store/rollback-journal.h"

/*
 * systemd's sandbox makes all read-only but ReadWritePaths=, which cannot follow XDG_DATA_HOME. INVOCATION_ID is set for services.
 */
char *
qd_read_only_make_hint(const char *directory, int errno_value)
{
    if (errno_value != EROFS || g_getenv("INVOCATION_ID") == NULL)
        return g_strdup_printf(": %s", g_strerror(errno_value));
    return g_strdup_printf(
        ": %s. If that is systemd's sandbox: make the directory, say 'systemctl --user edit' with the name of this "
        "service (queryd.service), and add the lines '[Service]' and 'ReadWritePaths=%s'",
        g_strerror(errno_value), directory);
}

gboolean
qd_read_only_check_log(const char *path, int refusal, const char *hint, gboolean *ret_has_log, GError **error)
{
    g_autofree char *log = g_strconcat(path, "-wal", NULL);
    g_autofree char *index = g_strconcat(path, "-shm", NULL);
    g_autofree char *directory = g_path_get_dirname(path);
    struct stat st;
    gboolean has_log = stat(log, &st) == 0 && st.st_size > 0;
    gboolean has_journal = qd_rollback_journal_find(path) == QD_ROLLBACK_JOURNAL_OWN;
    const char *foreign;

    if (has_journal || (has_log && (refusal != EROFS || access(index, R_OK) < 0))) {
        qd_error_set(error, QW_ERROR_READ_ONLY,
                     "store '%s' cannot be written, but its %s has to be recovered first (copy the folder to a place that can be "
                     "written, and begin queryd with --directory)%s",
                     directory, has_journal ? "rollback journal" : "log", hint);
        return FALSE;
    }
    if (has_log && (foreign = qd_foreign_log_find(path)) != NULL) {
        qd_error_set(error, QW_ERROR_CORRUPT, "the file beside it, '%s%s', is of another database, and has to be moved away", path,
                     foreign);
        return FALSE;
    }
    *ret_has_log = has_log;
    return TRUE;
}

/* All that a start needs, lest each ends at once. ext4 after an error still has the right, and refuses to open. The database is not
 * opened here: closing it would drop SQLite's locks. */
gboolean
qd_read_only_is_over(const char *path, const char *lock)
{
    g_autofree char *directory = g_path_get_dirname(path);
    g_auto(QdFd) fd = -1;

    if (access(directory, W_OK | X_OK) < 0 || access(path, W_OK) < 0)
        return FALSE;
    fd = open(lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    return fd >= 0;
}
