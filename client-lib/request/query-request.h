/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One execution of a statement, from the call to the first record of its result (or, for an update, to its end).
 *
 * Place: internal to libquery-client, between the public objects and channel, pool and bus. A state machine whose steps
 * never wait on the descriptor; one driver waits in poll(), the other one in a main loop.
 * Invariant: a request is sent a second time only when the daemon cannot have received it (EPIPE).
 */
#pragma once

#include "client-lib/channel/query-channel.h"
#include "client-lib/channel/query-pool.h"
#include "client-lib/core/query-bus.h"
#include "client-lib/core/query-command.h"
#include "client-lib/core/query-parameters.h"

typedef enum QueryRequestKind {
    QUERY_REQUEST_PREPARE, /* ends with the schema */
    QUERY_REQUEST_ROWS,    /* ends before the first ROWS or END, which stays on the channel */
    QUERY_REQUEST_UPDATE,  /* ends with END; rows of RETURNING are dropped */
    QUERY_REQUEST_BEGIN,   /* this and the next two run no statement, and end with END */
    QUERY_REQUEST_COMMIT,
    QUERY_REQUEST_ROLLBACK,
    QUERY_REQUEST_BATCH, /* the row is a body of BATCH, of so many statements as it has rows; ends with END, has counts */
} QueryRequestKind;

typedef struct QueryRequest QueryRequest;
typedef struct QueryDirect QueryDirect;
typedef struct QueryDirectRun QueryDirectRun;

/* Where requests go: to the daemon, or to the file that is read instead. */
typedef struct QueryEndpoint {
    GObject *owner; /* keeps the next three */
    QueryBus *bus;  /* (nullable): NULL on a direct connection */
    QueryPool *pool;
    QueryDirect *direct; /* (nullable): instead of bus and channels */
} QueryEndpoint;

/**
 * query_request_new:
 * @endpoint: the request keeps its owner
 * @command: what to run
 * @parameters: (transfer full) (nullable): values; NULL for none
 * @row: (nullable): instead of @parameters: the body of FETCH or BATCH, already encoded
 * @channel: (transfer full) (nullable): the channel to use; NULL to take one from the pool
 *
 * Returns: (transfer full): a new request
 */
QueryRequest *query_request_new(QueryEndpoint endpoint, QueryRequestKind kind, QueryCommand *command, QueryParameters *parameters,
                                GBytes *row, QueryChannel *channel);
void query_request_free(QueryRequest *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QueryRequest, query_request_free)

/**
 * query_request_run:
 *
 * Runs to the end in the calling thread.
 *
 * Errors: those of the statement, DISCONNECTED, PROTOCOL, UNAVAILABLE, G_IO_ERROR_CANCELLED.
 *
 * Returns: FALSE on error
 */
gboolean query_request_run(QueryRequest *self, GCancellable *cancellable, GError **error);

/**
 * query_request_run_async:
 * @self: (transfer full) (nullable): becomes the data of @task; NULL: it could not be made
 * @task: ended by @done, or with an error
 * @done: called in the context of @task when @self has succeeded; returns the result of @task
 * @error: (inout): why there is no @self; goes to @task
 *
 * Runs in the thread-default context of @task.
 */
void query_request_run_async(QueryRequest *self, GTask *task, void (*done)(GTask *task, QueryRequest *self), GError **error);

/**
 * query_request_try:
 * @meanwhile: (nullable): called with @user_data before it waits
 * @ret_is_done: (out): whether it has succeeded already
 *
 * As far as it comes without sleeping. What is not done goes on by query_request_run_async(). Bytes after the records that it looks
 * at may be read: the descriptor cannot be given away then.
 *
 * Errors: those of the statement, DISCONNECTED, PROTOCOL.
 *
 * Returns: FALSE on error
 */
gboolean query_request_try(QueryRequest *self, void (*meanwhile)(gpointer user_data), gpointer user_data, gboolean *ret_is_done,
                           GError **error);

/* Of the row given to query_request_new(), when it is not one. */
void query_request_set_n_rows(QueryRequest *self, guint n_rows);
/* What the statement looked like last, if the caller knows. */
void query_request_set_schema(QueryRequest *self, QuerySchema *schema);

/*
 * It uses the channel that was given to query_request_new(), and no other one; that stays with the request when it fails.
 */
void query_request_bind_to_channel(QueryRequest *self);
/* Of a bound one, after success or failure. (transfer full) (nullable): the channel with every answer read; NULL: it is of no use.
 */
QueryChannel *query_request_steal_idle_channel(QueryRequest *self);
gboolean query_request_is_bound(const QueryRequest *self);
QueryRequestKind query_request_get_kind(const QueryRequest *self);
QueryCommand *query_request_get_command(const QueryRequest *self);

/* After success. The channel: at the result (ROWS), or idle. (transfer full) (nullable): NULL on a direct connection */
QueryChannel *query_request_steal_channel(QueryRequest *self);
/* After success of ROWS on a direct connection. (transfer full) (nullable) */
QueryDirectRun *query_request_steal_direct_run(QueryRequest *self);
QuerySchema *query_request_get_schema(const QueryRequest *self);
guint32 query_request_get_serial(const QueryRequest *self);
const QwEnd *query_request_get_end(const QueryRequest *self);
/* After success of BATCH. (transfer none) of gint64: the rows that each statement has changed */
GArray *query_request_get_counts(const QueryRequest *self);
