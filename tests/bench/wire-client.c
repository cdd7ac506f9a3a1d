/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One buffer for one page; a record is read by two calls, header and body.
 */
#include "tests/bench/wire-client.h"

#include <errno.h>
#include <gio/gunixfdlist.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client-lib/wire/wire-message.h"
#include "client-lib/wire/wire-page-reader.h"
#include "tests/demo/store-control.h"

static GVariant *
call_prepare(const Bench *bench, const char *transport, guint page_size, gboolean fetches, const char *sql, GUnixFDList **ret_fds)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GDBusConnection) bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, &error);
    GVariantDict options;
    GVariant *reply;

    die_on_error(error, "session bus");
    g_variant_dict_init(&options, NULL);
    g_variant_dict_insert(&options, "transport", "s", transport);
    if (page_size > 0)
        g_variant_dict_insert(&options, "page_size", "u", page_size);
    if (fetches)
        g_variant_dict_insert(&options, "fetch", "b", TRUE);
    reply = g_dbus_connection_call_with_unix_fd_list_sync(
        bus, "org.queryd.Query1", "/org/queryd/Query1", "org.queryd.Query1", "Prepare",
        g_variant_new("(ss@a{sv}@a{sv})", "sql", sql, g_variant_new("a{sv}", NULL), g_variant_dict_end(&options)),
        G_VARIANT_TYPE("(ha(ss)a{sv})"), G_DBUS_CALL_FLAGS_NONE, -1, NULL, ret_fds, NULL, &error);
    if (reply == NULL)
        bench_skip(bench, "transport '%s', pages of %u bytes: %s", transport, page_size, error->message);
    return reply;
}

static void
open_client(WireClient *self, const Bench *bench, const char *transport, guint page_size, gboolean fetches, const char *sql)
{
    g_autoptr(GUnixFDList) fds = NULL;
    g_autoptr(GVariant) reply = NULL;
    g_autoptr(GError) error = NULL;

    reply = call_prepare(bench, transport, page_size, fetches, sql, &fds);
    *self = (WireClient){ .bench = bench, .page_size = page_size > 0 ? page_size : QW_PAGE_SIZE_DEFAULT, .ring_fds = { -1, -1 } };
    self->fd = g_unix_fd_list_get(fds, 0, &error);
    die_on_error(error, "Prepare");
    self->page = g_malloc(self->page_size);
    self->is_two_way = g_str_equal(transport, "socketpair") || g_str_equal(transport, "ring");
    self->is_asked = fetches || !self->is_two_way;
}

void
wire_client_open(WireClient *self, const Bench *bench, const char *transport, guint page_size, const char *sql)
{
    open_client(self, bench, transport, page_size, FALSE, sql);
}

void
wire_client_open_running(WireClient *self, const Bench *bench, const char *sql)
{
    open_client(self, bench, "socketpair", 0, TRUE, sql);
}

/* Of a socket with the descriptors that come beside the bytes, of a pipe without. */
static gssize
receive(WireClient *self, guint8 *data, gsize n_bytes)
{
    struct iovec part = { data, n_bytes };
    char control[CMSG_SPACE(sizeof self->ring_fds)] __attribute__((aligned(8)));
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };
    struct cmsghdr *beside;
    gssize n;

    if (!self->is_two_way)
        return read(self->fd, data, n_bytes);

    n = recvmsg(self->fd, &message, MSG_CMSG_CLOEXEC);
    beside = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (beside != NULL && beside->cmsg_type == SCM_RIGHTS && beside->cmsg_len == CMSG_LEN(sizeof self->ring_fds))
        memcpy(self->ring_fds, CMSG_DATA(beside), sizeof self->ring_fds);
    return n;
}

