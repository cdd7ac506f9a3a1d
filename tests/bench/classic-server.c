/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * With vmsplice the pages themselves are lent to the pipe. There are more of them than it can hold, so none is written again
 * before it was read.
 */
#include "tests/bench/classic-server.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/bench/reference-database.h"

#define LENT_BYTES (2u * 1024 * 1024)
#define COLUMNS_MAX 64

typedef struct Server {
    const ClassicOptions *options;
    int data;
    sqlite3 *db;
    sqlite3_stmt *stmt;
    guint8 *buffers;
    gsize n_buffers;
    gsize index;
    guint8 *page;
    gsize used;
} Server;

static void
send_page(Server *self)
{
    gboolean lends = g_str_equal(self->options->transport, "vmsplice");
    struct iovec rest = { self->page, self->options->page_size };

    if (self->used < self->options->page_size)
        self->page[self->used] = CLASSIC_END_OF_PAGE;
    while (rest.iov_len > 0) {
        gssize n = lends ? vmsplice(self->data, &rest, 1, 0) : write(self->data, rest.iov_base, rest.iov_len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            _exit(1);
        rest.iov_base = (guint8 *) rest.iov_base + n;
        rest.iov_len -= (gsize) n;
    }
    self->index = (self->index + 1) % self->n_buffers;
    self->page = self->buffers + self->index * self->options->page_size;
    self->used = 0;
}

static void
put_u32(Server *self, guint32 value)
{
    memcpy(self->page + self->used, &value, sizeof value);
    self->used += sizeof value;
}

static void
begin_row(Server *self, int rc, guint32 n_columns, gsize n_bytes)
{
    if (self->used + 8 + 4 * n_columns + n_bytes > self->options->page_size)
        send_page(self);
    if (8 + 4 * n_columns + n_bytes > self->options->page_size)
        _exit(1); /* a row larger than a page: the report's protocol has none */
    put_u32(self, (guint32) rc);
    put_u32(self, n_columns);
}

/* As the report's server did: SQLite is asked for each value twice. */
static void
put_row_naively(Server *self, guint32 n_columns)
{
    guint32 end = 0;
    gsize n_bytes = 0;

    for (guint32 i = 0; i < n_columns; i++)
        n_bytes += (gsize) sqlite3_column_bytes(self->stmt, (int) i) + 1;
    begin_row(self, SQLITE_ROW, n_columns, n_bytes);
    for (guint32 i = 0; i < n_columns; i++) {
        end += (guint32) sqlite3_column_bytes(self->stmt, (int) i);
        put_u32(self, end++);
    }
    for (guint32 i = 0; i < n_columns; i++) {
        gsize n = (gsize) sqlite3_column_bytes(self->stmt, (int) i) + 1;

        memcpy(self->page + self->used, sqlite3_column_text(self->stmt, (int) i), n);
        self->used += n;
    }
}

static void
put_row_quickly(Server *self, guint32 n_columns)
{
    const unsigned char *texts[COLUMNS_MAX];
    guint32 ends[COLUMNS_MAX];
    guint32 start = 0;

    for (guint32 i = 0; i < n_columns; i++) {
        texts[i] = sqlite3_column_text(self->stmt, (int) i);
        ends[i] = start + (guint32) sqlite3_column_bytes(self->stmt, (int) i);
        start = ends[i] + 1;
    }
    begin_row(self, SQLITE_ROW, n_columns, start);
    memcpy(self->page + self->used, ends, 4 * n_columns);
    self->used += 4 * n_columns;
    start = 0;
    for (guint32 i = 0; i < n_columns; i++) {
        memcpy(self->page + self->used, texts[i], ends[i] - start + 1);
        self->used += ends[i] - start + 1;
        start = ends[i] + 1;
    }
}

static void
fetch(Server *self)
{
    guint32 n_columns = (guint32) sqlite3_column_count(self->stmt);
    int rc;

    if (n_columns > COLUMNS_MAX)
        _exit(1);
    while ((rc = sqlite3_step(self->stmt)) == SQLITE_ROW) {
        if (self->options->is_quick)
            put_row_quickly(self, n_columns);
        else
            put_row_naively(self, n_columns);
    }
    begin_row(self, rc, 0, 0);
    send_page(self);
    (void) sqlite3_reset(self->stmt);
}

static void
prepare(Server *self, int control)
{
    guint32 n_bytes;
    char text[4096];

    if (read(control, &n_bytes, sizeof n_bytes) != sizeof n_bytes || n_bytes > sizeof text ||
        read(control, text, n_bytes) != (gssize) n_bytes)
        _exit(1);
    (void) sqlite3_finalize(self->stmt);
    self->stmt = NULL;
    if (sqlite3_prepare_v2(self->db, text, (int) n_bytes, &self->stmt, NULL) != SQLITE_OK)
        _exit(1);
}

void
classic_server_run(const char *path, const ClassicOptions *options, int control, int data)
{
    Server self = { .options = options, .data = data, .n_buffers = LENT_BYTES / options->page_size + 2 };
    char opcode;

    if (sqlite3_open_v2(path, &self.db, SQLITE_OPEN_READONLY | (options->is_quick ? SQLITE_OPEN_NOMUTEX : 0), NULL) != SQLITE_OK ||
        posix_memalign((void **) &self.buffers, 4096, self.n_buffers * options->page_size) != 0)
        _exit(1);

    (void) sqlite3_busy_timeout(self.db, REFERENCE_BUSY_MSEC);
    if (!g_str_equal(options->transport, "vmsplice"))
        self.n_buffers = 1;
    self.page = self.buffers;
    while (read(control, &opcode, 1) == 1) {
        if (opcode == CLASSIC_PREPARE)
            prepare(&self, control);
        else
            fetch(&self);
    }
    _exit(0);
}
