/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Simple requests of a kept connection, without libsoup's machine: whole in one segment, with a short body or none.
 *
 * Place: room http, between http-listen, which owns it, and the exchanges. Parser and headers are libsoup's. A request that is not
 * simple, or that may be refused, is not taken from the socket: libsoup gets the connection with it, for good.
 * Invariant: one exchange at a time. Chunks of a response that was not ended are not followed by the last chunk.
 */
#pragma once

#include <libsoup/soup.h>
#include <stdbool.h>

typedef struct QhttpExchange QhttpExchange;
typedef struct QhttpPeer QhttpPeer;
typedef struct QhttpQuick QhttpQuick;
typedef struct QhttpService QhttpService;

typedef struct QhttpQuickRequest {
    const char *method; /* "GET" or "POST" */
    const char *path;
    const char *query; /* (nullable) */
    SoupMessageHeaders *headers;
    const char *body;
    gsize n_body_bytes;
} QhttpQuickRequest;

typedef struct QhttpQuickHooks {
    /* (transfer full) (nullable): the exchange of the request; NULL: it is for libsoup, and nothing has happened */
    QhttpExchange *(*accept)(QhttpQuick *quick, QhttpPeer *peer, const QhttpQuickRequest *request, gpointer user_data);
    /* Answers it, now or later. */
    void (*serve)(QhttpExchange *exchange, const char *query);
    /* No further request has come at once: what could wait is done now. */
    void (*rest)(gpointer user_data);
    gpointer user_data;
} QhttpQuickHooks;

/* @socket: of @peer, which outlives it, as @hooks do. (transfer full) */
QhttpQuick *qhttp_quick_new(QhttpPeer *peer, GSocket *socket, const QhttpQuickHooks *hooks);
QhttpQuick *qhttp_quick_free(QhttpQuick *self);

/* (transfer full) */
QhttpExchange *qhttp_quick_new_exchange(QhttpQuick *self, QhttpService *service, const QhttpQuickRequest *request);
