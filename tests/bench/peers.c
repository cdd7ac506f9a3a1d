/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * They keep every value in fresh memory, and their time begins before they connect: "time_kept" of ours is what compares with it.
 */
#include "tests/bench/peers.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/bench/latency.h"
#include "tests/bench/machine.h"
#include "tests/demo/store-control.h"

#define DATA_DEFAULT "/var/tmp/queryd-peers"
#define TINYSPARQL_ROWS 30000u
#define LATENCY_CALLS "3000"

const char *
peers_get_folder(void)
{
    const char *folder = g_getenv("QUERYD_PEERS_DIR");

    return folder != NULL ? folder : DATA_DEFAULT;
}

/* Standard output of a command of words; skips the case when it cannot run. */
static char *
run_words(const Bench *bench, const char *program, const char *words)
{
    g_autofree char *line = words != NULL ? g_strdup_printf("'%s' %s", program, words) : g_strdup_printf("'%s'", program);
    g_autoptr(GError) error = NULL;
    g_autofree char *errors = NULL;
    char *output = NULL;
    int status = 0;

    if (!g_spawn_command_line_sync(line, &output, &errors, &status, &error))
        bench_skip(bench, "%s", error->message);
    if (status != 0)
        bench_skip(bench, "'%s' failed: %s", line, g_strdelimit(g_strstrip(errors), "\t\n", ' '));
    return output;
}

void
peers_begin(const Bench *bench)
{
    const char *folder = g_getenv("QUERYD_PEERS");
    g_autofree char *script = folder != NULL ? g_build_filename(folder, "servers.sh", NULL) : NULL;

    if (folder == NULL)
        bench_skip(bench, "QUERYD_PEERS names no folder with programs that measure others");
    if (bench_is_smoke(bench))
        bench_skip(bench, "they have %u rows, and this run has %u", BENCH_ROWS_DEFAULT, bench->n_rows);
    if (bench_is_warm_up(bench))
        g_free(run_words(bench, script, "start"));
}

static GStrv
run_program(const Bench *bench, const char *command, const char *more)
{
    g_auto(GStrv) words = g_strsplit(command, " ", 2);
    g_autofree char *program = g_build_filename(peers_get_folder(), "bin", words[0], NULL);
    g_autofree char *arguments = g_strdup_printf("%s %s", words[1] != NULL ? words[1] : "", more);
    g_autofree char *output = run_words(bench, program, arguments);

    return g_strsplit(g_strchomp(output), "\t", -1);
}

void
peers_run_fetch(Bench *bench, gconstpointer argument)
{
    g_auto(GStrv) fields = NULL;

    peers_begin(bench);
    fields = run_program(bench, argument, "");
    if (g_strv_length(fields) < 8 || g_ascii_strtoull(fields[7], NULL, 10) != bench->n_rows)
        bench_fail(bench, "its output is not what is known of it");
    bench_record(bench, "time_kept", "ms", g_ascii_strtod(fields[2], NULL));
    bench_record(bench, "first_row", "ms", g_ascii_strtod(fields[3], NULL));
    bench_record(bench, "client_cpu", "ms", g_ascii_strtod(fields[4], NULL));
    bench_record(bench, "client_peak", "MiB", g_ascii_strtod(fields[5], NULL) / 1024);
    bench_record(bench, "server_peak", "MiB", g_ascii_strtod(fields[6], NULL) / 1024);
}

GPid
peers_get_server(const char *name)
{
    g_autofree char *path = g_build_filename(peers_get_folder(), "run", name, NULL);
    g_autofree char *text = NULL;

    return g_file_get_contents(path, &text, NULL, NULL) ? (GPid) atoi(text) : 0;
}

/* And what it will start. */
static void
pin_server(const char *name, int cpu)
{
    GPid server = peers_get_server(name);

    if (server > 0)
        machine_pin(server, cpu);
}

static void
measure_latency(const Bench *bench, const char *command, const char *prefix, int cpu)
{
    g_autofree char *p50 = g_strdup_printf("%s.p50", prefix);
    g_autofree char *p99 = g_strdup_printf("%s.p99", prefix);
    g_auto(GStrv) fields = NULL;

    machine_pin(0, cpu); /* what is started has it from us */
    fields = run_program(bench, command, LATENCY_CALLS);
    if (g_strv_length(fields) < 8)
        bench_fail(bench, "its output is not what is known of it");
    bench_record(bench, p50, "us", g_ascii_strtod(fields[4], NULL));
    bench_record(bench, p99, "us", g_ascii_strtod(fields[5], NULL));
}

void
peers_run_latency(Bench *bench, gconstpointer argument)
{
    peers_begin(bench);
    pin_server("pg.pid", LATENCY_SERVER_CPU);
    pin_server("my.pid", LATENCY_SERVER_CPU);
    measure_latency(bench, argument, "same", LATENCY_SERVER_CPU);
    measure_latency(bench, argument, "cross", LATENCY_CLIENT_CPU);
    pin_server("pg.pid", -1);
    pin_server("my.pid", -1);
}

void
peers_run_tinysparql(Bench *bench, gconstpointer argument)
{
    g_autofree char *script = NULL;
    g_autofree char *mark = g_strdup_printf("%s/tracker/tdb-%u.ok", peers_get_folder(), TINYSPARQL_ROWS);
    g_autofree char *words = g_strdup_printf("tdb-%u './tbench select bus - 1'", TINYSPARQL_ROWS);
    g_autofree char *output = NULL;
    double seconds;
    double first_row_msec;
    const char *place;

    peers_begin(bench);
    script = g_build_filename(g_getenv("QUERYD_PEERS"), "..", "tracker", "withserver.sh", NULL);
    if (g_access(mark, F_OK) != 0)
        bench_skip(bench, "there is no '%s'", mark);
    output = run_words(bench, script, words);
    place = strstr(output, "median=");
    if (place == NULL || sscanf(place, "median=%lf s first-row=%lf ms", &seconds, &first_row_msec) != 2)
        bench_fail(bench, "its output is not what is known of it");
    bench_record_at(bench, "time", TINYSPARQL_ROWS, "ms", seconds * 1000);
    bench_record(bench, "first_row", "ms", first_row_msec);
}

void
peers_run_inserts(Bench *bench, gconstpointer argument)
{
    static const guint n_connections[] = { 1, 8, 64 };

    peers_begin(bench);
    for (gsize i = 0; i < G_N_ELEMENTS(n_connections); i++) {
        g_autofree char *words = g_strdup_printf("%u 1", n_connections[i]);
        g_auto(GStrv) fields = run_program(bench, argument, words);

        if (g_strv_length(fields) < 8)
            bench_fail(bench, "its output is not what is known of it");
        bench_record_at(bench, "rate", n_connections[i], "rows/s", g_ascii_strtod(fields[2], NULL));
        bench_record_at(bench, "p99", n_connections[i], "ms", g_ascii_strtod(fields[4], NULL) / 1000);
    }
}
