/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A request on a direct connection: no channel, no waiting for anybody.
 *
 * Place: internal to libquery-client.
 */
#include "client-lib/query-error.h"
#include "client-lib/query-request-private.h"

/* Statements know their schema; for texts the pool remembers. */
static void
learn_schema(QueryRequest *self, QuerySchema *schema)
{
    if (schema == self->schema)
        return;

    query_request_set_schema(self, schema);
    query_pool_remember(self->pool, self->plan->key, schema);
}

gboolean
query_request_run_directly(QueryRequest *self, GCancellable *cancellable, GError **error)
{
    if (g_cancellable_set_error_if_cancelled(cancellable, error))
        return FALSE;

    if (self->kind == QUERY_REQUEST_ROWS) {
        if (self->schema == NULL)
            self->schema = query_pool_recall(self->pool, self->plan->key);
        self->direct_run = query_direct_start(self->direct, self->plan, self->schema, self->parameters, self->row, cancellable,
                                              error);
        if (self->direct_run == NULL)
            return FALSE;
        learn_schema(self, query_direct_run_get_schema(self->direct_run));
    } else {
        g_autoptr(QuerySchema) schema = query_direct_describe(self->direct, self->plan, error);

        if (schema == NULL)
            return FALSE;
        learn_schema(self, schema);
    }
    return TRUE;
}
