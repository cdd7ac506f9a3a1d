/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records to the descriptor: one buffer, filled and sent in turn; what a page cannot hold goes in CHUNKs.
 *
 * Invariant: bytes leave in the order out, large, trailer, and each is empty before the one before it is filled again.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "client-lib/wire/wire-page-reader.h"
#include "client-lib/wire/wire-page-writer.h"
#include "daemon/base/error.h"
#include "daemon/channel/channel-private.h"
#include "daemon/channel/cursor-output.h"
#include "daemon/channel/ring.h"
#include "daemon/read/run.h"
#include "daemon/runtime/context.h"
#include "daemon/sqlite/sqlite-error.h"

#define ERROR_MESSAGE_MAX 2048
#define ERROR_DETAILS_MAX 1900 /* with message and header below the smallest page */
#define ERROR_BODY_MAX (ERROR_MESSAGE_MAX + ERROR_DETAILS_MAX + 64)
/* While its ring is full the reader is slow: it gets small pages by the socket, which take little memory. */
#define OVERFLOW_PAGE_BYTES 32768u
/* A slot of a pipe refers to one of these at most. */
#define PAGE_OF_MEMORY 4096

static gsize
get_full_capacity(const QdChannel *self)
{
    return self->page_size + QD_CHANNEL_OUT_SLACK;
}

/*
 * The pipe refers to what vmsplice() gives it, until the reader has copied it. So the buffer goes round in a region that is
 * larger than the pipe. A place comes again when the pipe has taken, after it, more than it holds. The region is unmapped,
 * never freed to an allocator: what the pipe still has stays as it is.
 */
static gboolean
ensure_region(QdChannel *self)
{
    int n_pipe_bytes;
    gsize n_bytes;
    void *map;

    if (self->output.region != NULL)
        return TRUE;
    if (self->transport != QD_TRANSPORT_VMSPLICE || self->output.buffer != NULL)
        return FALSE;
    n_pipe_bytes = fcntl(self->fd, F_GETPIPE_SZ);
    if (n_pipe_bytes <= 0)
        return FALSE;
    n_bytes = (gsize) n_pipe_bytes + PAGE_OF_MEMORY + 2 * get_full_capacity(self);
    map = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return FALSE;

    self->output.region = self->output.buffer = map;
    self->output.n_region_bytes = n_bytes;
    self->output.capacity = get_full_capacity(self);
    return TRUE;
}

/* A page in a ring takes no room here. */
static void
ensure_out(QdChannel *self, gsize capacity)
{
    if (self->output.buffer != NULL && self->output.capacity >= capacity)
        return;
    if (ensure_region(self))
        return;

    if (self->output.buffer == NULL)
        self->output.buffer = qd_channels_take_buffer(self->context->channels, capacity);
    else
        self->output.buffer = g_realloc(self->output.buffer, capacity);
    self->output.capacity = capacity;
}

/* All of it has been sent. */
static void
rewind_out(QdChannel *self)
{
    if (self->output.region != NULL) {
        self->output.buffer += self->output.used;
        if ((gsize) (self->output.buffer - self->output.region) + self->output.capacity > self->output.n_region_bytes)
            self->output.buffer = self->output.region;
    }
    self->output.used = self->output.sent = 0;
}

gboolean
qd_channel_output_is_empty(const QdChannel *self)
{
    if (self->output.cursor != NULL)
        return qd_cursor_output_is_empty(self->output.cursor);
    return self->output.used == 0 && self->output.large == NULL && self->output.trailer == NULL;
}

static void
drop_large(QdChannel *self)
{
    if (self->output.large != NULL)
        self->output.large_free(self->output.large - QW_HEADER_SIZE);
    self->output.large = NULL;
}

void
qd_channel_clear_output(QdChannel *self)
{
    if (self->output.region != NULL)
        (void) munmap(self->output.region, self->output.n_region_bytes);
    else if (self->output.buffer != NULL)
        qd_channels_give_buffer(self->context->channels, self->output.buffer, self->output.capacity);
    self->output.region = self->output.buffer = NULL;
    drop_large(self);
    g_clear_pointer(&self->output.trailer, g_byte_array_unref);
    self->output.used = self->output.sent = 0;
}

