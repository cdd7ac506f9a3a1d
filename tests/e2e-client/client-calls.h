/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls of the library that have to succeed, for tests of something else.
 *
 * Place: end-to-end tests of libquery-client, on a private bus.
 */
#pragma once

#include "client-lib/query-client.h"

/* (transfer full): to the store of the private bus */
QueryConnection *client_open(void);
/* (transfer full): the same, with an empty table t(a) of unique values */
QueryConnection *client_open_with_table(void);
/* SQL */
void client_execute(QueryConnection *connection, const char *text);
/* The one value of an SQL query. */
gint64 client_query_number(QueryConnection *connection, const char *text);
/* A GAsyncReadyCallback, with a GAsyncResult * in @user_data: takes a reference. */
void client_keep_result(GObject *object, GAsyncResult *result, gpointer user_data);
/* (transfer none): *@result as soon as it is there. Runs the default main context. */
GAsyncResult *client_wait_for(GAsyncResult **result);
/* (transfer full): the same; *@result is NULL then. */
GAsyncResult *client_take_result(GAsyncResult **result);

/* Cancels a call that another thread makes, after a while. */
typedef struct ClientKiller {
    GCancellable *cancellable;
    gulong usec;
} ClientKiller;

/* A GThreadFunc with a ClientKiller. */
gpointer client_kill_later(gpointer data);
