/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Through the founding report's protocol: the server runs before the clock starts.
 */
#include "tests/bench/classic.h"
#include "tests/bench/fetch.h"

#define PAGE_BYTES (64u * 1024)

void
fetch_classic_open(FetchRun *run)
{
    g_auto(GStrv) words = g_strsplit(run->reader->variant, " ", 2);
    const ClassicOptions options = { .transport = g_intern_string(words[0]),
                                     .page_size = PAGE_BYTES,
                                     .is_quick = words[1] != NULL };
    Classic *classic = g_new0(Classic, 1);

    classic_start(classic, run->bench, run->path, &options);
    run->server = classic->server;
    run->state = classic;
}

void
fetch_classic_read(FetchRun *run, const char *sql, CellSink *sink)
{
    classic_read(run->state, sql, sink);
}
