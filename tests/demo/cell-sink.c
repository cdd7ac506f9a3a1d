/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What of a sink runs once per result or per block. Memory that is copied into again and again is touched before the clock starts.
 */
#include "tests/demo/cell-sink.h"

#include "tests/demo/measure.h"

#define FNV_OFFSET G_GUINT64_CONSTANT(0xcbf29ce484222325)

void
cell_sink_init(CellSink *self, ReadStyle style)
{
    memset(self, 0, sizeof *self);
    self->style = style;
    self->result.checksum = FNV_OFFSET;
    self->blocks = g_ptr_array_new_with_free_func(g_free);
    if (style == READ_KEEP)
        cell_sink_add_block(self);
    self->start_msec = get_now_msec();
}

void
cell_sink_note_first_row(CellSink *self)
{
    self->result.first_row_msec = get_now_msec() - self->start_msec;
}

void
cell_sink_add_block(CellSink *self)
{
    g_ptr_array_add(self->blocks, g_malloc(CELL_SINK_BLOCK_BYTES));
    self->used = 0;
}

ReadResult
cell_sink_finish(CellSink *self)
{
    self->result.msec = get_now_msec() - self->start_msec;
    g_ptr_array_unref(self->blocks);
    return self->result;
}
