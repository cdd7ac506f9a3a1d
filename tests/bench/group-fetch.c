/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whole results: the founding report's first measurement, as a curve over the number of rows.
 *
 * The warm-up compares every byte by checksum and looks at the server's memory; the rounds copy each value into memory that was
 * touched before.
 */
#include <unistd.h>

#include "tests/bench/fetch.h"
#include "tests/bench/peers.h"
#include "tests/demo/measure.h"
#include "tests/demo/store-control.h"

#define CURVE_FIRST_ROWS 300

static ReadResult
read_rows(FetchRun *run, guint n_rows, ReadStyle style)
{
    g_autofree char *sql = n_rows < run->bench->n_rows ? g_strdup_printf("SELECT * FROM " BENCH_TABLE " WHERE id <= %u", n_rows)
                                                       : g_strdup("SELECT * FROM " BENCH_TABLE);
    CellSink sink;

    run->n_rows = n_rows;
    cell_sink_init(&sink, style);
    run->reader->read(run, sql, &sink);
    if (sink.result.n_rows != n_rows)
        bench_fail(run->bench, "%" G_GUINT64_FORMAT " rows of %u", sink.result.n_rows, n_rows);
    return cell_sink_finish(&sink);
}

static void
warm_up(FetchRun *run, guint n_rows)
{
    g_autofree char *what = g_strdup_printf("checksum of %u rows", n_rows);
    ReadResult result = read_rows(run, n_rows, READ_CHECKSUM);

    if (!run->reader->has_no_values)
        bench_check(run->bench, what, result.checksum);
    if (n_rows == run->bench->n_rows && run->server != 0) {
        AnonSampler *sampler = anon_sampler_start(run->server);

        (void) read_rows(run, n_rows, READ_COPY);
        bench_record_once(run->bench, "server_anon", "MiB", (double) anon_sampler_stop(sampler) / 1024);
    }
}

/* What the processes used meanwhile; the bus only where rows travel over it. */
typedef struct Usage {
    double client_msec;
    double server_msec;
    double bus_msec;
    guint64 client_kib;
} Usage;

static Usage
usage_begin(const FetchRun *run)
{
    Usage usage = { .server_msec = get_cpu_msec(run->server), .bus_msec = get_cpu_msec(run->bench->bus) };

    reset_peak(getpid());
    usage.client_kib = get_status_kib(getpid(), "VmRSS");
    usage.client_msec = get_cpu_msec(getpid());
    return usage;
}

static void
usage_end(const Usage *self, const FetchRun *run)
{
    const Bench *bench = run->bench;
    guint64 peak_kib = get_status_kib(getpid(), "VmHWM");

    bench_record(bench, "client_cpu", "ms", get_cpu_msec(getpid()) - self->client_msec);
    bench_record(bench, "client_growth", "MiB", (double) (peak_kib - self->client_kib) / 1024);
    bench_record(bench, "client_peak", "MiB", (double) peak_kib / 1024);
    if (run->server != 0) {
        bench_record(bench, "server_cpu", "ms", get_cpu_msec(run->server) - self->server_msec);
        bench_record(bench, "server_peak", "MiB", (double) get_status_kib(run->server, "VmHWM") / 1024);
    }
    if (run->reader->goes_over_bus) {
        bench_record(bench, "bus_cpu", "ms", get_cpu_msec(bench->bus) - self->bus_msec);
        bench_record(bench, "bus_peak", "MiB", (double) get_status_kib(bench->bus, "VmHWM") / 1024);
    }
}

/* The whole table, with everything that it costs. */
static void
measure_whole(FetchRun *run, guint n_rows)
{
    const Bench *bench = run->bench;
    Usage usage = usage_begin(run);
    ReadResult result = read_rows(run, n_rows, READ_COPY);

    usage_end(&usage, run);
    bench_record_at(bench, "time", n_rows, "ms", result.msec);
    bench_record(bench, "time", "ms", result.msec);
    bench_record(bench, "first_row", "ms", result.first_row_msec);
    if (run->reader->is_kept_too)
        bench_record(bench, "time_kept", "ms", read_rows(run, n_rows, READ_KEEP).msec);
}

