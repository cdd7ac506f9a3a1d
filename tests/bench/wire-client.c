/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One buffer for one page; a record is read by two calls, header and body.
 */
#include "tests/bench/wire-client.h"

#include <errno.h>
#include <gio/gunixfdlist.h>
#include <unistd.h>

#include "client-lib/wire/wire-message.h"
#include "client-lib/wire/wire-page-reader.h"
#include "tests/demo/store-control.h"

static GVariant *
call_prepare(const Bench *bench, const char *transport, guint page_size, const char *sql, GUnixFDList **ret_fds)
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
    reply = g_dbus_connection_call_with_unix_fd_list_sync(
        bus, "org.queryd.Query1", "/org/queryd/Query1", "org.queryd.Query1", "Prepare",
        g_variant_new("(ss@a{sv}@a{sv})", "sql", sql, g_variant_new("a{sv}", NULL), g_variant_dict_end(&options)),
        G_VARIANT_TYPE("(ha(ss)a{sv})"), G_DBUS_CALL_FLAGS_NONE, -1, NULL, ret_fds, NULL, &error);
    if (reply == NULL)
        bench_skip(bench, "transport '%s', pages of %u bytes: %s", transport, page_size, error->message);
    return reply;
}

void
wire_client_open(WireClient *self, const Bench *bench, const char *transport, guint page_size, const char *sql)
{
    g_autoptr(GUnixFDList) fds = NULL;
    g_autoptr(GVariant) reply = NULL;
    g_autoptr(GError) error = NULL;

    if (g_str_equal(transport, "ring"))
        bench_skip(bench, "rings are read by the library alone, which chooses the size of its pages");
    reply = call_prepare(bench, transport, page_size, sql, &fds);
    *self = (WireClient){ .bench = bench, .page_size = page_size > 0 ? page_size : QW_PAGE_SIZE_DEFAULT };
    self->fd = g_unix_fd_list_get(fds, 0, &error);
    die_on_error(error, "Prepare");
    self->page = g_malloc(self->page_size);
    self->is_two_way = g_str_equal(transport, "socketpair");
}

static void
read_exactly(WireClient *self, guint8 *data, gsize n_bytes)
{
    while (n_bytes > 0) {
        gssize n = read(self->fd, data, n_bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            bench_fail(self->bench, "the descriptor ended before END");
        data += n;
        n_bytes -= (gsize) n;
    }
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

    if (self->is_two_way) {
        (void) qw_record_encode(request, QW_KIND_FETCH, 0, 1, NULL, 0);
        if (write(self->fd, request, sizeof request) != (gssize) sizeof request)
            bench_fail(self->bench, "cannot send FETCH");
    }
    do {
        read_exactly(self, self->page, QW_HEADER_SIZE);
        if (qw_header_decode(self->page, self->page_size, QW_TO_CLIENT, &header) < 0)
            bench_fail(self->bench, "what came is not a record");
        read_exactly(self, self->page + QW_HEADER_SIZE, header.size - QW_HEADER_SIZE);
        if (header.kind == QW_KIND_ROWS)
            copy_page(self, &header, n_columns, sink);
        else if (header.kind == QW_KIND_ERROR)
            bench_fail(self->bench, "the daemon answers with an error");
    } while (header.kind != QW_KIND_END);
}

void
wire_client_close(WireClient *self)
{
    (void) close(self->fd);
    g_free(self->page);
}
