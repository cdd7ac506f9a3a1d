/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of a prepared statement, for the files that bind values and for transactions.
 *
 * Place: internal to libquery-client.
 */
#pragma once

#include "client-lib/channel/query-pipeline.h"
#include "client-lib/core/query-parameters.h"
#include "client-lib/query-client.h"
#include "client-lib/request/query-request.h"

struct _QueryStatement {
    GObject parent_instance;
    QueryConnection *connection;
    QueryCommand *command;
    QuerySchema *schema;
    QueryParameters *parameters;
    QueryCursor *cursor;     /* borrowed */
    QueryPipeline *pipeline; /* (nullable) has the channel while async updates are under way */
    GQueue waiting;          /* of Waiting: async updates, until the one that opens a channel is done */
    gboolean is_opening;
    GByteArray *rows; /* (nullable) that were added */
    guint n_rows;
    gint64 last_insert_rowid;
    guint64 generation;
};

/* Whether it was made by the library; CLOSED otherwise. */
gboolean query_statement_check_made(QueryStatement *self, GError **error);

/**
 * query_statement_new_prepared:
 * @request: a successful one of PREPARE, which keeps its channel
 * Returns: (transfer full): a statement of @connection that was prepared on a channel of another
 */
QueryStatement *query_statement_new_prepared(QueryConnection *connection, QueryRequest *request);

/**
 * query_statement_create_request_on:
 * @connection: that of @channel
 * @channel: (inout): where it runs; taken on success
 * @error: (nullable): location for an error
 * For the values that are bound now, or for the rows that were added, which the statement drops.
 * Errors: BAD_PARAMETER, also for a statement of another connection; TOO_BIG.
 * Returns: (transfer full) (nullable): a request for rows
 */
QueryRequest *query_statement_create_request_on(QueryStatement *self, QueryConnection *connection, QueryChannel **channel,
                                                GError **error);
