/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of a transaction, for the file that begins it.
 *
 * Place: internal to libquery-client.
 */
#pragma once

#include "client-lib/query-client.h"
#include "client-lib/request/query-request.h"

struct _QueryTransaction {
    GObject parent_instance;
    QueryConnection *connection;
    QueryCommand *command; /* of no statement: for requests without one */
    QueryChannel *channel; /* (nullable): here, between two calls */
    QueryCursor *cursor;   /* (nullable): borrowed */
    gboolean is_busy;
    gboolean keeps_cursors;
    gboolean is_over; /* rolled back by the daemon, or the channel is lost. The daemon answers on the channel, if there is one */
    gint64 last_insert_rowid;
    guint64 generation;
};
