/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A buffer of rows, each with the count of columns before it, and the offsets after these counts, where a write may end.
 *
 * Its memory is SQLite's, which bounds that of all clients together (limit heap_hard_bytes).
 */
#include "daemon/channel/cursor-output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "daemon/base/error.h"
#include "daemon/channel/channel.h"
#include "daemon/format/cursor-row.h"
#include "daemon/format/results-writer.h"
#include "daemon/sqlite/memory.h"

#define COUNT_BYTES sizeof(gint32)

struct QdCursorOutput {
    int fd; /* not owned */
    QdCursorSetup setup;
    QdResultsWriter *writer; /* (nullable): of text, from its first rows on */
    GString *text;           /* what it has written and is not in @data yet */
    guint8 *page;            /* (owned) */
    QdMemoryAccount *memory; /* (not owned) */
    guint8 *data;            /* (owned) of @memory */
    gsize used;
    gsize capacity;
    gsize sent;
    gsize sendable; /* the last of @ends, or all of it when the result is over */
    GArray *ends;   /* of gsize, rising: where a write may end */
    guint next_end; /* the first of them that was not sent */
    guint32 n_columns;
    gboolean has_begun; /* something was put */
    gboolean is_over;
    gboolean has_failed; /* no memory */
};

QdCursorOutput *
qd_cursor_output_new(int fd, gsize page_size, QdMemoryAccount *memory, const QdCursorSetup *setup)
{
    QdCursorOutput *self = g_new0(QdCursorOutput, 1);

    self->fd = fd;
    self->memory = memory;
    self->setup = *setup;
    self->text = g_string_new(NULL);
    self->page = g_malloc(page_size);
    self->ends = g_array_new(FALSE, FALSE, sizeof(gsize));
    return self;
}

static gboolean
is_text(const QdCursorOutput *self)
{
    return self->setup.rdf_format >= 0;
}

static void
tell_start(QdCursorOutput *self, const GError *error)
{
    void (*started)(const GError *, void *) = self->setup.started;

    self->setup.started = NULL;
    if (started != NULL)
        started(error, self->setup.data);
}

QdCursorOutput *
qd_cursor_output_free(QdCursorOutput *self)
{
    if (self == NULL)
        return NULL;

    if (self->setup.started != NULL) {
        g_autoptr(GError) error = NULL;

        qd_error_set(&error, QW_ERROR_CANCELLED, "the query was ended before its first row");
        tell_start(self, error);
    }
    (void) qd_results_writer_free(self->writer);
    g_string_free(self->text, TRUE);
    g_array_unref(self->ends);
    qd_memory_drop(self->data);
    g_free(self->page);
    g_free(self);
    return NULL;
}

guint8 *
qd_cursor_output_get_page(QdCursorOutput *self)
{
    return self->page;
}

static gboolean
reserve(QdCursorOutput *self, gsize n_bytes)
{
    gsize capacity = MAX(self->capacity * 2, self->used + n_bytes);
    guint8 *data;

    if (n_bytes <= self->capacity - self->used)
        return TRUE;
    data = qd_memory_hold(self->memory, self->data, capacity);
    self->has_failed = data == NULL;
    if (data == NULL)
        return FALSE;
    self->data = data;
    self->capacity = capacity;
    return TRUE;
}

static void
put_word(QdCursorOutput *self, gint32 word)
{
    memcpy(self->data + self->used, &word, sizeof word);
    self->used += sizeof word;
}

/* Bytes up to here may be sent, now that something follows. */
static void
put_end(QdCursorOutput *self)
{
    g_array_append_val(self->ends, self->used);
    self->sendable = self->used;
}

/* What was sent goes; the last row, which was not, moves to the front. */
static void
rewind_data(QdCursorOutput *self)
{
    memmove(self->data, self->data + self->sent, self->used - self->sent);
    self->used -= self->sent;
    self->sent = self->sendable = 0;
    self->next_end = 0;
    g_array_set_size(self->ends, 0);
}

static gboolean
put_row(QdCursorOutput *self, const QwPageReader *row)
{
    if (!reserve(self, COUNT_BYTES + qd_cursor_row_get_bound(row)))
        return FALSE;
    put_word(self, (gint32) self->n_columns);
    put_end(self);
    self->used += qd_cursor_row_write(row, self->data + self->used);
    return TRUE;
}

/* What the writer has written so far. */
static void
take_text(QdCursorOutput *self)
{
    if (self->text->len == 0 || !reserve(self, self->text->len))
        return;
    memcpy(self->data + self->used, self->text->str, self->text->len);
    self->used += self->text->len;
    self->has_begun = TRUE;
    g_string_truncate(self->text, 0);
    put_end(self);
}

