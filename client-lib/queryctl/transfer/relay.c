/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A pipe and a thread, where they are needed.
 */
#include "client-lib/queryctl/transfer/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct QctlRelay {
    int fd;       /* the caller's */
    int given_fd; /* what the daemon gets: @fd, or our end of the pipe */
    int inner_fd; /* the thread's end; it closes it */
    bool output;
    GThread *thread; /* (nullable) */
    int r;           /* of the thread: 0 or negative errno */
};

static gpointer
copy(gpointer data)
{
    QctlRelay *self = data;
    int source = self->output ? self->inner_fd : self->fd;
    int target = self->output ? self->fd : self->inner_fd;
    char buffer[16384];
    ssize_t n = 0;

    while ((n = read(source, buffer, sizeof buffer)) != 0) {
        if (n < 0 && errno != EINTR) {
            self->r = -errno;
            break;
        }
        for (ssize_t done = 0; done < n;) {
            ssize_t written = write(target, buffer + done, (size_t) (n - done));

            if (written < 0 && errno != EINTR) {
                self->r = -errno;
                break;
            }
            done += MAX(written, 0);
        }
        if (self->r < 0)
            break;
    }
    (void) close(self->inner_fd);
    return NULL;
}

QctlRelay *
qctl_relay_new(int fd, bool output, GError **error)
{
    QctlRelay *self = g_new0(QctlRelay, 1);
    struct stat st;
    int fds[2] = { -1, -1 };

    self->fd = self->given_fd = fd;
    self->output = output;
    if (fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
        return self;

    if (pipe2(fds, O_CLOEXEC) < 0) {
        g_set_error(error, G_FILE_ERROR, (int) g_file_error_from_errno(errno), "cannot make a pipe: %s", g_strerror(errno));
        return qctl_relay_free(self);
    }
    self->given_fd = output ? fds[1] : fds[0];
    self->inner_fd = output ? fds[0] : fds[1];
    self->thread = g_thread_new("relay", copy, self);
    return self;
}

int
qctl_relay_get_fd(const QctlRelay *self)
{
    return self->given_fd;
}

bool
qctl_relay_finish(QctlRelay *self, GError **error)
{
    if (self->thread == NULL)
        return true;

    (void) close(self->given_fd);
    (void) g_thread_join(g_steal_pointer(&self->thread));
    if (self->output && self->r < 0) {
        g_set_error(error, G_FILE_ERROR, (int) g_file_error_from_errno(-self->r), "cannot write the output: %s",
                    g_strerror(-self->r));
        return false;
    }

    return true;
}

QctlRelay *
qctl_relay_free(QctlRelay *self)
{
    if (self == NULL)
        return NULL;

    /* A thread that waits for a terminal's input has no end but the process's. */
    if (self->thread != NULL && !self->output)
        return NULL;
    (void) qctl_relay_finish(self, NULL);
    g_free(self);
    return NULL;
}
