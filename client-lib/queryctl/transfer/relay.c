/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A pipe or a socket and a thread, where they are needed.
 *
 * A reader cannot tell the end of a pipe from a source that broke off, or from a queryctl that was killed. So input goes through
 * a socket whose end at the thread has an unread byte. When such an end is closed, the kernel gives the daemon ECONNRESET after
 * the data (unix_release_sock()). The thread takes the byte away at the true end only.
 */
#include "client-lib/queryctl/transfer/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct QctlRelay {
    int fd;       /* the caller's; for input with a thread its copy, which the thread closes */
    int given_fd; /* what the daemon gets: @fd, or our end of the pipe or socket */
    int inner_fd; /* the thread's end; it closes it */
    bool output;
    GThread *thread; /* (nullable) */
    gint n_users;    /* atomic: the owner and the thread */
    int r;           /* atomic; of reading input or of writing output: 0 or negative errno */
};

/* To @fd, a socket for input. Returns: 0 or negative errno */
static int
write_all(const QctlRelay *self, int fd, const char *data, size_t n_bytes)
{
    while (n_bytes > 0) {
        ssize_t n = self->output ? write(fd, data, n_bytes) : send(fd, data, n_bytes, MSG_NOSIGNAL);

        if (n < 0 && errno != EINTR)
            return -errno;
        data += MAX(n, 0);
        n_bytes -= (size_t) MAX(n, 0);
    }
    return 0;
}

static void
unref(QctlRelay *self)
{
    if (g_atomic_int_dec_and_test(&self->n_users))
        g_free(self);
}

static gpointer
copy(gpointer data)
{
    QctlRelay *self = data;
    int source = self->output ? self->inner_fd : self->fd;
    int target = self->output ? self->fd : self->inner_fd;
    char buffer[16384];
    ssize_t n = 0;
    int r = 0;

    while (r == 0 && (n = read(source, buffer, sizeof buffer)) != 0) {
        if (n > 0)
            r = write_all(self, target, buffer, (size_t) n);
        else if (errno != EINTR)
            g_atomic_int_set(&self->r, -errno);
        if (g_atomic_int_get(&self->r) < 0)
            break;
    }
    if (self->output && r < 0)
        g_atomic_int_set(&self->r, r);
    if (!self->output && n == 0)
        (void) recv(self->inner_fd, buffer, 1, MSG_DONTWAIT);
    (void) close(self->inner_fd);
    if (!self->output)
        (void) close(self->fd);
    unref(self);
    return NULL;
}

/* The first is the daemon's end. */
static int
make_ends(bool output, int fds[2])
{
    int ends[2];

    if (output) {
        if (pipe2(ends, O_CLOEXEC) < 0)
            return -errno;
        fds[0] = ends[1];
        fds[1] = ends[0];
        return 0;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return -errno;
    if (send(fds[0], "", 1, MSG_NOSIGNAL) == 1)
        return 0;
    (void) close(fds[0]);
    (void) close(fds[1]);
    return -EIO;
}

QctlRelay *
qctl_relay_new(int fd, bool output, GError **error)
{
    QctlRelay *self = g_new0(QctlRelay, 1);
    struct stat st;
    int fds[2] = { -1, -1 };
    int r;

    self->fd = self->given_fd = fd;
    self->output = output;
    self->n_users = 1;
    if (fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
        return self;

    r = make_ends(output, fds);
    if (r < 0) {
        g_set_error(error, G_FILE_ERROR, (int) g_file_error_from_errno(-r), "cannot make a %s: %s", output ? "pipe" : "socket",
                    g_strerror(-r));
        return qctl_relay_free(self);
    }
    self->given_fd = fds[0];
    self->inner_fd = fds[1];
    if (!output) { /* it may be read after the call has ended */
        self->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        if (self->fd < 0) {
            g_set_error(error, G_FILE_ERROR, (int) g_file_error_from_errno(errno), "cannot copy a descriptor: %s",
                        g_strerror(errno));
            (void) close(fds[0]);
            (void) close(fds[1]);
            return qctl_relay_free(self);
        }
    }
    self->n_users++;
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
    return qctl_relay_check(self, error);
}

bool
qctl_relay_check(const QctlRelay *self, GError **error)
{
    int saved = -g_atomic_int_get(&self->r);

    if (saved == 0)
        return true;
    g_set_error(error, G_FILE_ERROR, (int) g_file_error_from_errno(saved), "%s: %s",
                self->output ? "cannot write the output" : "cannot read the input", g_strerror(saved));
    return false;
}

QctlRelay *
qctl_relay_free(QctlRelay *self)
{
    if (self == NULL)
        return NULL;

    /* one that waits for a terminal's input is left alone: it may have no end but the process's */
    if (self->thread != NULL && !self->output) {
        (void) close(self->given_fd);
        g_thread_unref(g_steal_pointer(&self->thread));
    }
    (void) qctl_relay_finish(self, NULL);
    unref(self);
    return NULL;
}
