/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The output of a channel that writes rows for a cursor of libtracker-sparql into a pipe of the caller (docs/tinysparql.md).
 *
 * Place: room channel; channel-output.c hands it the pages and records of such a channel.
 * Invariant: the format has no record for the end or for an error. A reader that finds the pipe at its end where a row may begin
 * takes the result as whole. So the count of columns, which precedes each row, is sent together with the row before it. As long as
 * the result is not over, the pipe ends with such a count, and what a reader finds after it is an error. The last row therefore
 * stays here until the next one, or the end, is known. A write ends at such a place, unless a row is larger than PIPE_BUF. Triples
 * as text (Serialize) that end too early end with a string that is not closed, which no parser takes.
 */
#pragma once

#include <glib.h>

typedef struct QdCursorOutput QdCursorOutput;
typedef struct QdCursorSetup QdCursorSetup;
typedef struct QdMemoryAccount QdMemoryAccount;

/**
 * qd_cursor_output_new:
 * @fd: (not owned): a pipe, not blocking; outlives the result
 * @page_size: bytes
 * @memory: to which rows are charged that were not read; outlives the result
 * @setup: its function @started is called once, by the thread that has the channel. It gets NULL when the result has begun or is
 *   empty, an error when nothing was written
 *
 * Returns: (transfer full): nothing written yet
 */
QdCursorOutput *qd_cursor_output_new(int fd, gsize page_size, QdMemoryAccount *memory, const QdCursorSetup *setup);
/* qd_cursor_output_free: calls @started with CANCELLED if it was not called. Takes NULL. Returns: NULL */
QdCursorOutput *qd_cursor_output_free(QdCursorOutput *self);

/* qd_cursor_output_get_page: (transfer none): room for a page of the wire format, until its rows are put. */
guint8 *qd_cursor_output_get_page(QdCursorOutput *self);

/* qd_cursor_output_put_rows: @body: of a record ROWS. What has no memory ends the result: see qd_cursor_output_flush(). */
void qd_cursor_output_put_rows(QdCursorOutput *self, const guint8 *body, gsize n_bytes, guint32 n_rows, guint32 n_columns);
/* qd_cursor_output_end: the result is whole. */
void qd_cursor_output_end(QdCursorOutput *self);
/* qd_cursor_output_fail: a reader gets @error if nothing was written, and otherwise a row that its cursor refuses, or text that a
 * parser does. */
void qd_cursor_output_fail(QdCursorOutput *self, const GError *error);

/* qd_cursor_output_flush: @ret_moved: set if bytes were sent. Returns: 1 all sent, 0 the reader is slow, -1 it is gone, or there is
 * no memory. */
int qd_cursor_output_flush(QdCursorOutput *self, gboolean *ret_moved);
gboolean qd_cursor_output_is_empty(const QdCursorOutput *self);
