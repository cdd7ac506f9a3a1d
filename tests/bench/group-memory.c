/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the daemon holds for each open result, and what daemon and client hold by the size of a result: lines that should be flat.
 */
#include <stdlib.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/demo/founding-table.h"
#include "tests/demo/helper.h"
#include "tests/demo/measure.h"
#include "tests/demo/store-control.h"

#define RESULT_FIRST_ROWS 300
#define STREAMS_MAX 64u
#define STREAMS_PER_PROCESS 16u /* below the daemon's limit for one client */
#define STREAM_ROWS_MAX 60000u  /* read to the middle of so many */
#define ROUNDS_MAX 3

static void
measure_result(Bench *bench, QueryConnection *connection, guint n_rows)
{
    g_autofree char *part = g_strdup_printf(BENCH_TABLE " WHERE id <= %u", n_rows);
    AnonSampler *sampler = anon_sampler_start(bench->daemon);
    guint64 before_kib;

    reset_peak(getpid());
    before_kib = get_status_kib(getpid(), "VmRSS");
    (void) founding_table_read(connection, part, READ_COPY);
    bench_record_at(bench, "daemon_anon", n_rows, "MiB", (double) anon_sampler_stop(sampler) / 1024);
    bench_record_at(bench, "client_growth", n_rows, "MiB", (double) (get_status_kib(getpid(), "VmHWM") - before_kib) / 1024);
    bench_record_at(bench, "client_peak", n_rows, "MiB", (double) get_status_kib(getpid(), "VmHWM") / 1024);
}

/* By the number of rows. */
static void
run_results(Bench *bench, gconstpointer argument)
{
    g_autoptr(QueryConnection) connection = open_connection();

    (void) founding_table_read(connection, BENCH_TABLE " WHERE id <= 100", READ_COPY);
    for (guint n_rows = RESULT_FIRST_ROWS; n_rows <= bench->n_rows; n_rows *= 10)
        measure_result(bench, connection, n_rows);
}

static double
sum_anon_kib(GPtrArray *helpers)
{
    double sum = 0;

    for (guint i = 0; i < helpers->len; i++)
        sum += (double) get_status_kib((GPid) atoi(g_subprocess_get_identifier(helpers->pdata[i])), "RssAnon");
    return sum;
}

/* Opens @n half-read results and says what the daemon holds then, and all clients. */
static double
measure_streams(const Bench *bench, guint n, double *ret_clients_kib)
{
    g_autofree char *middle = g_strdup_printf("%u", MIN(bench->n_rows, STREAM_ROWS_MAX) / 2);
    g_autoptr(GPtrArray) groups = g_ptr_array_new();
    double clients_kib = 0;
    double anon_kib;

    for (guint left = n; left > 0; left -= MIN(left, STREAMS_PER_PROCESS)) {
        g_autofree char *count = g_strdup_printf("%u", MIN(left, STREAMS_PER_PROCESS));

        g_ptr_array_add(groups, helpers_start(1, (const char *[]){ "hold", BENCH_TABLE, count, middle, NULL }));
    }
    anon_kib = (double) get_status_kib(bench->daemon, "RssAnon");
    for (guint i = 0; i < groups->len; i++) {
        clients_kib += sum_anon_kib(groups->pdata[i]);
        helpers_stop(groups->pdata[i]);
    }
    *ret_clients_kib = clients_kib;
    return anon_kib;
}

/* By the number of results that are open and read to their middle. */
static void
run_streams(Bench *bench, gconstpointer argument)
{
    double one_kib = 0;
    double worst_kib = 0;

    if (bench_is_warm_up(bench))
        return;
    for (guint n = 1; n <= STREAMS_MAX; n *= 2) {
        double clients_kib;
        double anon_kib = measure_streams(bench, n, &clients_kib);

        if (n == 1)
            one_kib = anon_kib;
        if (n >= STREAMS_PER_PROCESS)
            worst_kib = MAX(worst_kib, (anon_kib - one_kib) / (n - 1));
        bench_record_at(bench, "daemon_anon", n, "MiB", anon_kib / 1024);
        bench_record_at(bench, "clients_anon", n, "MiB", clients_kib / 1024);
    }
    bench_record(bench, "daemon_anon_one", "MiB", one_kib / 1024);
    bench_record(bench, "each_further", "KiB", worst_kib);
}

static const BenchCase cases[] = {
    { "results by rows", run_results, .n_rounds_max = ROUNDS_MAX },
    { "open streams", run_streams, .n_rounds_max = ROUNDS_MAX },
};

const BenchGroup bench_memory = {
    .name = "memory",
    .title = "daemon and client by the size of a result and by the number of open ones",
    .cases = cases,
    .n_cases = G_N_ELEMENTS(cases),
    .wants_fresh_daemon = TRUE,
};
