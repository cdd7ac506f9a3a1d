/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the daemon holds per open result, and a client per size of a result. Bounds, not averages, are what counts.
 */
#include <stdio.h>
#include <unistd.h>

#include "tests/demo/bench.h"
#include "tests/demo/founding-table.h"
#include "tests/demo/helper.h"
#include "tests/demo/measure.h"
#include "tests/demo/store-control.h"

#define TABLE "memory"
#define N_ROWS 60000
#define STREAMS_PER_PROCESS 16 /* below the daemon's limit for one client */

#define STREAM_KIB_MAX 320
#define STREAMING_KIB_MAX (16 * 1024)

/* Opens @n half-read results and says what the daemon holds then. */
static guint64
measure_streams(GPid daemon, guint n)
{
    g_autofree char *middle = g_strdup_printf("%d", N_ROWS / 2);
    g_autoptr(GPtrArray) groups = g_ptr_array_new();
    guint64 anon_kib;

    for (guint left = n; left > 0; left -= MIN(left, STREAMS_PER_PROCESS)) {
        g_autofree char *count = g_strdup_printf("%u", MIN(left, STREAMS_PER_PROCESS));

        g_ptr_array_add(groups, helpers_start(1, (const char *[]){ "hold", TABLE, count, middle, NULL }));
    }
    anon_kib = get_status_kib(daemon, "RssAnon");
    for (guint i = 0; i < groups->len; i++)
        helpers_stop(groups->pdata[i]);
    return anon_kib;
}

static gboolean
bench_streams(GPid daemon)
{
    guint64 one_kib = 0;
    double worst_kib = 0;

    (void) printf("\nmemory: open, half-read results of %d rows    daemon's own (RssAnon)\n", N_ROWS);
    for (guint n = 1; n <= 64; n *= 2) {
        guint64 anon_kib = measure_streams(daemon, n);
        double each_kib = n > 1 ? ((double) anon_kib - (double) one_kib) / (n - 1) : 0;

        if (n == 1)
            one_kib = anon_kib;
        if (n >= STREAMS_PER_PROCESS)
            worst_kib = MAX(worst_kib, each_kib);
        (void) printf("  %2u  %6.1f MiB  %5.0f KiB for each further one\n", n, (double) anon_kib / 1024, each_kib);
    }
    (void) printf("  from %d on, each further one: %.0f KiB   bar: at most %d, ", STREAMS_PER_PROCESS, worst_kib, STREAM_KIB_MAX);
    return bench_judge(worst_kib <= STREAM_KIB_MAX);
}

static gboolean
bench_result_size(QueryConnection *connection, GPid daemon)
{
    guint64 worst_kib = 0;

    (void) printf("\nmemory: results read whole     rows   client's peak (VmHWM)   daemon's own peak (RssAnon)\n");
    for (guint n_rows = 600; n_rows <= N_ROWS; n_rows *= 10) {
        g_autofree char *some = g_strdup_printf(TABLE " LIMIT %u", n_rows);
        AnonSampler *sampler = anon_sampler_start(daemon);
        guint64 anon_kib;

        reset_peak(getpid());
        (void) founding_table_read(connection, some, READ_COPY);
        anon_kib = anon_sampler_stop(sampler);
        worst_kib = MAX(worst_kib, anon_kib);
        (void) printf("                             %6u   %6.1f MiB   %6.1f MiB\n", n_rows,
                      (double) get_status_kib(getpid(), "VmHWM") / 1024, (double) anon_kib / 1024);
    }
    (void) printf("  daemon while it streams: %.1f MiB   bar: below %d, ", (double) worst_kib / 1024, STREAMING_KIB_MAX / 1024);
    return bench_judge(worst_kib < STREAMING_KIB_MAX);
}

gboolean
bench_memory(void)
{
    g_autoptr(QueryConnection) connection = open_connection();
    GPid daemon = get_daemon_pid();
    gboolean ok;

    (void) founding_table_create(connection, TABLE, N_ROWS);
    ok = bench_result_size(connection, daemon);
    ok = bench_streams(daemon) && ok;
    execute(connection, "DROP TABLE " TABLE);
    return ok;
}
