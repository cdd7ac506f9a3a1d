/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Listening sockets, and the connections that came by them: peers.
 *
 * Place: room http, below the server. Connections are accepted here. A peer begins with http-quick, and goes to libsoup with the
 * first request that is not simple. libsoup has no limit for connections.
 * Invariant: a peer lives as long as its connection.
 */
#pragma once

#include <libsoup/soup.h>
#include <stdbool.h>

#include "client-lib/http/http-limits.h"
#include "client-lib/http/http-quick.h"

typedef struct QhttpListeners QhttpListeners;
typedef struct QhttpPeer QhttpPeer;

/*
 * @hooks: for simple requests; outlives the listeners
 * @idle_func: called again and again while there was no connection for the time of the limit. (transfer full)
 */
QhttpListeners *qhttp_listeners_new(SoupServer *soup, const QhttpLimits *limits, const QhttpQuickHooks *hooks,
                                    void (*idle_func)(gpointer), gpointer user_data);
QhttpListeners *qhttp_listeners_free(QhttpListeners *self);

/* @fd: (transfer full): consumed on failure, too. false with @error set */
bool qhttp_listeners_add(QhttpListeners *self, int fd, GError **error);

/* (nullable): that the message has come from */
QhttpPeer *qhttp_peer_find(SoupServerMessage *message);
/* From http-quick to libsoup, with all that the socket holds. */
void qhttp_peer_hand_over(QhttpPeer *self);
bool qhttp_peer_is_unix(const QhttpPeer *self);
/* It is one more than the limit allows: it gets only this answer. */
bool qhttp_peer_is_surplus(const QhttpPeer *self);
/* The client has done something, or it is its turn from now on: if not @is_served, it has the time of 'idle_seconds'. */
void qhttp_peer_note_turn(QhttpPeer *self, bool is_served);
/* While @holds, small writes wait to be sent together: libsoup writes head and body of a response one after the other. */
void qhttp_peer_hold_output(const QhttpPeer *self, bool holds);
/* Nothing that is written from now on arrives. */
void qhttp_peer_shut_down(const QhttpPeer *self);
/* What to call when the client has gone, instead of closing the connection; NULL: no request is under way. */
void qhttp_peer_watch(QhttpPeer *self, void (*gone_func)(gpointer), gpointer data);
/* A request begins, or has been read to its end. */
void qhttp_peer_note_request(QhttpPeer *self, bool begins);
