/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A reference: the protocol of the founding report, as simple as it was, with a process that has SQLite at the other end.
 *
 *     client → server    'P' u32 n_bytes, text: prepare     'F': send all rows
 *     server → client    pages of a fixed size with whole rows:
 *                        u32 rc · u32 n_columns · u32 end offset[n_columns] · texts, each with a NUL
 *                        0xFF where a page is not full; a row with rc other than SQLITE_ROW is the end
 *
 * Text only, no types, no errors, no cancelling: what a protocol costs that does nothing else.
 * Place: tests/bench. The process that starts a server must not have threads: it is forked.
 */
#pragma once

#include "tests/bench/bench.h"
#include "tests/demo/cell-sink.h"

typedef struct ClassicOptions {
    const char *transport; /* "socket", "pipe" or "vmsplice" */
    gsize page_size;
    gboolean is_quick; /* one call of column_text and column_bytes per value, NOMUTEX; else as in the report: sizes first */
} ClassicOptions;

typedef struct Classic {
    const Bench *bench;
    ClassicOptions options;
    int control; /* requests; with "socket" the pages, too */
    int data;
    GPid server;
    guint8 *page;
} Classic;

void classic_start(Classic *self, const Bench *bench, const char *path, const ClassicOptions *options);
void classic_read(Classic *self, const char *sql, CellSink *sink);
void classic_stop(Classic *self);
