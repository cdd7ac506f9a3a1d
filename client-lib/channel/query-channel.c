/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The descriptor: bytes to records and back.
 *
 * Place: internal to libquery-client.
 * The buffer holds one page and the next header: a full page then costs one recv() and no copying, and stays in the
 * processor's cache. Records above a page are put together in a block of their own, allocated when the total is known
 * and below the limit.
 * Invariant: `start` is 8-aligned; start <= end <= capacity.
 */
#include "client-lib/channel/query-channel-private.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client-lib/core/query-error.h"
#include "client-lib/core/query-process.h"

typedef struct Outgoing {
    QwHeader header; /* kind, count, serial */
    GBytes *body;
    size_t offset; /* of a body that goes as CHUNKs */
} Outgoing;

QueryChannel *
query_channel_new(int fd, gsize page_size, guint32 last_serial)
{
    QueryChannel *self = g_new0(QueryChannel, 1);

    g_assert(page_size >= QW_PAGE_SIZE_MIN && page_size <= QW_PAGE_SIZE_MAX);
    self->fd = fd;
    self->n_forks = query_process_get_n_forks();
    self->page_size = page_size;
    self->last_serial = last_serial;
    self->capacity = page_size + QW_HEADER_SIZE;
    self->out = g_byte_array_new();
    self->passed_fds[0] = self->passed_fds[1] = -1;
    g_queue_init(&self->outgoing);
    return self;
}

static void
outgoing_free(gpointer data)
{
    Outgoing *outgoing = data;

    g_bytes_unref(outgoing->body);
    g_free(outgoing);
}

static void
close_fd(int *fd)
{
    if (*fd >= 0)
        (void) close(*fd);
    *fd = -1;
}

void
query_channel_free(QueryChannel *self)
{
    if (self == NULL)
        return;

    close_fd(&self->fd);
    close_fd(&self->passed_fds[0]);
    close_fd(&self->passed_fds[1]);
    query_ring_free(self->ring);
    query_whole_unref(self->whole);
    g_queue_clear_full(&self->outgoing, outgoing_free);
    g_byte_array_unref(self->out);
    g_free(self->buffer);
    g_free(self->assembled);
    query_channel_set_prepared(self, NULL, NULL);
    g_free(self);
}

int
query_channel_get_fd(const QueryChannel *self)
{
    return self->fd;
}

void
query_channel_set_transport(QueryChannel *self, QueryTransport transport)
{
    self->transport = transport;
}

QueryTransport
query_channel_get_transport(const QueryChannel *self)
{
    return self->transport;
}

int
query_channel_steal_fd(QueryChannel *self)
{
    QwKind kind = QW_KIND_ROWS;
    int fd = self->fd;

    /* a reader elsewhere may not know WHOLE, which is the first record if it comes at all */
    if (self->start != self->end || self->chunks.active || query_channel_peek(self, &kind, NULL) == QUERY_IO_FAILED ||
        self->start != self->end || kind == QW_KIND_WHOLE)
        return -1;

    self->fd = -1;
    return fd;
}

void
query_channel_set_prepared(QueryChannel *self, GBytes *key, QuerySchema *schema)
{
    g_autoptr(GBytes) old_key G_GNUC_UNUSED = self->key;
    g_autoptr(QuerySchema) old_schema G_GNUC_UNUSED = self->schema;

    if (key != old_key)
        self->is_wanted = FALSE;
    self->key = key != NULL ? g_bytes_ref(key) : NULL;
    self->schema = schema != NULL ? query_schema_ref(schema) : NULL;
}

void
query_channel_set_wanted(QueryChannel *self, gboolean is_wanted)
{
    self->is_wanted = is_wanted;
}

gboolean
query_channel_is_wanted(const QueryChannel *self)
{
    return self->is_wanted;
}

gboolean
query_channel_is_prepared(const QueryChannel *self, GBytes *key)
{
    return self->key != NULL && (self->key == key || g_bytes_equal(self->key, key));
}

QuerySchema *
query_channel_get_schema(const QueryChannel *self)
{
    return self->schema;
}

/* Sending ------------------------------------------------------------------------------------------------------------- */