static void
put_triples(QdCursorOutput *self, QwPageReader *reader)
{
    g_autoptr(GError) error = NULL;
    gboolean ok = TRUE;

    if (self->writer == NULL) {
        self->writer = qd_results_writer_new_graph((QdRdfFormat) self->setup.rdf_format, NULL, reader->n_columns, self->text);
        qd_results_writer_begin(self->writer, self->text);
    }
    while (ok && qw_page_reader_next(reader))
        ok = qd_results_writer_put_row(self->writer, reader, self->text, &error);
    take_text(self);
    if (!ok)
        qd_cursor_output_fail(self, error);
}

void
qd_cursor_output_put_rows(QdCursorOutput *self, const guint8 *body, gsize n_bytes, guint32 n_rows, guint32 n_columns)
{
    QwPageReader reader;

    if (self->is_over || self->has_failed || n_rows == 0)
        return;
    if (qw_page_reader_init(&reader, body, n_bytes, n_rows, n_columns) < 0) {
        self->has_failed = TRUE;
        return;
    }
    if (qd_cursor_output_is_empty(self) && self->sent > 0)
        rewind_data(self);
    if (is_text(self)) {
        put_triples(self, &reader);
        return;
    }
    self->n_columns = qd_cursor_row_get_n_columns(n_columns);
    self->has_begun = TRUE;
    while (qw_page_reader_next(&reader) && put_row(self, &reader))
        ;
}

void
qd_cursor_output_end(QdCursorOutput *self)
{
    if (self->is_over) /* it has failed */
        return;
    self->is_over = TRUE;
    if (self->writer != NULL) {
        qd_results_writer_end(self->writer, self->text);
        take_text(self);
    }
    if (!self->has_begun)
        tell_start(self, NULL);
    else if (!is_text(self))
        put_end(self);
}

/* A string that has no end. */
static void
spoil_text(QdCursorOutput *self, const GError *error)
{
    g_autofree char *message = g_strdelimit(g_strdup(error->message), "\"\\\n\r", ' ');

    g_string_append_printf(self->text, "\n\"the triples are not complete: %s", message);
    take_text(self);
}

/* In place of the row that follows the last count of columns: its offsets are none. */
void
qd_cursor_output_fail(QdCursorOutput *self, const GError *error)
{
    self->is_over = TRUE;
    if (!self->has_begun) {
        tell_start(self, error);
        return;
    }
    if (is_text(self)) {
        spoil_text(self, error);
        return;
    }

    self->used = self->sendable;
    if (!reserve(self, 2 * COUNT_BYTES * self->n_columns))
        return;
    for (guint32 i = 0; i < self->n_columns; i++)
        put_word(self, 0);
    for (guint32 i = 0; i < self->n_columns; i++)
        put_word(self, -1);
    put_end(self);
}

gboolean
qd_cursor_output_is_empty(const QdCursorOutput *self)
{
    return self->sent == self->sendable;
}

/* A write of so many bytes is taken whole or, up to PIPE_BUF, not at all. A pipe is a ring of pages: an empty one has all of them
 * but perhaps one that is half read. */
static gsize
get_room(const QdCursorOutput *self)
{
    int n_waiting = 0;
    int n_pipe_bytes;

    if (self->sendable - self->sent <= PIPE_BUF || ioctl(self->fd, FIONREAD, &n_waiting) < 0 || n_waiting > 0)
        return PIPE_BUF;
    n_pipe_bytes = fcntl(self->fd, F_GETPIPE_SZ);
    return MAX((gsize) MAX(n_pipe_bytes, 0), 2 * PIPE_BUF) - PIPE_BUF;
}

/* To the last end within the room, or to the next one. */
static gsize
get_piece_end(QdCursorOutput *self)
{
    gsize most = self->sent + get_room(self);
    guint next = self->next_end;

    while (next + 1 < self->ends->len && g_array_index(self->ends, gsize, next + 1) <= most)
        next++;
    return g_array_index(self->ends, gsize, next);
}

int
qd_cursor_output_flush(QdCursorOutput *self, gboolean *ret_moved)
{
    if (self->has_failed)
        return -1;

    while (self->sent < self->sendable) {
        gsize end = get_piece_end(self);
        ssize_t n = write(self->fd, self->data + self->sent, end - self->sent);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? 0 : -1;
        self->sent += (gsize) n;
        while (self->next_end < self->ends->len && g_array_index(self->ends, gsize, self->next_end) <= self->sent)
            self->next_end++;
        *ret_moved = TRUE;
        tell_start(self, NULL);
    }
    return 1;
}
