/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows without a daemon: from a database file that the application reads itself, or from a remote endpoint.
 *
 * Place: internal to libquery-client; beside channel and pool, another source of rows. A module does the work, which the first
 * query_direct_open() or query_direct_open_remote() of the process loads. The one for files (client-lib/direct-module) contains
 * the daemon's own reader, with the same policy, limits, values and errors; the other one (client-lib/remote-module) speaks HTTP.
 * Invariant: of a file, only a run whose rows did not all fit into a page yet holds a snapshot of the database. It never does so
 * longer than the limit snapshot_age_ms, even if its rows are not asked for.
 */
#pragma once

#include "client-lib/direct/query-direct-table.h"

/**
 * query_direct_open:
 * @path: (nullable): the database file; NULL is that of the default store
 * @error: (nullable): location for an error
 *
 * Errors: UNAVAILABLE when it cannot be opened, or the module is not there; CORRUPT, UNSUPPORTED (a newer queryd wrote it, a
 * network file system), BUSY.
 *
 * Returns: (transfer full) (nullable): the open file, for any thread
 */
QueryDirect *query_direct_open(const char *path, GError **error);

/**
 * query_direct_open_remote:
 * @url: of the endpoint, as the caller gave it
 * @options: (nullable): a{sv}, see query_connection_new_remote()
 * @error: (nullable): location for an error
 *
 * Errors: BAD_PARAMETER, ACCESS_DENIED (a file with credentials that others may read), UNAVAILABLE without the module. Nothing
 * is sent yet.
 *
 * Returns: (transfer full) (nullable): the endpoint, for any thread
 */
QueryDirect *query_direct_open_remote(const char *url, GVariant *options, GError **error);

/* Whether it can execute query_direct_update(): a remote endpoint does. */
gboolean query_direct_can_update(const QueryDirect *self);
void query_direct_unref(QueryDirect *self);
/* (nullable): NULL for a remote endpoint */
const char *query_direct_get_path(const QueryDirect *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QueryDirect, query_direct_unref)

/* For tests: how long a snapshot may be held, and how often to look whether the file was replaced. Before the first run. */
void query_direct_set_times(QueryDirect *self, guint64 snapshot_age_msec, guint64 file_check_msec);

/**
 * query_direct_describe:
 *
 * Compiles the statement of @command. Errors: those of the statement; READ_ONLY for one that was opened for writing.
 *
 * Returns: (transfer full) (nullable): what it looks like
 */
QuerySchema *query_direct_describe(QueryDirect *self, const QueryCommand *command, GError **error);

/**
 * query_direct_update:
 * @parameters: values by name or index, used when @row is NULL
 * @row: (nullable): the values as the body of a FETCH for what query_direct_describe() has given
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Only if query_direct_can_update(). Errors: those of the statement. After DISCONNECTED, TIMEOUT and cancellation it is not known
 * whether it was executed.
 *
 * Returns: whether it was executed
 */
gboolean query_direct_update(QueryDirect *self, const QueryCommand *command, const QueryParameters *parameters, GBytes *row,
                             GCancellable *cancellable, GError **error);

/**
 * query_direct_start:
 * @known: (nullable): what the statement looked like last
 * @parameters: values by name or index, used when @row is NULL
 * @row: (nullable): the values as the body of a FETCH for @known
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Compiles, binds and works until the first page is there.
 *
 * Errors: those of the statement, as the daemon gives them, up to the first row. CANCELLED for @cancellable.
 *
 * Returns: (transfer full) (nullable): a run before its first row
 */
QueryDirectRun *query_direct_start(QueryDirect *self, const QueryCommand *command, QuerySchema *known,
                                   const QueryParameters *parameters, GBytes *row, GCancellable *cancellable, GError **error);
QueryDirectRun *query_direct_run_ref(QueryDirectRun *self);
void query_direct_run_unref(QueryDirectRun *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QueryDirectRun, query_direct_run_unref)

/* What the statement of @self looks like now. (transfer none) */
QuerySchema *query_direct_run_get_schema(const QueryDirectRun *self);

/* Makes work under way end soon, in any thread. */
void query_direct_run_cancel(QueryDirectRun *self);

/**
 * query_direct_run_work:
 * @cancellable: (nullable): looked at every 10 ms
 *
 * Works until query_direct_run_take() has something to give. May take long; in any thread, one at a time. The page that was
 * taken last is void then.
 */
void query_direct_run_work(QueryDirectRun *self, GCancellable *cancellable);

/**
 * query_direct_run_detach_page:
 *
 * The page taken last stays good for as long as the caller keeps the memory, also while work goes on.
 *
 * Returns: (transfer full) (nullable): its memory, for g_free(); NULL when it is void already
 */
gpointer query_direct_run_detach_page(QueryDirectRun *self);

/* Whether its rows did not all come yet: it holds a snapshot. */
gboolean query_direct_run_is_open(QueryDirectRun *self);

/**
 * query_direct_run_take:
 * @ret_reader: (out caller-allocates): set with ROWS: stands before the first row of a page
 * @ret_end: (out caller-allocates): set with END
 * @error: (nullable): set with FAILED
 *
 * Never waits.
 */
QueryDirectResult query_direct_run_take(QueryDirectRun *self, QwPageReader *ret_reader, QwEnd *ret_end, GError **error);