static void
read_exactly(WireClient *self, guint8 *data, gsize n_bytes)
{
    while (n_bytes > 0) {
        gssize n = receive(self, data, n_bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            bench_fail(self->bench, "the descriptor ended before END");
        data += n;
        n_bytes -= (gsize) n;
    }
}

/* The daemon is our own, and its seals are tested elsewhere. */
static void
open_ring(WireClient *self, const QwHeader *header)
{
    if (qw_ring_decode(header, self->page + QW_HEADER_SIZE, self->page_size, &self->ring) < 0 || self->ring_fds[0] < 0)
        bench_fail(self->bench, "a ring that is not one");
    self->slots = mmap(NULL, qw_ring_get_size(&self->ring), PROT_READ, MAP_SHARED, self->ring_fds[0], 0);
    self->index = mmap(NULL, QW_RING_INDEX_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, self->ring_fds[1], 0);
    if (self->slots == MAP_FAILED || self->index == MAP_FAILED)
        bench_fail(self->bench, "mmap: %s", g_strerror(errno));
    (void) close(self->ring_fds[0]);
    (void) close(self->ring_fds[1]);
    self->n_taken = 0;
}

static void
close_ring(WireClient *self)
{
    if (self->ring.n_slots == 0)
        return;
    (void) munmap((void *) self->slots, qw_ring_get_size(&self->ring));
    (void) munmap(self->index, QW_RING_INDEX_BYTES);
    self->ring = (QwRing){ 0 };
}

/* Copies the record for which a PAGE stands into self->page. */
static void
take_from_ring(WireClient *self, QwHeader *header)
{
    gsize size;

    if (qw_ring_decode_page(self->ring.n_slots > 0 ? &self->ring : NULL, header, &size) < 0)
        bench_fail(self->bench, "a page that is not in its ring");
    memcpy(self->page, self->slots + qw_ring_get_offset(&self->ring, self->n_taken), size);
    qw_ring_store_taken(self->index, ++self->n_taken);
    if (qw_header_decode(self->page, self->page_size, QW_TO_CLIENT, header) < 0 || header->size != size)
        bench_fail(self->bench, "what is in the ring is not a page");
}

static void
copy_page(WireClient *self, const QwHeader *header, guint n_columns, CellSink *sink)
{
    QwPageReader reader;

    if (qw_page_reader_init(&reader, self->page + QW_HEADER_SIZE, header->size - QW_HEADER_SIZE, header->count, n_columns) < 0)
        bench_fail(self->bench, "a page is not valid");
    while (qw_page_reader_next(&reader)) {
        for (guint32 i = 0; i < n_columns; i++) {
            QwValue value;

            qw_page_reader_get(&reader, i, &value);
            if (qw_type_is_word(value.type))
                cell_sink_put_int64(sink, value.integer);
            else
                cell_sink_put(sink, value.data, value.n_bytes);
        }
        cell_sink_end_row(sink);
    }
}

void
wire_client_read(WireClient *self, guint n_columns, CellSink *sink)
{
    guint8 request[QW_HEADER_SIZE];
    QwHeader header;

    if (!self->is_asked) {
        (void) qw_record_encode(request, QW_KIND_FETCH, 0, 1, NULL, 0);
        if (write(self->fd, request, sizeof request) != (gssize) sizeof request)
            bench_fail(self->bench, "cannot send FETCH");
    }
    do {
        read_exactly(self, self->page, QW_HEADER_SIZE);
        if (qw_header_decode(self->page, self->page_size, QW_TO_CLIENT, &header) < 0)
            bench_fail(self->bench, "what came is not a record");
        read_exactly(self, self->page + QW_HEADER_SIZE, header.size - QW_HEADER_SIZE);
        if (header.kind == QW_KIND_RING)
            open_ring(self, &header);
        else if (header.kind == QW_KIND_PAGE)
            take_from_ring(self, &header);
        if (header.kind == QW_KIND_ROWS)
            copy_page(self, &header, n_columns, sink);
        else if (header.kind == QW_KIND_ERROR)
            bench_fail(self->bench, "the daemon answers with an error");
    } while (header.kind != QW_KIND_END);
    close_ring(self);
}

void
wire_client_close(WireClient *self)
{
    (void) close(self->fd);
    g_free(self->page);
}
