/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a reader copies the values of a result to, and what it counts on the way.
 *
 * Place: shared by the demo and the benchmarks; inline, since it runs once per value.
 * Every reader that is compared uses it, so that nothing is measured which another one spares.
 */
#pragma once

#include <glib.h>
#include <string.h>

typedef enum ReadStyle {
    READ_COPY,     /* every value is copied into a buffer that the next row uses again */
    READ_KEEP,     /* every value is copied and kept until the end */
    READ_CHECKSUM, /* as COPY, and a checksum over all values */
} ReadStyle;

typedef struct ReadResult {
    guint64 n_rows;
    guint64 n_bytes;
    guint64 checksum;
    double msec;                 /* call to end of the last row */
    double first_row_msec;       /* call to first row */
    double first_row_after_msec; /* return of the call to first row; 0 where there is no such moment */
} ReadResult;

#define CELL_SINK_ROW_BYTES 4096
#define CELL_SINK_BLOCK_BYTES (1024 * 1024)
#define CELL_SINK_FNV_PRIME G_GUINT64_CONSTANT(0x100000001b3)

typedef struct CellSink {
    ReadStyle style;
    char row[CELL_SINK_ROW_BYTES];
    gsize used; /* of row, or of the last block */
    GPtrArray *blocks;
    double start_msec;
    ReadResult result;
} CellSink;

/* Starts the clock. */
void cell_sink_init(CellSink *self, ReadStyle style);

/* Notes the time of the first row. */
void cell_sink_note_first_row(CellSink *self);

/* Stops the clock before what was kept is freed: that is not reading. */
ReadResult cell_sink_finish(CellSink *self);

/* The next block of READ_KEEP. */
void cell_sink_add_block(CellSink *self);

static inline void
cell_sink_put(CellSink *self, const void *data, gsize n_bytes)
{
    char *to;

    if (self->style == READ_KEEP) {
        if (G_UNLIKELY(self->used + n_bytes + 1 > CELL_SINK_BLOCK_BYTES))
            cell_sink_add_block(self);
        to = (char *) self->blocks->pdata[self->blocks->len - 1] + self->used;
    } else {
        to = self->row + self->used;
        g_assert(self->used + n_bytes < sizeof self->row);
    }
    memcpy(to, data, n_bytes);
    to[n_bytes] = '\0';
    self->used += n_bytes + 1;
    self->result.n_bytes += n_bytes;
    if (self->style == READ_CHECKSUM) {
        for (gsize i = 0; i < n_bytes; i++)
            self->result.checksum = (self->result.checksum ^ (guint8) to[i]) * CELL_SINK_FNV_PRIME;
    }
}

static inline void
cell_sink_put_int64(CellSink *self, gint64 value)
{
    cell_sink_put(self, &value, sizeof value);
}

static inline void
cell_sink_end_row(CellSink *self)
{
    if (G_UNLIKELY(self->result.n_rows++ == 0))
        cell_sink_note_first_row(self);
    if (self->style != READ_KEEP)
        self->used = 0;
}
