/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a transaction needs from a prepared statement.
 *
 * Place: internal to libquery-client.
 */
#pragma once

#include "client-lib/query-client.h"
#include "client-lib/request/query-request.h"

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
