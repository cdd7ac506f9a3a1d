/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names and descriptors of transports.
 */
#include "daemon/runtime/transport.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/error.h"

#define SOCKET_BUFFER_BYTES (1024 * 1024)
#define PIPE_BYTES (256 * 1024)
#define PIPE_LINK "pipe:[" /* where /proc has a path for descriptors of files */

static const char *const names[] = {
    [QD_TRANSPORT_SOCKETPAIR] = "socketpair",
    [QD_TRANSPORT_RING] = "ring",
    [QD_TRANSPORT_PIPE] = "pipe",
    [QD_TRANSPORT_VMSPLICE] = "vmsplice",
};

const char *
qd_transport_get_name(QdTransport transport)
{
    return names[transport];
}

gboolean
qd_transport_from_name(const char *name, QdTransport *ret_transport)
{
    for (guint i = 0; i < G_N_ELEMENTS(names); i++)
        if (g_str_equal(names[i], name)) {
            *ret_transport = (QdTransport) i;
            return TRUE;
        }
    return FALSE;
}

static gboolean
open_pipe(gboolean large, int ret_fds[2])
{
    int fds[2];

    if (pipe2(fds, O_CLOEXEC) < 0)
        return FALSE;

    ret_fds[0] = fds[1];
    ret_fds[1] = fds[0];
    (void) fcntl(ret_fds[0], F_SETFL, O_NONBLOCK);
    if (large)
        (void) fcntl(ret_fds[0], F_SETPIPE_SZ, PIPE_BYTES);
    return TRUE;
}

static gboolean
open_socketpair(int ret_fds[2])
{
    int size = SOCKET_BUFFER_BYTES;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ret_fds) < 0)
        return FALSE;

    (void) setsockopt(ret_fds[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    (void) setsockopt(ret_fds[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    return TRUE;
}

gboolean
qd_transport_open(QdTransport transport, gboolean large_pipe, int ret_fds[2], GError **error)
{
    if (qd_transport_is_pipe(transport) ? open_pipe(large_pipe, ret_fds) : open_socketpair(ret_fds))
        return TRUE;

    qd_error_set_errno(error, errno, "cannot make a descriptor pair");
    return FALSE;
}

/* By its name in /proc: a system call on a file of a foreign file system might not come back. */
static gboolean
is_pipe(const char *path)
{
    char target[sizeof PIPE_LINK];

    return readlink(path, target, sizeof target) >= (ssize_t) strlen(PIPE_LINK) &&
           memcmp(target, PIPE_LINK, strlen(PIPE_LINK)) == 0;
}

int
qd_transport_open_pipe_of(int fd, int flags, gboolean large_pipe, GError **error)
{
    char path[64];
    int given = fcntl(fd, F_GETFL);
    int own;

    (void) snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (given < 0 || (given & O_PATH) != 0 || ((given & O_ACCMODE) != O_RDWR && (given & O_ACCMODE) != flags) || !is_pipe(path)) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "the descriptor is not the %s end of a pipe",
                     flags == O_WRONLY ? "writing" : "reading");
        return -1;
    }
    own = open(path, flags | O_NONBLOCK | O_CLOEXEC);
    if (own < 0) {
        qd_error_set_errno(error, errno, "cannot open the pipe");
        return -1;
    }
    if (large_pipe)
        (void) fcntl(own, F_SETPIPE_SZ, PIPE_BYTES);
    return own;
}
