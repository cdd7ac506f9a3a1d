/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the handlers share: options, access, the connection to the daemon, the turns of imports.
 *
 * Place: room http, below the handlers. Thread: that of the main loop; only imports have a thread, one at a time.
 */
#pragma once

#include <query-client.h>

#include "client-lib/http/http-access.h"
#include "client-lib/http/http-exchange.h"
#include "client-lib/http/http-limits.h"

typedef struct QhttpServiceOptions {
    const char *store; /* (nullable) */
    bool may_write;
    bool is_activated; /* systemd has started us and can do so again */
    QhttpLimits limits;
    QhttpAccessOptions access;
} QhttpServiceOptions;

/* @options: what they refer to outlives the service. (transfer full) (nullable): NULL with @error set */
QhttpService *qhttp_service_new(const QhttpServiceOptions *options, GError **error);
QhttpService *qhttp_service_free(QhttpService *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QhttpService, qhttp_service_free)

const QhttpServiceOptions *qhttp_service_get_options(const QhttpService *self);
QhttpAccess *qhttp_service_get_access(QhttpService *self);
guint64 qhttp_service_get_limit(const QhttpService *self, QhttpLimit limit);
/* Answers @exchange with @status, @what and the limit, and ends its connection. */
void qhttp_service_refuse(QhttpExchange *exchange, guint status, QhttpLimit limit, const char *what);

/* Connects if need be. Base and dataset are those of the last call: qhttp_set_scope().
 * (transfer none) (nullable): NULL with @error set */
QueryConnection *qhttp_service_get_connection(QhttpService *self, GError **error);
/* The same for @exchange, which is answered where there is none. */
QueryConnection *qhttp_service_connect(QhttpExchange *exchange);
/* The same for an update, which a server without --read-write refuses. */
QueryConnection *qhttp_service_connect_for_update(QhttpExchange *exchange);

/* @exchange becomes an update, which qhttp_service_stop() ends. false: it is answered, since the server is stopping. */
bool qhttp_service_begin_update(QhttpExchange *exchange);
/* Cancels the updates, and waits until they are answered: each says whether it was executed. No others begin. */
void qhttp_service_stop(QhttpService *self);

/* The latest generation of the store that was seen; 0: none. A result that is read from now on is not older. */
guint64 qhttp_service_get_generation(const QhttpService *self);
void qhttp_service_note_generation(QhttpService *self, guint64 generation);

/* Runs @run for @exchange when no other import does. It calls qhttp_service_end_import() at its end. false: too many wait. */
bool qhttp_service_begin_import(QhttpService *self, QhttpExchange *exchange, QhttpHandler run);
void qhttp_service_end_import(QhttpService *self);

/* @url: (nullable): of the port; NULL: there is none. Without a '/' at its end */
void qhttp_service_set_url(QhttpService *self, const char *url);
const char *qhttp_service_get_url(const QhttpService *self);

/*
 * What is not needed any more, to be freed when there is time: while the daemon works on the next request, or when none comes. One
 * at a time is kept. @data: (transfer full)
 */
void qhttp_service_discard(QhttpService *self, gpointer data, GDestroyNotify free_func);
void qhttp_service_empty_bin(QhttpService *self);

/* Counts a result that is watched; false: the limit of them is reached. */
bool qhttp_service_begin_watch(QhttpService *self);
void qhttp_service_end_watch(QhttpService *self);
