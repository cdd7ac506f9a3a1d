/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A store that was opened has a table of its own, so the copy of its schema has rows. An empty file beside it was not left by us:
 * what the daemon creates is synced before the copy is written. A file that is missing was deleted, perhaps to begin again.
 */
#include "daemon/store/lost-content.h"

#include <errno.h>
#include <sys/stat.h>

#include "daemon/base/error.h"
#include "daemon/recover/schema-copy.h"

#define EMPTY_BYTES 1 /* SQLite takes a file of one byte for an empty one, too */
#define LOG_HEADER_BYTES 32

static gboolean
has_log(const char *path)
{
    g_autofree char *log = g_strconcat(path, "-wal", NULL);
    struct stat st;

    return stat(log, &st) == 0 && st.st_size > LOG_HEADER_BYTES;
}

gboolean
qd_lost_content_check(const char *path, gboolean *ret_has_log, GError **error)
{
    g_autoptr(QdSchemaCopy) copy = NULL;
    struct stat st;
    gboolean is_missing = stat(path, &st) < 0;

    if (is_missing ? errno != ENOENT : st.st_size > EMPTY_BYTES)
        return TRUE;
    copy = is_missing ? NULL : qd_schema_copy_read(path);
    if (copy != NULL && copy->rows->len > 0)
        qd_error_set(error, QW_ERROR_CORRUPT,
                     "it is empty, and by the copy of its schema, '%s" QD_SCHEMA_COPY_SUFFIX
                     "', it had %u tables and indexes: another program has emptied it. To put a backup in its place: queryctl "
                     "restore FILE. To begin with an empty store: delete it, its log and that copy",
                     path, copy->rows->len);
    else if (has_log(path))
        qd_error_set(error, QW_ERROR_CORRUPT, "it is missing or empty, and there is a log of it");
    else
        return TRUE;
    *ret_has_log = has_log(path);
    return FALSE;
}
