/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file of the kernel's gives EPOLLPRI, at most once in the two seconds of the trigger. A FIFO or socket gives bytes, which say
 * nothing.
 */
#include "daemon/main/memory-pressure.h"

#include <fcntl.h>
#include <glib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/base/cgroup.h"
#include "daemon/base/fd.h"

/* So much time that some task waited for memory, of so much: in microseconds. Without privilege these must be whole multiples of
 * two seconds. */
#define TRIGGER "some 200000 2000000"
#define OPEN_FLAGS (O_RDWR | O_NONBLOCK | O_NOCTTY)

struct QdMemoryPressure {
    int fd;
    sd_event_source *source;
    QdMemoryPressureFunc func;
    void *user_data;
};

static int
connect_to(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    g_auto(QdFd) fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0 || g_strlcpy(address.sun_path, path, sizeof address.sun_path) >= sizeof address.sun_path ||
        connect(fd, (const struct sockaddr *) &address, sizeof address) < 0)
        return -1;
    return g_steal_fd(&fd);
}

static gboolean
write_trigger(int fd, const void *data, gsize n_bytes)
{
    return fd >= 0 && (n_bytes == 0 || write(fd, data, n_bytes) == (ssize_t) n_bytes);
}

/* As the variables say. */
static int
open_named(const char *path)
{
    const char *encoded = g_getenv("MEMORY_PRESSURE_WRITE");
    gsize n_bytes = 0;
    g_autofree guchar *data = encoded != NULL ? g_base64_decode(encoded, &n_bytes) : NULL;
    g_auto(QdFd) fd = -1;
    struct stat status;

    if (!g_path_is_absolute(path) || stat(path, &status) < 0 || S_ISCHR(status.st_mode)) /* /dev/null: it is not wanted */
        return -1;
    fd = S_ISSOCK(status.st_mode) ? connect_to(path) : open(path, OPEN_FLAGS | O_CLOEXEC);
    return write_trigger(fd, data, n_bytes) ? g_steal_fd(&fd) : -1;
}

static int
open_own(void)
{
    g_auto(QdFd) group = qd_cgroup_open("memory.pressure", OPEN_FLAGS);
    g_auto(QdFd) machine = -1;

    if (write_trigger(group, TRIGGER, sizeof TRIGGER))
        return g_steal_fd(&group);
    machine = open("/proc/pressure/memory", OPEN_FLAGS | O_CLOEXEC);
    return write_trigger(machine, TRIGGER, sizeof TRIGGER) ? g_steal_fd(&machine) : -1;
}

static int
on_pressure(sd_event_source *source, int fd, uint32_t events, void *user_data)
{
    QdMemoryPressure *self = user_data;
    char bytes[512];
    gboolean is_over = (events & (EPOLLERR | EPOLLHUP)) != 0; /* the group is gone, or the socket's other side */

    while ((events & EPOLLIN) != 0) {
        ssize_t n = read(fd, bytes, sizeof bytes);

        is_over = is_over || n == 0;
        if (n <= 0)
            break;
    }
    if (is_over)
        (void) sd_event_source_set_enabled(source, SD_EVENT_OFF);
    else
        self->func(self->user_data);
    return 0;
}

QdMemoryPressure *
qd_memory_pressure_new(sd_event *event, QdMemoryPressureFunc func, void *user_data)
{
    const char *path = g_getenv("MEMORY_PRESSURE_WATCH");
    QdMemoryPressure *self = g_new0(QdMemoryPressure, 1);
    struct stat status;

    self->func = func;
    self->user_data = user_data;
    self->fd = path != NULL ? open_named(path) : open_own();
    if (self->fd < 0 || fstat(self->fd, &status) < 0 ||
        sd_event_add_io(event, &self->source, self->fd, S_ISREG(status.st_mode) ? EPOLLPRI : EPOLLIN, on_pressure, self) < 0)
        return qd_memory_pressure_free(self);
    return self;
}

QdMemoryPressure *
qd_memory_pressure_free(QdMemoryPressure *self)
{
    if (self == NULL)
        return NULL;

    sd_event_source_disable_unref(self->source);
    if (self->fd >= 0)
        (void) close(self->fd);
    g_free(self);
    return NULL;
}
