/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A sync call of a connection in a thread of GLib's pool: arguments, progress, results.
 *
 * Place: internal to libquery-client, below query-connection-async.c.
 */
#pragma once

#include "client-lib/query-client.h"

typedef struct QueryCall QueryCall;
typedef struct QueryCallProgress QueryCallProgress;

/* The sync call, in the thread. Returns FALSE with an error. */
typedef gboolean (*QueryCallFunc)(QueryCall *call, QueryConnection *connection, GCancellable *cancellable, GError **error);

/* Arguments, which query_call_new()'s caller fills in, then results. */
struct QueryCall {
    QueryCallFunc run;
    QueryLanguage language;
    char *text; /* of a statement, or a name */
    char *format;
    GVariant *options; /* (nullable) */
    gboolean flag;
    guint64 id;
    int fd;                      /* -1: none */
    GError *failure;             /* (nullable): an argument could not be taken */
    QueryCallProgress *progress; /* (nullable) */
    QueryStatement *statement;
    GVariant *variant;
    char *sql, *plan;
    char **messages;
    guint64 n_rows, n_bytes;
};

/* Returns: (transfer full): to be given to query_call_start() */
QueryCall *query_call_new(QueryCallFunc run);

/* Duplicates @fd for the call. */
void query_call_set_fd(QueryCall *self, int fd);

/* @function: (nullable): called in the thread-default main context of the caller of this; @destroy frees @data there, too. */
void query_call_set_progress(QueryCall *self, QueryProgressFunc function, gpointer data, GDestroyNotify destroy);

/* (nullable): what the sync call is given, with call->progress as its data */
QueryProgressFunc query_call_get_progress(const QueryCall *self);

/* @self: (transfer full). @tag: the address of the async function */
void query_call_start(QueryConnection *connection, QueryCall *self, gpointer tag, GCancellable *cancellable,
                      GAsyncReadyCallback callback, gpointer user_data);

/* (transfer none) (nullable): the call, with its results; NULL: it has failed */
QueryCall *query_call_finish(QueryConnection *connection, GAsyncResult *result, gpointer tag, GError **error);
