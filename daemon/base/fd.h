/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * File descriptors that close themselves: g_auto(QdFd).
 *
 * Place: room base. Give one away with g_steal_fd() of GLib.
 * Invariant: every descriptor of the daemon is CLOEXEC from birth.
 */
#pragma once

#include <glib.h>

typedef int QdFd;

/**
 * qd_fd_close:
 * @fd: (transfer full): a descriptor or -1
 *
 * Closes @fd; errno stays as it was. Thread: any.
 *
 * Returns: -1, for `fd = qd_fd_close(fd)`
 */
int qd_fd_close(int fd);

static inline void
qd_fd_cleanup(QdFd fd)
{
    (void) qd_fd_close(fd);
}

G_DEFINE_AUTO_CLEANUP_FREE_FUNC(QdFd, qd_fd_cleanup, -1)

/* qd_fd_write_all: to a file, in as many calls as it takes. Returns: FALSE with errno. Thread: any. */
gboolean qd_fd_write_all(int fd, const void *data, gsize n_bytes);

/* qd_fd_count_rest: bytes of the regular file @fd from its offset to its end. Thread: any. */
guint64 qd_fd_count_rest(int fd);

/**
 * qd_fd_dup:
 * @fd: (transfer none): an open descriptor
 *
 * Thread: any.
 *
 * Returns: (transfer full): a CLOEXEC descriptor of the same open file, above the standard three; or a negative errno
 */
int qd_fd_dup(int fd);

/**
 * qd_fd_raise_limit:
 * @n_wanted: how many descriptors the process would like to have
 *
 * Raises the soft limit of open files to the smaller of @n_wanted and the hard limit; never lowers it.
 *
 * Thread: main, before others start.
 *
 * Returns: the soft limit in force, or a negative errno
 */
gint64 qd_fd_raise_limit(guint64 n_wanted);
