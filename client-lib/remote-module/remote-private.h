/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of remote connections, for the files remote-*.c.
 *
 * Place: the module of libquery-client that speaks HTTP, by libsoup. remote-table.c gives its functions, which query-direct.h
 * describes, to the library.
 * Invariant: what a server sends is judged while it is read; nothing is kept of it but a row, a page and a short text.
 */
#pragma once

#include <libsoup/soup.h>
#include <pthread.h>

#include "client-lib/core/query-error.h"
#include "client-lib/direct/query-direct-table.h"

/* The formats of SELECT and ASK. */
typedef enum RemoteFormat {
    REMOTE_FORMAT_ANY,
    REMOTE_FORMAT_JSON,
    REMOTE_FORMAT_TSV,
    REMOTE_FORMAT_XML,
} RemoteFormat;

/* A URL, and what it is asked with. */
typedef struct RemoteTarget {
    GUri *uri;
    char *authorization; /* (nullable): the value of the header */
} RemoteTarget;

/* Who decides where requests may go; called on threads of runs. */
typedef struct RemoteGuard {
    /* Also for each redirect. FALSE with @error. */
    gboolean (*check_url)(gpointer data, GUri *uri, GError **error);
    /* Before a connection to @address, which the host of @uri has. FALSE with @error. */
    gboolean (*check_address)(gpointer data, GUri *uri, GInetAddress *address, GError **error);
    gpointer data;
} RemoteGuard;

/* Which knob an error names. */
typedef struct RemoteNames {
    const char *answer_bytes;
    const char *deadline; /* (nullable): the caller knows it */
} RemoteNames;

/* Immutable once it is open, but for `tsv_is_bad`. */
struct QueryDirect {
    QueryDirectHead head;
    gint ref_count; /* atomic; one for each run */
    RemoteTarget query;
    RemoteTarget update;
    RemoteFormat format; /* ANY: what the server has */
    gsize row_bytes;
    guint64 answer_bytes;     /* of a body; 0: any number */
    const RemoteNames *names; /* of limits, as errors say them */
    const RemoteGuard *guard; /* (nullable): set before the first run; outlives all */
    gint tsv_is_bad;          /* atomic: this server's TSV has no terms; JSON is asked for instead */
    SoupSession *session;
    pthread_mutex_t sockets_mutex;
    GHashTable *sockets; /* connection id of libsoup → GSocket; guarded by sockets_mutex */
};

/* The first of each is the default; docs/remote.md describes them. */
#define REMOTE_ROW_BYTES (16u * 1024u * 1024u)
#define REMOTE_ROW_BYTES_MIN 1024u
#define REMOTE_ROW_BYTES_MAX (200u * 1024u * 1024u) /* a row of the library has at most 256 MiB */
#define REMOTE_CONNECTIONS 64u
#define REMOTE_REDIRECTS 5u
#define REMOTE_ERROR_BYTES (16u * 1024u) /* read of the body of an error */
#define REMOTE_MESSAGE_BYTES 2000u       /* kept of it */
#define REMOTE_SECRET_BYTES (64u * 1024u)
#define REMOTE_COLUMNS 4096u
#define REMOTE_DEPTH 32u

extern const QueryDirectTable query_remote_table;

QueryDirect *remote_open(const char *url, GVariant *options, GError **error);
QueryDirect *remote_ref(QueryDirect *self);
void remote_unref(QueryDirect *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QueryDirect, remote_unref)

/* What query-direct.h describes. */
QueryDirectRun *remote_start(QueryDirect *self, const QueryCommand *command, QuerySchema *known, const QueryParameters *parameters,
                             GBytes *row, GCancellable *cancellable, GError **error);
gboolean remote_update(QueryDirect *self, const QueryCommand *command, const QueryParameters *parameters, GBytes *row,
                       GCancellable *cancellable, GError **error);
QuerySchema *remote_describe(QueryDirect *self, const QueryCommand *command, GError **error);
QueryDirectRun *remote_run_ref(QueryDirectRun *self);
void remote_run_unref(QueryDirectRun *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QueryDirectRun, remote_run_unref)
QuerySchema *remote_run_get_schema(const QueryDirectRun *self);
void remote_run_cancel(QueryDirectRun *self);
void remote_run_work(QueryDirectRun *self, GCancellable *cancellable);
gpointer remote_run_detach_page(QueryDirectRun *self);
gboolean remote_run_is_open(QueryDirectRun *self);
QueryDirectResult remote_run_take(QueryDirectRun *self, QwPageReader *ret_reader, QwEnd *ret_end, GError **error);

/* Whether @host, of a URL, is that of the loopback device. */
gboolean remote_is_this_machine(const char *host);

/**
 * remote_find_credentials:
 * @options: a{sv} of query_connection_new_remote()
 * @ret_authorization: (out) (nullable): the header's value; NULL: none is sent
 * @error: (nullable): location for an error
 *
 * Finds what is sent to @uri, and checks that it may be.
 *
 * Errors: BAD_PARAMETER, ACCESS_DENIED.
 *
 * Returns: FALSE on error
 */
gboolean remote_find_credentials(GVariant *options, GUri *uri, char **ret_authorization, GError **error);
