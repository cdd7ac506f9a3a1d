/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Event descriptors and epoll: how shared memory is waited for in an event loop, where a futex or a condition cannot be.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/bench/ipc.h"

gpointer
ipc_map_shared(const Bench *bench, gsize n_bytes)
{
    gpointer memory = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (memory == MAP_FAILED)
        bench_fail(bench, "mmap: %s", g_strerror(errno));
    return memory;
}

void
ipc_epoll_open(IpcEnd *end, int fd)
{
    struct epoll_event event = { .events = EPOLLIN };

    end->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (end->epoll < 0 || epoll_ctl(end->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        bench_fail(end->bench, "epoll: %s", g_strerror(errno));
}

void
ipc_events_open(IpcEnd *end)
{
    for (gsize i = 0; i < G_N_ELEMENTS(end->fds); i++) {
        end->fds[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (end->fds[i] < 0)
            bench_fail(end->bench, "eventfd: %s", g_strerror(errno));
    }
}

void
ipc_events_enter(IpcEnd *end)
{
    ipc_epoll_open(end, end->fds[end->side]);
}

void
ipc_events_notify_peer(IpcEnd *end)
{
    guint64 one = 1;

    if (write(end->fds[1 - end->side], &one, sizeof one) != sizeof one)
        bench_fail(end->bench, "eventfd: %s", g_strerror(errno));
}

void
ipc_events_wait(IpcEnd *end)
{
    struct epoll_event event;
    guint64 count;

    (void) epoll_wait(end->epoll, &event, 1, -1);
    (void) read(end->fds[end->side], &count, sizeof count);
}
