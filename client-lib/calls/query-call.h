/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A sync call of a connection in a thread of GLib's pool: arguments, progress, results.
 *
 * Place: internal to libquery-client, below query-connection-async.c and query-payload-async.c.
 */
#pragma once

#include "client-lib/query-client.h"

typedef struct QueryCall QueryCall;
typedef struct QueryCallProgress QueryCallProgress;

/* The sync call, in the thread. Returns FALSE with an error. */
typedef gboolean (*QueryCallFunc)(QueryCall *call, QueryConnection *connection, GCancellable *cancellable, GError **error);

/* What the caller passes, of which the call has copies. All of it may be left out. */
typedef struct QueryCallArguments {
    QueryLanguage language;
    const char *text; /* of a statement, or a name */
    const char *format;
    GVariant *options; /* taken if it is floating */
    GBytes *content;
    gboolean flag;
    gint64 id;
    const int *fd;
    QueryProgressFunc progress; /* called in the caller's thread-default main context, where @progress_destroy frees its data */
    gpointer progress_data;
    GDestroyNotify progress_destroy;
} QueryCallArguments;

/* The arguments, then results. */
struct QueryCall {
    QueryCallFunc run;
    QueryLanguage language;
    char *text;
    char *format;
    GVariant *options;
    GBytes *content;
    gboolean flag;
    gint64 id;
    int fd;                      /* -1: none */
    GError *failure;             /* (nullable): an argument could not be taken */
    QueryCallProgress *progress; /* (nullable) */
    QueryStatement *statement;
    GVariant *variant;
    char *sql, *plan;
    char **messages;
    guint64 n_rows, n_bytes;
};

/* (nullable): what the sync call is given, with call->progress as its data */
QueryProgressFunc query_call_get_progress(const QueryCall *self);

/* @tag: the address of the async function. @arguments: (nullable) */
void query_call_start(QueryConnection *connection, QueryCallFunc run, gpointer tag, const QueryCallArguments *arguments,
                      GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);

/* (transfer none) (nullable): the call, with its results; NULL: it has failed */
QueryCall *query_call_finish(QueryConnection *connection, GAsyncResult *result, gpointer tag, GError **error);
/* The same for a call whose result is call->variant: (transfer full) (nullable) */
GVariant *query_call_finish_variant(QueryConnection *connection, GAsyncResult *result, gpointer tag, GError **error);

/* Ends a task whose result is only that it worked. @error: (transfer full) (nullable) */
void query_call_return_boolean(GTask *task, gboolean ok, GError *error);
