/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requests from the descriptor: records into a bounded queue. Everything here comes from the peer.
 */
#include <errno.h>
#include <inttypes.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client-lib/wire/wire-page-reader.h"
#include "daemon/base/error.h"
#include "daemon/channel/channel-private.h"
#include "daemon/read/run.h"
#include "daemon/runtime/context.h"
#include "daemon/runtime/workers.h"

#define READ_BYTES 16384

void
qd_channel_discharge_whole_request(QdChannel *self, QdRequest *request)
{
    if (request->n_charged > 0)
        qd_channel_discharge_request(self, request->n_charged);
    request->n_charged = 0;
}

QdRequest *
qd_channel_free_request(QdChannel *self, QdRequest *request)
{
    if (request == NULL)
        return NULL;

    qd_channel_discharge_whole_request(self, request);
    self->input.n_live_bytes -= request->n_bytes;
    g_clear_error(&request->error);
    if (request->came_in_pieces) {
        self->input.chain.n_requests--;
        qd_channels_give_body(self->context->channels, request->body, request->n_body_bytes);
    } else {
        g_free(request->body);
    }
    g_free(request);
    return NULL;
}

gboolean
qd_channel_can_resume(const QdChannel *self)
{
    return (self->input.chain.is_held && self->input.chain.n_requests == 0) ||
           (self->input.waits_for_room && self->input.n_live_bytes == 0);
}

gboolean
qd_channel_has_room(const QdChannel *self)
{
    return !self->input.chain.is_held && !self->input.waits_for_room && self->input.requests.length < QW_PIPELINE_MAX_REQUESTS &&
           self->input.n_request_bytes < QW_PIPELINE_MAX_BYTES;
}

QdRequest *
qd_channel_add_request(QdChannel *self, uint8_t kind, uint32_t count, uint32_t serial, uint8_t *body, gsize n_bytes)
{
    QdRequest *request = g_new(QdRequest, 1); /* glibc's malloc() takes it without a lock, calloc() does not */
    uint64_t now_usec = (uint64_t) g_get_monotonic_time();

    *request = (QdRequest){ .kind = kind,
                            .count = count,
                            .serial = serial,
                            .received_usec = now_usec,
                            .begun_usec = now_usec - self->first_spent_usec,
                            .body = body,
                            .n_bytes = n_bytes };
    self->first_spent_usec = 0;
    g_queue_push_tail(&self->input.requests, request);
    self->input.n_request_bytes += n_bytes;
    self->input.n_live_bytes += n_bytes;
    return request;
}

/* A CANCEL has come for @serial: an update of the channel that waits or runs ends. */
static void
cancel_write(QdChannel *self, uint32_t serial)
{
    for (GList *link = self->writes.queue.head; link != NULL; link = link->next) {
        QdChannelWrite *write = link->data;

        if (write->request->serial == serial)
            g_atomic_int_set(&write->item.is_cancelled, TRUE);
    }
}

static void
cancel_serial(QdChannel *self, uint32_t serial)
{
    if (self->work.request != NULL && self->work.request->serial == serial)
        g_atomic_int_set(&self->entry.cancelled, QD_CANCEL_BY_CLIENT);

    cancel_write(self, serial);
    for (GList *link = self->input.requests.head; link != NULL; link = link->next)
        if (((QdRequest *) link->data)->serial == serial)
            ((QdRequest *) link->data)->cancelled = TRUE;
}

gboolean
qd_channel_add_charged_request(QdChannel *self, uint8_t kind, uint32_t count, uint32_t serial, uint8_t *body, gsize n_bytes,
                               GError **error)
{
    gboolean is_free = self->input.n_live_bytes + n_bytes <= QD_REQUEST_FREE_BYTES;

    if (!is_free && !qd_channel_charge_request(self, n_bytes, error))
        return FALSE;
    qd_channel_add_request(self, kind, count, serial, body, n_bytes)->n_charged = is_free ? 0 : n_bytes;
    return TRUE;
}

