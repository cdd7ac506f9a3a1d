/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reading end: one page at a time, each value copied out of it.
 */
#include "tests/bench/classic.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/classic-server.h"

#define PIPE_BYTES (1024 * 1024)
#define SOCKET_BYTES (1024 * 1024)

static void
make_descriptors(Classic *self, int control[2], int data[2])
{
    const int n_bytes = SOCKET_BYTES;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) != 0)
        bench_fail(self->bench, "socketpair: %s", g_strerror(errno));
    if (g_str_equal(self->options.transport, "socket")) {
        if (self->options.is_quick)
            (void) setsockopt(control[1], SOL_SOCKET, SO_SNDBUF, &n_bytes, sizeof n_bytes);
        data[0] = control[0];
        data[1] = control[1];
        return;
    }
    if (pipe2(data, O_CLOEXEC) != 0)
        bench_fail(self->bench, "pipe: %s", g_strerror(errno));
    (void) fcntl(data[1], F_SETPIPE_SZ, PIPE_BYTES);
}

void
classic_start(Classic *self, const Bench *bench, const char *path, const ClassicOptions *options)
{
    int control[2];
    int data[2];

    *self = (Classic){ .bench = bench, .options = *options };
    make_descriptors(self, control, data);
    self->server = fork();
    if (self->server < 0)
        bench_fail(bench, "fork: %s", g_strerror(errno));
    if (self->server == 0) {
        (void) close(control[0]);
        if (data[0] != control[0])
            (void) close(data[0]);
        classic_server_run(path, options, control[1], data[1]);
    }
    (void) close(control[1]);
    if (data[1] != control[1])
        (void) close(data[1]);
    self->control = control[0];
    self->data = data[0];
    self->page = g_malloc0(options->page_size);
}

static void
send_request(Classic *self, const char *sql)
{
    guint32 n_bytes = (guint32) strlen(sql);
    g_autoptr(GByteArray) request = g_byte_array_new();

    g_byte_array_append(request, (const guint8 *) "P", 1);
    g_byte_array_append(request, (const guint8 *) &n_bytes, sizeof n_bytes);
    g_byte_array_append(request, (const guint8 *) sql, n_bytes);
    g_byte_array_append(request, (const guint8 *) "F", 1);
    if (write(self->control, request->data, request->len) != (gssize) request->len)
        bench_fail(self->bench, "cannot send the request");
}

static void
read_page(Classic *self)
{
    gsize done = 0;

    while (done < self->options.page_size) {
        gssize n = read(self->data, self->page + done, self->options.page_size - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            bench_fail(self->bench, "the server has gone");
        done += (gsize) n;
    }
}

/* Returns the bytes of the row at @row; 0 at the end of the result. */
static gsize
copy_row(const guint8 *row, CellSink *sink)
{
    const guint8 *texts;
    guint32 head[2];
    guint32 start = 0;

    memcpy(head, row, sizeof head);
    if (head[0] != SQLITE_ROW)
        return 0;

    texts = row + sizeof head + 4 * (gsize) head[1];
    for (guint32 i = 0; i < head[1]; i++) {
        guint32 end;

        memcpy(&end, row + sizeof head + 4 * (gsize) i, sizeof end);
        if (i == 0)
            cell_sink_put_int64(sink, atoll((const char *) texts));
        else
            cell_sink_put(sink, texts + start, end - start);
        start = end + 1;
    }
    cell_sink_end_row(sink);
    return sizeof head + 4 * (gsize) head[1] + start;
}

void
classic_read(Classic *self, const char *sql, CellSink *sink)
{
    send_request(self, sql);
    for (;;) {
        gsize place = 0;

        read_page(self);
        while (place + 8 <= self->options.page_size && self->page[place] != CLASSIC_END_OF_PAGE) {
            gsize n_bytes = copy_row(self->page + place, sink);

            if (n_bytes == 0)
                return;
            place += n_bytes;
        }
    }
}

void
classic_stop(Classic *self)
{
    (void) close(self->control);
    if (self->data != self->control)
        (void) close(self->data);
    (void) waitpid(self->server, NULL, 0);
    g_free(self->page);
}
