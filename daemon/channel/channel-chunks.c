/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requests that come in pieces, as CHUNK records: collected, and charged from the first piece until they are answered.
 *
 * Invariant: memory and charge grow with what has come, never with what was announced. A chain that is refused, or of which
 * nothing comes for too long, has its answer at once. The rest of it is dropped as it comes.
 */
#include <errno.h>
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/channel/channel-private.h"
#include "daemon/read/client.h"
#include "daemon/runtime/context.h"

void
qd_channel_discharge_request(QdChannel *self, gsize n_bytes)
{
    qd_context_discharge_request(self->context, self->client, n_bytes);
}

gboolean
qd_channel_charge_request(QdChannel *self, gsize n_bytes, GError **error)
{
    return qd_context_charge_request(self->context, self->client, n_bytes, error);
}

/* Whether it can fit at all. */
static gboolean
check_total(const QdChannel *self, GError **error)
{
    static const QdLimit bounds[] = { QD_LIMIT_REQUEST_BYTES_PER_CLIENT, QD_LIMIT_REQUEST_BYTES };
    const QdLimits *limits = &self->context->limits;
    uint64_t total = self->input.chain.chunks.total_bytes;

    for (guint i = 0; i < G_N_ELEMENTS(bounds); i++) {
        if (total <= qd_limits_get(limits, bounds[i]))
            continue;
        qd_limit_set_error(error, limits, bounds[i], "a request of %" G_GUINT64_FORMAT " bytes is too large", total);
        return FALSE;
    }
    return TRUE;
}

/* One that is kept is charged as a whole, or left to others. */
static void
take_kept(QdChannel *self)
{
    QdChain *chain = &self->input.chain;
    gsize n_bytes;

    chain->data = qd_channels_take_body(self->context->channels, (gsize) chain->chunks.total_bytes, &n_bytes);
    if (chain->data == NULL)
        return;
    if (qd_channel_charge_request(self, n_bytes, NULL))
        chain->n_charged = n_bytes;
    else
        qd_channels_give_body(self->context->channels, g_steal_pointer(&chain->data), n_bytes);
}

static gboolean
make_room(QdChannel *self, GError **error)
{
    QdChain *chain = &self->input.chain;
    gsize wanted = MAX(MAX((gsize) chain->chunks.received_bytes, 2 * chain->n_charged), QD_CHUNKS_FIRST_BYTES);
    uint8_t *data;

    if (chain->chunks.received_bytes <= chain->n_charged)
        return TRUE;
    wanted = MIN(wanted, (gsize) chain->chunks.total_bytes);
    if (!qd_channel_charge_request(self, wanted - chain->n_charged, error))
        return FALSE;

    data = g_try_realloc(chain->data, wanted);
    if (data == NULL) {
        qd_channel_discharge_request(self, wanted - chain->n_charged);
        qd_error_set(error, QW_ERROR_NO_MEMORY, "no memory for a request of %" G_GUINT64_FORMAT " bytes",
                     chain->chunks.total_bytes);
        return FALSE;
    }
    chain->data = data;
    chain->n_charged = wanted;
    return TRUE;
}

void
qd_channel_drop_chain(QdChannel *self)
{
    QdChain *chain = &self->input.chain;

    if (chain->n_charged > 0)
        qd_channel_discharge_request(self, chain->n_charged);
    chain->n_charged = 0;
    g_clear_pointer(&chain->data, g_free);
}

gboolean
qd_channel_awaits_chunk(const QdChannel *self)
{
    return self->input.chain.chunks.active && !self->input.chain.is_refused;
}

void
qd_channel_refuse_chain(QdChannel *self, GError *error)
{
    const QwChunks *chunks = &self->input.chain.chunks;

    qd_channel_drop_chain(self);
    self->input.chain.is_refused = TRUE;
    qd_channel_add_request(self, chunks->inner_kind, 0, chunks->serial, NULL, 0)->error = error;
}

static void
complete(QdChannel *self)
{
    QdChain *chain = &self->input.chain;
    const QwChunks *chunks = &chain->chunks;
    QdRequest *request = qd_channel_add_request(self, chunks->inner_kind, chunks->inner_count, chunks->serial,
                                                g_steal_pointer(&chain->data), (gsize) chunks->total_bytes);

    request->n_charged = request->n_body_bytes = chain->n_charged;
    request->came_in_pieces = TRUE;
    chain->n_charged = 0;
    chain->n_requests++;
}

/* Returns: false, with the channel's end in @error, if the piece cannot be taken */
static gboolean
accept_chunk(QdChannel *self, const QwHeader *header, const uint8_t *body, const uint8_t **ret_data, size_t *ret_n_bytes,
             GError **error)
{
    const QdLimits *limits = &self->context->limits;
    uint64_t most = qd_limits_get(limits, QD_LIMIT_STATEMENT_TEXT_BYTES) + QW_REQUEST_SLACK_BYTES;
    QwChunks *chunks = &self->input.chain.chunks;
    int r = qw_chunks_accept(chunks, header, body, QW_TO_DAEMON, most, ret_data, ret_n_bytes);

    if (r == -EMSGSIZE)
        qd_limit_set_error(error, limits, QD_LIMIT_STATEMENT_TEXT_BYTES,
                           "a request of %" G_GUINT64_FORMAT " bytes is larger than the longest text and %d MiB of values",
                           chunks->total_bytes, (int) (QW_REQUEST_SLACK_BYTES >> 20));
    else if (r < 0)
        qd_error_set(error, QW_ERROR_BAD_PARAMETER,
                     "the piece of a request (CHUNK) does not fit: pieces begin with FIRST, carry one serial, are not empty, "
                     "follow each other, and add up to their total, where LAST is");
    return r == 0;
}

gboolean
qd_channel_take_chunk(QdChannel *self, const QwHeader *header, const uint8_t *body, GError **ret_error)
{
    QdChain *chain = &self->input.chain;
    g_autoptr(GError) error = NULL;
    const uint8_t *data;
    size_t n_bytes;

    if (!accept_chunk(self, header, body, &data, &n_bytes, ret_error))
        return FALSE;

    if (header->flags & QW_CHUNK_FIRST) {
        chain->is_refused = FALSE;
        if (!check_total(self, &error))
            qd_channel_refuse_chain(self, g_steal_pointer(&error));
    }
    if (!chain->is_refused && chain->data == NULL)
        take_kept(self);
    if (!chain->is_refused && !make_room(self, &error))
        qd_channel_refuse_chain(self, g_steal_pointer(&error));
    if (chain->is_refused)
        return TRUE;

    memcpy(chain->data + chain->chunks.received_bytes - n_bytes, data, n_bytes);
    if (!chain->chunks.active)
        complete(self);
    return TRUE;
}
