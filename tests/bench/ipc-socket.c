/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A UNIX stream socket: read() that blocks, and epoll_wait() before a read() that does not.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/bench/ipc.h"

static void
open_sockets(IpcEnd *end, int flags)
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0, end->fds) != 0)
        bench_fail(end->bench, "socketpair: %s", g_strerror(errno));
}

static void
open_blocking(IpcEnd *end)
{
    open_sockets(end, 0);
}

static void
open_polling(IpcEnd *end)
{
    open_sockets(end, SOCK_NONBLOCK);
}

static void
enter_polling(IpcEnd *end)
{
    ipc_epoll_open(end, end->fds[end->side]);
}

/* There is always room: few messages are under way. */
static void
send_message(IpcEnd *end, const IpcMessage *message)
{
    if (write(end->fds[end->side], message, sizeof *message) != sizeof *message)
        bench_fail(end->bench, "write: %s", g_strerror(errno));
}

/* Adds what there is to end->part. FALSE when there is nothing yet. */
static gboolean
read_part(IpcEnd *end)
{
    gssize n = read(end->fds[end->side], end->part + end->n_part, sizeof end->part - end->n_part);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return FALSE;
    if (n <= 0)
        bench_fail(end->bench, "the other end has gone");
    end->n_part += (gsize) n;
    return TRUE;
}

static void
take_part(IpcEnd *end, IpcMessage *ret_message)
{
    memcpy(ret_message, end->part, sizeof *ret_message);
    end->n_part = 0;
}

static void
receive_blocking(IpcEnd *end, IpcMessage *ret_message)
{
    while (end->n_part < sizeof end->part)
        (void) read_part(end);
    take_part(end, ret_message);
}

static void
receive_polling(IpcEnd *end, IpcMessage *ret_message)
{
    struct epoll_event event;

    while (end->n_part < sizeof end->part)
        if (!read_part(end))
            (void) epoll_wait(end->epoll, &event, 1, -1);
    take_part(end, ret_message);
}

const IpcWay ipc_socket_blocking = { .open = open_blocking, .send = send_message, .receive = receive_blocking };
const IpcWay ipc_socket_polling = {
    .open = open_polling, .enter = enter_polling, .send = send_message, .receive = receive_polling
};
