/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Written, then renamed. Read until nothing more comes: files of /proc have no size.
 */
#include "daemon/base/small-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "daemon/base/fd.h"

#define FIRST_BYTES 1024

gboolean
qd_small_file_replace(const char *path, const void *data, gsize n_bytes)
{
    g_autofree char *temp = g_strconcat(path, ".tmp", NULL);
    int fd = TEMP_FAILURE_RETRY(open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    gboolean ok;

    if (fd < 0)
        return FALSE;
    ok = qd_fd_write_all(fd, data, n_bytes);
    (void) close(fd);
    if (ok && rename(temp, path) == 0)
        return TRUE;
    (void) unlink(temp);
    return FALSE;
}

/* Returns: (transfer full) (nullable): NULL with errno */
static char *
read_all(int fd, gsize max_bytes, gsize *ret_n_bytes)
{
    gsize room = MIN(max_bytes, FIRST_BYTES) + 1;
    gsize n_bytes = 0;
    g_autofree char *data = g_malloc(room + 1);

    for (;;) {
        ssize_t n = TEMP_FAILURE_RETRY(read(fd, data + n_bytes, room - n_bytes));

        if (n < 0)
            return NULL;
        if (n == 0)
            break;
        n_bytes += (gsize) n;
        if (n_bytes > max_bytes) {
            errno = EFBIG;
            return NULL;
        }
        if (n_bytes == room) {
            room = MIN(2 * room, max_bytes + 1);
            data = g_realloc(data, room + 1);
        }
    }
    data[n_bytes] = '\0';
    *ret_n_bytes = n_bytes;
    return g_steal_pointer(&data);
}

char *
qd_small_file_read(const char *path, gsize max_bytes, gsize *ret_n_bytes)
{
    g_auto(QdFd) fd = TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    gsize n_bytes = 0;
    char *data = fd >= 0 ? read_all(fd, max_bytes, &n_bytes) : NULL;

    if (data != NULL && ret_n_bytes != NULL)
        *ret_n_bytes = n_bytes;
    return data;
}
