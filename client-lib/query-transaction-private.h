/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a cursor needs from a transaction.
 *
 * Place: internal to libquery-client.
 */
#pragma once

#include "client-lib/core/query-channel.h"
#include "client-lib/query-client.h"

/* Its cursor ends. @channel: (transfer full) (nullable): idle; NULL: it was closed, and with it the transaction. */
void query_transaction_take_back(QueryTransaction *self, QueryCursor *cursor, QueryChannel *channel);

/* What its open cursor reads are the rows of an update's RETURNING. */
gboolean query_transaction_cursor_writes(QueryTransaction *self);