guint32
query_channel_queue(QueryChannel *self, QwKind kind, guint32 count, GBytes *body)
{
    Outgoing *outgoing = g_new(Outgoing, 1);

    *outgoing = (Outgoing){ .header = { .kind = (uint8_t) kind, .count = count, .serial = ++self->last_serial },
                            .body = g_bytes_ref(body) };
    g_queue_push_tail(&self->outgoing, outgoing);
    return outgoing->header.serial;
}

/* Encodes the next record, or the next piece of one, after the bytes in `out`. */
static void
encode_next(QueryChannel *self)
{
    Outgoing *outgoing = g_queue_peek_head(&self->outgoing);
    gsize n_bytes;
    const guint8 *body = g_bytes_get_data(outgoing->body, &n_bytes);
    guint used = self->out->len;
    size_t size;

    if (qw_align8(QW_HEADER_SIZE + n_bytes) <= self->page_size) {
        g_byte_array_set_size(self->out, used + (guint) qw_align8(QW_HEADER_SIZE + n_bytes));
        size = qw_record_encode(self->out->data + used, (QwKind) outgoing->header.kind, outgoing->header.count,
                                outgoing->header.serial, body, n_bytes);
        outgoing->offset = n_bytes;
    } else {
        g_byte_array_set_size(self->out, used + (guint) self->page_size);
        size = qw_chunk_encode(self->out->data + used, self->page_size, &outgoing->header, body, n_bytes, &outgoing->offset);
    }

    g_byte_array_set_size(self->out, used + (guint) size);
    if (outgoing->offset == n_bytes)
        outgoing_free(g_queue_pop_head(&self->outgoing));
}

static ssize_t
send_some(int fd, const void *data, size_t n_bytes)
{
    ssize_t n;

    do
        n = send(fd, data, n_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);

    return n < 0 ? -errno : n;
}

QueryIo
query_channel_flush(QueryChannel *self, gboolean *ret_never_received, GError **error)
{
    ssize_t n;

    if (!query_process_check(self->n_forks, error))
        return QUERY_IO_FAILED;
    for (;;) {
        while (self->out->len < self->page_size && !g_queue_is_empty(&self->outgoing))
            encode_next(self);
        if (self->out_sent == self->out->len)
            break;

        n = send_some(self->fd, self->out->data + self->out_sent, self->out->len - self->out_sent);
        if (n == -EAGAIN)
            return QUERY_IO_WANT_WRITE;
        if (n < 0) {
            *ret_never_received = n == -EPIPE || n == -ECONNRESET;
            g_set_error(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED, "cannot send to the daemon: %s", g_strerror((int) -n));
            return QUERY_IO_FAILED;
        }

        self->out_sent += (gsize) n;
        self->waiting_since_usec = 0;
        if (self->out_sent == self->out->len) {
            g_byte_array_set_size(self->out, 0);
            self->out_sent = 0;
        }
    }
    return QUERY_IO_DONE;
}

/* Receiving ----------------------------------------------------------------------------------------------------------- */

static QueryIo
fail_protocol(GError **error, const char *what)
{
    g_set_error(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL, "the daemon sent %s", what);
    return QUERY_IO_FAILED;
}

/* Descriptors that came with bytes. The daemon passes two at a time; others are closed, and missed by their RING. */
static void
keep_passed_fds(QueryChannel *self, struct msghdr *message)
{
    for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(message); cmsg != NULL; cmsg = CMSG_NXTHDR(message, cmsg)) {
        gsize n_fds = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
            continue;
        for (gsize i = 0; i < n_fds; i++) {
            int fd;

            memcpy(&fd, CMSG_DATA(cmsg) + i * sizeof fd, sizeof fd);
            if (i < G_N_ELEMENTS(self->passed_fds)) {
                close_fd(&self->passed_fds[i]);
                self->passed_fds[i] = fd;
            } else {
                close_fd(&fd);
            }
        }
    }
}

static ssize_t
receive_with_fds(QueryChannel *self, void *data, size_t n_bytes, int flags)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct iovec iov = { .iov_base = data, .iov_len = n_bytes };
    struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control };
    ssize_t n = recvmsg(self->fd, &message, flags | MSG_CMSG_CLOEXEC);

    if (n > 0 && message.msg_controllen > 0)
        keep_passed_fds(self, &message);
    return n;
}