/*
 * A request of one piece. It is charged where the channel has others without an answer. If that cannot be, it waits for their
 * end. Without others it is taken in all the same, or refused if its page is larger than the default one. So no channel needs
 * another one's end to go on. Returns: false when it waits.
 */
static gboolean
take_request(QdChannel *self, const QwHeader *header, const uint8_t *body)
{
    gsize n_bytes = header->size - QW_HEADER_SIZE;
    uint8_t *copy = g_memdup2(body, n_bytes);
    GError *error = NULL;

    self->input.waits_for_room = FALSE;
    if (qd_channel_add_charged_request(self, header->kind, header->count, header->serial, copy, n_bytes, &error))
        return TRUE;
    g_free(copy);
    if (self->input.n_live_bytes == 0) {
        qd_channel_add_request(self, header->kind, 0, header->serial, NULL, 0)->error = error;
        return TRUE;
    }
    g_clear_error(&error);
    self->input.waits_for_room = TRUE;
    return FALSE;
}

/* Returns: false, with @error, if the channel cannot go on after the record */
static gboolean
handle_record(QdChannel *self, const QwHeader *header, const uint8_t *body, GError **error)
{
    if (header->kind == QW_KIND_CHUNK)
        return qd_channel_take_chunk(self, header, body, error);
    if (self->input.chain.chunks.active) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "a record of kind '%c' stands between the pieces (CHUNK) of request %" PRIu32,
                     header->kind, self->input.chain.chunks.serial);
        return FALSE;
    }
    if (header->kind == QW_KIND_CANCEL)
        cancel_serial(self, header->count);
    else
        (void) take_request(self, header, body);
    return TRUE;
}

/* Of the record that has begun; 0 while its size is not known. */
static gsize
get_n_missing(const QdChannel *self, QwHeader *ret_header)
{
    if (self->input.bytes->len < QW_HEADER_SIZE ||
        qw_header_decode(self->input.bytes->data, self->page_size, QW_TO_DAEMON, ret_header) < 0 ||
        ret_header->size < self->input.bytes->len)
        return 0;
    return ret_header->size - self->input.bytes->len;
}

static void
remove_bytes(QdChannel *self, gsize n)
{
    if (n > 0)
        g_byte_array_remove_range(self->input.bytes, 0, (guint) n);
    if (self->input.is_large && self->input.bytes->len == 0) {
        g_byte_array_unref(self->input.bytes);
        self->input.bytes = g_byte_array_new();
        self->input.is_large = FALSE;
    }
}

static void
note_begun(QdChannel *self)
{
    __atomic_store_n(&self->input.n_begun_bytes, self->input.bytes->len + self->input.n_dropped, __ATOMIC_RELAXED);
}

/* More bytes have come, and are parsed. */
static void
note_progress(QdChannel *self)
{
    uint64_t before = __atomic_load_n(&self->input.awaited_usec, __ATOMIC_RELAXED);
    uint64_t usec = 0;
    QwHeader header;

    note_begun(self);
    if (qd_channel_awaits_chunk(self) || get_n_missing(self, &header) > 0)
        usec = (uint64_t) g_get_monotonic_time();
    if (usec != before)
        __atomic_store_n(&self->input.awaited_usec, usec, __ATOMIC_RELAXED);
    if (before == 0 && usec != 0)
        qd_workers_request_sweep(self->context->workers);
}

/*
 * Where the next record begins is not known, or it has lost its meaning. So @error answers the last request: those before it are
 * answered, then it is, then the channel ends. @error: (transfer full)
 */
static void
end_input(QdChannel *self, uint32_t serial, GError *error)
{
    QdChain *chain = &self->input.chain;
    gboolean is_answered = chain->chunks.active && chain->is_refused && chain->chunks.serial == serial;

    qd_channel_drop_chain(self);
    chain->chunks.active = FALSE;
    if (is_answered) /* and no request is twice */
        g_error_free(error);
    else
        qd_channel_add_request(self, QW_KIND_CHUNK, 0, serial, NULL, 0)->error = error;
    qd_channel_note_peer(self, QD_PEER_SILENT);
}

