/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The callers: a bus name is a peer, a process (or a sandbox) is a client, and clients pay.
 *
 * Place: room bus. Credentials are asked of the bus without waiting; calls of a peer that is not known yet wait in order.
 * Invariants: no blocking round trip; all names of one process share one QdClient. Later names share it, too, as long as the
 * engine holds something that was charged to it: reconnecting evades no limit.
 */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>

typedef struct QdAccess QdAccess;
typedef struct QdClient QdClient;
typedef struct QdConfig QdConfig;
typedef struct QdEngine QdEngine;
typedef struct QdPeers QdPeers;
typedef struct QdPeer QdPeer;

/* Kinds of signals. */
typedef enum QdPeerSignals {
    QD_PEER_CHANGES = 1 << 0, /* Changed, and PropertiesChanged of what changes with it */
    QD_PEER_GRAPHS = 1 << 1,  /* TinySPARQL's GraphUpdated */
} QdPeerSignals;

/* Called once: with @peer (borrowed), or with NULL and the reason. */
typedef void (*QdPeerFunc)(const QdPeer *peer, const GError *error, void *user_data);
/* @name: (nullable): a destination; @access: (nullable): what it may do; NULL: everything */
typedef void (*QdPeerListenerFunc)(const char *name, const QdAccess *access, void *user_data);
/* @name (nullable on a connection without a bus) has left. */
typedef void (*QdPeerGoneFunc)(const char *name, void *user_data);

/**
 * qd_peers_new:
 * @bus: (transfer none): the connection that the calls come from
 * @engine: (transfer none): where clients are charged; outlives the result
 * @gone: called when a known peer has left
 * @user_data: for @gone
 *
 * Thread: main, as everything here.
 *
 * Returns: (transfer full): no peers yet
 */
QdPeers *qd_peers_new(sd_bus *bus, QdEngine *engine, QdPeerGoneFunc gone, void *user_data);

/**
 * qd_peers_free:
 * @self: (nullable) (transfer full): the peers; calls that still wait get CLOSED
 *
 * Returns: NULL
 */
QdPeers *qd_peers_free(QdPeers *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdPeers, qd_peers_free)

/**
 * qd_peers_set_config:
 * @self: the peers
 * @config: (transfer none): says what sandboxed applications may do; until the next call, or the end
 * @store: the name of the daemon's store; the same each time
 *
 * Without it they may do nothing. A new configuration holds for those that are known already, too.
 */
void qd_peers_set_config(QdPeers *self, const QdConfig *config, const char *store);

/**
 * qd_peers_resolve:
 * @self: the peers
 * @name: (nullable): the unique name of a message's sender; NULL: the other end of a connection without a bus
 * @func: called from within when the peer is known, later otherwise, always in the order of the calls
 * @user_data: for @func
 *
 * Errors given to @func: CLOSED when the peer left before it was known, ACCESS_DENIED for another user, INTERNAL.
 */
void qd_peers_resolve(QdPeers *self, const char *name, QdPeerFunc func, void *user_data);

/**
 * qd_peers_has:
 * @self: the peers
 * @name: (nullable): as qd_peers_resolve() takes it
 *
 * Returns: whether it is known and has not left
 */
gboolean qd_peers_has(const QdPeers *self, const char *name);

/* (transfer none) (nullable): NULL: it is not known yet, or has left. @name: as qd_peers_resolve() takes it. */
const QdPeer *qd_peers_find(const QdPeers *self, const char *name);

/* From now on, and until it leaves, @name listens to @signals. It is looked up if it is not known. */
void qd_peers_listen(QdPeers *self, const char *name, QdPeerSignals signals);

/**
 * qd_peers_tell:
 * @self: the peers
 * @signals: one kind
 * @func: called from within for each peer that is known and listens; without a bus for the other end
 * @user_data: for @func
 */
void qd_peers_tell(QdPeers *self, QdPeerSignals signals, QdPeerListenerFunc func, void *user_data);

/**
 * qd_peers_get_n_clients:
 * @self: the peers
 *
 * Returns: clients that are kept, for the statistics and tests
 */
guint qd_peers_get_n_clients(const QdPeers *self);

/**
 * qd_peer_get_client:
 * @self: a peer
 *
 * Returns: (transfer none): the client that is charged for it
 */
QdClient *qd_peer_get_client(const QdPeer *self);

/**
 * qd_peer_is_sandboxed:
 * @self: a peer
 *
 * Returns: whether it runs in a sandbox, or may do so
 */
gboolean qd_peer_is_sandboxed(const QdPeer *self);

/* (nullable): the id of the sandboxed application that it belongs to; NULL: it is not sandboxed, or that is not known. */
const char *qd_peer_get_application(const QdPeer *self);

/* For a sandboxed one: ACCESS_DENIED that says what it may do. Returns: FALSE */
gboolean qd_peer_deny(const QdPeer *self, GError **error);
