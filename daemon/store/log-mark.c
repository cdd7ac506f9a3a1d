/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/store/log-mark.h"

#include <fcntl.h>
#include <unistd.h>

/* From the number of pages to the salts: https://www.sqlite.org/walformat.html#the_wal_index_file_format */
#define OFFSET 16

QdLogMark
qd_log_mark_read(const char *path)
{
    g_autofree char *index_path = g_strconcat(path, "-shm", NULL);
    int fd = open(index_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    QdLogMark mark = { 0 };

    mark.is_known = fd >= 0 && pread(fd, mark.bytes, sizeof mark.bytes, OFFSET) == (ssize_t) sizeof mark.bytes;
    if (fd >= 0)
        (void) close(fd); /* the locks of the index are of SQLite's open file description: index-locks.h */
    return mark;
}
