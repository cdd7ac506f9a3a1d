/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A sync call in a thread of GLib's pool: arguments, progress, results.
 *
 * Place: internal to libquery-client, below all async forms of this room.
 */
#pragma once

#include "client-lib/query-client.h"

typedef struct QueryCall QueryCall;
typedef struct QueryCallProgress QueryCallProgress;

/* The sync call, in the thread. Returns FALSE with an error. */
typedef gboolean (*QueryCallFunc)(QueryCall *call, gpointer source, GCancellable *cancellable, GError **error);

/* What the caller passes, of which the call has copies. All of it may be left out. */
typedef struct QueryCallArguments {
    QueryLanguage language;
    const char *text; /* of a statement, or a name */
    const char *format;
    GVariant *options; /* taken if it is floating */
    GBytes *content;
    GInputStream *stream;
    const gint64 *ids;
    gsize n_ids;
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
    GInputStream *stream;
    gint64 *ids;
    gsize n_ids;
    gboolean flag;
    gint64 id;                   /* also a number that is the result */
    int fd;                      /* -1: none; also a descriptor that is the result */
    GError *failure;             /* (nullable): an argument could not be taken */
    QueryCallProgress *progress; /* (nullable) */
    gpointer object;             /* query_call_take() */
    GDestroyNotify destroy;
    char *sql, *plan;
    char **messages;
    guint64 n_rows, n_bytes;
};

/* (nullable): what the sync call is given, with call->progress as its data */
QueryProgressFunc query_call_get_progress(const QueryCall *self);

/* @source: (nullable): whose method it is. @tag: the address of the async function. @arguments: (nullable) */
void query_call_start(gpointer source, QueryCallFunc run, gpointer tag, const QueryCallArguments *arguments,
                      GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);

/* In the thread: @object (transfer full) (nullable) is the result. Returns: whether there is one */
gboolean query_call_take(QueryCall *self, gpointer object, GDestroyNotify destroy);

/* (transfer none) (nullable): the call, with its results; NULL: it has failed */
QueryCall *query_call_finish(gpointer source, GAsyncResult *result, gpointer tag, GError **error);
/* The same for a call whose result is an object: (transfer full) (nullable) */
gpointer query_call_finish_object(gpointer source, GAsyncResult *result, gpointer tag, GError **error);
/* The same for a call whose result is a number, call->id; -1: it has failed */
gint64 query_call_finish_number(gpointer source, GAsyncResult *result, gpointer tag, GError **error);
