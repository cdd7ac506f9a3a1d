/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of a request, for the files that make it up: its steps, its handshake over D-Bus, the direct way, its drivers.
 *
 * Place: internal to libquery-client.
 */
#pragma once

#include "client-lib/request/query-request.h"

typedef enum QueryRequestState {
    QUERY_STATE_ACQUIRE,
    QUERY_STATE_CONNECT,
    QUERY_STATE_SEND,
    QUERY_STATE_SCHEMA,
    QUERY_STATE_FIRST,
    QUERY_STATE_RESULT,
    QUERY_STATE_DONE,
} QueryRequestState;

typedef enum QueryStep {
    QUERY_STEP_DONE,
    QUERY_STEP_WANT_READ,
    QUERY_STEP_WANT_WRITE,
    QUERY_STEP_CONNECT,
    QUERY_STEP_FAILED,
    QUERY_STEP_AGAIN, /* within query_request_step() only */
} QueryStep;

struct QueryRequest {
    QueryEndpoint endpoint; /* with a reference of its owner */
    QueryRequestKind kind;
    QueryCommand *command;
    QueryParameters *parameters;
    GBytes *row;  /* (nullable): the body of FETCH, instead of parameters, or that of BATCH */
    guint n_rows; /* of those, or statements; 0: one, or none when it is empty */

    gint64 requested_usec; /* monotonic, for Prepare: its deadline passes since then; 0: it had a channel */

    QueryRequestState state;
    QueryChannel *channel;
    QueryDirectRun *direct_run;
    QuerySchema *schema; /* of the channel's statement, when known */
    guint32 prepare_serial;
    guint32 fetch_serial; /* 0: not queued yet */
    gboolean was_resent;
    gboolean is_bound;         /* to its channel */
    gboolean reads_ahead;      /* what comes may be read at once: the descriptor is not given away */
    gboolean channel_is_idle;  /* although it has failed */
    gboolean is_cancelled;     /* the daemon was asked to end it, and its answer is waited for */
    GError *room_error;        /* (nullable): why it was refused; it may go again when some open cursor is set aside */
    gint64 room_deadline_usec; /* monotonic: it waits for room until then; 0: it has not had to */
    gint64 closing_until_usec; /* monotonic: the daemon may not have noticed before that idle channels were closed */
    GError *prepare_error;     /* known from PREPARE while the answer to its FETCH is still to be read */
    QwEnd end;
    GArray *counts; /* (nullable) of gint64: what a BATCH has answered so far */
    void (*done)(GTask *task, QueryRequest *self);
};

/**
 * query_request_step:
 *
 * Goes on until something has to be waited for.
 *
 * Returns: DONE, FAILED (error set), what to wait for on the channel, or CONNECT: call query_request_connect() first
 */
QueryStep query_request_step(QueryRequest *self, GError **error);

/**
 * query_request_make_room:
 * @refusal: BUSY or LIMIT_EXCEEDED
 *
 * The daemon has refused a channel, or a snapshot on a direct connection. Closes idle channels of other connections of the process,
 * then sets open cursors aside (query-held.h). Cursors that are computing, and requests of other threads, give theirs back by
 * themselves. It waits a moment for those, in all up to 30 s.
 *
 * Returns: whether to ask again
 */
gboolean query_request_make_room(QueryRequest *self, const GError *refusal, GCancellable *cancellable);

/**
 * query_request_connect:
 *
 * Gets a channel, by Prepare over D-Bus or by setting an open cursor aside (query-held.h); waits in the calling thread.
 *
 * Errors: as query_bus_call(), PROTOCOL; LIMIT_EXCEEDED and BUSY when no room can be made.
 *
 * Returns: FALSE on error
 */
gboolean query_request_connect(QueryRequest *self, GCancellable *cancellable, GError **error);

/**
 * query_request_run_directly:
 *
 * The whole request on a direct connection, in the calling thread. Errors: READ_ONLY for updates, those of the statement.
 *
 * Returns: FALSE on error
 */
gboolean query_request_run_directly(QueryRequest *self, GCancellable *cancellable, GError **error);

/* What it changes stays when its channel is closed: its answer says whether it has. */
gboolean query_request_lasts(const QueryRequest *self);

/**
 * query_request_cancel:
 *
 * Its caller has cancelled it, or had. The daemon is asked to end an update of which it may have all: the next steps send that, and
 * wait for the answer.
 *
 * Returns: TRUE: it goes on to its end without the caller's cancellable; FALSE: it can be freed, and changes nothing then
 */
gboolean query_request_cancel(QueryRequest *self);

/**
 * query_request_explain_failure:
 * @error: (inout) (nullable): of a step or a wait that has failed; one that says that the daemon has cancelled it becomes
 *   G_IO_ERROR_CANCELLED. DISCONNECTED says whether an update may have been executed.
 */
void query_request_explain_failure(QueryRequest *self, GError **error);

/* For how long the channel waits, with nothing that comes, after the daemon's own deadline. */
void query_request_set_patience(QueryRequest *self);

/* The shape of the statement came from the daemon: keeps it with the channel and for the next time. */
void query_request_learn_schema(QueryRequest *self, QuerySchema *schema);
