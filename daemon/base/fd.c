/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Descriptors: closing, duplicating, and how many there may be.
 */
#include "daemon/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

int
qd_fd_close(int fd)
{
    int saved_errno = errno;

    /* Linux has released the descriptor even when close() says EINTR: closing again could hit another thread's. */
    if (fd >= 0)
        (void) close(fd);
    errno = saved_errno;
    return -1;
}

gboolean
qd_fd_write_all(int fd, const void *data, gsize n_bytes)
{
    const char *p = data;

    while (n_bytes > 0) {
        ssize_t n = write(fd, p, n_bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = ENOSPC;
        if (n <= 0)
            return FALSE;
        p += n;
        n_bytes -= (gsize) n;
    }
    return TRUE;
}

guint64
qd_fd_count_rest(int fd)
{
    off_t offset = lseek(fd, 0, SEEK_CUR);
    struct stat st;

    return fstat(fd, &st) == 0 && offset >= 0 && st.st_size > offset ? (guint64) (st.st_size - offset) : 0;
}

int
qd_fd_dup(int fd)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

    return copy >= 0 ? copy : -errno;
}

gint64
qd_fd_raise_limit(guint64 n_wanted)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return -errno;

    if (limit.rlim_cur < n_wanted && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = MIN(n_wanted, limit.rlim_max);
        if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
            return -errno;
    }

    return (gint64) MIN(limit.rlim_cur, (rlim_t) G_MAXINT64);
}
