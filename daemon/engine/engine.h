/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The engine as the layers above see it: calls go in on the main thread, answers come back there.
 *
 * Place: the root above the rooms that serve calls. The bus layer makes a call (call.h), fills its upper half and submits it. A
 * worker or job thread fills the lower half; `done` runs on the main thread, once, always.
 * Invariant: nothing here waits. After qd_engine_submit() a call belongs to the engine until `done`.
 */
#pragma once

#include <glib.h>

#include "daemon/base/limits.h"
#include "daemon/base/mailbox.h"
#include "daemon/runtime/registry.h"

typedef struct QdCall QdCall;
typedef struct QdChanges QdChanges;
typedef struct QdEngine QdEngine;

typedef struct QdEngineConfig {
    const char *directory; /* the store's, made if missing */
    QdLimits limits;
    /* main thread, after some commits: the last one's generation, and what all of them have changed */
    void (*changed)(uint64_t generation, const QdChanges *changes, void *user_data);
    void (*activity)(void *user_data); /* main thread: the engine may have become idle */
    /* (nullable) main thread: the database is damaged; it will be salvaged when it is opened again: end soon */
    void (*damaged)(void *user_data);
    /* (nullable) any thread: a statement is over, works on, and nothing ends it: its worker is lost */
    void (*stuck)(void *user_data);
    void *user_data;
} QdEngineConfig;

/* Starts workers; the database is opened by one of them, so that this returns at once. Calls made meanwhile wait.
 * A database that cannot be opened makes every call fail with the reason; it never makes this fail. */
QdEngine *qd_engine_new(const QdEngineConfig *config, QdMailbox *mailbox, GError **error);

/* Main thread. TRUE: from now on a commit does not wake the main thread; qd_engine_tell_changes() reports it. */
void qd_engine_hold_changes(QdEngine *self, gboolean hold);
/* Main thread: reports the commits that were not reported yet, if there are any. */
void qd_engine_tell_changes(QdEngine *self);

/* Main thread: whether QdChanges of the transactions that begin from now on name rows (QdChanges.rows). */
void qd_engine_set_wants_keys(QdEngine *self, gboolean wants_keys);

/* Ends everything: waits for workers and jobs. All calls have been answered before it returns, `done` included. */
QdEngine *qd_engine_free(QdEngine *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdEngine, qd_engine_free)

/* Main thread. Consumes @call; `done` is called later, never from within. */
void qd_engine_submit(QdEngine *self, QdCall *call);

/* Main thread. Asks a submitted call to end soon with CANCELLED; harmless when it has just ended. */
void qd_engine_cancel(QdEngine *self, QdCall *call);

/* Main thread: no call, no request, no job. Idle channels do not count. */
gboolean qd_engine_is_idle(QdEngine *self);

/* Main thread, of an idle engine: stores columns of predicates, if some are missed and it has not taken too much of the time. */
void qd_engine_renew(QdEngine *self);
/* Main thread, of an idle engine that may exit: stores columns, or checks the database, if that is due. Returns: whether one of
 * them is running, which `activity` ends */
gboolean qd_engine_check_if_due(QdEngine *self);
/* "ok", "damaged" or "unchecked" */
const char *qd_engine_get_health(QdEngine *self);

/* Main thread: shutdown(SHUT_RD) on all channels; what is queued is served, then channels close. `activity` tells the end. */
void qd_engine_drain(QdEngine *self);
gboolean qd_engine_is_drained(QdEngine *self);
/* The same, but for statements that do not end, whose clients have their answer. */
gboolean qd_engine_is_drained_but_for_told(QdEngine *self);

/* Calls of SQLite that were made to return have lost so much memory that another daemon has to follow. */
gboolean qd_engine_has_lost_memory(const QdEngine *self);

/* The store was opened for reading, and could be opened for writing by now: another daemon has to follow. Looks once a second. */
gboolean qd_engine_can_write_again(QdEngine *self);

/* For the watchdog: false when a worker that should react has not for @max_usec. */
gboolean qd_engine_is_alive(QdEngine *self, uint64_t max_usec);

/* There is too little memory: what is only kept to be quicker goes. */
void qd_engine_give_memory_back(QdEngine *self);

void qd_engine_set_limits(QdEngine *self, const QdLimits *limits);
const QdLimits *qd_engine_get_limits(QdEngine *self);
/* Main thread: the bytes of @call, until it is freed, in place of an earlier charge of it; as qd_context_charge_request(). */
gboolean qd_engine_charge_call(QdEngine *self, QdCall *call, QdClient *client, GError **error);
/* Main thread: as qd_context_charge_request(), for what comes before there is a call of it. */
gboolean qd_engine_charge_request(QdEngine *self, QdClient *client, gsize n_bytes, GError **error);
void qd_engine_discharge_request(QdEngine *self, QdClient *client, gsize n_bytes);
uint64_t qd_engine_get_generation(QdEngine *self);
gboolean qd_engine_is_read_only(QdEngine *self);

/* Statistics: calls @func for each figure; @name is in lower_snake_case with its unit. */
typedef void (*QdStatFunc)(const char *name, uint64_t value, void *user_data);
void qd_engine_foreach_stat(QdEngine *self, QdStatFunc func, void *user_data);
/* Facts that are texts: sqlite_version, database_path, state. */
typedef void (*QdFactFunc)(const char *name, const char *value, void *user_data);
void qd_engine_foreach_fact(QdEngine *self, QdFactFunc func, void *user_data);

void qd_engine_foreach_query(QdEngine *self, QdQueryFunc func, void *user_data);
/* false when there is no such query. */
gboolean qd_engine_cancel_query(QdEngine *self, uint64_t id);
