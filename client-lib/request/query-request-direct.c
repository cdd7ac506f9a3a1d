/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A request on a direct connection: no channel and no waiting.
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

    guint n_held;

    do {
        g_clear_error(&failure);
        self->direct_run = query_direct_start(self->endpoint.direct, self->command, self->schema, self->parameters, self->row,
                                              cancellable, &failure);
        n_held = query_held_get_n();
    } while (g_error_matches(failure, QUERY_ERROR, QUERY_ERROR_BUSY) && n_held > 0 &&
             query_held_reduce(MIN(n_held, QUERY_HELD_MAX) - 1, QUERY_HELD_LATE_MSEC));

    if (failure != NULL)
        g_propagate_error(error, g_steal_pointer(&failure));
    return self->direct_run != NULL;
}

gboolean
query_request_run_directly(QueryRequest *self, GCancellable *cancellable, GError **error)
{
    if (g_cancellable_set_error_if_cancelled(cancellable, error))
        return FALSE;

    if (self->kind == QUERY_REQUEST_ROWS) {
        if (self->schema == NULL)
            self->schema = query_pool_recall(self->endpoint.pool, self->command->key);
        if (!start(self, cancellable, error))
            return FALSE;
        learn_schema(self, query_direct_run_get_schema(self->direct_run));
    } else {
        g_autoptr(QuerySchema) schema = query_direct_describe(self->endpoint.direct, self->command, error);

        if (schema == NULL)
            return FALSE;
        learn_schema(self, schema);
    }
    return TRUE;
}
