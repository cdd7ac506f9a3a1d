/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Output in large writes, and the pager.
 */
#include "client-lib/queryctl/sink.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define FLUSH_BYTES (64 * 1024)

struct QctlSink {
    int fd;
    bool use_pager;
    GPid pager; /* 0: none */
    GString *buffer;
};

QctlSink *
qctl_sink_new(int fd, bool use_pager)
{
    QctlSink *self = g_new0(QctlSink, 1);

    self->fd = fd;
    self->use_pager = use_pager;
    self->buffer = g_string_sized_new(FLUSH_BYTES + 4096);
    return self;
}

QctlSink *
qctl_sink_free(QctlSink *self)
{
    if (self == NULL)
        return NULL;

    if (self->pager != 0) {
        (void) close(self->fd);
        while (waitpid(self->pager, NULL, 0) < 0 && errno == EINTR)
            continue;
        g_spawn_close_pid(self->pager);
    }
    g_string_free(self->buffer, TRUE);
    g_free(self);
    return NULL;
}

GString *
qctl_sink_get_buffer(QctlSink *self)
{
    return self->buffer;
}

/* Our own blocked and ignored signals are not the pager's. */
static void
restore_signals(gpointer user_data)
{
    sigset_t none;

    (void) signal(SIGPIPE, SIG_DFL);
    (void) signal(SIGXFSZ, SIG_DFL);
    sigemptyset(&none);
    (void) sigprocmask(SIG_SETMASK, &none, NULL);
}

static void
start_pager(QctlSink *self)
{
    const char *command = g_getenv("PAGER");
    const GSpawnFlags flags = G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_CLOEXEC_PIPES;
    const char *argv[] = { "/bin/sh", "-c", NULL, NULL };
    int fd = -1;

    self->use_pager = false;
    if (command == NULL || command[0] == 0) {
        g_autofree char *less = g_find_program_in_path("less");

        command = less != NULL ? "less -S" : NULL;
    }
    if (command == NULL || g_str_equal(command, "cat"))
        return;

    /* Quit when all fits on one screen, leave it there, show colours. */
    g_setenv("LESS", "FRSX", FALSE);
    argv[2] = command;
    if (g_spawn_async_with_pipes(NULL, (char **) argv, NULL, flags, restore_signals, NULL, &self->pager, &fd, NULL, NULL, NULL))
        self->fd = fd;
}

static int
write_all(int fd, const char *data, gsize n_bytes)
{
    while (n_bytes > 0) {
        ssize_t n = write(fd, data, n_bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        data += n;
        n_bytes -= (gsize) n;
    }

    return 0;
}

bool
qctl_sink_flush(QctlSink *self, GError **error)
{
    int r = 0;

    if (self->buffer->len == 0 || self->fd < 0)
        return true;
    if (self->use_pager)
        start_pager(self);

    r = write_all(self->fd, self->buffer->str, self->buffer->len);
    g_string_truncate(self->buffer, 0);
    if (r < 0) {
        g_set_error(error, G_FILE_ERROR, (int) g_file_error_from_errno(-r), "cannot write the output: %s", g_strerror(-r));
        return false;
    }

    return true;
}

bool
qctl_sink_end_row(QctlSink *self, GError **error)
{
    return self->buffer->len < FLUSH_BYTES || qctl_sink_flush(self, error);
}

bool
qctl_error_is_broken_pipe(const GError *error)
{
    return g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_PIPE);
}
