/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes any descriptor one that the daemon takes.
 *
 * Place: layer B. The daemon takes files, pipes and sockets; a terminal or another device gets a pipe or socket between, and a
 * thread that copies. Invariants: the thread has ended, and what it copied is there, when the relay has been finished. Input that
 * breaks off is an error for the daemon, never the end.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct QctlRelay QctlRelay;

/* @fd: borrowed. An output relay copies to it, else from it. (transfer full) (nullable): NULL with @error set */
QctlRelay *qctl_relay_new(int fd, bool output, GError **error);

/* The descriptor for the daemon: borrowed. */
int qctl_relay_get_fd(const QctlRelay *self);

/* Waits for what is on its way. False with @error set when copying failed. For output: input from a terminal may have no end. */
bool qctl_relay_finish(QctlRelay *self, GError **error);

/* Without waiting: false with @error set when reading the input, or writing the output, has failed. */
bool qctl_relay_check(const QctlRelay *self, GError **error);
QctlRelay *qctl_relay_free(QctlRelay *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QctlRelay, qctl_relay_free)
