/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pool of read connections, leased for one run each.
 *
 * Place: room read. A lease is a snapshot in the sense of the limits: it is held from the first step of a result to its end.
 * Invariant: a connection is in the free list or with exactly one lease.
 */
#pragma once

#include "daemon/read/client.h"
#include "daemon/sqlite/connection.h"

typedef struct QdInterrupter QdInterrupter;
typedef struct QdPacker QdPacker;
typedef struct QdPool QdPool;

typedef struct QdReader {
    QdConnection *connection;
    QdPacker *packer; /* the connection's */
    QdClient *client; /* (owned reference) of the lease */
    uint64_t idle_since_usec;
    int64_t opened_bytes;   /* memory that opening it has taken: most of it is the schema */
    int64_t charged_bytes;  /* to the client */
    gboolean is_stale;      /* not to be used again */
    gboolean is_discharged; /* the client may have another one */
} QdReader;

/* @info: how the file is opened; its path is copied. @limits outlive the pool. */
QdPool *qd_pool_new(const QdConnectionInfo *info, const QdLimits *limits);
/* Before the first connection: what ends the statements of all of them; it outlives the pool. */
void qd_pool_set_interrupter(QdPool *self, QdInterrupter *interrupter);
/* A connection that was opened elsewhere becomes as one of the pool's: our functions, counters, the interrupter. */
gboolean qd_pool_equip(QdPool *self, QdConnection *connection, GError **error);
/* All leases must have been given back. */
QdPool *qd_pool_free(QdPool *self);

/**
 * qd_pool_lease:
 * @client: is charged
 * @preferred: (nullable): a connection leased before, whose cache has the statement; may be gone
 *
 * Thread: any. Errors: BUSY at the limits of snapshots; what opening a connection gives.
 *
 * Returns: (transfer full): give it back with qd_pool_release()
 */
QdReader *qd_pool_lease(QdPool *self, QdClient *client, const QdReader *preferred, GError **error);
/* The client is charged for the memory of a leased one, so that many results of one client leave some to others. At the lease, and
 * when its schema may have been read again. */
void qd_pool_charge_memory(QdReader *reader);
/* The client is not charged for @reader any more, a leased one whose result is over. */
void qd_pool_discharge(QdReader *reader);
void qd_pool_release(QdPool *self, QdReader *reader);

typedef enum QdPoolState {
    QD_POOL_QUIET,   /* nothing to be done before something else happens */
    QD_POOL_BUSY,    /* to be trimmed again later */
    QD_POOL_AT_REST, /* nothing has been leased for a while: qd_pool_rest() would give descriptors back */
} QdPoolState;

/* Closes connections that have been idle for a while, all but one. @wants_rest: a rest is worth it for a single connection, too.
 * So it is while the log's index is in memory: the next one may have room on the disk. */
QdPoolState qd_pool_trim(QdPool *self, gboolean wants_rest);
/* Closes all idle connections. SQLite keeps the descriptors of closed connections while any other one of the process holds a
 * lock on the file. They all go only when the last one goes, the writer's too. */
void qd_pool_rest(QdPool *self);

guint qd_pool_get_n_leased(QdPool *self);
guint qd_pool_get_n_open(QdPool *self);
/* (transfer none): of all connections that the pool has opened; atomics. */
struct QdPlanCounters *qd_pool_get_plan_counters(QdPool *self);
/* The schema has changed, which is committed: connections of the pool look at it before they compile or describe a statement. */
void qd_pool_note_schema(QdPool *self);
/* Opens a connection as a reader or the writer, with our functions. It is the caller's, outside of the pool. */
QdConnection *qd_pool_open_connection(QdPool *self, QdConnectionRole role, GError **error);
