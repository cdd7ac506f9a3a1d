/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Transports: what stands between a channel and its reader.
 *
 * Place: room runtime; part of the engine's interface.
 * Invariant: what a reader is given is CLOEXEC, and blocking: our end never blocks by itself.
 */
#pragma once

#include <glib.h>

typedef enum QdTransport {
    QD_TRANSPORT_SOCKETPAIR,
    QD_TRANSPORT_RING, /* a socketpair, and shared memory for large results */
    QD_TRANSPORT_PIPE,
    QD_TRANSPORT_VMSPLICE, /* a pipe whose reader has promised to copy what it reads */
    QD_TRANSPORT_CURSOR,   /* a pipe of the caller, for a cursor of libtracker-sparql; not for the option `transport` */
} QdTransport;

/* One-way: the statement runs at once, and nothing comes back. */
static inline gboolean
qd_transport_is_pipe(QdTransport transport)
{
    return transport == QD_TRANSPORT_PIPE || transport == QD_TRANSPORT_VMSPLICE || transport == QD_TRANSPORT_CURSOR;
}

/* As the option `transport` has it. */
const char *qd_transport_get_name(QdTransport transport);
gboolean qd_transport_from_name(const char *name, QdTransport *ret_transport);

/**
 * qd_transport_open:
 * @large_pipe: a pipe may take as much as is good for it: large ones are a scarce right of the user
 * @ret_fds: (out) (transfer full): the daemon's end, the reader's end
 *
 * Returns: FALSE with @error
 */
gboolean qd_transport_open(QdTransport transport, gboolean large_pipe, int ret_fds[2], GError **error);

/**
 * qd_transport_open_pipe_of:
 * @fd: (not owned): what a caller passed
 * @flags: O_RDONLY or O_WRONLY: the end that it has to be
 * @large_pipe: as for qd_transport_open()
 * @error: (nullable): location for an error
 *
 * Opens the pipe once more, so that a read or write never blocks, regardless of the caller's flags. Does not block: what is no pipe
 * of the kernel is not touched.
 *
 * Thread: any. Errors: BAD_PARAMETER: no pipe, or not that end of one; DISCONNECTED: the other end is closed.
 *
 * Returns: (transfer full): a descriptor, CLOEXEC, or -1
 */
int qd_transport_open_pipe_of(int fd, int flags, gboolean large_pipe, GError **error);