/* recv() without waiting; DONE means that *ret_n > 0. */
static QueryIo
receive_some(QueryChannel *self, void *data, size_t n_bytes, int flags, size_t *ret_n, GError **error)
{
    ssize_t n;

    if (!query_process_check(self->n_forks, error))
        return QUERY_IO_FAILED;
    do
        n = flags & MSG_PEEK ? recv(self->fd, data, n_bytes, flags | MSG_DONTWAIT) /* it would duplicate descriptors */
                             : receive_with_fds(self, data, n_bytes, flags | MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);

    if (n > 0) {
        query_channel_note_awake(self);
        self->waiting_since_usec = 0;
        *ret_n = (size_t) n;
        return QUERY_IO_DONE;
    }
    if (n < 0 && errno == EAGAIN)
        return QUERY_IO_WANT_READ;

    if (n == 0 || errno == ECONNRESET)
        g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED, "the daemon went away before the result was whole");
    else
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED, "cannot read from the daemon: %s", g_strerror(errno));
    return QUERY_IO_FAILED;
}

/* Reads until @n_bytes are buffered from `start` on; with @exactly no byte more. */
static QueryIo
fill(QueryChannel *self, gsize n_bytes, gboolean exactly, GError **error)
{
    QueryIo io;

    if (self->end - self->start >= n_bytes)
        return QUERY_IO_DONE;

    if (self->buffer == NULL)
        self->buffer = g_malloc(self->capacity);
    if (self->start > 0) {
        memmove(self->buffer, self->buffer + self->start, self->end - self->start);
        self->end -= self->start;
        self->start = 0;
    }
    while (self->end < n_bytes) {
        size_t n;

        io = receive_some(self, self->buffer + self->end, (exactly ? n_bytes : self->capacity) - self->end, 0, &n, error);
        if (io != QUERY_IO_DONE)
            return io;
        self->end += n;
    }
    return QUERY_IO_DONE;
}

/* The next whole record as it is on the wire, CHUNK or not. */
static QueryIo
next_record(QueryChannel *self, gboolean exactly, QwHeader *ret_header, GError **error)
{
    QueryIo io = fill(self, QW_HEADER_SIZE, exactly, error);

    if (io != QUERY_IO_DONE)
        return io;
    if (qw_header_decode(self->buffer + self->start, self->page_size, QW_TO_CLIENT, ret_header) < 0)
        return fail_protocol(error, "something that is not a record");

    return fill(self, ret_header->size, exactly, error);
}

/* Puts one piece into its chain. DONE: the chain is whole. WANT_READ: go on with the next record. */
static QueryIo
take_chunk(QueryChannel *self, const QwHeader *header, const guint8 *body, GError **error)
{
    gsize offset = header->flags & QW_CHUNK_FIRST ? 0 : (gsize) self->chunks.received_bytes;
    const uint8_t *data;
    size_t n_bytes;
    int r;

    r = qw_chunks_accept(&self->chunks, header, body, QW_TO_CLIENT, QW_ROWS_SIZE_MAX, &data, &n_bytes);
    if (r == -EMSGSIZE) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_TOO_BIG, "a row takes %" G_GUINT64_FORMAT " bytes, the limit is %u",
                    self->chunks.total_bytes, QW_ROWS_SIZE_MAX);
        return QUERY_IO_FAILED;
    }
    if (r < 0)
        return fail_protocol(error, "pieces of a large record that do not fit together");

    if (offset == 0) {
        self->assembled = g_try_malloc((gsize) self->chunks.total_bytes);
        if (self->assembled == NULL) {
            g_set_error(error, QUERY_ERROR, QUERY_ERROR_NO_MEMORY, "no memory for a row of %" G_GUINT64_FORMAT " bytes",
                        self->chunks.total_bytes);
            return QUERY_IO_FAILED;
        }
    }
    memcpy(self->assembled + offset, data, n_bytes);
    return self->chunks.active ? QUERY_IO_WANT_READ : QUERY_IO_DONE;
}

