/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The server: listening sockets, connections and their limits, routes.
 *
 * Place: room http, above the handlers. One thread with one main loop.
 * Invariant: a request reaches a handler after all checks of http-access.h, and with its whole body.
 */
#pragma once

#include "client-lib/http/http-service.h"

typedef struct QhttpServer QhttpServer;

/* @options: what they refer to outlives the server. (transfer full) (nullable): NULL with @error set */
QhttpServer *qhttp_server_new(const QhttpServiceOptions *options, GError **error);
QhttpServer *qhttp_server_free(QhttpServer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QhttpServer, qhttp_server_free)

/* @fd: (transfer full): a listening stream socket, of a UNIX or an internet address. false with @error set */
bool qhttp_server_listen(QhttpServer *self, int fd, GError **error);

/* Serves until a signal, or until it has been idle long enough. */
void qhttp_server_run(QhttpServer *self);
