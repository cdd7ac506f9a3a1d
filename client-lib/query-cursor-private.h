/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of a cursor, for the files that read values (query-cursor-value.c, query-json.c) without a call per value.
 *
 * Place: internal to libquery-client.
 * Invariant: n_valid_columns is n_columns while there is a current row, else 0: one comparison checks a getter's call.
 */
#pragma once

#include "client-lib/channel/query-backlog.h"
#include "client-lib/core/query-held.h"
#include "client-lib/request/query-request.h"
#include "client-lib/text/text-number.h"
#include "client-lib/wire/wire-page-reader.h"

typedef enum QueryCursorState {
    QUERY_CURSOR_OPEN,
    QUERY_CURSOR_ENDED,
    QUERY_CURSOR_FAILED, /* `failure` says why */
    QUERY_CURSOR_CLOSED,
} QueryCursorState;

/* What has opened a cursor and gets its channel back. */
typedef struct QueryCursorOpener {
    GObject *object; /* (nullable): a statement or transaction; NULL: the connection, by its pool */
    /* @cursor ends. @channel: (transfer full) (nullable): idle; NULL: it was closed */
    void (*take_back)(GObject *object, QueryCursor *cursor, QueryChannel *channel);
    gboolean is_transaction; /* which ends with the channel */
    gboolean is_update;      /* what is read are the rows of RETURNING */
} QueryCursorOpener;

struct _QueryCursor {
    GObject parent_instance;
    QwPageReader reader;
    guint n_valid_columns;
    guint n_columns;
    QueryCursorState state;
    gboolean is_busy;                               /* an async call is under way */
    gboolean was_read_as_json;                      /* query_cursor_read_json() has given an array */
    char (*number_texts)[QW_TEXT_NUMBER_BYTES + 1]; /* of n_columns, made by the first number read as a string */
    QueryConnection *connection;
    QueryCursorOpener opener; /* with a reference of its object */
    QueryChannel *channel;    /* while open */
    QueryDirectRun *direct;   /* while open on a direct connection, instead of the channel */
    QuerySchema *schema;
    guint32 serial;
    guint64 n_rows_received;
    QwEnd end;
    GError *failure;

    QueryHeld held;          /* query-set-aside.c: what another thread may do while no call is under way */
    gboolean page_in_source; /* the current page is in memory of the channel or the direct run */
    gpointer kept[3];        /* (owned) (nullable): memory of the current page, when it is not */
    QueryWhole *kept_whole;  /* (owned) (nullable): the same, of a whole result */
    QueryBacklog *backlog;   /* (nullable): what comes before the rest of the channel or the direct run */
};

/**
 * query_cursor_set_aside: (a QueryHeldFunc)
 * @owner: an open cursor that is held (query-held.c), which the caller has claimed
 * @deadline_usec: monotonic; what was not read by then is left for the next time
 *
 * Reads the rest of the result into a backlog and gives the channel, or the snapshot, back. Thread: any.
 *
 * Returns: FALSE when it is in use, or its rows do not come soon; nothing is lost then
 */
gboolean query_cursor_set_aside(gpointer owner, gint64 deadline_usec);

/**
 * query_cursor_leave_transaction:
 * @self: an open cursor of a transaction, without a call under way
 * @last_insert_rowid: (inout): set at the END of an update
 *
 * Reads the rest of the result into a backlog, and gives the transaction its channel back. A query whose rest takes too much room
 * or time is cancelled. What goes wrong with the result is said when its rows are read. Thread: that of the transaction.
 *
 * Returns: FALSE with @error when the wait has ended before; the next call goes on
 */
gboolean query_cursor_leave_transaction(QueryCursor *self, gint64 *last_insert_rowid, GCancellable *cancellable, GError **error);

/* Asks the daemon to end the query, and waits until that is sent. FALSE: it cannot be sent. */
gboolean query_cursor_send_cancel(QueryCursor *self);

/**
 * query_cursor_new:
 * @request: a successful request for rows; its channel moves to the cursor
 * @opener: (nullable): copied; NULL when the connection has opened it
 *
 * Returns: (transfer full): a cursor before its first row
 */
QueryCursor *query_cursor_new(QueryConnection *connection, QueryRequest *request, const QueryCursorOpener *opener);

/**
 * query_cursor_step:
 * @ret_has_row: (out): whether there is a current row; FALSE at the end
 *
 * Moves to the next row without waiting.
 *
 * Returns: DONE, WANT_READ, or FAILED (error set)
 */
QueryIo query_cursor_step(QueryCursor *self, gboolean *ret_has_row, GError **error);

/* What may end a call: an update has been executed when its rows are here, and all of them come. */
static inline GCancellable *
query_cursor_get_cancellable(const QueryCursor *self, GCancellable *cancellable)
{
    return self->opener.is_update ? NULL : cancellable;
}

/* Ends the cursor, which an answer that is not there can no longer do. @failure: (transfer full): also in @error */
void query_cursor_fail(QueryCursor *self, GError *failure, GError **error);

/**
 * query_cursor_run_async:
 * @task: a task of the cursor
 * @on_step: called in the context of @task whenever rows may have come, until it returns TRUE: it has ended @task
 *
 * Fails @task with G_IO_ERROR_PENDING when another async call is under way.
 */
void query_cursor_run_async(QueryCursor *self, GTask *task, gboolean (*on_step)(GTask *task, QueryCursor *self));

/* A number as text: INTEGER in decimal, FLOAT as short as it is exact, like SQLite. */
