/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The end of an update that its caller cancels: the daemon is asked to end it, and its answer is waited for.
 *
 * Place: internal to libquery-client; the drivers ask here. A request that changes nothing that lasts ends with its channel.
 * Source: docs/wire-format.md, CANCEL; docs/decisions/cancelled-calls.md.
 */
#include "client-lib/core/query-error.h"
#include "client-lib/request/query-request-private.h"

gboolean
query_request_lasts(const QueryRequest *self)
{
    switch (self->kind) {
    case QUERY_REQUEST_PREPARE:
    case QUERY_REQUEST_BEGIN:
    case QUERY_REQUEST_ROLLBACK:
        return FALSE;
    case QUERY_REQUEST_COMMIT:
    case QUERY_REQUEST_BATCH:
        return TRUE;
    case QUERY_REQUEST_ROWS:
    case QUERY_REQUEST_UPDATE:
        return self->command->writes && !self->is_bound; /* the end of its transaction undoes it otherwise */
    }
    return FALSE;
}

/* The daemon may have the whole of it, which is sent as the last. */
static gboolean
was_sent(const QueryRequest *self)
{
    return self->fetch_serial != 0 &&
           (self->state == QUERY_STATE_SCHEMA || self->state == QUERY_STATE_FIRST || self->state == QUERY_STATE_RESULT);
}

gboolean
query_request_cancel(QueryRequest *self)
{
    g_autoptr(GBytes) nothing = NULL;

    if (self->is_cancelled)
        return TRUE;
    if (self->channel == NULL || !query_request_lasts(self) || !was_sent(self))
        return FALSE;

    nothing = g_bytes_new_static("", 0);
    (void) query_channel_queue(self->channel, QW_KIND_CANCEL, self->fetch_serial, nothing);
    query_channel_set_patience(self->channel, QUERY_CHANNEL_END_USEC);
    self->is_cancelled = TRUE;
    return TRUE;
}

void
query_request_explain_failure(QueryRequest *self, GError **error)
{
    if (query_request_lasts(self) && was_sent(self))
        query_error_tell_unknown(error);
    if (!self->is_cancelled || error == NULL || *error == NULL)
        return;

    if (g_error_matches(*error, QUERY_ERROR, QUERY_ERROR_CANCELLED)) {
        g_clear_error(error);
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "the update was cancelled, and has changed nothing");
    } else if (g_error_matches(*error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED)) {
        g_prefix_error(error, "the update was cancelled, but ");
    }
}
