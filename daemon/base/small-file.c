/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Written, then renamed.
 */
#include "daemon/base/small-file.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "daemon/base/fd.h"

gboolean
qd_small_file_replace(const char *path, const void *data, gsize n_bytes)
{
    g_autofree char *temp = g_strconcat(path, ".tmp", NULL);
    int fd = TEMP_FAILURE_RETRY(open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
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