/* The header's, of a record that is none. @data: QW_HEADER_SIZE bytes */
static GError *
make_header_error(const QdChannel *self, const uint8_t *data)
{
    GError *error = NULL;

    qd_error_set(&error, QW_ERROR_BAD_PARAMETER, "a record of kind 0x%02x and %" PRIu32 " bytes is malformed: %s", data[4],
                 qw_load_u32(data), qw_header_find_fault(data, self->page_size, QW_TO_DAEMON));
    return error;
}

/* Returns: false if nothing more is read */
static gboolean
parse_records(QdChannel *self)
{
    const uint8_t *data = self->input.bytes->data;
    gsize offset = MIN(self->input.n_dropped, self->input.bytes->len);

    self->input.n_dropped -= offset;
    while (self->input.bytes->len - offset >= QW_HEADER_SIZE) {
        GError *error = NULL;
        QwHeader header;

        if (qw_header_decode(data + offset, self->page_size, QW_TO_DAEMON, &header) < 0) {
            end_input(self, qw_load_u32(data + offset + 12), make_header_error(self, data + offset));
            return FALSE;
        }
        if (self->input.bytes->len - offset < header.size)
            break;
        self->input.chain.is_held = header.kind == QW_KIND_CHUNK && (header.flags & QW_CHUNK_FIRST) &&
                                    self->input.chain.n_requests > 0;
        if (self->input.chain.is_held)
            break;
        if (!handle_record(self, &header, data + offset + QW_HEADER_SIZE, &error)) {
            end_input(self, header.serial, error);
            return FALSE;
        }
        if (self->input.waits_for_room)
            break;
        offset += header.size;
    }
    remove_bytes(self, offset);
    note_progress(self);
    return TRUE;
}

/* After the bytes there; the rest of a large record without a copy more. */
static ssize_t
receive(QdChannel *self, gsize *ret_n_asked)
{
    uint8_t buffer[READ_BYTES];
    QwHeader header;
    gsize n_missing = get_n_missing(self, &header);
    gsize n_before = self->input.bytes->len;
    ssize_t n;

    *ret_n_asked = MAX(n_missing, sizeof buffer);
    if (n_missing > sizeof buffer) {
        /* not the default page: to give that back and to take it again costs 40 us */
        self->input.is_large = self->input.is_large || n_before + n_missing > QW_PAGE_SIZE_DEFAULT;
        g_byte_array_set_size(self->input.bytes, (guint) (n_before + n_missing));
        n = recv(self->fd, self->input.bytes->data + n_before, n_missing, MSG_DONTWAIT);
        g_byte_array_set_size(self->input.bytes, (guint) (n_before + (gsize) MAX(n, 0)));
        return n;
    }
    n = recv(self->fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n > 0)
        g_byte_array_append(self->input.bytes, buffer, (guint) n);
    return n;
}

void
qd_channel_read(QdChannel *self)
{
    gsize n_asked;

    if (qd_transport_is_pipe(self->transport) || self->input.peer != QD_PEER_TALKS)
        return;
    if (qd_channel_can_resume(self) && !parse_records(self))
        return;

    while (qd_channel_has_room(self)) {
        ssize_t n = receive(self, &n_asked);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0) {
            qd_channel_note_peer(self, QD_PEER_GONE);
            return;
        }
        if (n == 0) {
            qd_channel_note_peer(self, QD_PEER_SILENT);
            return;
        }
        if (!parse_records(self) || (gsize) n < n_asked)
            return;
    }
}

static gboolean
is_late(const QdChannel *self)
{
    uint64_t since = __atomic_load_n(&self->input.awaited_usec, __ATOMIC_RELAXED);
    uint64_t most = 1000 * qd_limits_get(&self->context->limits, QD_LIMIT_REQUEST_IDLE_MSEC);

    return since != 0 && (uint64_t) g_get_monotonic_time() > since + most;
}

