/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The server: listening sockets, connections and their limits, routes, the connection to the daemon.
 *
 * Place: room http, above the handlers. One thread with one main loop; only imports have a thread, one at a time.
 * Invariant: a request reaches a handler after all checks of http-access.h, and with its whole body.
 */
#pragma once

#include <query-client.h>

#include "client-lib/http/http-access.h"
#include "client-lib/http/http-exchange.h"
#include "client-lib/http/http-limits.h"

typedef struct QhttpServerOptions {
    const char *store; /* (nullable) */
    bool may_write;
    bool is_activated; /* systemd has started us and can do so again */
    QhttpLimits limits;
    QhttpAccessOptions access;
} QhttpServerOptions;

/* @options: what they refer to outlives the server. (transfer full) (nullable): NULL with @error set */
QhttpServer *qhttp_server_new(const QhttpServerOptions *options, GError **error);
QhttpServer *qhttp_server_free(QhttpServer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QhttpServer, qhttp_server_free)

/* @fd: (transfer full): a listening stream socket, of a UNIX or an internet address. false with @error set */
bool qhttp_server_listen(QhttpServer *self, int fd, GError **error);

/* Serves until a signal, or until it has been idle long enough. */
void qhttp_server_run(QhttpServer *self);

const QhttpServerOptions *qhttp_server_get_options(const QhttpServer *self);
QhttpAccess *qhttp_server_get_access(QhttpServer *self);
guint64 qhttp_server_get_limit(const QhttpServer *self, QhttpLimit limit);

/* Connects if need be. Base and dataset are those of the last call: qhttp_set_scope().
 * (transfer none) (nullable): NULL with @error set */
QueryConnection *qhttp_server_get_connection(QhttpServer *self, GError **error);

/* The latest generation of the store that was seen; 0: none. A result that is read from now on is not older. */
guint64 qhttp_server_get_generation(const QhttpServer *self);
void qhttp_server_note_generation(QhttpServer *self, guint64 generation);

/* Runs @run for @exchange when no other import does. It calls qhttp_server_end_import() at its end. false: too many wait. */
bool qhttp_server_begin_import(QhttpServer *self, QhttpExchange *exchange, QhttpHandler run);
void qhttp_server_end_import(QhttpServer *self);
