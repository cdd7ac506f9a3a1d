/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One row of 31 values by its key, back to back and 30 µs apart. On one processor, across two, and across two that others keep
 * busy; then what client and daemon burn afterwards, without requests.
 *
 * The pause is spent computing, as a program does between two questions: sleeping would measure the timer.
 */
#include "tests/bench/latency.h"
#include "tests/bench/machine.h"
#include "tests/bench/peers.h"
#include "tests/demo/store-control.h"

#define PAUSE_NSEC 30000
#define N_CALLS 3000
#define N_CALLS_LEAST 500
#define N_CALLS_SMOKE 50
#define N_WARM 200
#define BUDGET_NSEC G_GUINT64_CONSTANT(250000000)
#define N_CHECKED 100
#define IDLE_USEC 1000000
#define IDLE_SMOKE_USEC 10000

static gint64
choose_id(const LatencyRun *run, guint i)
{
    return (gint64) (i * 7919u % run->bench->n_rows) + 1;
}

static void
pause_computing(guint64 nsec)
{
    guint64 end_nsec = machine_get_now_nsec() + nsec;

    while (machine_get_now_nsec() < end_nsec)
        ;
}

void
latency_record(const Bench *bench, const char *prefix, Samples *usec)
{
    static const struct {
        const char *name;
        double fraction;
    } quantiles[] = { { "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 }, { "p99.9", 0.999 } };

    for (gsize i = 0; i < G_N_ELEMENTS(quantiles); i++) {
        g_autofree char *metric = g_strdup_printf("%s.%s", prefix, quantiles[i].name);

        bench_record(bench, metric, "us", samples_get_quantile(usec, quantiles[i].fraction));
    }
}

static void
measure(LatencyRun *run, const char *prefix, guint64 pause_nsec)
{
    g_auto(Samples) usec = { 0 };
    guint n_calls = bench_is_smoke(run->bench) ? N_CALLS_SMOKE : N_CALLS;
    guint n_least = MIN(n_calls, N_CALLS_LEAST);
    guint64 start_nsec = machine_get_now_nsec();

    samples_init(&usec);
    for (guint i = 0; i < n_calls && (i < n_least || machine_get_now_nsec() - start_nsec < BUDGET_NSEC); i++) {
        guint64 call_nsec = machine_get_now_nsec();

        run->probe->call(run, choose_id(run, i));
        samples_add(&usec, (double) (machine_get_now_nsec() - call_nsec) / 1e3);
        if (pause_nsec > 0)
            pause_computing(pause_nsec);
    }
    latency_record(run->bench, prefix, &usec);
}

static void
call_many(LatencyRun *run, guint n)
{
    for (guint i = 0; i < n; i++)
        run->probe->call(run, choose_id(run, i));
}

/* Each side shares its processor with a process that computes: waiting awake takes from those who work. */
static void
measure_busy(LatencyRun *run)
{
    MachineLoad *load = machine_start_load();
    guint64 start_nsec = machine_get_now_nsec();
    guint n = 0;

    while (n < N_CALLS_SMOKE || (!bench_is_smoke(run->bench) && machine_get_now_nsec() - start_nsec < BUDGET_NSEC))
        run->probe->call(run, choose_id(run, n++));
    bench_record(run->bench, "busy.mean", "us", (double) (machine_get_now_nsec() - start_nsec) / 1e3 / n);
    machine_stop_load(load);
}

static void
measure_idle(LatencyRun *run)
{
    guint64 start_nsec = machine_get_now_nsec();
    guint64 client_nsec = machine_get_cpu_nsec(0);
    guint64 daemon_nsec = machine_get_cpu_nsec(run->bench->daemon);
    double seconds;

    g_usleep(bench_is_smoke(run->bench) ? IDLE_SMOKE_USEC : IDLE_USEC);
    seconds = (double) (machine_get_now_nsec() - start_nsec) / 1e9;
    bench_record(run->bench, "idle.client", "us/s", (double) (machine_get_cpu_nsec(0) - client_nsec) / 1e3 / seconds);
    bench_record(run->bench, "idle.daemon", "us/s",
                 (double) (machine_get_cpu_nsec(run->bench->daemon) - daemon_nsec) / 1e3 / seconds);
}

/* All look-ups must give the same rows. */
static void
check(LatencyRun *run)
{
    cell_sink_init(&run->sink, READ_CHECKSUM);
    call_many(run, N_CHECKED);
    if (!run->probe->has_no_row)
        bench_check(run->bench, "checksum of the rows", run->sink.result.checksum);
}

static void
run_latency(Bench *bench, gconstpointer argument)
{
    g_autofree char *path = get_database_path();
    LatencyRun run = { .bench = bench, .probe = argument, .path = path };

    if (machine_get_n_cpus() < 2)
        bench_skip(bench, "there is only one processor");
    machine_pin(0, LATENCY_SERVER_CPU);
    machine_pin(bench->daemon, LATENCY_SERVER_CPU);
    machine_pin(bench->bus, LATENCY_SERVER_CPU);
    run.probe->open(&run);
    if (bench_is_warm_up(bench)) {
        check(&run);
        return;
    }
    cell_sink_init(&run.sink, READ_COPY);
    call_many(&run, N_WARM);
    measure(&run, "same", 0);
    measure(&run, "same-paced", PAUSE_NSEC);
    if (run.probe->has_no_server)
        return;
    machine_pin(0, LATENCY_CLIENT_CPU);
    call_many(&run, N_WARM);
    measure(&run, "cross", 0);
    measure(&run, "cross-paced", PAUSE_NSEC);
    if (run.probe->is_watched) {
        measure_idle(&run);
        measure_busy(&run);
    }
}

#define PROBE(...)                                        \
    .run = run_latency, .argument = &(const LatencyProbe) \
    {                                                     \
        __VA_ARGS__                                       \
    }
#define ROUTE(route) .run = latency_run_integers, .argument = GINT_TO_POINTER(route)

static const BenchCase cases[] = {
    { "direct", PROBE(latency_direct_open, latency_direct_call, .has_no_server = TRUE) },
    { "direct mode", PROBE(latency_direct_mode_open, latency_prepared_call, .has_no_server = TRUE), .reference = "direct" },
    { "socketpair", PROBE(latency_socket_open, latency_echo_call, "echo", .has_no_row = TRUE) },
    { "socketpair + SQLite", PROBE(latency_socket_open, latency_socket_call, "", .is_watched = TRUE) },
    { "queryd, kept channel", PROBE(latency_prepared_open, latency_prepared_call, .is_watched = TRUE) },
    { "queryd, kept channel, ring", PROBE(latency_prepared_open, latency_prepared_call, .uses_ring = TRUE) },
    { "queryd, ad-hoc text", PROBE(latency_ad_hoc_open, latency_ad_hoc_call) },
    { "queryd, Prepare anew", PROBE(latency_anew_open, latency_anew_call) },
    { "queryd, Prepare and FETCH", PROBE(latency_anew_open, latency_two_steps_call) },
    { "queryd, Prepare on a new bus", PROBE(latency_ad_hoc_open, latency_anew_call) },
    { "queryd, Query by value", PROBE(latency_value_open, latency_value_call), .reference = "sd-bus Ping" },
    { "sd-bus, Query's messages alone", PROBE(latency_sd_bus_open, latency_value_call, .has_no_row = TRUE),
      .reference = "sd-bus Ping" },
    { "sd-bus Ping", PROBE(latency_sd_bus_open, latency_sd_bus_call, "Ping", .has_no_row = TRUE) },
    { "sd-bus Lookup", PROBE(latency_sd_bus_open, latency_sd_bus_call, "Lookup") },
    { "GDBus Ping", PROBE(latency_gdbus_open, latency_gdbus_call, "Ping", .has_no_row = TRUE) },
    { "GDBus Lookup", PROBE(latency_gdbus_open, latency_gdbus_call, "Lookup") },
    { "PostgreSQL", peers_run_latency, "lat pg" },
    { "MariaDB", peers_run_latency, "lat my" },
    { "GetInteger, dbus-daemon", ROUTE(LATENCY_ROUTE_DBUS_DAEMON), .reference = "GetInteger, peer to peer" },
    { "GetInteger, dbus-broker", ROUTE(LATENCY_ROUTE_DBUS_BROKER), .reference = "GetInteger, peer to peer" },
    { "GetInteger, peer to peer", ROUTE(LATENCY_ROUTE_PEER), .reference = "GetInteger, peer to peer" },
    { "GetInteger, its parts", .run = latency_run_parts },
};

const BenchGroup bench_latency = {
    .name = "latency",
    .title = "one row by its key, and GetInteger(n) by D-Bus",
    .reference = "socketpair + SQLite",
    .cases = cases,
    .n_cases = G_N_ELEMENTS(cases),
};
