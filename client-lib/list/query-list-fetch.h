/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs one statement of a list and collects its rows.
 *
 * Place: internal to libquery-client, room list.
 * Invariant: the function that was given is called once, in the thread-default main context of the caller.
 */
#pragma once

#include "client-lib/list/query-list-text.h"

typedef struct QueryListResult {
    GPtrArray *rows; /* of QueryListRow; all of them or an error */
    guint64 generation;
    GError *error; /* (nullable) */
} QueryListResult;

/* @result: the function may take what it holds. */
typedef void (*QueryListDone)(QueryListResult *result, gpointer user_data);

/* @statement: cleared. */
void query_list_fetch(QueryConnection *connection, QueryListStatement *statement, GCancellable *cancellable, QueryListDone done,
                      gpointer user_data);
