/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the last answer on a channel has ended, for those that use the channel again.
 *
 * Place: internal to libquery-client.
 */
#include "client-lib/channel/query-channel-private.h"
#include "client-lib/wire/wire-error.h"
#include "client-lib/wire/wire-message.h"

void
query_channel_note_end(QueryChannel *self, const QueryRecord *record)
{
    QwErrorBody body;
    const char *key;
    const char *value;

    self->was_ended = self->transaction_has_ended = FALSE;
    if (record->kind != QW_KIND_ERROR || qw_error_decode(record->body, record->n_bytes, &body) < 0)
        return;
    self->was_ended = body.code == QW_ERROR_TIMEOUT || body.code == QW_ERROR_CANCELLED;
    while (qw_error_next_detail(&body, &key, &value))
        if (g_str_equal(key, QW_DETAIL_TRANSACTION))
            self->transaction_has_ended = g_str_equal(value, QW_TRANSACTION_ENDED);
}

gboolean
query_channel_was_ended(const QueryChannel *self)
{
    return self->was_ended;
}

gboolean
query_channel_has_ended_transaction(const QueryChannel *self)
{
    return self->transaction_has_ended;
}