static void
run_fetch(Bench *bench, gconstpointer argument)
{
    g_autofree char *path = get_database_path();
    FetchRun run = { .bench = bench, .reader = argument, .path = path };
    guint max_rows = run.reader->max_rows != 0 ? run.reader->max_rows : bench->n_rows;

    if (run.reader->open != NULL)
        run.reader->open(&run);
    for (guint n_rows = CURVE_FIRST_ROWS; n_rows < bench->n_rows && n_rows <= max_rows; n_rows *= 10) {
        if (bench_is_warm_up(bench))
            warm_up(&run, n_rows);
        else
            bench_record_at(bench, "time", n_rows, "ms", read_rows(&run, n_rows, READ_COPY).msec);
    }
    if (max_rows < bench->n_rows)
        return;
    if (bench_is_warm_up(bench))
        warm_up(&run, bench->n_rows);
    else
        measure_whole(&run, bench->n_rows);
}

#define READER(...)                                    \
    .run = run_fetch, .argument = &(const FetchReader) \
    {                                                  \
        __VA_ARGS__                                    \
    }

static const BenchCase cases[] = {
    { "direct", READER(fetch_direct_open, fetch_direct_read, "", .is_kept_too = TRUE) },
    { "direct, NOMUTEX", READER(fetch_direct_open, fetch_direct_read, "nomutex") },
    { "direct, packed by a function", READER(fetch_direct_open, fetch_packed_read, "nomutex") },
    { "direct, stepping alone", READER(fetch_direct_open, fetch_steps_read, "nomutex", .has_no_values = TRUE) },
    { "direct, in memory", READER(fetch_direct_open, fetch_direct_read, "memory") },
    { "LMDB", READER(fetch_lmdb_open, fetch_lmdb_read) },
    { "queryd", READER(fetch_queryd_open, fetch_queryd_read, .is_kept_too = TRUE) },
    { "queryd, socketpair",
      READER(fetch_queryd_open, fetch_queryd_read, .transport = QUERY_TRANSPORT_SOCKETPAIR, .is_kept_too = TRUE) },
    { "queryd, ring", READER(fetch_queryd_open, fetch_queryd_read, .transport = QUERY_TRANSPORT_RING, .is_kept_too = TRUE) },
    { "pinned to two processors", READER(fetch_queryd_open_pinned, fetch_queryd_read) },
    { "pinned to one processor", READER(fetch_queryd_open_pinned, fetch_queryd_read, "shared") },
    { "queryd, pipe, by hand", READER(fetch_queryd_open, fetch_raw_read, "pipe") },
    { "queryd, ring, by hand", READER(fetch_queryd_open, fetch_raw_read, "ring") },
    { "queryd, vmsplice, by hand", READER(fetch_queryd_open, fetch_raw_read, "vmsplice") },
    { "direct connection", READER(fetch_direct_mode_open, fetch_queryd_read, .is_kept_too = TRUE) },
    { "classic protocol, socket", READER(fetch_classic_open, fetch_classic_read, "socket") },
    { "classic protocol, pipe", READER(fetch_classic_open, fetch_classic_read, "pipe") },
    { "sd-bus Fetch(n)", READER(fetch_sd_bus_open, fetch_sd_bus_read, .goes_over_bus = TRUE) },
    { "GDBus Fetch(n)", READER(fetch_gdbus_open, fetch_gdbus_read, .goes_over_bus = TRUE, .max_rows = 30000) },
    { "SQLite, by the peers' program", peers_run_fetch, "fetch_sqlite default" },
    { "PostgreSQL, single rows", peers_run_fetch, "fetch_pg single" },
    { "PostgreSQL, COPY", peers_run_fetch, "fetch_pg copytext" },
    { "PostgreSQL, whole result", peers_run_fetch, "fetch_pg whole" },
    { "MariaDB, prepared, streamed", peers_run_fetch, "fetch_my ps" },
    { "MariaDB, prepared, stored", peers_run_fetch, "fetch_my psstore" },
    { "TinySPARQL, by its bus end", peers_run_tinysparql },
};

const BenchGroup bench_fetch = {
    .name = "fetch",
    .title = "whole results, every value copied by the client",
    .reference = "direct",
    .cases = cases,
    .n_cases = G_N_ELEMENTS(cases),
};
