/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How large a page should be: a third of the table in pages of 1 KiB to 1 MiB, by each transport.
 *
 * queryd's own pages begin at 4 KiB, the wire format's least; the founding report's protocol stands for what is below.
 */
#include <unistd.h>

#include "client-lib/wire/wire-record.h"
#include "tests/bench/classic.h"
#include "tests/bench/fetch.h"
#include "tests/bench/wire-client.h"
#include "tests/demo/measure.h"
#include "tests/demo/store-control.h"

#define KIB_MAX 1024u
#define TABLE_PART 3

typedef struct Buffers {
    Bench *bench;
    guint n_rows;
    char *sql;
    double start_cpu_msec;
    GPid server;
} Buffers;

static void
begin(Buffers *self, GPid server, CellSink *sink)
{
    self->server = server;
    self->start_cpu_msec = get_cpu_msec(server) + get_cpu_msec(getpid());
    cell_sink_init(sink, bench_is_warm_up(self->bench) ? READ_CHECKSUM : READ_COPY);
}

static void
end(Buffers *self, guint page_kib, CellSink *sink)
{
    double cpu_msec = get_cpu_msec(self->server) + get_cpu_msec(getpid()) - self->start_cpu_msec;
    ReadResult result = cell_sink_finish(sink);

    if (result.n_rows != self->n_rows)
        bench_fail(self->bench, "%" G_GUINT64_FORMAT " rows of %u", result.n_rows, self->n_rows);
    bench_record_at(self->bench, "time", page_kib, "ms", result.msec);
    bench_record_at(self->bench, "cpu", page_kib, "ms", cpu_msec);
    if (bench_is_warm_up(self->bench))
        bench_check(self->bench, "checksum of the rows", result.checksum);
}

static void
measure_classic(Buffers *self, const char *transport, guint page_kib)
{
    g_autofree char *path = get_database_path();
    const ClassicOptions options = { .transport = transport, .page_size = page_kib * 1024, .is_quick = TRUE };
    Classic classic;
    CellSink sink;

    classic_start(&classic, self->bench, path, &options);
    begin(self, classic.server, &sink);
    classic_read(&classic, self->sql, &sink);
    end(self, page_kib, &sink);
    classic_stop(&classic);
}

static void
measure_queryd(Buffers *self, const char *transport, guint page_kib)
{
    WireClient client;
    CellSink sink;

    begin(self, self->bench->daemon, &sink);
    wire_client_open(&client, self->bench, transport, page_kib * 1024, self->sql);
    wire_client_read(&client, FETCH_COLUMNS, &sink);
    end(self, page_kib, &sink);
    wire_client_close(&client);
}

static Buffers
buffers_new(Bench *bench)
{
    Buffers self = { .bench = bench, .n_rows = bench->n_rows / TABLE_PART };

    self.sql = g_strdup_printf("SELECT * FROM " BENCH_TABLE " WHERE id <= %u", self.n_rows);
    return self;
}

static void
run_classic(Bench *bench, gconstpointer argument)
{
    Buffers self = buffers_new(bench);

    for (guint page_kib = 1; page_kib <= KIB_MAX; page_kib *= 2)
        measure_classic(&self, argument, page_kib);
    g_free(self.sql);
}

static void
run_queryd(Bench *bench, gconstpointer argument)
{
    Buffers self = buffers_new(bench);

    for (guint page_kib = QW_PAGE_SIZE_MIN / 1024; page_kib <= KIB_MAX; page_kib *= 2)
        measure_queryd(&self, argument, page_kib);
    g_free(self.sql);
}

static const BenchCase cases[] = {
    { "classic, socket", run_classic, "socket" },     { "classic, pipe", run_classic, "pipe" },
    { "classic, vmsplice", run_classic, "vmsplice" }, { "queryd, socketpair", run_queryd, "socketpair" },
    { "queryd, pipe", run_queryd, "pipe" },           { "queryd, vmsplice", run_queryd, "vmsplice" },
    { "queryd, ring", run_queryd, "ring" },
};

const BenchGroup bench_buffers = {
    .name = "buffers",
    .title = "a third of the table by the size of a page in KiB",
    .reference = "classic, socket",
    .cases = cases,
    .n_cases = G_N_ELEMENTS(cases),
};