static ssize_t
send_some(const QdChannel *self, const uint8_t *data, gsize n_bytes)
{
    struct iovec iov = { .iov_base = (void *) data, .iov_len = n_bytes };
    ssize_t n;

    do {
        if (!qd_transport_is_pipe(self->transport))
            n = send(self->fd, data, n_bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
        else if (self->output.region != NULL)
            n = vmsplice(self->fd, &iov, 1, SPLICE_F_NONBLOCK);
        else
            n = write(self->fd, data, n_bytes);
    } while (n < 0 && errno == EINTR);
    return n;
}

/* Fills the empty buffer with what comes next. Returns: false when nothing does. */
static gboolean
refill_out(QdChannel *self)
{
    if (self->output.large != NULL) {
        self->output.used = qw_chunk_encode(self->output.buffer, self->page_size, &self->output.large_header, self->output.large,
                                            self->output.n_large_bytes, &self->output.large_sent);
        if (self->output.large_sent == self->output.n_large_bytes)
            drop_large(self);
        return TRUE;
    }
    if (self->output.trailer != NULL) {
        gsize n = MIN(self->output.trailer->len, self->output.capacity);

        memcpy(self->output.buffer, self->output.trailer->data, n);
        self->output.used = n;
        g_byte_array_remove_range(self->output.trailer, 0, (guint) n);
        if (self->output.trailer->len == 0)
            g_clear_pointer(&self->output.trailer, g_byte_array_unref);
        return TRUE;
    }
    return FALSE;
}

static int
flush_cursor(QdChannel *self)
{
    gboolean has_moved = FALSE;
    int r = qd_cursor_output_flush(self->output.cursor, &has_moved);

    if (has_moved) /* the peer takes bytes: its time restarts */
        __atomic_store_n(&self->output.blocked_usec, 0, __ATOMIC_RELAXED);
    return r;
}

int
qd_channel_flush(QdChannel *self)
{
    if (self->output.cursor != NULL)
        return flush_cursor(self);

    for (;;) {
        while (self->output.sent < self->output.used) {
            ssize_t n = send_some(self, self->output.buffer + self->output.sent, self->output.used - self->output.sent);

            if (n < 0)
                return errno == EAGAIN ? 0 : -1;
            self->output.sent += (gsize) n;
            /* the peer takes bytes: its time restarts */
            __atomic_store_n(&self->output.blocked_usec, 0, __ATOMIC_RELAXED);
        }
        rewind_out(self);
        if (!refill_out(self))
            return 1;
    }
}

/* A channel of a cursor has one statement, of SPARQL, whose columns stay. */
static void
put_cursor_rows(QdChannel *self, const uint8_t *body, gsize n_bytes, uint32_t n_rows)
{
    qd_cursor_output_put_rows(self->output.cursor, body, n_bytes, n_rows, qd_run_get_shape(self->work.run).n_columns);
}

void
qd_channel_put_large(QdChannel *self, uint8_t *data, gsize size, GDestroyNotify free_func, uint32_t n_rows, uint32_t serial)
{
    if (self->output.cursor != NULL) {
        put_cursor_rows(self, data + QW_HEADER_SIZE, size - QW_HEADER_SIZE, n_rows);
        free_func(data);
        return;
    }
    ensure_out(self, get_full_capacity(self));
    self->output.large = data + QW_HEADER_SIZE;
    self->output.n_large_bytes = size - QW_HEADER_SIZE;
    self->output.large_sent = 0;
    self->output.large_free = free_func;
    self->output.large_header = (QwHeader){ .kind = QW_KIND_ROWS, .count = n_rows, .serial = serial };
}

static void
put_large_body(QdChannel *self, QwKind kind, uint32_t count, uint32_t serial, const uint8_t *body, gsize n_bytes)
{
    uint8_t *copy = g_malloc(QW_HEADER_SIZE + n_bytes);

    memcpy(copy + QW_HEADER_SIZE, body, n_bytes);
    qd_channel_put_large(self, copy, QW_HEADER_SIZE + n_bytes, g_free, count, serial);
    self->output.large_header.kind = (uint8_t) kind;
}

void
qd_channel_put_record(QdChannel *self, QwKind kind, uint32_t count, uint32_t serial, const uint8_t *body, gsize n_bytes)
{
    gsize size = qw_align8(QW_HEADER_SIZE + n_bytes);

    if (self->output.cursor != NULL) {
        if (kind == QW_KIND_ROWS)
            put_cursor_rows(self, body, n_bytes, count);
        else if (kind == QW_KIND_END)
            qd_cursor_output_end(self->output.cursor);
        return;
    }
    ensure_out(self, self->output.ring != NULL ? QD_CHANNEL_OUT_SLACK : get_full_capacity(self));
    if (self->output.large == NULL && self->output.trailer == NULL && size <= self->page_size &&
        size <= self->output.capacity - self->output.used) {
        self->output.used += qw_record_encode(self->output.buffer + self->output.used, kind, count, serial, body, n_bytes);
        return;
    }
    if (size > self->page_size && self->output.large == NULL && self->output.trailer == NULL) {
        put_large_body(self, kind, count, serial, body, n_bytes);
        return;
    }
    if (self->output.trailer == NULL)
        self->output.trailer = g_byte_array_new();
    g_byte_array_set_size(self->output.trailer, self->output.trailer->len + (guint) size);
    (void) qw_record_encode(self->output.trailer->data + self->output.trailer->len - size, kind, count, serial, body, n_bytes);
}

static uint32_t
get_schema_flags(const QdChannel *self, const QdShape *shape)
{
    return (shape->writes ? QW_SCHEMA_WRITES : 0) | (shape->plan != NULL ? QW_SCHEMA_RDF : 0) |
           (self->schema_details && shape->is_stable ? QW_SCHEMA_STABLE : 0);
}

static void
write_schema(QwBodyWriter *body, const QdChannel *self, const QdShape *shape)
{
    QwSchemaHead head = { .version = QW_PROTOCOL_VERSION,
                          .page_size = (uint32_t) self->page_size,
                          .flags = get_schema_flags(self, shape),
                          .n_parameters = shape->n_parameters };

    qw_schema_put_head(body, &head);
    for (guint i = 0; i < shape->n_columns; i++) {
        const char *name = qd_shape_get_column_name(shape, i);
        const char *type = qd_shape_get_column_type(shape, i);

        qw_body_put_string(body, name, strlen(name));
        qw_body_put_string(body, type, strlen(type));
    }
    for (guint i = 0; i < shape->n_parameters; i++) {
        const char *name = qd_shape_get_parameter_name(shape, i);

        qw_body_put_u32(body, i + 1);
        qw_body_put_string(body, name, strlen(name));
    }
}

GBytes *
qd_channel_encode_schema(const QdChannel *self, const QdShape *shape)
{
    QwBodyWriter body = { 0 };
    uint8_t *data;

    write_schema(&body, self, shape);
    data = g_malloc(body.used);
    body = (QwBodyWriter){ .data = data, .capacity = body.used };
    write_schema(&body, self, shape);
    return g_bytes_new_take(data, body.used);
}

void
qd_channel_put_schema(QdChannel *self, const QdShape *shape, uint32_t serial)
{
    g_autoptr(GBytes) body = qd_channel_encode_schema(self, shape);

    qd_channel_put_record(self, QW_KIND_SCHEMA, shape->n_columns, serial, g_bytes_get_data(body, NULL), g_bytes_get_size(body));
}

void
qd_channel_put_end(QdChannel *self, const QwEnd *end, uint32_t serial)
{
    uint8_t body[QW_END_BODY_SIZE];

    qw_end_encode(end, body);
    qd_channel_put_record(self, QW_KIND_END, 0, serial, body, sizeof body);
}

/* These two have values of ours. */
static gboolean
is_short(const char *key)
{
    return g_str_equal(key, QD_CONSTRAINT_KIND) || g_str_equal(key, QW_DETAIL_TRANSACTION);
}

/* All, or the short ones only: half of the columns would look like all. */
static void
put_details(QwBodyWriter *body, char **details)
{
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    gsize n_bytes = sizeof(uint32_t);

    for (; details != NULL && *details != NULL; details++) {
        g_ptr_array_add(texts, g_utf8_make_valid(*details, -1));
        n_bytes += 2 * sizeof(uint32_t) + strlen(texts->pdata[texts->len - 1]);
    }
    for (guint i = texts->len; n_bytes > ERROR_DETAILS_MAX && i > 0; i -= 2)
        if (!is_short(texts->pdata[i - 2]))
            g_ptr_array_remove_range(texts, i - 2, 2);

    qw_body_put_u32(body, texts->len / 2);
    for (guint i = 0; i < texts->len; i++)
        qw_body_put_string(body, texts->pdata[i], strlen(texts->pdata[i]));
}

/* The message without its place, which has fields of its own, would not stand alone: it stays whole. Returns: bytes */
static gsize
encode_error(const QdChannel *self, const GError *error, uint8_t data[ERROR_BODY_MAX])
{
    QwBodyWriter body = { .data = data, .capacity = ERROR_BODY_MAX };
    g_autofree char *message = g_utf8_make_valid(error->message, (gssize) MIN(strlen(error->message), ERROR_MESSAGE_MAX / 3));
    QwErrorBody fields = { .code = qd_error_get_code(error), .message = message, .n_message_bytes = (uint32_t) strlen(message) };
    guint line;
    guint column;

    qd_error_get_place(error, &line, &column);
    fields.line = line;
    fields.column = column;
    qw_error_put(&body, &fields);
    if (self->error_details)
        put_details(&body, qd_error_get_details(error));
    return body.used;
}

void
qd_channel_put_error(QdChannel *self, const GError *error, uint32_t serial)
{
    uint8_t body[ERROR_BODY_MAX];
    gsize n_bytes = encode_error(self, error, body);

    if (self->output.cursor != NULL)
        qd_cursor_output_fail(self->output.cursor, error);
    qd_channel_put_record(self, QW_KIND_ERROR, 0, serial, body, n_bytes);
    __atomic_add_fetch(&self->context->counters.n_errors, 1, __ATOMIC_RELAXED);
}

/* Of two records the peer would otherwise see a part: then the channel is of no use any more. */
gboolean
qd_channel_send_error_now(const QdChannel *self, const GError *error, uint32_t serial)
{
    uint8_t body[ERROR_BODY_MAX];
    uint8_t record[QW_HEADER_SIZE + ERROR_BODY_MAX + 8]; /* records are aligned */
    struct iovec parts[2] = { { 0 }, { .iov_base = record } };
    const struct msghdr message = { .msg_iov = parts, .msg_iovlen = G_N_ELEMENTS(parts) };
    ssize_t n;

    if (self->output.cursor != NULL || qd_transport_is_pipe(self->transport) || self->output.large != NULL ||
        self->output.trailer != NULL)
        return FALSE;
    if (self->output.used > self->output.sent)
        parts[0] = (struct iovec){ self->output.buffer + self->output.sent, self->output.used - self->output.sent };
    parts[1].iov_len = qw_record_encode(record, QW_KIND_ERROR, 0, serial, body, encode_error(self, error, body));
    do
        n = sendmsg(self->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return FALSE;
    if ((gsize) n < parts[0].iov_len + parts[1].iov_len)
        (void) shutdown(self->fd, SHUT_RDWR);
    __atomic_add_fetch(&self->context->counters.n_errors, 1, __ATOMIC_RELAXED);
    return TRUE;
}

void
qd_channel_begin_page(QdChannel *self, QwPageWriter *writer, uint32_t n_columns)
{
    uint8_t *slot;
    gsize page_size;
    gsize room;
    int r;

    if (self->output.cursor != NULL) {
        qw_page_writer_init(writer, qd_cursor_output_get_page(self->output.cursor), self->page_size, n_columns);
        return;
    }
    r = self->output.ring != NULL ? qd_ring_get_slot(self->output.ring, &slot) : -EAGAIN;
    if (r == -EBADMSG)
        qd_channel_note_peer(self, QD_PEER_GONE);
    self->output.page_in_ring = r == 0;
    if (self->output.page_in_ring) {
        qw_page_writer_init(writer, slot, qd_ring_get_shape(self->output.ring)->slot_size, n_columns);
        return;
    }

    page_size = self->output.ring != NULL ? MIN(self->page_size, OVERFLOW_PAGE_BYTES) : self->page_size;
    ensure_out(self, page_size + QD_CHANNEL_OUT_SLACK);
    room = self->output.capacity - self->output.used - (QW_HEADER_SIZE + QW_END_BODY_SIZE);
    qw_page_writer_init(writer, self->output.buffer + self->output.used, MIN(room, page_size), n_columns);
}

gsize
qd_channel_put_page(QdChannel *self, QwPageWriter *writer, uint32_t serial)
{
    gsize size = qw_page_writer_finish(writer, QW_KIND_ROWS, serial);

    if (self->output.cursor != NULL) {
        put_cursor_rows(self, writer->data + QW_HEADER_SIZE, size - QW_HEADER_SIZE, writer->n_rows);
        return size;
    }
    if (self->output.page_in_ring) {
        qd_ring_commit(self->output.ring);
        qd_channel_put_record(self, QW_KIND_PAGE, (uint32_t) size, serial, NULL, 0);
    } else {
        self->output.used += size;
    }
    return size;
}
