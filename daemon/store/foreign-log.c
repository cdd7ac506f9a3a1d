/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file alone is an older state of the same database, or a part of a newer one where a checkpoint was cut off. SQLite counts the
 * changes of the schema in the header. VACUUM raises that count, and so does a backup that is written into the file. So a log with
 * a lower count is of another database, unless a program has set the count by PRAGMA schema_version. Other findings are none: a
 * Restore puts all of another store into the log.
 */
#include "daemon/store/foreign-log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "daemon/recover/page-file.h"
#include "daemon/recover/replace.h"
#include "daemon/store/rollback-journal.h"

#define LOG_HEADER_BYTES 32

static gboolean
has_commits(const char *path)
{
    g_autofree char *log = g_strconcat(path, QD_REPLACE_LOG_SUFFIX, NULL);
    struct stat st;

    return stat(log, &st) == 0 && st.st_size > LOG_HEADER_BYTES;
}

/* 0: there is no header. */
static guint32
read_count_alone(const char *path)
{
    g_auto(QdFd) fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    guint8 header[QD_PAGE_HEADER_BYTES];

    return fd >= 0 && pread(fd, header, sizeof header, 0) == (ssize_t) sizeof header ? qd_page_header_get_schema_cookie(header) : 0;
}

static gboolean
log_is_foreign(const char *path)
{
    guint32 alone = has_commits(path) ? read_count_alone(path) : 0;
    g_autoptr(QdPageFile) whole = alone != 0 ? qd_page_file_open(path, NULL) : NULL;
    guint32 with_log = whole != NULL ? qd_page_file_get_info(whole)->schema_cookie : 0;

    return with_log != 0 && (gint32) (with_log - alone) < 0; /* 32 bits: it may have passed 0 */
}

/* SQLite plays the journal back before it looks at the log. */
const char *
qd_foreign_log_find(const char *path)
{
    if (qd_rollback_journal_find(path) == QD_ROLLBACK_JOURNAL_FOREIGN)
        return QD_REPLACE_JOURNAL_SUFFIX;
    return log_is_foreign(path) ? QD_REPLACE_LOG_SUFFIX : NULL;
}

gboolean
qd_foreign_log_set_aside(const char *path, char ***ret_asides, GError **error)
{
    g_autofree char *directory = g_path_get_dirname(path);
    g_autoptr(GStrvBuilder) asides = g_strv_builder_new();
    const char *suffix;

    while ((suffix = qd_foreign_log_find(path)) != NULL) {
        g_autofree char *aside = NULL;

        if (!qd_replace_set_aside(directory, suffix, &aside, error))
            return FALSE;
        g_strv_builder_add(asides, aside);
    }
    *ret_asides = g_strv_builder_end(asides);
    return TRUE;
}