static gboolean
take_ring(QueryChannel *self, const QwHeader *header, const guint8 *body, GError **error)
{
    int fds[2] = { self->passed_fds[0], self->passed_fds[1] };
    QwRing shape;

    if (qw_ring_decode(header, body, self->page_size, &shape) < 0 || fds[0] < 0 || fds[1] < 0) {
        (void) fail_protocol(error, "a RING that is not valid");
        return FALSE;
    }

    self->passed_fds[0] = self->passed_fds[1] = -1;
    g_clear_pointer(&self->ring, query_ring_free);
    self->ring = query_ring_new(&shape, fds, error);
    return self->ring != NULL;
}

/* The record that a PAGE stands for. */
static QueryIo
take_page(QueryChannel *self, const QwHeader *page, QueryRecord *ret_record, GError **error)
{
    const guint8 *data;
    QwHeader header;
    size_t size;

    if (qw_ring_decode_page(self->ring != NULL ? query_ring_get_shape(self->ring) : NULL, page, &size) < 0)
        return fail_protocol(error, "a PAGE that is not in its ring");

    data = query_ring_take(self->ring, size);
    if (qw_header_decode(data, size, QW_TO_CLIENT, &header) < 0 || header.size != size || header.kind != QW_KIND_ROWS ||
        header.serial != page->serial)
        return fail_protocol(error, "something in its ring that is not a page");

    *ret_record = (QueryRecord){ QW_KIND_ROWS, header.count, header.serial, data + QW_HEADER_SIZE, size - QW_HEADER_SIZE };
    return QUERY_IO_DONE;
}

static gboolean
take_whole(QueryChannel *self, const QwHeader *header, const guint8 *body, GError **error)
{
    int fd = self->passed_fds[0];
    QwWhole shape;

    if (qw_whole_decode(header, body, &shape) < 0 || fd < 0) {
        (void) fail_protocol(error, "a WHOLE that is not valid");
        return FALSE;
    }

    self->passed_fds[0] = -1;
    g_clear_pointer(&self->whole, query_whole_unref);
    self->whole = query_whole_new(&shape, fd, error);
    self->whole_serial = header->serial;
    return self->whole != NULL;
}

static QueryIo
take_page_of_whole(QueryChannel *self, QueryRecord *ret_record, GError **error)
{
    QwHeader header;
    const guint8 *page = query_whole_take(self->whole, self->page_size, &header);

    if (page == NULL)
        return fail_protocol(error, "something in a result that is not a page");

    *ret_record = (QueryRecord){ .kind = QW_KIND_ROWS,
                                 .count = header.count,
                                 .serial = self->whole_serial,
                                 .body = page + QW_HEADER_SIZE,
                                 .n_bytes = header.size - QW_HEADER_SIZE,
                                 .n_bytes_ahead = header.size };
    return QUERY_IO_DONE;
}

static QueryIo
receive_record(QueryChannel *self, gboolean exactly, QueryRecord *ret_record, GError **error)
{
    QwHeader header;
    const guint8 *body;
    QueryIo io;

    if (!self->chunks.active)
        g_clear_pointer(&self->assembled, g_free);

    for (;;) {
        if (self->whole != NULL && query_whole_has_more(self->whole))
            return take_page_of_whole(self, ret_record, error);
        io = next_record(self, exactly, &header, error);
        if (io != QUERY_IO_DONE)
            return io;

        body = self->buffer + self->start + QW_HEADER_SIZE;
        self->start += header.size;
        if (header.kind != QW_KIND_CHUNK) {
            if (self->chunks.active)
                return fail_protocol(error, "another record in the middle of a large one");
            if (header.kind == QW_KIND_RING && !take_ring(self, &header, body, error))
                return QUERY_IO_FAILED;
            if (header.kind == QW_KIND_WHOLE && !take_whole(self, &header, body, error))
                return QUERY_IO_FAILED;
            if (header.kind == QW_KIND_RING || header.kind == QW_KIND_WHOLE)
                continue;
            if (header.kind == QW_KIND_PAGE)
                return take_page(self, &header, ret_record, error);
            if (header.kind != QW_KIND_ROWS) { /* the result ends here, and its memory */
                g_clear_pointer(&self->ring, query_ring_free);
                g_clear_pointer(&self->whole, query_whole_unref);
            }
            *ret_record = (QueryRecord){ (QwKind) header.kind, header.count, header.serial, body, header.size - QW_HEADER_SIZE };
            query_channel_note_end(self, ret_record);
            return QUERY_IO_DONE;
        }

        io = take_chunk(self, &header, body, error);
        if (io == QUERY_IO_FAILED)
            return io;
        if (io == QUERY_IO_DONE) {
            *ret_record = (QueryRecord){ (QwKind) self->chunks.inner_kind, self->chunks.inner_count, self->chunks.serial,
                                         self->assembled, (gsize) self->chunks.total_bytes };
            return QUERY_IO_DONE;
        }
    }
}

