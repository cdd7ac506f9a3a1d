/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Making channels, in slots of the table that may have been used before.
 */
#include "daemon/base/error.h"
#include "daemon/base/fd.h"
#include "daemon/channel/channel-private.h"
#include "daemon/channel/cursor-output.h"
#include "daemon/read/client.h"
#include "daemon/read/shape.h"
#include "daemon/runtime/context.h"
#include "daemon/runtime/registry.h"
#include "daemon/runtime/workers.h"

static void
setup_channel(QdChannel *channel, QdClient *client, const QdChannelSetup *setup, int fd)
{
    uint64_t ownership = __atomic_load_n(&channel->ownership, __ATOMIC_ACQUIRE);

    channel->fd = fd;
    channel->transport = setup->channel.transport;
    channel->page_size = setup->channel.page_size;
    channel->error_details = setup->error_details;
    channel->schema_details = setup->channel.schema_details;
    channel->whole_results = setup->channel.whole_results && !qd_transport_is_pipe(setup->channel.transport);
    channel->refuses_control = setup->channel.refuses_control;
    channel->client = qd_client_ref(client);
    qd_channel_init_task(channel);
    channel->entry = (QdEntry){ .language = qd_language_get_name(setup->language),
                                .client = channel->client,
                                .kick = qd_channel_kick_entry,
                                .describe = qd_channel_describe_entry,
                                .owner = channel };
    channel->input.bytes = g_byte_array_new();
    channel->input.chain.chunks = (QwChunks){ 0 };
    channel->input.chain.is_refused = channel->input.chain.is_held = channel->input.waits_for_room = FALSE;
    channel->input.is_large = FALSE;
    channel->input.n_live_bytes = channel->input.n_dropped = 0;
    g_queue_init(&channel->input.requests);
    g_queue_init(&channel->writes.queue);
    g_queue_init(&channel->writes.spare);
    channel->input.readable = FALSE;
    channel->input.peer = QD_PEER_TALKS;
    channel->work = (QdChannelWork){ 0 };
    channel->spin = (QwSpin){ 0 };
    qd_channel_enter_session(channel, setup->channel.session);
    channel->settings = 0;
    channel->first_spent_usec = setup->spent_usec;
    channel->answered_usec = 0;
    channel->transaction = NULL;
    __atomic_store_n(&channel->transaction_due_usec, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&channel->output.blocked_usec, 0, __ATOMIC_RELAXED);
    channel->statement = (QdStatement){
        .prepared = TRUE,
        .text = g_strndup(setup->text, setup->n_text_bytes),
        .n_text_bytes = setup->n_text_bytes,
        .base = g_strdup(setup->base),
        .dataset = g_strdup(setup->dataset),
        .language = setup->language,
        .signature = setup->shape->signature,
        .n_parameters = setup->shape->n_parameters,
        .writes = setup->shape->writes,
        .control = setup->shape->control,
        .execution = setup->execution,
    };
    qd_channel_set_state(channel, QD_CHANNEL_SERVED);
    __atomic_store_n(&channel->ownership, (ownership & ~(uint64_t) QD_CHANNEL_FREE) | QD_CHANNEL_OWNED, __ATOMIC_RELEASE);
}

static gboolean
runs_at_once(const QdChannelSetup *setup)
{
    return setup->channel.fetches || qd_transport_is_pipe(setup->channel.transport);
}

/* The FETCH that no client has sent. */
static gboolean
queue_fetch(QdChannel *channel, const QdChannelSetup *setup, GError **error)
{
    uint32_t serial = qd_transport_is_pipe(setup->channel.transport) ? 0 : QW_PREPARE_FETCH_SERIAL;
    uint8_t *row = NULL;
    gsize n_bytes = 0;

    if (setup->parameters != NULL && setup->shape->n_parameters > 0)
        row = g_bytes_unref_to_data(g_bytes_ref(setup->parameters), &n_bytes);
    if (qd_channel_add_charged_request(channel, QW_KIND_FETCH, row != NULL ? 1 : 0, serial, row, n_bytes, error))
        return TRUE;
    g_free(row);
    return FALSE;
}

gboolean
qd_channels_open(QdChannels *self, QdClient *client, const QdChannelSetup *setup, int *ret_fd, GError **error)
{
    QdChannel *channel;
    int fds[2];
    int r;

    if (qd_channels_is_draining(self)) {
        qd_error_set(error, QW_ERROR_CLOSED, "the daemon is shutting down");
        return FALSE;
    }
    if (!qd_channels_charge(self, client, error))
        return FALSE;
    if (!qd_channels_charge_pages(self, client, setup->channel.page_size, error)) {
        qd_channels_discharge(self, client);
        return FALSE;
    }
    if (!qd_channels_open_transport(self, setup, fds, error)) {
        qd_channels_discharge_pages(self, client, setup->channel.page_size);
        qd_channels_discharge(self, client);
        return FALSE;
    }
    channel = qd_channels_take_slot(self);
    setup_channel(channel, client, setup, fds[0]);
    if (!qd_channel_charge_statement(channel, setup->n_text_bytes, setup->base, setup->dataset, error) ||
        (runs_at_once(setup) && !queue_fetch(channel, setup, error))) {
        (void) qd_fd_close(fds[1]);
        qd_channel_destroy(channel);
        return FALSE;
    }
    r = qd_workers_watch(channel->context->workers, channel->fd, qd_channel_get_token(channel));
    if (r < 0) {
        qd_error_set_errno(error, -r, "cannot watch a descriptor");
        (void) qd_fd_close(fds[1]);
        qd_channel_destroy(channel);
        return FALSE;
    }
    if (setup->cursor != NULL)
        channel->output.cursor = qd_cursor_output_new(fds[0], channel->page_size, qd_client_get_memory(client), setup->cursor);
    *ret_fd = fds[1];
    if (qd_transport_is_pipe(setup->channel.transport)) /* nothing else tells its columns */
        qd_channel_put_schema(channel, setup->shape, 0);
    qd_channel_push(channel, FALSE);
    return TRUE;
}
