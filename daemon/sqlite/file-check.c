/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks of a database file that change nothing.
 */
#include "daemon/sqlite/file-check.h"

#include <errno.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include "daemon/base/error.h"
#include "daemon/sqlite/schema.h"

gboolean
qd_file_check_system(const char *directory, GError **error)
{
    struct statfs fs;

    if (TEMP_FAILURE_RETRY(statfs(directory, &fs)) < 0) {
        qd_error_set_errno(error, errno, "cannot look at directory '%s'", directory);
        return FALSE;
    }
    if (fs.f_type == NFS_SUPER_MAGIC || fs.f_type == SMB_SUPER_MAGIC || fs.f_type == (long) 0xff534d42 ||
        fs.f_type == (long) 0xfe534d42) {
        qd_error_set(error, QW_ERROR_UNSUPPORTED,
                     "directory '%s' is on a network file system, which has no locks and shared memory "
                     "that SQLite can trust",
                     directory);
        return FALSE;
    }
    return TRUE;
}

gboolean
qd_file_check_version(QdConnection *connection, const char *path, GError **error)
{
    gint64 version = 0;

    if (!qd_schema_get_version(connection, &version, error))
        return FALSE;
    if (version > QD_SCHEMA_VERSION) {
        qd_error_set(error, QW_ERROR_UNSUPPORTED,
                     "database '%s' has schema version %" G_GINT64_FORMAT ", this queryd knows %d: a newer queryd wrote it", path,
                     version, QD_SCHEMA_VERSION);
        return FALSE;
    }
    return TRUE;
}