QueryIo
query_channel_receive(QueryChannel *self, QueryRecord *ret_record, GError **error)
{
    return receive_record(self, FALSE, ret_record, error);
}

QueryIo
query_channel_receive_exactly(QueryChannel *self, QueryRecord *ret_record, GError **error)
{
    return receive_record(self, TRUE, ret_record, error);
}

QueryIo
query_channel_peek(QueryChannel *self, QwKind *ret_kind, GError **error)
{
    guint8 bytes[QW_HEADER_SIZE + QW_CHUNK_PREFIX_SIZE];
    const guint8 *data = bytes;
    size_t n = self->end - self->start;
    QwHeader header;
    QueryIo io;

    if (self->chunks.active) { /* its beginning was taken already */
        *ret_kind = (QwKind) self->chunks.inner_kind;
        return QUERY_IO_DONE;
    }
    if (n > 0) {
        data = self->buffer + self->start;
    } else {
        io = receive_some(self, bytes, sizeof bytes, MSG_PEEK, &n, error);
        if (io != QUERY_IO_DONE)
            return io;
    }

    /* The shortest record is a header; a peer that sends less at a time is not worth a special path: take and keep it. */
    if (n < QW_HEADER_SIZE || (data[4] == QW_KIND_CHUNK && (data[5] & QW_CHUNK_FIRST) != 0 && n < sizeof bytes)) {
        io = fill(self, n < QW_HEADER_SIZE ? QW_HEADER_SIZE : sizeof bytes, TRUE, error);
        if (io != QUERY_IO_DONE)
            return io;
        return query_channel_peek(self, ret_kind, error);
    }
    if (qw_header_decode(data, self->page_size, QW_TO_CLIENT, &header) < 0)
        return fail_protocol(error, "something that is not a record");
    if (header.kind == QW_KIND_CHUNK && (header.flags & QW_CHUNK_FIRST) == 0)
        return fail_protocol(error, "the middle of a large record first");

    *ret_kind = (QwKind) (header.kind == QW_KIND_CHUNK  ? data[QW_HEADER_SIZE]
                          : header.kind == QW_KIND_PAGE ? QW_KIND_ROWS
                                                        : header.kind);
    return QUERY_IO_DONE;
}

void
query_channel_detach_page(QueryChannel *self, gpointer ret_blocks[3], QueryWhole **ret_whole)
{
    gsize n_left = self->end - self->start;

    *ret_whole = self->whole != NULL ? query_whole_ref(self->whole) : NULL;
    ret_blocks[0] = self->buffer;
    if (self->buffer != NULL) {
        self->buffer = g_malloc(self->capacity);
        memcpy(self->buffer, (guint8 *) ret_blocks[0] + self->start, n_left);
        self->start = 0;
        self->end = n_left;
    }
    ret_blocks[1] = self->chunks.active ? NULL : g_steal_pointer(&self->assembled);
    ret_blocks[2] = self->ring != NULL ? query_ring_detach_page(self->ring) : NULL;
}

gboolean
query_channel_drop_whole(QueryChannel *self)
{
    gboolean is_there = self->whole != NULL;

    g_clear_pointer(&self->whole, query_whole_unref);
    return is_there;
}

gboolean
query_channel_is_idle(const QueryChannel *self)
{
    return self->start == self->end && !self->chunks.active && self->outgoing.length == 0 && self->out->len == 0;
}

gboolean
query_channel_is_quiet(QueryChannel *self)
{
    char byte;

    return query_channel_is_idle(self) && recv(self->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}
