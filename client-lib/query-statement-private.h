/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What connection and cursor need from a statement.
 *
 * Place: internal to libquery-client.
 */
#pragma once

#include "client-lib/request/query-request.h"

/**
 * query_statement_take_back:
 * @cursor: the cursor that ends
 * @channel: (transfer full) (nullable): its idle channel; NULL when it was closed
 *
 * Ends the bond between a statement and its cursor; the channel serves the next execution.
 */
void query_statement_take_back(QueryStatement *self, QueryCursor *cursor, QueryChannel *channel);
