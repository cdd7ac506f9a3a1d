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

#define LOG_HEADER_BYTES 32

static gboolean
has_commits(const char *path)
{
    g_autofree char *log = g_strconcat(path, "-wal", NULL);
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

gboolean
qd_foreign_log_is_there(const char *path)
{
    guint32 alone = has_commits(path) ? read_count_alone(path) : 0;
    g_autoptr(QdPageFile) whole = alone != 0 ? qd_page_file_open(path, NULL) : NULL;
    guint32 with_log = whole != NULL ? qd_page_file_get_info(whole)->schema_cookie : 0;

    return with_log != 0 && (gint32) (with_log - alone) < 0; /* 32 bits: it may have passed 0 */
}
