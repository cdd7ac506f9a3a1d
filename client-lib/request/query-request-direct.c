/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A request on a direct or remote connection: no channel.
 *
 * Place: internal to libquery-client.
 */
#include "client-lib/core/query-error.h"
#include "client-lib/core/query-held.h"
#include "client-lib/direct/query-direct.h"
#include "client-lib/request/query-request-private.h"

/* Statements know their schema; for texts the pool remembers. */
static void
learn_schema(QueryRequest *self, QuerySchema *schema)
{
    if (schema == self->schema)
        return;

    query_request_set_schema(self, schema);
    query_pool_remember(self->endpoint.pool, self->command->key, schema);
}

/* With as many unfinished results as there may be, cursors that are not read give theirs up. */
static gboolean
start(QueryRequest *self, GCancellable *cancellable, GError **error)
{
    g_autoptr(GError) failure = NULL;

    do {
        g_clear_error(&failure);
        self->direct_run = query_direct_start(self->endpoint.direct, self->command, self->schema, self->parameters, self->row,
                                              cancellable, &failure);
    } while (g_error_matches(failure, QUERY_ERROR, QUERY_ERROR_BUSY) && query_request_make_room(self, failure, cancellable));

    if (failure != NULL && !g_cancellable_set_error_if_cancelled(cancellable, error))
        g_propagate_error(error, g_steal_pointer(&failure));
    return self->direct_run != NULL;
}

static gboolean
run_rows(QueryRequest *self, GCancellable *cancellable, GError **error)
{
    if (self->schema == NULL)
        self->schema = query_pool_recall(self->endpoint.pool, self->command->key);
    if (!start(self, cancellable, error))
        return FALSE;
    learn_schema(self, query_direct_run_get_schema(self->direct_run));
    return TRUE;
}

/* What is no query, where updates are possible. */
static gboolean
run_update(QueryRequest *self, GCancellable *cancellable, GError **error)
{
    if (self->kind >= QUERY_REQUEST_BEGIN || self->n_rows > 1) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_UNSUPPORTED,
                    "a remote connection has no %s: send one update at a time, which may be several operations with ';'",
                    self->kind == QUERY_REQUEST_UPDATE ? "executions of several rows" : "batches and transactions");
        return FALSE;
    }
    return query_direct_update(self->endpoint.direct, self->command, self->parameters, self->row, cancellable, error);
}

gboolean
query_request_run_directly(QueryRequest *self, GCancellable *cancellable, GError **error)
{
    g_autoptr(QuerySchema) schema = NULL;

    if (g_cancellable_set_error_if_cancelled(cancellable, error) || !query_pool_check_process(self->endpoint.pool, error))
        return FALSE;

    if (self->kind == QUERY_REQUEST_ROWS)
        return run_rows(self, cancellable, error);
    if (self->kind != QUERY_REQUEST_PREPARE && query_direct_can_update(self->endpoint.direct))
        return run_update(self, cancellable, error);

    schema = query_direct_describe(self->endpoint.direct, self->command, error);
    if (schema == NULL)
        return FALSE;
    learn_schema(self, schema);
    return TRUE;
}