/* A record that is not whole: @header is there. A piece of a request cannot be left out, so that the channel ends with it. */
static void
refuse_record(QdChannel *self, const QwHeader *header)
{
    GError *error = NULL;

    qd_limit_set_error(&error, &self->context->limits, QD_LIMIT_REQUEST_IDLE_MSEC,
                       "the rest of the request did not come: %u of %" G_GUINT32_FORMAT " bytes are there", self->input.bytes->len,
                       header->size);
    if (header->kind == QW_KIND_CHUNK) {
        end_input(self, header->serial, error);
        return;
    }
    self->input.n_dropped = header->size - self->input.bytes->len;
    qd_channel_add_request(self, header->kind, 0, header->serial, NULL, 0)->error = error;
    remove_bytes(self, self->input.bytes->len);
    note_begun(self);
}

void
qd_channel_watch_input(QdChannel *self)
{
    const QwChunks *chunks = &self->input.chain.chunks;
    GError *error = NULL;
    QwHeader header;

    if (!is_late(self))
        return;
    qd_channel_read(self); /* what is there, but was not read, is not late */
    if (!is_late(self) || self->input.peer == QD_PEER_GONE || !qd_channel_has_room(self))
        return;

    if (qd_channel_awaits_chunk(self)) {
        qd_limit_set_error(&error, &self->context->limits, QD_LIMIT_REQUEST_IDLE_MSEC,
                           "the rest of the request did not come: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " bytes are there",
                           chunks->received_bytes, chunks->total_bytes);
        qd_channel_refuse_chain(self, error);
    } else if (get_n_missing(self, &header) > 0) {
        refuse_record(self, &header);
    }
    note_progress(self);
}

/* --- what a request is ------------------------------------------------------------------------------------------------- */

/* Of a PREPARE and of a BATCH, whose values are texts. */
#define PREPARE_OPTIONS                                                                                                           \
    (QD_TAKES(ACCESS) | QD_TAKES(TIMEOUT) | QD_TAKES(MAX_ROWS) | QD_TAKES(MAX_BYTES) | QD_TAKES(RESULTS) | QD_TAKES(DURABILITY) | \
     QD_TAKES(BASE) | QD_TAKES(DATASET))

gboolean
qd_channel_parse_options(QwBodyReader *body, uint32_t n, QdCallOptions *options, GError **error)
{
    uint64_t seen = 0;

    for (uint32_t i = 0; i < n; i++) {
        const QdOption *option;
        const char *key;
        const char *value;
        uint32_t n_bytes;

        if (qw_body_get_string(body, &key, &n_bytes) < 0 || qw_body_get_string(body, &value, &n_bytes) < 0) {
            qd_error_set(error, QW_ERROR_BAD_PARAMETER, "the record's options are malformed");
            return FALSE;
        }
        option = qd_option_find(key, PREPARE_OPTIONS, &seen, error);
        if (option == NULL || !qd_option_parse(option, options, value, error))
            return FALSE;
    }
    return TRUE;
}

gboolean
qd_channel_is_control(const QdChannel *self, const QdRequest *request)
{
    return request->kind == QW_KIND_FETCH && !qd_transport_is_pipe(self->transport) && self->statement.control != QD_CONTROL_NONE &&
           self->statement.control != QD_CONTROL_SAVEPOINT;
}

gboolean
qd_channel_next_is_write(const QdChannel *self)
{
    const QdRequest *next = self->input.requests.head != NULL ? self->input.requests.head->data : NULL;

    if (self->work.request != NULL || self->work.run != NULL || next == NULL || next->error != NULL)
        return FALSE;
    return next->kind == QW_KIND_BATCH ||
           (next->kind == QW_KIND_FETCH && self->statement.writes && !qd_channel_is_control(self, next));
}
